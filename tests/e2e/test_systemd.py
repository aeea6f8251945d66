"""The bot under the system calls that its unit in dist/systemd permits."""

import sys
from pathlib import Path

import aiohttp
import pytest

from bot.store import EmbeddedStore
from tests.browser import find_tool
from tests.confined import permitted_calls
from tests.e2e.program import play_a_robot
from tests.kills.bot_process import Bot
from tests.paths import ROOT

UNIT = ROOT / "dist" / "systemd" / "buongioco.service"


class ConfinedBot(Bot):
    command = (sys.executable, "-m", "tests.confined", UNIT, *Bot.command)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is part of Linux")
async def test_bot_plays_with_the_permitted_system_calls(tmp_path: Path) -> None:
    find_tool("systemd-analyze", package="systemd")
    assert {"execve", "fsync"} <= permitted_calls(UNIT.read_text())
    assert not {"chown", "mount", "ptrace", "bpf"} & permitted_calls(UNIT.read_text())
    bot = ConfinedBot(tmp_path, PYTHONPATH=str(ROOT))
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await bot.wait_until_healthy(session)
            assert bot.process
            assert "Seccomp:\t2" in Path(f"/proc/{bot.process.pid}/status").read_text()
            # A strong robot compiles its searches in a process with a lower priority.
            await play_a_robot(bot, EmbeddedStore(tmp_path / "data").url, session, "strong")
            await bot.stop()
            log = (tmp_path / "bot.log").read_text()
            faults = ('"level": "error"', "process_died", "not permitted")
            assert not [line for line in log.splitlines() if any(fault in line for fault in faults)]
        finally:
            await bot.kill()
            bot.kill_store()
