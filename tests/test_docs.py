"""The documentation matches the code."""

import doctest
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from benchmarks.__main__ import Benchmarks
from bot.cli.main import Commands, app
from bot.texts import LANGUAGES, texts
from bot.words.safety import safety_lines
from engine import GAMES
from tests.paths import DOCS, ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_readme_starts_with_the_two_commands() -> None:
    first, second, *_ = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert first.split("#")[0].strip() == "make run"
    assert second.split("#")[0].strip() == "make test"


def test_readme_shows_small_pictures() -> None:
    picture_paths = re.findall(r"docs/pictures/\w+\.png", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(picture_paths) == 3, "README.md must show three pictures from docs/pictures"
    assert sum((ROOT / picture).stat().st_size for picture in picture_paths) < 400_000, (
        "make the README's pictures smaller"
    )


@pytest.mark.parametrize("page", ["README.md", "docs/engine.md", "docs/fairness.md"])
def test_python_sessions_give_their_output(page: str) -> None:
    result = doctest.testfile(str(ROOT / page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def test_commands_in_the_readme_exist() -> None:
    commands = set(re.findall(r"buongioco (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert commands <= set(Commands.targets), "README.md names commands that do not exist"


def test_documented_benchmarks_exist() -> None:
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    benchmarks = set(re.findall(r"python -m benchmarks (\w+)", text))
    assert "engine" in benchmarks
    assert benchmarks <= set(Benchmarks.targets), "the docs name benchmarks that do not exist"


@pytest.mark.parametrize("language", LANGUAGES)
def test_safety_page_lists_the_rules_that_players_read(language: str) -> None:
    text = " ".join((DOCS / "safety.md").read_text(encoding="utf-8").split())
    title = texts(language).gettext("Play safely")
    assert f"# {title} " in text
    assert all(f"- {line}" in text for line in safety_lines(language)), (
        "docs/safety.md differs from bot/words/safety.py"
    )


def test_rules_describe_every_game_and_option() -> None:
    text = (DOCS / "rules.md").read_text(encoding="utf-8").lower()
    for game, kind in GAMES.items():
        assert re.search(rf"\b{game}\b", text), f"docs/rules.md does not describe {game}"
        for name, values in kind.rules.choices().items():
            if len(values) > 1:
                assert name in text, f"docs/rules.md does not describe the option {name} of {game}"
                assert all(str(value) in text for value in values if not isinstance(value, bool)), (
                    f"docs/rules.md does not describe all values of {name}: {values}"
                )


def test_documented_modules_and_files_exist() -> None:
    count = 0
    for page in PAGES:
        for name in re.findall(
            r"`((?:engine|bot|adapters|benchmarks|tests)[./][\w./]+)`", page.read_text(encoding="utf-8")
        ):
            if (ROOT / name).exists():
                count += 1
                continue
            # A module, or a name in a module.
            module, _, attribute = name.rpartition(".")
            assert "/" not in name, f"{page.name} names {name}, which does not exist"
            path = ROOT / name.replace(".", "/")
            is_module = path.is_dir() or path.with_suffix(".py").exists()
            assert is_module or hasattr(import_module(module), attribute), (
                f"{page.name} names {name}, which does not exist"
            )
            count += 1
    assert count > 100


def test_files_have_no_merge_conflict_markers() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in tracked.split("\0") if name]
    assert len(paths) > 500
    # A line of equals signs is not checked: it can underline a heading.
    marks = re.compile(rb"^(<{7}|\|{7}|>{7})( |$)", re.MULTILINE)
    assert [path.name for path in paths if path.is_file() and marks.search(path.read_bytes())] == []


def test_documented_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"^    make (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (
                f"{page.name} names make {target}: add it or fix it"
            )


def test_changelog_and_command_have_the_version() -> None:
    headings = re.findall("^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if PROJECT["version"].endswith(".dev0"):
        assert headings[0] == "Unreleased", "CHANGELOG.md must begin with the changes since the last release"
    else:
        assert headings[0].startswith(f"{PROJECT['version']} - "), "CHANGELOG.md must begin with this release"
    form = re.compile(r"Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d")
    malformed = [heading for heading in headings if not form.fullmatch(heading)]
    assert not malformed, "CHANGELOG.md: write headings such as 1.2.0 - 2026-11-27"
    assert CliRunner().invoke(app, ["--version"]).output == f"buongioco {PROJECT['version']}\n"


def test_workflow_covers_every_supported_python() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    versions = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier) for classifier in PROJECT["classifiers"]
    ]
    supported = [version[1] for version in versions if version]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == supported, "update the Pythons in ci.yml"
    # The Makefile reads PYTHON from the environment.
    assert jobs["linux"]["env"]["PYTHON"] == "python${{ matrix.python }}"
    assert re.search(r"^PYTHON \?=", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    runs = {job: [step["run"] for step in description["steps"] if "run" in step] for job, description in jobs.items()}
    assert runs["linux"] == [".ci/run"]
    assert {"make check", "env -u CI make test"} <= set(runs["macos"])


def test_commit_hook_and_make_run_the_same_checks() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [recipe] = re.findall(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    commands = [line.strip().replace("$(BIN)", ".venv/bin").replace("$(MAKE)", "make") for line in recipe.splitlines()]
    assert [hook["entry"] for hook in hooks] == commands, ".pre-commit-config.yaml must run what make check runs"


def write_script(path: Path, text: str) -> Path:
    """Write an executable shell script of one line."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_package_make_and_classifiers_name_the_same_pythons() -> None:
    minors = [
        int(minor_version) for minor_version in re.findall(r":: Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    ]
    first, last = minors[0], minors[-1]
    assert minors == list(range(first, last + 1))
    assert PROJECT["requires-python"] == f">=3.{first},<3.{last + 1}", "update requires-python in pyproject.toml"
    command = (ROOT / "bot" / "cli" / "__init__.py").read_text(encoding="utf-8")
    assert f"sys.version_info >= (3, {last + 1})" in command, "update the newest Python in bot/cli/__init__.py"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    names = " ".join(f"python3.{minor}" for minor in reversed(minors))
    for expected in (f"(3, {first}) <= sys.version_info < (3, {last + 1})", names):
        assert expected in makefile, "update the Pythons in the Makefile"


def test_command_on_a_newer_python_prints_one_line() -> None:
    code = "import sys; sys.version_info = (3, 99); import bot.cli.main"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "buongioco: This Python is too new. Buongioco needs Python 3.11 to 3.14.\n"


def test_unsupported_python_prints_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"), encoding="utf-8")
    for name in ("pyproject.toml", "requirements.txt", "requirements-uv.txt"):
        (tmp_path / name).touch()
    result = subprocess.run(["make", "setup", "PYTHON="], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert result.stderr.splitlines()[0].startswith("Buongioco needs Python 3.11 to 3.14")
    assert "Ubuntu 22.04, whose own is too old: apt install python3.11 python3.11-venv" in result.stderr
    too_new = write_script(tmp_path / "python3.15", 'case "$2" in *version_info*) exit 1;; esac')
    result = subprocess.run(
        ["make", "setup", f"PYTHON={too_new}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.stderr.splitlines()[0].startswith("Buongioco needs Python 3.11 to 3.14")
    # The message names the venv package of the chosen Python, which can differ from the system's.
    no_venv = write_script(tmp_path / "python", 'case "$2" in *ensurepip*) exit 1;; *) echo python3.12-venv;; esac')
    result = subprocess.run(
        ["make", "setup", f"PYTHON={no_venv}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "(apt install python3.12-venv)" in result.stderr.splitlines()[0]


COMPLETE, WITHOUT_PIP, WITHOUT_PYTHON = "whole", "cut short before pip was there", "its Python went away"


@pytest.mark.parametrize("venv", [COMPLETE, WITHOUT_PIP, WITHOUT_PYTHON])
def test_incomplete_setup_is_rebuilt(tmp_path: Path, venv: str) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"), encoding="utf-8")
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("uv", "buongioco"):
        write_script(folder / name, f"echo {name}")
    for name in ("pyproject.toml", "requirements.txt", "requirements-uv.txt", ".venv/.ready"):
        (tmp_path / name).touch()
    if venv == WITHOUT_PYTHON:
        (folder / "python").symlink_to(tmp_path / "python3.10")
    else:
        write_script(folder / "python", "exit 1" if venv == WITHOUT_PIP else "exit 0")
    python = write_script(tmp_path / "python", 'case "$2" in venv) echo "$@";; esac')
    result = subprocess.run(
        ["make", "-s", "run", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    steps = ["-m venv --clear .venv", "uv", "uv"] if venv != COMPLETE else []
    assert [line for line in result.stdout.splitlines() if not line.startswith("make")] == [*steps, "buongioco"]
