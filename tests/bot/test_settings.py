"""Settings and the doctor: wrong ones are one clear line, and what is missing is said with what to do."""

import asyncio
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import main as cli
from bot.settings import BadSetting, names, read_settings
from bot.store import EmbeddedStore, opened

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of this machine's, and no .env."""
    for name in names():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))


def doctor() -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, ["doctor"])
    return done.exit_code, done.output


def test_defaults(tmp_path: Path) -> None:
    settings = read_settings()
    assert settings.data == tmp_path / "xdg" / "buongioco"
    assert settings.redis_url is None


def test_the_environment_goes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BUONGIOCO_DATA=/from/file\nREDIS_URL=redis://file:1\nOTHER=1\n")
    assert read_settings().data == Path("/from/file")
    monkeypatch.setenv("BUONGIOCO_DATA", "~/mine")
    assert read_settings().data == Path.home() / "mine"
    assert read_settings().redis_url == "redis://file:1"


def test_a_misspelt_setting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_DTA", "/x")
    with pytest.raises(BadSetting, match="BUONGIOCO_DTA is not a setting; did you mean BUONGIOCO_DATA"):
        read_settings()
    assert doctor() == (1, "wrong  BUONGIOCO_DTA is not a setting; did you mean BUONGIOCO_DATA?\n")


def test_a_wrong_store_is_one_line_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "http://me:hunter2@host")
    code, out = doctor()
    assert code == 1
    assert out.startswith("wrong  REDIS_URL begins with none of redis://, rediss://")
    assert len(out.splitlines()) == 1
    monkeypatch.setenv("REDIS_URL", "redis://me:hunter2@127.0.0.1:1/0")
    code, out_of_reach = doctor()
    assert code == 1
    assert "cannot be reached" in out_of_reach
    assert "hunter2" not in out + out_of_reach


def test_the_doctor_finds_the_embedded_store_well(tmp_path: Path) -> None:
    code, out = doctor()
    assert code == 0
    assert f"ok     settings: an embedded store in {tmp_path / 'xdg' / 'buongioco'}" in out
    assert "ok     store: answers, version" in out
    assert "ok     store: writes an append-only file" in out


async def test_the_doctor_finds_faults_of_ones_own_store(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", embedded.url)
    async with opened(embedded.url) as store:
        await store.client.config_set("appendonly", "no")
        await store.client.config_set("maxmemory", "100mb")
        await store.client.config_set("maxmemory-policy", "allkeys-lru")
    code, out = await asyncio.to_thread(doctor)
    assert code == 1
    assert "wrong  store: does not write an append-only file" in out
    assert "set maxmemory-policy noeviction" in out


def test_every_setting_stands_in_the_example_and_nothing_else() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE) == [*names(), "VALKEY_PASSWORD"]
