"""Spectators see what a group's board shows, as it happens."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from bot.site.api_models import PublicTable, public_table
from bot.site.watching import combination_texts
from bot.store import Store
from bot.store.entries import Entry, Fixture, Host, Match, Open, Sit, Stop
from bot.tables.table import Table
from bot.tables.table_memory import Commit
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, seat_players
from tests.bot.worker.test_secrecy import random_table, shuffle_unseen
from tests.engine.hidden import hidden_cards


@pytest.mark.parametrize("game", GAMES)
def test_hidden_cards_do_not_change_the_public_table(game: str) -> None:
    changed = 0
    for seed in range(60):
        random = Random(f"watch {game} {seed}")
        table = random_table(game, random)
        assert table.game
        assert table.game.current
        if table.game.turn is None:
            continue
        before = public_table(table).model_dump_json()
        assert PublicTable.model_validate_json(before) == public_table(table)
        for _ in range(3):
            other = shuffle_unseen(table, None, random)
            assert other.game
            assert other.game.current
            changed += other.game.current.hand(0) != table.game.current.hand(0)
            assert public_table(other).model_dump_json() == before
    assert changed > 100, "no hidden card was exchanged"


@pytest.mark.parametrize("game", GAMES)
def test_public_table_has_no_hidden_card_or_address(game: str) -> None:
    checked = 0
    for seed in range(40):
        table = random_table(game, Random(f"{game} {seed}"))
        assert table.game
        assert table.game.current
        if table.game.turn is None:
            continue
        text = public_table(table).model_dump_json()
        codes = table.game.kind.pack.codes
        hidden = [codes[card] for card in hidden_cards(table.game.current, None)]
        assert not [card for card in hidden if f'"{card}"' in text]
        assert '"p:' not in text
        assert table.game._secret
        assert table.game._secret.hex() not in text
        checked += len(hidden)
    assert checked > 100


async def find_watch_id(worker: Worker, player: Player) -> str:
    [table] = await worker.room.lists.tables_of(player.person.id)
    return await worker.watching.watch_id(table)


async def open_stream(worker: Worker, watch_id: str) -> AsyncIterator[bytes]:
    states = await worker.watching.stream(watch_id)
    assert states
    return states


async def read_next_state(states: AsyncIterator[bytes]) -> dict[str, Any]:
    async with asyncio.timeout(5):
        state: dict[str, Any] = json.loads(await anext(states))
    return state


async def read_remaining_states(states: AsyncIterator[bytes]) -> list[bytes]:
    async with asyncio.timeout(5):
        return [state async for state in states]


async def test_table_can_be_watched_to_its_end(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        states = await open_stream(worker, await find_watch_id(worker, players[0]))
        first = await read_next_state(states)
        assert [seat["name"] for seat in first["seats"]] == ["Anna", "Bruno"]
        assert (first["phase"], first["view"]["trick"], first["view"]["hand"]) == ("playing", [], None)
        await players[first["turn"]].play(Random(1))
        second = await read_next_state(states)
        [[seat, _card, _signal]] = second["view"]["trick"]
        assert seat == first["turn"]
        assert second["version"] > first["version"]
        await worker.room.make_move(second["code"], players[0].person.id, second["version"], "resign", "r")
        await worker.wait_until_idle()
        last = json.loads((await read_remaining_states(states))[-1])
        assert (last["phase"], last["ending"], last["winner"]) == ("over", "resign", [1])
        assert await worker.archive.get(last["replay"])


async def test_spectators_see_moves_of_another_worker(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.site.watching.REMOTE_RECHECK_SECONDS", 0.02)
    fake = FakePlatform()
    async with (
        open_worker(store, fake, alone=False) as worker,
        open_worker(store, FakePlatform(), alone=False) as other,
    ):
        players = await seat_players(worker, fake, "metamazzo")
        watch_id = await find_watch_id(worker, players[0])
        for shard in list(other.shards.owned):
            other.shards.owned.discard(shard)
        states = await open_stream(other, watch_id)
        turn = (await read_next_state(states))["turn"]
        await players[turn].play(Random(1))
        [[seat, _card, _signal]] = (await read_next_state(states))["view"]["trick"]
        assert seat == turn


async def test_stream_is_kept_alive_without_the_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies would close silent connections, and all spectators would reconnect at once."""
    monkeypatch.setattr("bot.site.watching.KEEP_ALIVE_SECONDS", 0.0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        watch_id = await find_watch_id(worker, players[0])
        states = await open_stream(worker, watch_id)
        await read_next_state(states)

        async def fail_to_load(_code: str) -> Table:
            raise ConnectionError("away")

        monkeypatch.setattr(worker.room, "load", fail_to_load)
        worker.watching._handle_commit(Commit(watch_id.partition("-")[0]))
        async with asyncio.timeout(5):
            assert await anext(states) == b""


async def test_slow_spectator_gets_the_latest_state(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        watch_id = await find_watch_id(worker, players[0])
        slow, fast = await open_stream(worker, watch_id), await open_stream(worker, watch_id)
        turn = (await read_next_state(slow))["turn"]
        await read_next_state(fast)
        for step in range(2):
            await players[(turn + step) % 2].play(Random(1))
            latest = await read_next_state(fast)
        assert await read_next_state(slow) == latest


async def test_closed_streams_are_freed(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        states = await open_stream(worker, await find_watch_id(worker, players[0]))
        await read_next_state(states)
        assert worker.watching._watched
        await states.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(5):
            await worker.watching._tasks.wait()
        assert not worker.watching._watched


async def test_watching_needs_the_whole_id(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        watch_id = await find_watch_id(worker, players[0])
        code, letters = watch_id.split("-")
        assert len(letters) == 12
        for wrong_id in (code, f"{code}-", f"{code}-{letters[::-1]}", watch_id.lower(), f"ABCDEF-{letters}", "è-é", ""):
            assert await worker.watching.get_table(wrong_id) is None
            assert await worker.watching.stream(wrong_id) is None
        assert await worker.watching.get_table(watch_id)


async def test_chat_can_forbid_watching(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        watch_id = await find_watch_id(worker, players[0])
        states = await open_stream(worker, watch_id)
        await read_next_state(states)
        await players[0].say("/settings")
        await players[0].press("Anyone with the link can watch", GROUP)
        assert await worker.watching.get_table(watch_id) is None
        assert await find_watch_id(worker, players[0]) == ""
        table = await worker.room.table(watch_id.split("-")[0])
        assert table.game
        assert table.game.turn is not None
        await players[table.game.turn].play(Random(1))
        assert await read_remaining_states(states) == []
        await players[0].press("Anyone with the link can watch", GROUP)
        assert await worker.watching.get_table(watch_id)


@pytest.mark.parametrize("hosts", [["paper:@1"], ["paper:~7/5"]], ids=["private", "inline"])
async def test_tables_of_private_chats_cannot_be_watched(store: Store, hosts: list[str]) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        entries: list[Entry] = [Open("metamazzo", "paper:1", "Anna"), *map(Host, hosts), Sit(0, "paper:1", "Anna")]
        table = Table("ABCDEF").with_entries(entries, "u")
        assert await worker.watching.watch_id(table) == ""
        in_group = table.with_entries([Host("paper:100")], "v")
        assert await worker.watching.watch_id(in_group) != ""


@pytest.mark.parametrize(("place", "deal", "allowed"), [(GROUP, 0, True), (GROUP, 1, False), ("paper:@1", 0, False)])
async def test_tournament_tables_follow_their_chats_setting(store: Store, place: str, deal: int, allowed: bool) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        hosts = [Host("paper:@1"), Host("paper:@2")]
        fixture = Fixture("K7QF2M", 1, 0, deal, place)
        table = Table("ABCDEF").with_entries([Open("metamazzo", "paper:1", "Anna"), *hosts, fixture], "u")
        assert bool(await worker.watching.watch_id(table)) == allowed
        await worker.people.update_chat(GROUP, watched="0")
        assert await worker.watching.watch_id(table) == ""


async def test_table_without_a_chat_can_be_watched_by_link(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        table = await worker.challenges.open_practice("metamazzo", "paper:1", "Anna", "easy", "u")
        watch_id = await worker.watching.watch_id(table)
        watched = await worker.watching.get_table(watch_id)
        assert watched
        assert watched.code == table.code
        assert await worker.watching.get_table(table.code) is None


async def test_tables_of_strangers_cannot_be_watched(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        entries: list[Entry] = [Open("metamazzo", "paper:1", "Anna"), Host("paper:100")]
        table = Table("ABCDEF").with_entries(entries, "u")
        assert await worker.watching.watch_id(table) != ""
        matched = table.with_entries([Match("paper:1", "Anna"), Match("paper:2", "Bruno")], "v")
        assert await worker.watching.watch_id(matched) == ""


def test_stopped_game_shows_its_ending() -> None:
    table = random_table("metamazzo", Random(3))
    stopped = table.with_entries([Stop("timeout", 1)], "u")
    public = public_table(stopped)
    assert (public.phase, public.ending, public.winner) == ("over", "timeout", [1])
    assert public.replay


def test_declarations_have_their_words_and_cards() -> None:
    texts = combination_texts("it")
    assert texts["italian"]["declare napoletana D"] == ("Napoletana a denari!", ("3D", "2D", "AD"))
    assert texts["french"].keys() == texts["italian"].keys()
    assert {len(cards) for _text, cards in texts["french"].values()} == {3, 4}
