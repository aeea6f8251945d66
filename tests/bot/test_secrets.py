"""Secrets come from files or variables, and child processes do not get them."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from bot.secret_settings import SECRETS, drop_secrets
from bot.settings import BadSetting, Settings, secret_files
from bot.settings_reader import read_settings
from bot.store import EmbeddedStore
from tests.bot.command import run_command
from tests.kills.bot_process import Bot
from tests.long import long
from tests.telegram.players import until

pytestmark = pytest.mark.usefixtures("no_settings")

VALUES = {"REDIS_URL": "redis://:hunter2@127.0.0.1:1/0", "BUONGIOCO_TELEGRAM_TOKEN": "1:hunter2"}


def value_of(name: str) -> str:
    return VALUES.get(name, "hunter2")


def field_value(settings: Settings, name: str) -> str:
    value = getattr(settings, {variable: field for field, variable in SECRETS.items()}[name])
    return value if isinstance(value, str) else value.get_secret_value()


def test_settings_with_secret_values_are_listed_as_secrets() -> None:
    secret = {name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    assert set(SECRETS) == secret | {"redis_url"}


@pytest.mark.parametrize("name", SECRETS.values())
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_secret_comes_from_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, end: str) -> None:
    path = tmp_path / "secret"
    path.write_bytes(f"\ufeff{value_of(name)}{end}".encode())
    monkeypatch.setenv(f"{name}_FILE", str(path))
    assert field_value(read_settings(), name) == value_of(name)


def test_file_can_be_named_in_dot_env_from_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text("1:hunter2\n")
    Path(".env").write_text("BUONGIOCO_TELEGRAM_TOKEN_FILE=~/token\nBUONGIOCO_DISCORD_TOKEN_FILE=\n")
    settings = read_settings()
    assert field_value(settings, "BUONGIOCO_TELEGRAM_TOKEN") == "1:hunter2"
    assert settings.discord_token is None
    assert secret_files(settings) == {"BUONGIOCO_TELEGRAM_TOKEN_FILE": tmp_path / "token"}


def test_process_substitution_can_be_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """`BUONGIOCO_DISCORD_TOKEN_FILE=<(pass show discord)` names a pipe that can be read only once."""
    reader, writer = os.pipe()
    os.write(writer, b"hunter2\n")
    os.close(writer)
    monkeypatch.setenv("BUONGIOCO_DISCORD_TOKEN_FILE", f"/dev/fd/{reader}")
    assert field_value(read_settings(), "BUONGIOCO_DISCORD_TOKEN") == "hunter2"
    os.close(reader)


def faulty_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield a part of the error, and a file that causes it."""
    yield "this file does not exist", folder / "missing"
    yield "this file cannot be read (Not a directory): give it to the bot's user, chmod 600", folder / "text" / "x"
    yield "this is a folder: name a file", folder
    for name, content, error in (
        ("empty", b"", "this file is empty: write the secret into it"),
        ("blank", b"\n \n", "this file is empty: write the secret into it"),
        ("text", b"token: hunter2\n", "this file has more than one word: write only the secret into it"),
        ("bytes", b"hunter2\xff", "this file is not text: write the secret into it"),
    ):
        (folder / name).write_bytes(content)
        yield error, folder / name


@pytest.mark.parametrize("name", SECRETS.values())
def test_faulty_file_is_a_one_line_error_of_the_doctor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    for error, path in list(faulty_files(tmp_path)):
        monkeypatch.setenv(f"{name}_FILE", str(path))
        done = CliRunner().invoke(app, ["doctor"])
        assert (done.exit_code, done.output) == (1, f"wrong  {name} must be in {path} ({name}_FILE), and {error}\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_unreadable_file_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("hunter2")
    path.chmod(0)
    monkeypatch.setenv("BUONGIOCO_DISCORD_TOKEN_FILE", str(path))
    with pytest.raises(BadSetting, match=r"this file cannot be read \(Permission denied\): give it to the bot's user"):
        read_settings()


def test_file_of_another_user_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The test raises the error itself, because root could read a real file."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setenv("BUONGIOCO_DISCORD_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(
        BadSetting, match=r"and this file cannot be read \(Permission denied\): give it to the bot's user"
    ):
        read_settings()


@pytest.mark.parametrize("name", SECRETS.values())
def test_secret_in_both_forms_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text(value_of(name))
    Path(".env").write_text(f"{name}={value_of(name)}\n")
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))
    with pytest.raises(BadSetting) as error:
        read_settings()
    assert str(error.value) == f"{name} must not be set together with {name}_FILE: remove one of them"


def test_wrong_secret_in_a_file_is_not_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "url").write_text("http://:hunter2@store\n")
    monkeypatch.setenv("REDIS_URL_FILE", str(tmp_path / "url"))
    with pytest.raises(BadSetting, match="REDIS_URL must begin with one of ") as error:
        read_settings()
    assert "hunter2" not in str(error.value)


def test_doctor_finds_secret_files_that_others_can_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("hunter2\n")
    settings = {
        "BUONGIOCO_DISCORD_TOKEN_FILE": str(path),
        "BUONGIOCO_DISCORD_API_URL": "http://127.0.0.1:1",
    }
    path.chmod(0o600)
    assert (
        f"ok     settings: BUONGIOCO_DISCORD_TOKEN_FILE is {path}\n"
        in run_command(tmp_path, "doctor", **settings).stdout
    )
    path.chmod(0o644)
    result = run_command(tmp_path, "doctor", **settings)
    assert (
        f"wrong  settings: others can read {path} (BUONGIOCO_DISCORD_TOKEN_FILE): run `chmod 600 {path}`\n"
        in result.stdout
    )
    assert "hunter2" not in result.stdout


def test_dropped_secrets_leave_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS.values():
        monkeypatch.setenv(name.lower(), value_of(name))
    monkeypatch.setenv("BUONGIOCO_DATA", "data")
    drop_secrets()
    assert not {name.upper() for name in os.environ} & set(SECRETS.values())
    assert os.environ["BUONGIOCO_DATA"] == "data"


def has_secret(pid: int) -> bool:
    """Return whether a process was started with a secret in its environment.

    A failed assertion prints only this answer, and not the rest of the environment.
    """
    return b"hunter2" in Path(f"/proc/{pid}/environ").read_bytes()


def descendants(pid: int) -> dict[int, str]:
    """Return the command lines of all processes below a process, by pid."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    values_by_pid: dict[int, str] = {}
    waiting = {pid}
    while waiting:
        waiting = {child for child, parent in parents.items() if parent in waiting} - set(values_by_pid)
        for child in waiting:
            values_by_pid[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
    return values_by_pid


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("form", [long("variable"), "file"])
async def test_child_processes_have_no_secrets(tmp_path: Path, form: str) -> None:
    token = tmp_path / "token"
    token.write_text("1:hunter2")
    tokens = (
        {"BUONGIOCO_TELEGRAM_TOKEN": "1:hunter2", "buongioco_discord_token": "hunter2"}
        if form == "variable"
        else {"BUONGIOCO_TELEGRAM_TOKEN_FILE": str(token)}
    )
    unreachable = "http://127.0.0.1:1"
    bot = Bot(tmp_path, BUONGIOCO_TELEGRAM_API_URL=unreachable, BUONGIOCO_DISCORD_API_URL=unreachable, **tokens)
    await bot.start()
    try:
        assert bot.process
        pid = bot.process.pid
        async with aiohttp.ClientSession() as session:
            await bot.wait_until_healthy(session)
            # The robot's first move starts a process that thinks.
            fields = {"game": "metamazzo", "robot": "strong", "key": "0123456789abcdef"}
            async with session.post(f"{bot.url}/play", data=fields, headers={"Origin": bot.url}) as answer:
                assert answer.status == 200
        await until(lambda: any("multiprocessing" in words for words in descendants(pid).values()))
        children = descendants(pid)
        for part in ("valkey-server", "valkey_guard.py", "multiprocessing"):
            assert any(part in words for words in children.values())
        for child, words in children.items():
            assert "hunter2" not in words
            assert not has_secret(child)
        # The files under /proc show a process's environment. The bot's own has the token.
        assert has_secret(pid) == (form == "variable")
        assert "1:hunter2" not in bot.log_tail()
    finally:
        await bot.kill()
        bot.kill_store()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_stores_of_commands_have_no_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands such as `backup` keep their environment, and start an embedded store if no bot runs."""
    monkeypatch.setenv("BUONGIOCO_TELEGRAM_TOKEN", "1:hunter2")
    embedded = EmbeddedStore(tmp_path / "data")
    await embedded.start()
    try:
        for process in (embedded._valkey, embedded._guard):
            assert process
            assert not has_secret(process.pid)
            assert "hunter2" not in str(process.args)
    finally:
        await embedded.stop()
