"""What the documentation says is true."""

import doctest
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from bot.cli.bench import Benches
from bot.cli.main import Commands
from engine import GAMES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_readme_begins_with_the_two_commands() -> None:
    first, second, *_ = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert first.split("#")[0].strip() == "make run"
    assert second.split("#")[0].strip() == "make test"


def test_the_readmes_session_is_true() -> None:
    assert doctest.testfile(str(ROOT / "README.md"), module_relative=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_commands_that_the_readme_names_exist() -> None:
    named = set(re.findall(r"buongioco (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert named <= set(Commands.places)


def test_benches_that_the_docs_name_exist() -> None:
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"buongioco bench (\w+)", text))
    assert "engine" in named
    assert named <= set(Benches.places)


def test_every_game_and_option_stands_in_the_rules() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8").lower()
    for game, kind in GAMES.items():
        assert re.search(rf"\b{game}\b", text), game
        for name, values in kind.rules.choices().items():
            if len(values) > 1:
                assert name in text
                assert all(str(value) in text for value in values if not isinstance(value, bool))


def test_make_knows_the_targets_that_the_docs_name() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"^    make (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_version_is_in_the_changelog() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_too_old_a_python_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"), encoding="utf-8")
    for name in ("pyproject.toml", "requirements.txt"):
        (tmp_path / name).touch()
    done = subprocess.run(["make", "setup", "PYTHON="], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].startswith("Buongioco needs Python 3.11 or newer")
    no_venv = tmp_path / "python"
    no_venv.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    no_venv.chmod(0o755)
    done = subprocess.run(
        ["make", "setup", f"PYTHON={no_venv}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "python3-venv" in done.stderr.splitlines()[0]
