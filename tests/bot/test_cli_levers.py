"""The host's levers on the command line, also beside a running bot."""

import asyncio
from pathlib import Path

import pytest

from bot.store import EmbeddedStore, open_store
from tests.bot.command import run_command
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker

pytestmark = pytest.mark.usefixtures("no_settings")


async def run(folder: Path, *words: str, code: int = 0) -> str:
    answer = await asyncio.to_thread(run_command, folder, *words, SUDO_USER="rita")
    assert answer.returncode == code, answer.stderr
    return answer.stdout + answer.stderr


async def test_ban_reaches_a_running_bot_and_is_logged(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            anna = Player(worker, fake, "Anna", 1)
            await anna.say("/challenge testa")
            output = await run(tmp_path, "ban", "paper:1", "--reason", "insults")
            assert output == "Anna (paper:1) is banned without end.\n"
            await worker.store.levers.refresh()
            assert (await anna.say("/challenge")).toast.startswith("You’re banned")
            listed = await run(tmp_path, "bans")
            assert "without end                 Anna (paper:1)  insults\n1 ban\n" in listed
            assert await run(tmp_path, "unban", "paper:1") == "Anna (paper:1) is no longer banned.\n"
            await worker.store.levers.refresh()
            assert not (await anna.say("/tables")).toast.startswith("You’re banned")
            assert "paper:1 is not banned" in await run(tmp_path, "unban", "paper:1", code=2)
            unban, ban, count = (await run(tmp_path, "levers")).splitlines()
            assert count == "2 lines"
            assert unban.endswith("rita          unban  Anna (paper:1)")
            assert ban.endswith("rita          ban  Anna (paper:1)  without end  insults")


async def test_ban_has_an_end_in_the_future(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url):
        assert "is banned until 2999-12-24 00:00 UTC." in await run(tmp_path, "ban", "paper:1", "--until", "2999-12-24")
        assert "is banned until " in await run(tmp_path, "ban", "paper:1", "--for", "7d")
        for words in (
            ("paper:1", "--until", "2020-01-01"),
            ("paper:1", "--until", "2999-12-24", "--for", "7d"),
            ("paper:1", "--for", "soon"),
            ("Anna",),
            ("@nobody",),
            ("robot:easy",),
        ):
            await run(tmp_path, "ban", *words, code=2)
        assert "1 ban" in await run(tmp_path, "bans")
        newest, oldest, _count = (await run(tmp_path, "levers")).splitlines()
        assert oldest.endswith("ban  paper:1  until 2999-12-24 00:00 UTC")
        assert not newest.endswith("without end")


async def test_announcement_is_shown_replaced_and_ended(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        assert await run(tmp_path, "announce") == "There is no announcement.\n"
        assert await run(tmp_path, "announce", "Restart\n at 22:00") == "Announced: Restart at 22:00\n"
        assert (await run(tmp_path, "announce")).endswith("  Restart at 22:00\n")
        assert "200 fit" in await run(tmp_path, "announce", "x" * 201, code=2)
        assert "cannot be shown" in await run(tmp_path, "announce", "a\x1b[2Jb", code=2)
        await run(tmp_path, "announce", "more", "--end", code=2)
        await store.levers.refresh()
        assert store.levers.announcement
        assert await run(tmp_path, "announce", "--end") == "The announcement is withdrawn.\n"
        assert "There is no announcement." in await run(tmp_path, "announce", "--end", code=2)


async def test_maintenance_refuses_tables_and_lets_games_go_on(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
            await anna.say("/challenge testa")
            assert "no new tables" in await run(tmp_path, "maintenance", "on", "back at 22:00")
            await worker.store.levers.refresh()
            for word in ("/challenge testa", "/challenge robot", "/find testa"):
                reply = await bruno.say(word, bruno.private)
                answer_text = reply.toast or (reply.panel.plain if reply.panel else "")
                assert "No new tables for now" in answer_text, (word, answer_text)
            # A challenge from before can be accepted, and its game played.
            assert not (await bruno.press("Join", GROUP)).toast
            assert anna.moves() or bruno.moves()
            assert (await run(tmp_path, "maintenance")).startswith("on since ")
            await run(tmp_path, "maintenance", "off", "text", code=2)
            assert await run(tmp_path, "maintenance", "off") == "Maintenance is off.\n"
            assert "off already" in await run(tmp_path, "maintenance", "off", code=2)
            assert await run(tmp_path, "maintenance") == "off\n"
            await worker.store.levers.refresh()
            assert not (await bruno.say("/challenge testa", "paper:200")).toast


async def test_doctor_names_maintenance_and_announcement(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url):
        await run(tmp_path, "maintenance", "on")
        await run(tmp_path, "announce", "Back at ten.")
        findings = await run(tmp_path, "doctor")
        assert "`buongioco maintenance off` ends it" in findings
        assert "`buongioco announce --end` withdraws it" in findings
        await run(tmp_path, "maintenance", "off")
        await run(tmp_path, "announce", "--end")
        findings = await run(tmp_path, "doctor")
        assert "maintenance off" not in findings
        assert "announce --end" not in findings


async def test_command_says_that_no_bot_runs_in_the_folder(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url):
        assert (
            await run(tmp_path, "maintenance", "on") == "Maintenance is on: no new tables, and running games go on.\n"
        )
    await embedded.stop()
    assert await run(tmp_path, "maintenance", "off") == (
        f"Maintenance is off.\nNo bot is running with the data folder {tmp_path / 'data'}.\n"
    )
