"""Changes of one page run one after another, and overtaken changes are skipped."""

import asyncio

from adapters.discord.page_locks import PageLocks
from bot.store import Store
from tests.discord.players import buttons_of, on_discord, seat_people, text_of, until
from tests.discord.server import DiscordServer, Failure


async def test_waiting_change_is_skipped_for_a_newer_one() -> None:
    pages, changes = PageLocks(), []
    gate = asyncio.Event()

    async def change(interaction: int) -> None:
        async with pages.lock("a page", interaction) as is_latest:
            changes.append((interaction, is_latest))
            await gate.wait()

    async with asyncio.TaskGroup() as tasks:
        for interaction in (1, 3, 2):
            tasks.create_task(change(interaction))
            await asyncio.sleep(0)
        gate.set()
    assert changes == [(1, True), (3, True), (2, False)]


async def test_change_older_than_the_shown_one_is_skipped() -> None:
    pages = PageLocks()
    for interaction, expected in ((2, True), (1, False)):
        async with pages.lock("a page", interaction) as is_latest:
            assert is_latest is expected


async def test_three_quick_presses_show_the_last_page(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        [anna, _bruno] = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        await anna.slash("rules", anna.private, about="testa")
        await until(lambda: not len(adapter.answers))
        page = list(anna.private.messages.values())[-1]
        payloads = {button["label"]: button["custom_id"] for button in buttons_of(page)}
        gate = asyncio.Event()
        uploads, server.upload_failure = server.uploads, Failure(gate=gate)
        presses = [anna.start_press(anna.private, page, payloads["Metà Mazzo"])]
        await until(lambda: server.uploads > uploads)
        presses += [anna.start_press(anna.private, page, payloads[label]) for label in ("Pizzichino", "Common rules")]
        # The upload ends only when the bot is about to show the last page.
        await until(lambda: adapter._pages._locks[page["id"]].latest == presses[-1].id)
        gate.set()
        await until(lambda: not len(adapter.answers))
        assert all(press.answer for press in presses)
        assert server.uploads == uploads + 1, "the picture of the second page must not be uploaded"
        [message] = [message for message in anna.private.messages.values() if message["id"] == page["id"]]
        assert "There are no trumps" in text_of(message)
