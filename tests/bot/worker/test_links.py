"""Boards and results link to pages if there are any. Otherwise replays are messages."""

from bot.panel import Button, Panel
from bot.store import Store
from engine.robots.verdicts import Verdict
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker, seat_players


def find_links(panel: Panel) -> list[Button]:
    return [button for row in panel.rows for button in row if button.kind == "link"]


async def test_board_links_to_watching_and_result_to_replay(store: Store) -> None:
    fake = FakePlatform()
    fake.pages_url = "https://cards.example.org"
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        [table] = await worker.room.lists.tables_of(players[0].person.id)
        watch_id = await worker.watching.watch_id(table)
        [watch] = find_links(fake.last(GROUP))
        assert watch.payload == f"https://cards.example.org/t/{watch_id}"
        assert not any(find_links(fake.last(player.private)) for player in players)
        await worker.room.make_move(table.code, players[0].person.id, table.version, "resign", "r")
        await worker.wait_until_idle()
        [replay] = find_links(fake.last(GROUP))
        [game] = [game async for game in worker.archive.games()]
        assert (replay.label, replay.payload) == ("Replay", f"https://cards.example.org/g/{game.id}")

        async def find_no_losses(_record: object, _deal: int) -> list[Verdict]:
            return []

        worker.robot_pool.verdicts = find_no_losses  # type: ignore[method-assign, assignment]
        await players[0].press("Analysis", GROUP)
        assert find_links(fake.last(players[0].private)) == [replay]


async def test_chat_can_turn_off_watch_links(store: Store) -> None:
    fake = FakePlatform()
    fake.pages_url = "https://cards.example.org"
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        board = next(message for message, panel in fake.messages[GROUP].items() if find_links(panel))
        await players[0].say("/settings")
        await players[0].press("Anyone with the link can watch", GROUP)
        assert find_links(fake.messages[GROUP][board]) == []
        await players[0].press("Anyone with the link can watch", GROUP)
        assert len(find_links(fake.messages[GROUP][board])) == 1


async def test_replay_is_a_message_without_pages(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        [table] = await worker.room.lists.tables_of(players[0].person.id)
        await worker.room.make_move(table.code, players[0].person.id, table.version, "resign", "r")
        await worker.wait_until_idle()
        assert not any(find_links(panel) for panel in fake.messages[GROUP].values())
        assert (await players[0].press("Replay", GROUP)).panel
