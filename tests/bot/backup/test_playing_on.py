"""Half-played games, restored from a backup into an empty store and played to the end."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from bot.backup.file import Header, open_writer
from bot.backup.restoring import restore
from bot.backup.taking import BackupTaker
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings, Scope
from bot.panel import Panel
from bot.platform import SentMessage
from bot.store import Store, keys
from bot.tables import Table
from engine import verify
from tests.bot.fake_platform import ACCEPT, GROUP, FakePlatform, Player, open_worker
from tests.bot.finished.games import finished_game, store_game
from tests.bot.worker.test_games import shortest_target
from tests.long import long
from tests.stores import LONG_ON_A_CLUSTER

NAMES = {"pizzichino": ("Anna", "Bruno"), "tressette": ("Carla", "Dino", "Eva", "Fede"), "spades": ("Gina", "Ugo")}


class LenientPlatform(FakePlatform):
    """A platform that accepts edits without a change, as real adapters do.

    A restored bot does not know the contents of its messages.
    """

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        if self.messages[place].get(sent.message) != panel:
            await super().edit(place, sent, panel)
        return sent


async def write_backup(store: Store, path: Path) -> None:
    with open_writer(path, Header(keys.SCHEMA_VERSION, 0)) as write:
        await BackupTaker(store.client, write).take()


async def read_store(store: Store) -> dict[str, object]:
    """Return the values of all keys except those that change all the time."""
    values: dict[str, object] = {}
    async for name in store.client.scan_iter():
        key = name.decode()
        if (
            key == keys.WORKERS
            or key.endswith(("}:changed", "}:confirmed", "}:attended"))
            or ":shown:" in key
            or ":ended:" in key
        ):
            continue
        match await store.client.type(key):
            case b"string":
                values[key] = await store.client.get(key)
            case b"list":
                values[key] = await store.client.lrange(key, 0, -1)
            case b"hash":
                values[key] = await store.client.hgetall(key)
            case b"set":
                values[key] = await store.client.smembers(key)
            case _:
                values[key] = await store.client.zrange(key, 0, -1, withscores=True)
    return values


async def load_tables(store: Store) -> list[Table]:
    codes = [name.decode().rpartition(":")[2] async for name in store.client.scan_iter(match="{s*}:table:*")]
    return [Table.from_log(code, await store.load(code)) for code in codes]


async def seat_people(store: Store, fake: FakePlatform, people: dict[str, list[int]]) -> None:
    """Seat people, given by their numbers, at one table of each game in one chat."""
    async with open_worker(store, fake) as worker:
        for game, numbers in people.items():
            names = NAMES[game]
            players = [Player(worker, fake, name, number) for name, number in zip(names, numbers, strict=True)]
            await players[0].say(f"/challenge {game}")
            for label in shortest_target(game):
                for button in ("Change", label, "Done"):
                    await players[0].press(button, GROUP)
            for player, label in zip(players[1:], ACCEPT[len(names)], strict=True):
                await player.press(label, GROUP)
                for opener in players:
                    if fake.messages[opener.private] and "asks to sit" in fake.last(opener.private).plain:
                        await opener.press("Accept")


async def play_until(
    store: Store, fake: FakePlatform, people: dict[str, list[int]], condition: Callable[[], Awaitable[bool]]
) -> None:
    """Press buttons of the panels until the condition is met."""
    random = Random(1)
    async with open_worker(store, fake) as worker:
        await worker.wait_until_idle()
        players = [
            Player(worker, fake, name, number)
            for game, numbers in people.items()
            for name, number in zip(NAMES[game], numbers, strict=True)
        ]
        for _ in range(3000):
            if await condition():
                return
            random.shuffle(players)
            movers = [player for player in players if await player.play(random)]
            await worker.wait_until_idle()
            assert movers, "no player can move"
    raise AssertionError("the condition was not met in 3000 rounds")


@pytest.mark.long
@pytest.mark.parametrize("any_store", ["one node", LONG_ON_A_CLUSTER], indirect=True)
@pytest.mark.parametrize(
    ("game_ids", "is_rolled_back"), [(["pizzichino"], True), long(list(NAMES), False), long(list(NAMES), True)]
)
async def test_restored_games_can_be_played_to_the_end(
    any_store: Store, tmp_path: Path, game_ids: list[str], is_rolled_back: bool
) -> None:
    """The same people continue with the buttons in the chat, even if they played on after the backup."""
    store = any_store
    fake = LenientPlatform()
    numbers = iter(range(1, 99))
    people = {game: [next(numbers) for _ in NAMES[game]] for game in game_ids}
    await seat_people(store, fake, people)

    async def have_moved() -> bool:
        return all(table.version > 20 for table in await load_tables(store))

    await play_until(store, fake, people, have_moved)
    path = tmp_path / "backup.gz"
    await write_backup(store, path)
    before = await read_store(store)
    logs = {table.code: table.log.entries for table in await load_tables(store)}
    assert len(logs) == len(game_ids)

    if is_rolled_back:

        async def have_moved_again() -> bool:
            return all(table.version > len(logs[table.code]) + 6 for table in await load_tables(store))

        await play_until(store, fake, people, have_moved_again)
    await store.client.flushall()
    await restore(store.client, path, replace=False)
    assert await read_store(store) == before
    assert {table.code: table.log.entries for table in await load_tables(store)} == logs

    async def are_over() -> bool:
        return not await load_tables(store)

    await play_until(store, fake, people, are_over)
    games = [game async for game in Archive(store.client).games()]
    assert sorted(game.record.game for game in games) == sorted(game_ids)
    for game in games:
        verify(game.record)
        assert game.people == [f"paper:{number}" for number in people[game.record.game]]
    ratings = Ratings(store.client, Archive(store.client))
    assert (await ratings.standing(Scope(), "paper:1")).games == 1


async def test_backup_has_each_ending_game_once(any_store: Store) -> None:
    """Games end while the backup is taken.

    Each is in the backup as a table or as a finished game. Only finished games count in its ratings.
    """
    store = any_store
    archive = Archive(store.client)
    ratings = Ratings(store.client, archive)
    lines: list[dict[str, object]] = []
    for number in range(1, 40):
        await store.append(finished_game(number).code, await store.load(finished_game(number).code), [b"open x\t1"])
    numbers = iter(range(1, 40))

    async def finish_next() -> None:
        """Finish a game in delivery's order: store, number, rate, remove the table."""
        number = next(numbers, None)
        if number:
            await store_game(store, finished_game(number))
            await ratings.catch_up()
            await store.remove(finished_game(number).code)

    for _ in range(5):
        await finish_next()
    is_playing = True

    async def finish_all() -> None:
        while is_playing:
            await finish_next()

    playing = asyncio.create_task(finish_all())
    await BackupTaker(store.client, lines.append).take()
    is_playing = False
    await playing
    live = {str(line["table"]) for line in lines if "table" in line}
    finished = {str(line["game"]).rpartition("-")[0]: line["number"] for line in lines if "game" in line}
    assert len(finished) >= 5
    assert live
    assert not live & finished.keys()
    assert live | finished.keys() == {finished_game(number).code for number in range(1, 40)}
    [rated] = [int(str(line["value"])) for line in lines if line.get("string") == keys.RATED]
    assert set(range(1, rated + 1)) <= set(finished.values())
    # The ratings count exactly the games up to the number ``rated``.
    standings: dict[str, str] = {}
    for line in lines:
        if line.get("hash") == keys.ratings(Scope().key):
            standings.update(line["value"])  # type: ignore[call-overload]
    await store.client.flushall()
    for number in range(1, rated + 1):
        await store_game(store, finished_game(number))
    await ratings.catch_up()
    stored_ratings = await store.client.hgetall(keys.ratings(Scope().key))
    assert standings == {person.decode(): text.decode() for person, text in stored_ratings.items()}
