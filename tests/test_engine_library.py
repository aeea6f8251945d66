"""The engine as a library: its distribution `buongioco-engine`. `tests/test_release.py` installs it."""

import tomllib

import engine
from tests.paths import ROOT

BOT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENGINE = tomllib.loads((ROOT / "engine" / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_engine_depends_on_pydantic_alone() -> None:
    assert [line.partition(">")[0] for line in ENGINE["dependencies"]] == ["pydantic"]
    assert set(ENGINE["dependencies"]) <= set(BOT["dependencies"]), "use the bot's bounds in engine/pyproject.toml"
    assert ENGINE["optional-dependencies"] == BOT["optional-dependencies"], "update engine/pyproject.toml"


def test_engine_and_bot_share_licence_and_pythons() -> None:
    assert (ROOT / "engine" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), "copy LICENSE to engine/"
    for field in ("requires-python", "license", "authors"):
        assert ENGINE[field] == BOT[field], f"engine/pyproject.toml: copy {field} from pyproject.toml"


def test_engine_modules_use_relative_imports() -> None:
    """In its own distribution the package has another name."""
    for path in (ROOT / "engine").rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            is_absolute = line.strip().startswith(("from engine", "import engine"))
            assert not is_absolute, f"{path}: make {line.strip()!r} a relative import"


def test_engine_and_bot_have_the_same_version() -> None:
    assert engine.__version__ == BOT["version"]
