"""Dockerfile and compose.yaml name only paths, commands, settings and ports that exist."""

import asyncio
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as StoreConnectionError

from bot.cli.main import app
from bot.settings import PREFIX, Settings, variable_names
from bot.settings_reader import read_settings
from bot.store.embedded import server_path
from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRIPTS = PROJECT["scripts"]
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def read_instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions in order, without comments and with continued lines joined."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    instructions = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in instructions]


def find_instructions(keyword: str) -> list[str]:
    return [arguments for instruction, arguments in read_instructions() if instruction == keyword]


def load_compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def fill_password(text: str) -> str:
    """Fill in the password as compose does. Without a password, compose explains what to do and exits."""
    return re.sub(r"\$\{VALKEY_PASSWORD:\?set VALKEY_PASSWORD in \.env[^}]*\}", "secret", text)


def test_every_instruction_is_covered_by_these_tests() -> None:
    covered = {"FROM", "COPY", "WORKDIR", "ENV", "RUN", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL"}
    assert {name for name, _ in read_instructions()} == covered | {"ENTRYPOINT", "CMD"}


def test_two_stages_use_a_supported_python() -> None:
    # `make pins` adds digests.
    bases = [re.sub("@sha256:[0-9a-f]{64}", "", base) for base in find_instructions("FROM")]
    assert bases == ["python:3.13-slim AS build", "python:3.13-slim"]
    assert "Programming Language :: Python :: 3.13" in PROJECT["classifiers"]


def test_copied_files_exist_and_are_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    copied = []
    for line in find_instructions("COPY"):
        arguments = shlex.split(line)
        if arguments[0].startswith("--from="):
            continue
        copied += arguments[:-1]
    for name in copied:
        assert (ROOT / name).exists(), f"Dockerfile copies {name}, which does not exist"
        assert f"!{name}" in ignored, f".dockerignore excludes {name}, which the Dockerfile copies: add !{name}"
    # All packages of the wheel, and all files that pyproject.toml needs for a build.
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*packages["packages"], "pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]}
    assert needed <= set(copied), f"Dockerfile must copy {needed - set(copied)}"
    assert [line for line in find_instructions("COPY") if line.startswith("--from")] == [
        "--from=build /app/.venv /app/.venv",
    ]
    assert find_instructions("WORKDIR") == ["/app", "/home/buongioco"]


def read_pins(name: str) -> dict[str, list[str]]:
    """Return the pins of a file with their hashes. A pin for some platforms has its condition in its name."""
    text = re.sub(r" \\\n", " ", (ROOT / name).read_text())
    requirement_lines = [line.partition(" --hash=") for line in text.splitlines() if line and not line.startswith("#")]
    return {pin.strip(): re.findall(r"sha256:[0-9a-f]{64}\b", hashes) for pin, _, hashes in requirement_lines}


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-run.txt", "requirements-engine.txt", "requirements-uv.txt"]
)
def test_pins_have_one_version_and_hashes_and_name_no_index(name: str) -> None:
    pins = read_pins(name)
    for pin, hashes in pins.items():
        assert re.match(r"[a-z0-9][a-z0-9-]*==[^ ]+( ; .*)?$", pin), f"{name} does not pin one version: {pin}"
        assert hashes, f"{name} has no hash for {pin}"
    assert "://" not in (ROOT / name).read_text()
    pinned = {pin.partition("==")[0] for pin in pins}
    for dependency in {"requirements-uv.txt": ["uv"], "requirements-engine.txt": ["pydantic"]}.get(
        name, PROJECT["dependencies"]
    ):
        # Pins use the index's names, with dashes instead of dots.
        package = re.split(r"[\[>=<;]", dependency)[0].strip().lower().replace(".", "-")
        assert package in pinned, f"{name} has no pin for {package}"


def test_installed_files_are_checked_by_hash() -> None:
    [build, user] = find_instructions("RUN")
    assert "--require-hashes --requirement requirements-run.txt" in build
    # The package itself comes last, with pinned build requirements and no dependencies.
    assert build.rstrip().endswith("--no-deps --build-constraint requirements.txt .")
    assert any(pin.startswith("hatchling==") for pin in read_pins("requirements.txt"))
    # The image has the tested versions.
    assert set(read_pins("requirements-run.txt")) <= set(read_pins("requirements.txt"))
    assert not {pin for pin in read_pins("requirements-run.txt") if pin.startswith(("pytest", "mypy", "playwright"))}
    assert "/app/.venv" in " ".join(find_instructions("COPY"))
    assert "install -d -o buongioco -g buongioco /data" in user
    make = (ROOT / "Makefile").read_text()
    assert "--require-hashes --requirement requirements-uv.txt --requirement requirements.txt" in make


def test_packages_that_break_at_a_major_have_an_upper_bound() -> None:
    fast = PROJECT["optional-dependencies"]["fast"]
    unbounded = [
        dependency for dependency in [*PROJECT["dependencies"], *fast] if "<" not in dependency.partition(";")[0]
    ]
    # These two use calendar versions.
    assert [re.split(r"[\[>=<;]", dependency)[0] for dependency in unbounded] == ["tzdata", "structlog"], (
        "pyproject.toml: bound the next major version of each dependency"
    )


def test_environment_has_only_settings_and_uses_the_volume() -> None:
    environment = dict(
        assignment.split("=", 1) for line in find_instructions("ENV") for assignment in shlex.split(line)
    )
    own_settings = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    assert set(own_settings) <= set(variable_names()), "Dockerfile sets a variable that is not a setting"
    assert find_instructions("VOLUME") == [own_settings["BUONGIOCO_DATA"]]
    assert find_instructions("EXPOSE") == [own_settings["BUONGIOCO_PLAYGROUND_PORT"]]
    assert int(own_settings["BUONGIOCO_PLAYGROUND_PORT"]) == Settings.model_fields["playground_port"].default
    assert own_settings["BUONGIOCO_PLAYGROUND_HOST"] == "0.0.0.0"  # noqa: S104
    assert environment["PATH"].startswith("/app/.venv/bin:")


def test_commands_in_the_image_exist() -> None:
    [entry], [command] = find_instructions("ENTRYPOINT"), find_instructions("CMD")
    assert yaml.safe_load(entry) == ["buongioco"]
    assert "buongioco" in SCRIPTS
    assert set(yaml.safe_load(command)) <= COMMANDS
    check = find_instructions("HEALTHCHECK")[0].partition("CMD ")[2]
    python, _m, module = yaml.safe_load(check)
    assert python == "python"
    assert find_spec(module)
    assert find_instructions("STOPSIGNAL") == ["SIGTERM"]
    assert find_instructions("USER") == ["buongioco"]


def test_compose_names_existing_settings_ports_and_volumes() -> None:
    services = load_compose()["services"]
    bot, valkey = services["bot"], services["valkey"]
    assert set(bot["environment"]) <= set(variable_names())
    assert (ROOT / bot["build"] / "Dockerfile").exists()
    assert [entry["path"] for entry in bot["env_file"]] == [".env"]
    assert (ROOT / ".env.example").exists()
    assert fill_password(bot["environment"]["REDIS_URL"]) == "redis://:secret@valkey:6379/0"
    [port] = bot["ports"]
    assert port == f"127.0.0.1:{find_instructions('EXPOSE')[0]}:{find_instructions('EXPOSE')[0]}"
    assert [volume.split(":")[1] for volume in bot["volumes"]] == find_instructions("VOLUME")
    used = {volume.split(":")[0] for service in (bot, valkey) for volume in service["volumes"]}
    assert used == set(load_compose()["volumes"])
    assert set(bot["depends_on"]) <= set(services)
    assert int(bot["stop_grace_period"].removesuffix("s")) > 5


def test_bot_accepts_what_compose_reads_from_its_env_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compose passes all of `.env` to the bot, which refuses unknown settings."""
    names = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    assert names == {"BOT_IMAGE", "VALKEY_PASSWORD"}
    lines = [f"{name}=letters" for name in sorted(names)]
    assert all(f"#{name}=" in (ROOT / ".env.example").read_text() for name in names)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("\n".join(lines))
    read_settings(dict(line.split("=") for line in lines))


def test_both_services_are_confined() -> None:
    services = load_compose()["services"]
    for service in services.values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"] is True
        assert service["mem_limit"]
        assert service["pids_limit"]
        assert service["restart"] == "unless-stopped"
    # Each writes only to its volume, and neither runs as root.
    assert services["valkey"]["user"] == "valkey"
    assert find_instructions("USER") == ["buongioco"]
    # The store has no port on the network, and its clients need the password.
    assert "ports" not in services["valkey"]


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a path short enough for a socket on any system."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        yield Path(folder)


async def test_store_accepts_its_settings(tmp_path: Path, short_folder: Path) -> None:
    """The command of the service starts the tests' Valkey with settings that `buongioco doctor` accepts."""
    valkey = load_compose()["services"]["valkey"]
    shell, option, script = valkey["command"]
    path = short_folder / "s"
    # compose turns $$ into $. These arguments replace an address and a folder that only the image has.
    server = shlex.join([str(server_path()), "-", "--port", "0", "--unixsocket", str(path), "--dir", str(tmp_path)])
    script = script.replace("valkey-server -", server).replace("$$", "$")
    process = await asyncio.create_subprocess_exec(
        shell,
        option,
        script,
        env={name: fill_password(value) for name, value in valkey["environment"].items()},
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        client = Redis.from_url(f"unix://:secret@{path}")
        while not path.exists():
            assert process.returncode is None
            await asyncio.sleep(0.02)
        settings = await client.config_get()
        assert settings["appendonly"] == "yes"
        assert settings["appendfsync"] == "always"
        assert settings["maxmemory-policy"] == "noeviction"
        assert 0 < int(str(settings["maxmemory"])) <= 2**30 // 2
        with pytest.raises(StoreConnectionError, match="authenticated"):
            await Redis.from_url(f"unix://{path}").ping()
        await client.aclose()
    finally:
        process.kill()
        await process.wait()


def test_password_of_the_store_is_in_no_argument() -> None:
    words = load_compose()["services"]["valkey"]["command"]
    assert [word for word in words if fill_password(word) != word or "VALKEY_PASSWORD" in word] == []


@pytest.mark.parametrize(
    "name", ["README.md", *(f"docs/hosting{page}.md" for page in ("", "-configure", "-operate", "-reference"))]
)
def test_documented_commands_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    for command in re.findall(
        r"(?<!-Hu )buongioco (?!run\b)([a-z]+)\b", "\n".join(re.findall(r"^    .*$|`[^`]+`", text, re.M))
    ):
        assert command in COMMANDS, f"{name} names the command {command}, which does not exist"
