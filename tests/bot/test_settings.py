"""Settings and the doctor: each error is one clear line that says what to do."""

import asyncio
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.cluster import LocalCluster
from bot.cli import main as cli
from bot.settings import NOTHING_TO_RUN, BadSetting, variable_names
from bot.settings_reader import read_settings
from bot.store import EmbeddedStore, open_store
from tests.kills.bot_process import free_port
from tests.paths import ROOT

pytestmark = pytest.mark.usefixtures("no_settings")


def run_doctor() -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, ["doctor"])
    return result.exit_code, result.output


def test_default_settings_use_the_data_folder_of_the_user(tmp_path: Path) -> None:
    settings = read_settings()
    assert settings.data == tmp_path / "xdg" / "buongioco"
    assert settings.redis_url is None


def test_environment_overrides_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BUONGIOCO_DATA=/from/file\nREDIS_URL=redis://file:1\nOTHER=1\n")
    assert read_settings().data == Path("/from/file")
    monkeypatch.setenv("BUONGIOCO_DATA", "~/mine")
    assert read_settings().data == Path.home() / "mine"
    assert read_settings().redis_url == "redis://file:1"


def test_empty_data_folder_means_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BUONGIOCO_DATA", "")
    assert read_settings().data == tmp_path / "xdg" / "buongioco"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("BUONGIOCO_TIME_ZONE", "Europe", "must be a time zone's name, such as "),
        ("BUONGIOCO_TIME_ZONE", "x" * 1000, "must be a time zone's name, such as "),
        ("BUONGIOCO_TIME_ZONE", "Mars/Rome", "must be a time zone's name, such as "),
        ("BUONGIOCO_DATA", "~nobodyxx/cards", "must be a folder; this machine has no user with the name "),
    ],
)
def test_unknown_time_zone_or_user_is_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, line: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSetting, match=f"^{name} {line}"):
        read_settings()


WEBHOOK, API = "BUONGIOCO_TELEGRAM_WEBHOOK_URL", "BUONGIOCO_TELEGRAM_API_URL"
REACHABLE = "must be an address that Telegram can reach"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        (WEBHOOK, "http://cards.example.org/telegram", "must begin with https://, because Telegram requires it"),
        (WEBHOOK, "https://cards.example.org:8444/telegram", "must have port 443, 80, 88 or 8443, because Telegram "),
        (WEBHOOK, "https://cards.example.org:99999/telegram", REACHABLE),
        (WEBHOOK, "https://cards.example.org:x/telegram", REACHABLE),
        (WEBHOOK, "https://cards.example.org/telegram#x", REACHABLE),
        (WEBHOOK, "https://me@cards.example.org/telegram", REACHABLE),
        (WEBHOOK, "https://cards example.org/telegram", REACHABLE),
        (WEBHOOK, "https:///telegram", REACHABLE),
        (WEBHOOK, "https://[cards/telegram", REACHABLE),
        (WEBHOOK, "https://localhost/telegram", REACHABLE),
        (WEBHOOK, "https://192.168.1.7:8443/telegram", REACHABLE),
        (WEBHOOK, "https://[2001:4860:4860::8888]/telegram", REACHABLE),
        (API, "http://api.telegram.org", "must begin with https://, because api.telegram.org gets "),
        (API, "http://127.0.0.1:99999", "must be the address of a server"),
        (API, "127.0.0.1:8081", "must be the address of a server"),
        ("BUONGIOCO_DISCORD_API_URL", "http://discord.com/api/v10", "must begin with https://, because discord.com "),
        ("BUONGIOCO_PUBLIC_URL", "https://cards.example.org:99999", "must be the address of a site"),
        ("BUONGIOCO_PUBLIC_URL", "https://[cards", "must be the address of a site"),
        ("BUONGIOCO_TELEGRAM_WEBHOOK_HOST", "http://0.0.0.0", "must be an address of this machine"),
        ("BUONGIOCO_TELEGRAM_WEBHOOK_HOST", "0.0.0.0:8443", "must be an address of this machine"),
        ("BUONGIOCO_PLAYGROUND_HOST", "[::1]", "must be an address of this machine"),
        ("BUONGIOCO_MONITORING_HOST", "http://0.0.0.0", "must be an address of this machine"),
    ],
)
def test_wrong_address_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch, name: str, value: str, line: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSetting, match=f"^{name} {re.escape(line)}[^\n]*$"):
        read_settings()
    code, output = run_doctor()
    assert (code, output.startswith(f"wrong  {name} {line}"), len(output.splitlines())) == (1, True, 1)


@pytest.mark.parametrize(
    ("api", "webhook"),
    [
        ("https://api.telegram.org", "https://cards.example.org/telegram"),
        ("https://api.telegram.org", "https://cards.example.org:8443/telegram?x=1"),
        ("https://api.telegram.org", "https://8.8.8.8:88"),
        ("https://api.telegram.org", ""),
        # A local Bot API server takes any address if it runs with --local.
        ("http://127.0.0.1:8081", "http://127.0.0.1:9000/telegram"),
        ("http://bot-api:8081", "http://buongioco:9000/telegram"),
    ],
)
def test_valid_webhook_is_accepted(monkeypatch: pytest.MonkeyPatch, api: str, webhook: str) -> None:
    monkeypatch.setenv(API, api)
    monkeypatch.setenv(WEBHOOK, webhook)
    assert read_settings().telegram_webhook_url == (webhook or None)


def test_misspelt_setting_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_DTA", "/x")
    with pytest.raises(BadSetting, match="BUONGIOCO_DTA is not a setting; did you mean BUONGIOCO_DATA"):
        read_settings()
    assert run_doctor() == (1, "wrong  BUONGIOCO_DTA is not a setting; did you mean BUONGIOCO_DATA?\n")


def test_misspelt_settings_in_the_file_are_reported(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "VALKEY_PASSWORD=hunter2\nOTHER=hunter2\n\n# a remark\nBUONGIOCO_TELEGRAM_TOKN=hunter2\n"
        "export buongioco_forgetafter=hunter2\nBUONGICO_DATA=hunter2\nREDIS_ULR=hunter2\n"
        "BUONGIOCO_PLAYGROUND_PORT=abc\n"
    )
    code, output = run_doctor()
    assert code == 1
    assert output.splitlines() == [
        f"wrong  BUONGIOCO_TELEGRAM_TOKN (line 5 of {file}) is not a setting; did you mean BUONGIOCO_TELEGRAM_TOKEN?",
        f"wrong  buongioco_forgetafter (line 6 of {file}) is not a setting; did you mean BUONGIOCO_FORGET_AFTER?",
        f"wrong  BUONGICO_DATA (line 7 of {file}) is not a setting; did you mean BUONGIOCO_DATA?",
        f"wrong  REDIS_ULR (line 8 of {file}) is not a setting; did you mean REDIS_URL?",
        "wrong  BUONGIOCO_PLAYGROUND_PORT must be a whole number from 0 to 65535; it is 'abc'",
    ]


def test_env_file_with_bom_or_env_folder_is_accepted(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfBUONGIOCO_DATA=/from/file\n")
    assert read_settings().data == Path("/from/file")
    (tmp_path / ".env").unlink()
    (tmp_path / ".env").mkdir()
    assert read_settings().data == tmp_path / "xdg" / "buongioco"


def test_each_unreadable_line_of_the_file_is_one_error_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".env"
    file.write_text("\nBUONGIOCO_DATA=x\n\n\nhello hunter2\nhunter2\nREDIS_URL='redis://hunter2\nA: hunter2\n")
    code, out = run_doctor()
    assert code == 1
    assert out.splitlines() == [
        f"wrong  Line {line} of {file} cannot be read: write NAME=value and close all quotes." for line in (5, 6, 7, 8)
    ]
    assert capfd.readouterr().err == ""


@pytest.fixture
def without_root() -> Iterator[None]:
    """Run as a user without root's access to all files."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.parametrize("command", ["run", "tables", "doctor", "link", "export"])
def test_unreadable_env_file_is_a_one_line_error(tmp_path: Path, command: str, request: pytest.FixtureRequest) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"BUONGIOCO_DATA=\xff\xfehunter2\n")
    done = CliRunner().invoke(cli.app, [command])
    assert done.exit_code in (1, 2)
    [line] = done.output.splitlines()
    assert line.endswith(f"{file} cannot be read: save it as UTF-8 text.")
    tmp_path.chmod(0o755)
    file.chmod(0)
    request.getfixturevalue("without_root")
    done = CliRunner().invoke(cli.app, [command])
    assert done.exit_code in (1, 2)
    [line] = done.output.splitlines()
    assert line.endswith(f"{file} cannot be read (Permission denied): give it to the bot's user, chmod 600.")


@pytest.mark.parametrize(
    "arguments",
    [["tables"], ["backup", "b.gz"], ["export"], ["archive", "--older-than=1d", "--out=old.jsonl"], ["rebuild"]],
)
def test_data_folder_of_another_user_is_a_one_line_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], request: pytest.FixtureRequest
) -> None:
    """Often the bot has its own user, and hosts run commands as another one."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0)
    tmp_path.chmod(0o755)
    monkeypatch.setenv("BUONGIOCO_DATA", str(folder))
    request.getfixturevalue("without_root")
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 2
    assert done.output == (
        f"buongioco: The data folder {folder} cannot be read (Permission denied): run this as the bot's user.\n"
    )


def test_wrong_store_url_hides_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "http://me:hunter2@host")
    code, out = run_doctor()
    assert code == 1
    assert out.startswith("wrong  REDIS_URL must begin with one of redis://, rediss://")
    assert len(out.splitlines()) == 1
    monkeypatch.setenv("REDIS_URL", "redis://me:hunter2@127.0.0.1:1/0")
    code, output = run_doctor()
    assert code == 1
    assert "cannot be reached" in output
    assert "hunter2" not in out + output


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2/x@127.0.0.1:6379/0",
        "redis://me:2222/hunter2@127.0.0.1",
        "redis://me:2222?hunter2@127.0.0.1",
        "redis://me:2222#hunter2@127.0.0.1",
        "redis+cluster://:hunter2#x@127.0.0.1",
        "unix://:hunter2/x@/run/valkey.sock",
        "redis://:hunter2@[127.0.0.1",
        "redis://:hunter2\u2100@127.0.0.1",
        "redis://127.0.0.1:abc/0",
        "redis://127.0.0.1:99999",
        "redis://127.0.0.1?db=x",
        "redis://127.0.0.1?hunter2=1",
        "redis+cluster://127.0.0.1?hunter2=1",
        "redis+cluster://127.0.0.1/1",
    ],
)
def test_unparsable_store_url_is_not_printed(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    code, out = run_doctor()
    assert code == 1
    assert out == (
        "wrong  REDIS_URL must be the address of a store, such as redis://127.0.0.1:6379/0; write / # ? @ in a password "
        "as %2F %23 %3F %40\n"
    )


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://me:a%2Fb%23c%3Fd%40e@127.0.0.1/1", "at 127.0.0.1:6379"),
        ("rediss://:x@cards.example.org:7000?ssl_cert_reqs=none", "at cards.example.org:7000"),
        ("unix://me:x@/run/valkey.sock?db=1", "at /run/valkey.sock"),
        ("redis+cluster://127.0.0.1:7000", "at 127.0.0.1:7000"),
    ],
)
def test_store_location_hides_the_password(monkeypatch: pytest.MonkeyPatch, url: str, place: str) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    settings = read_settings()
    assert (settings.redis_url, settings.store_location) == (url, place)


def test_each_wrong_setting_is_one_error_line_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_settings = {
        "BUONGIOCO_PLAYGROUND_PORT": ("abc", "must be a whole number from 0 to 65535; it is 'abc'"),
        "BUONGIOCO_STORE_REPLICAS": ("9", "must be a whole number from 0 to 5; it is '9'"),
        "BUONGIOCO_PLAYGROUND": ("perhaps", "must be true or false; it is 'perhaps'"),
        "BUONGIOCO_LOG_LEVEL": ("loud", "must be one of debug, info, warning, error; it is 'loud'"),
        "BUONGIOCO_DISCORD_SHARDS": (
            "4/2",
            "must name shards below 2 in ascending order, because they count from 0; it is '4/2'",
        ),
        "BUONGIOCO_FORGET_AFTER": ("x" * 500, f"must be a number of days, such as 730d; it is '{'x' * 60}…'"),
        "BUONGIOCO_PUBLIC_URL": ("https://x:port", "must be the address of a site, such as "),
        "BUONGIOCO_TELEGRAM_TOKEN": ("1:hunter2 x", "must be a token without spaces: copy it again\n"),
        "BUONGIOCO_TELEGRAM_API_URL": ("ftp://me:hunter2@x", "must be the address of a server, such as "),
        "REDIS_URL": ("http://:hunter2@x", "must begin with one of redis://, "),
    }
    for name, (value, _) in wrong_settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("BUONGIOCO_PLAYGROUND_PROT", "1")
    code, out = run_doctor()
    assert code == 1
    for name, (_, line) in wrong_settings.items():
        assert f"wrong  {name} {line}" in out
    assert "wrong  BUONGIOCO_PLAYGROUND_PROT is not a setting; did you mean BUONGIOCO_PLAYGROUND_PORT?" in out
    assert len(out.splitlines()) == len(wrong_settings) + 1
    assert "hunter2" not in out

    # Other commands report the errors too.
    for command in ("run", "tables"):
        done = CliRunner().invoke(cli.app, [command])
        assert done.exit_code == 2
        assert [line.removeprefix("buongioco: ") for line in done.stderr.splitlines()] == [
            line.removeprefix("wrong  ") for line in out.splitlines()
        ]


def test_doctor_tries_a_new_store_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "xdg" / "buongioco"
    code, out = run_doctor()
    assert code == 0
    assert f"ok     settings: an embedded store in {folder}" in out
    assert f"ok     store: there is none in {folder} yet; the bot creates it when it starts" in out
    assert "ok     store: answers, version" in out
    assert "ok     store: writes an append-only file" in out
    assert "ok     store: writes moves to disk before they are answered" in out
    assert not folder.parent.exists()


async def test_doctor_changes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    monkeypatch.setenv("BUONGIOCO_DATA", str(folder))
    embedded = EmbeddedStore(folder)
    await embedded.start()
    await embedded.stop()
    code, out = await asyncio.to_thread(run_doctor)
    assert code == 0
    assert "ok     store: its folder is its owner's alone\n" in out
    assert "ok     store: answers, version" in out
    folder.chmod(0o755)
    code, out = await asyncio.to_thread(run_doctor)
    assert code == 1
    assert f"wrong  store: others can read the data folder {folder}: run `chmod 700 {folder}`" in out
    assert folder.stat().st_mode & 0o777 == 0o755
    site = tmp_path / "site"
    site.mkdir(mode=0o755)
    (site / "index.html").write_text("Hello")
    monkeypatch.setenv("BUONGIOCO_DATA", str(site))
    code, out = await asyncio.to_thread(run_doctor)
    assert code == 1
    assert f"wrong  store: The data folder {site} has other things in it (index.html): name a folder of its own" in out
    assert site.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in site.iterdir()] == ["index.html"]


def test_doctor_checks_the_playground_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("BUONGIOCO_PLAYGROUND_PORT", str(port))
        threading.Thread(target=_answer_one_request, args=[server], daemon=True).start()
        code, out = run_doctor()
        assert code == 1
        assert f"wrong  playground: another program listens on 127.0.0.1, port {port}: end it, or set" in out
    assert f"ok     playground: http://127.0.0.1:{port}/, and the port is free" in run_doctor()[1]
    monkeypatch.setenv("BUONGIOCO_PLAYGROUND_HOST", "192.0.2.1")
    code, out = run_doctor()
    assert code == 1
    assert f"wrong  playground: it cannot listen on 192.0.2.1, port {port} (" in out


def _answer_one_request(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"healthy":true}')


async def test_doctor_finds_wrong_store_settings(embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", embedded.url)
    async with open_store(embedded.url) as store:
        await store.client.config_set("appendfsync", "everysec")
        await store.client.config_set("maxmemory", "100mb")
        await store.client.config_set("maxmemory-policy", "allkeys-lru")
        code, out = await asyncio.to_thread(run_doctor)
        assert code == 1
        assert "wrong  store: a power cut loses moves that were answered: set appendfsync always" in out
        assert "set maxmemory-policy noeviction" in out
        await store.client.config_set("appendonly", "no")
        await store.client.config_set("appendfsync", "always")
    code, out = await asyncio.to_thread(run_doctor)
    assert code == 1
    assert "wrong  store: it writes no append-only file" in out
    assert "on disk before they are answered" not in out, "the store has no file, so moves are not on disk"


async def test_doctor_reports_refused_config(embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_store(embedded.url) as store:
        await store.client.execute_command("ACL", "SETUSER", "host", "on", ">hunter2", "~*", "&*", "+@all", "-config")
    monkeypatch.setenv("REDIS_URL", embedded.url.replace("unix://", "unix://host:hunter2@"))
    code, out = await asyncio.to_thread(run_doctor)
    assert code == 0, out
    assert "ok     store: it refuses CONFIG, so check yourself that appendfsync is always" in out
    assert "hunter2" not in out


@pytest.mark.xdist_group("cluster")
async def test_doctor_checks_every_cluster_node(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    await asyncio.to_thread(cluster.clear)
    monkeypatch.setenv("REDIS_URL", cluster.url)
    for node in cluster.nodes[1:]:
        node.ask("CONFIG SET", "appendfsync", "always")
    try:
        code, out = await asyncio.to_thread(run_doctor)
        assert code == 1
        assert "wrong  store: a power cut loses moves that were answered: set appendfsync always" in out
        cluster.nodes[0].ask("CONFIG SET", "appendfsync", "always")
        code, out = await asyncio.to_thread(run_doctor)
        assert code == 0, out
        assert "ok     store: writes moves to disk before they are answered" in out
    finally:
        for node in cluster.nodes:
            node.ask("CONFIG SET", "appendfsync", "no")


async def test_doctor_reports_a_replica(embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_store(embedded.url) as store:
        await store.client.replicaof("127.0.0.1", free_port())
    monkeypatch.setenv("REDIS_URL", embedded.url)
    code, out = await asyncio.to_thread(run_doctor)
    assert code == 1
    assert "wrong  store: this is a replica, which takes no moves: REDIS_URL must name the primary\n" in out


def test_doctor_reports_nothing_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_PLAYGROUND", "false")
    code, out = run_doctor()
    assert code == 1
    assert [line for line in out.splitlines() if line.startswith("wrong")] == [f"wrong  {NOTHING_TO_RUN}"]
    monkeypatch.setenv("BUONGIOCO_DISCORD_TOKEN", "secret")
    monkeypatch.setenv("BUONGIOCO_DISCORD_API_URL", "http://127.0.0.1:1/api")
    assert NOTHING_TO_RUN not in run_doctor()[1]


def test_env_example_lists_exactly_the_settings() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    listed = re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE)
    assert listed == [*variable_names(), "VALKEY_PASSWORD", "BOT_IMAGE"], (
        ".env.example must list the settings of bot/settings.py"
    )
