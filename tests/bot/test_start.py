"""Commands import only the modules that they use, because half of the packages serve one platform or feature."""

import re
import signal
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from tests.bot.command import environment
from tests.bot.test_run import BUONGIOCO
from tests.kills.bot_process import free_port

OPTIONAL = {"babel", "discord", "networkx", "numba", "numpy", "rich", "telegram", "valkey"}
"""Packages for a configured platform, a language other than English, Swiss rounds, strong robots or help texts."""


def parse_imports(errors: str) -> set[str]:
    """Return the imported modules and their packages, from the output of PYTHONPROFILEIMPORTTIME.

    Python also lists failed imports, so an optional package counts only if one of its submodules was imported.
    """
    names = set(re.findall(r"^import time: .*\| +(\S+)$", errors, re.MULTILINE))
    assert "bot.cli.main" in names
    return {name for name in names if name not in OPTIONAL} | {name.partition(".")[0] for name in names if "." in name}


def profile_imports(folder: Path, *arguments: str) -> set[str]:
    result = subprocess.run(
        [BUONGIOCO, *arguments],
        env=environment(folder, BUONGIOCO_PLAYGROUND_PORT="0", PYTHONPROFILEIMPORTTIME="1"),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return parse_imports(result.stderr)


def test_games_command_imports_only_games(tmp_path: Path) -> None:
    names = profile_imports(tmp_path, "games")
    unneeded = names & (OPTIONAL | {"aiohttp", "asyncio", "openskill", "prometheus_client", "redis", "structlog"})
    assert not unneeded, f"`buongioco games` imports {unneeded}: import them lazily"
    assert not {name for name in names if name.startswith(("adapters", "bot.store"))}


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["simulate", "--game", "testa"], ["doctor"]], ids=" ".join)
def test_other_commands_import_no_platform(arguments: list[str], tmp_path: Path) -> None:
    unneeded = profile_imports(tmp_path, *arguments) & (OPTIONAL - {"rich"})
    assert not unneeded, f"`buongioco {arguments[0]}` imports {unneeded}: import them lazily"


@pytest.mark.long
def test_run_imports_only_platforms_with_a_token(tmp_path: Path) -> None:
    port = free_port()
    with (tmp_path / "errors").open("w") as errors:
        bot = subprocess.Popen(
            [BUONGIOCO, "run"],
            env=environment(tmp_path, BUONGIOCO_PLAYGROUND_PORT=str(port), PYTHONPROFILEIMPORTTIME="1"),
            cwd=tmp_path,
            stderr=errors,
        )
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and bot.poll() is None:
                with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                    break
                time.sleep(0.05)
            bot.send_signal(signal.SIGTERM)
            assert bot.wait(20) == 0
        finally:
            bot.kill()
    names = parse_imports((tmp_path / "errors").read_text())
    assert "adapters.web.playground.adapter" in names
    assert not names & OPTIONAL
