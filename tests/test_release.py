"""The released wheel and the image's installation run without this checkout."""

import asyncio
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.bot.command import environment
from tests.kills.bot_process import free_port
from tests.paths import ROOT
from tests.test_container import PROJECT, find_instructions, read_pins

UV = Path(sys.executable).with_name("uv")
PACKAGES = ("engine", "bot", "adapters")
STEP_SECONDS = 180.0  # seconds allowed for each step of a released bot, also on a busy machine

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("release")]


def run_line(line: str, folder: Path) -> None:
    """Run a line of shell with uv. It uses the packages cached by `make setup`, or an index if they are missing."""
    own_environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    environment_ = {
        **own_environment,
        "PATH": f"{UV.parent}:{os.environ['PATH']}",
        "UV_PYTHON": sys.executable,
        "UV_VENV_CLEAR": "1",
    }
    command = ["sh", "-c", line]
    offline = {**environment_, "UV_OFFLINE": "1"}
    if subprocess.run(command, cwd=folder, env=offline, capture_output=True, check=False).returncode:
        subprocess.run(command, cwd=folder, env=environment_, check=True)


def run_build(folder: Path, *, mode: int) -> Path:
    """Run `make build` in a copy of the tracked files, and return the folder that it fills."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.rstrip("\0").split("\0"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
        (folder / name).chmod(mode)
    (folder / ".venv").symlink_to(UV.parents[1])
    run_line("SOURCE_DATE_EPOCH=1700000000 make --old-file=.venv/.ready build", folder)
    return folder / "build"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_build(tmp_path_factory.mktemp("first"), mode=0o644)


@pytest.fixture(scope="module")
def wheel(build: Path) -> Path:
    [wheel] = build.glob("buongioco-*.whl")
    return wheel


@pytest.fixture(scope="module")
def engine_wheel(build: Path) -> Path:
    [wheel] = build.glob("buongioco_engine-*.whl")
    return wheel


def test_two_builds_have_the_same_bytes(build: Path, tmp_path: Path) -> None:
    second = run_build(tmp_path, mode=0o600)
    names = {
        f"{package}-{PROJECT['version']}{suffix}"
        for package in ("buongioco", "buongioco_engine")
        for suffix in ("-py3-none-any.whl", ".tar.gz")
    }
    other_files = {"buongioco.cdx.json", "buongioco-engine.cdx.json", "SHA256SUMS"}
    assert {path.name for path in build.iterdir()} == names | other_files
    for path in build.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def test_build_lists_checksums(build: Path) -> None:
    files = [path for path in sorted(build.iterdir()) if path.name != "SHA256SUMS"]
    checksum_lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    assert (build / "SHA256SUMS").read_text(encoding="utf-8").splitlines() == checksum_lines


@pytest.mark.parametrize(
    ("name", "pins"), [("buongioco", "requirements-run.txt"), ("buongioco-engine", "requirements-engine.txt")]
)
def test_sbom_lists_pinned_packages(build: Path, name: str, pins: str) -> None:
    sbom = json.loads((build / f"{name}.cdx.json").read_bytes())
    assert sbom["bomFormat"] == "CycloneDX"
    component = sbom["metadata"]["component"]
    assert (component["name"], component["version"]) == (name, PROJECT["version"])
    pinned = {pin.partition(" ")[0] for pin in read_pins(pins)}
    assert {f"{component['name']}=={component['version']}" for component in sbom["components"]} == pinned


def install_wheel(folder: Path, wheel: Path) -> None:
    shutil.copy(ROOT / "requirements-run.txt", folder)
    run_line(
        "uv venv .venv && uv pip install --python .venv --require-hashes --requirement requirements-run.txt"
        f" && uv pip install --python .venv --no-deps {shlex.quote(str(wheel))}",
        folder,
    )


def install_image(folder: Path, _wheel: Path) -> None:
    """Install as the image's first stage does, with the Python of these tests."""
    for line in find_instructions("COPY"):
        *names, target = shlex.split(line)
        for name in names:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
            elif not name.startswith("--from="):
                shutil.copy(ROOT / name, folder / target)
            else:
                break
    run_line(find_instructions("RUN")[0], folder)


@pytest.fixture(scope="module", params=[install_wheel, install_image], ids=["wheel", "image"])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of installed commands in a new environment."""
    folder = tmp_path_factory.mktemp("installed")
    request.param(folder, wheel)
    return folder / ".venv" / "bin"


def clean_environment(folder: Path, **settings: str) -> dict[str, str]:
    own = environment(folder, PYTHONSAFEPATH="1", **settings)
    return {name: value for name, value in own.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}


def run_command(folder: Path, *command: str | Path, text: str = "") -> str:
    result = subprocess.run(
        command,
        cwd=folder,
        env=clean_environment(folder),
        input=text,
        capture_output=True,
        text=True,
        timeout=STEP_SECONDS,
        check=True,
    )
    return result.stdout


def find_package_files(package: str) -> set[str]:
    """Return a package's files, without those that only describe the engine's own distribution."""
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return files - {f"engine/{name}" for name in ("pyproject.toml", "README.md", "LICENSE")}


def test_wheel_has_exactly_the_package_files(wheel: Path) -> None:
    package_files = set().union(*map(find_package_files, PACKAGES))
    for suffix in (".po", ".lua", ".js", "py.typed"):
        assert any(name.endswith(suffix) for name in package_files)
    names = set(zipfile.ZipFile(wheel).namelist())
    metadata = f"buongioco-{PROJECT['version']}.dist-info/"
    assert {name for name in names if not name.startswith(metadata)} == package_files
    assert {metadata + name for name in ("METADATA", "entry_points.txt", "licenses/LICENSE")} <= names


def test_installed_package_runs_and_prints_its_version(installed: Path, tmp_path: Path) -> None:
    imports = "import engine, bot, adapters; print(engine.__file__, bot.__file__, adapters.__file__)"
    for path in run_command(tmp_path, installed / "python", "-c", imports).split():
        assert Path(path).is_relative_to(installed.parent)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert run_command(tmp_path, installed / "buongioco", "--version") == f"buongioco {version}\n"


def test_installed_game_commands_work(installed: Path, tmp_path: Path) -> None:
    assert "spades: Spades" in run_command(tmp_path, installed / "buongioco", "games")
    arguments = ("play", "--game", "metamazzo", "--robot", "strong", "--lang", "it")
    output = run_command(tmp_path, installed / "buongioco", *arguments, text="1\n" * 3 + "resign\n")
    assert "fa la presa" in output
    assert "Hai perso." in output


@pytest.fixture(scope="module")
def library(engine_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with the engine's wheel."""
    folder = tmp_path_factory.mktemp("library")
    run_line(
        f"uv venv .venv && uv pip install --python .venv --require-hashes --requirement {ROOT}/requirements-engine.txt"
        f" && uv pip install --python .venv --no-deps {engine_wheel}",
        folder,
    )
    return folder / ".venv" / "bin" / "python"


def test_engine_wheel_has_exactly_the_package_files(engine_wheel: Path) -> None:
    metadata = f"buongioco_engine-{PROJECT['version']}.dist-info/"
    names = {name for name in zipfile.ZipFile(engine_wheel).namelist() if not name.startswith(metadata)}
    assert names == {f"buongioco_{name}" for name in find_package_files("engine")}


def test_examples_of_the_readme_run_without_the_bot(library: Path, tmp_path: Path) -> None:
    assert run_command(tmp_path, library, "-m", "doctest", ROOT / "engine" / "README.md") == ""
    check = "import importlib.util as u; print([u.find_spec(name) for name in ('engine', 'bot', 'adapters', 'numba')])"
    assert run_command(tmp_path, library, "-c", check) == "[None, None, None, None]\n"


def test_every_module_of_the_library_can_be_imported(library: Path, tmp_path: Path) -> None:
    code = (
        "import buongioco_engine as e, importlib, pkgutil, sys\n"
        "for module in pkgutil.walk_packages(e.__path__, 'buongioco_engine.'): importlib.import_module(module.name)\n"
        "print(e.__version__, 'buongioco_engine.search.solver' in sys.modules)"
    )
    assert run_command(tmp_path, library, "-c", code) == f"{PROJECT['version']} True\n"


def test_library_is_typed(library: Path, tmp_path: Path) -> None:
    code = "import buongioco_engine\nreveal_type(buongioco_engine.Game('testa').turn)\n"
    (tmp_path / "user.py").write_text(code, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(library), "user.py"]
    result = subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'Revealed type is "int | None"' in result.stdout.replace("Union[int, None]", "int | None"), result.stdout


class Tab:
    """A client of the playground that keeps messages as a tab of its page does."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, hello: dict[str, Any]) -> None:
        self.socket = socket
        self.messages = {
            (chat, message["id"]): message for chat, messages in hello["messages"].items() for message in messages
        }
        self.request_count = 0

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = await self.socket.receive_json(timeout=STEP_SECONDS)
        if message["type"] == "message":
            self.messages[message["chat"], message["message"]["id"]] = message["message"]
        return message

    def texts(self, chat: str) -> list[str]:
        """Return the texts of the bot's messages in a chat."""
        messages = [
            message for (place, _), message in self.messages.items() if place == chat and message["by"] == "bot"
        ]
        return ["".join(span[0] for span in message["spans"]) for message in messages]

    async def ask(self, **request: Any) -> None:
        self.request_count += 1
        name = f"r{self.request_count:05}"
        await self.socket.send_json({"n": name, "as": "1", **request})
        while (answer := await self.receive()).get("n") != name:
            pass
        assert (answer["type"], answer["toast"]) == ("done", "")

    async def press(self, prefix: str) -> str:
        """Wait for a button with a payload that starts with ``prefix``, press it, and return the payload."""
        while True:
            for (chat, number), message in self.messages.items():
                for button in (button for row in message.get("rows", ()) for button in row):
                    if re.match(prefix, button["payload"]):
                        await self.ask(do="press", chat=chat, message=number, payload=button["payload"])
                        return str(button["payload"])
            await self.receive()


@asynccontextmanager
async def run_bot(installed: Path, folder: Path, port: int) -> AsyncIterator[aiohttp.ClientSession]:
    """Start the bot, wait until it is healthy, and check at the end that it stops cleanly."""
    bot = await asyncio.create_subprocess_exec(
        installed / "buongioco", "run", cwd=folder, env=clean_environment(folder, BUONGIOCO_PLAYGROUND_PORT=str(port))
    )
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}/") as session, asyncio.timeout(2 * STEP_SECONDS):
            healthy = False
            while not healthy:
                assert bot.returncode is None
                with suppress(aiohttp.ClientError):
                    async with session.get("healthz") as answer:
                        healthy = answer.status == 200
                await asyncio.sleep(0.05)
            yield session
        bot.send_signal(signal.SIGTERM)
        assert await bot.wait() == 0
    finally:
        if bot.returncode is None:
            bot.kill()
            await bot.wait()


async def test_button_in_the_playground_plays_a_card(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    async with run_bot(installed, tmp_path, port) as session:
        check = await asyncio.create_subprocess_exec(
            *json.loads(find_instructions("HEALTHCHECK")[0].partition("CMD ")[2]),
            cwd=tmp_path,
            env={
                **clean_environment(tmp_path, BUONGIOCO_PLAYGROUND_PORT=str(port)),
                "PATH": f"{installed}:{os.environ['PATH']}",
            },
        )
        assert await check.wait() == 0
        for page in ("/", "/chat"):
            async with session.get(page) as answer:
                assert answer.status == 200
                assets = re.findall(r'(?:src|href)="(/[^"]+[.](?:js|css|svg))"', await answer.text())
            assert assets
            for asset in assets:
                async with session.get(asset) as answer:
                    assert answer.status == 200, asset
        origin = {"Origin": f"http://127.0.0.1:{port}"}
        async with session.ws_connect("ws", headers=origin, max_msg_size=0) as line:
            tab = Tab(line, await line.receive_json(timeout=STEP_SECONDS))
            await tab.ask(do="say", chat="1", text="/challenge metamazzo")
            await tab.press(r"1t\w+:menu robot")
            await tab.press(r"1t\w+:robot")
            await tab.press(r"1m\w+:\d+:play ")
            # The board shows the card to the group.
            while not any(re.search(r"Previous trick:.*Anna", text) for text in tab.texts("1")):
                await tab.receive()
