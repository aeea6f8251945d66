"""Limits for each person and chat, even with concurrent requests."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from bot.features.tournaments import keys
from bot.features.tournaments import registration as registration_module
from bot.features.tournaments.errors import (
    ChangedTooOften,
    EnteredTooOften,
    HasPartner,
    IsFull,
    NoPartners,
    NoSuchPartner,
    NotForPrograms,
    OrganisesTooMany,
    TooManyTournaments,
)
from bot.features.tournaments.forgetting import forget
from bot.features.tournaments.log_entries import Entry, Finish
from bot.features.tournaments.store import CALLED_OFF_SECONDS, KEPT_SECONDS, MAX_AT_ONCE, MAX_ORGANISED
from bot.features.tournaments.tournament import Tournament
from bot.identity.programs import PREFIX
from bot.store import Store, index
from bot.store.keys import PERSON_KEY_PREFIXES
from bot.tables.errors import TableError
from bot.tables.game_choice import Choice
from tests.bot.features.tournaments.test_registration import ANNA, BRUNO, CARLA, DINO, GROUP, NAMES, Desk


@pytest.fixture
async def desk(store: Store) -> Desk:
    return Desk(store)


async def open_tournament(desk: Desk, place: str, person: str, update: str) -> Tournament:
    return await desk.registration.open(place, person, "Somebody", Choice.default("testa"), "knockout", update)


async def gather_results(calls: Sequence[Awaitable[Tournament]]) -> tuple[list[Tournament], list[type[BaseException]]]:
    """Run the calls together; return the tournaments and the types of errors."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    tournaments = [result for result in results if isinstance(result, Tournament)]
    return tournaments, [type(result) for result in results if isinstance(result, BaseException)]


# Number of tournaments


async def test_chat_limit_holds_for_concurrent_openings(desk: Desk) -> None:
    desks = [desk, Desk(desk.store), Desk(desk.store)]
    opened, errors = await gather_results(
        [open_tournament(desks[n % 3], GROUP, f"paper:{n}", f"c{n}") for n in range(20)]
    )
    assert len(opened) == MAX_AT_ONCE
    assert set(errors) == {TooManyTournaments}
    assert {tournament.code for tournament in await desk.tournaments.in_chat(GROUP)} == {
        tournament.code for tournament in opened
    }
    first = opened[0]
    [update] = {entry.partition(b"\t")[2].decode() for entry in first.entries}
    assert (await open_tournament(desk, GROUP, first.opener.person, update)).code == first.code
    await desk.registration.cancel(first.code, first.opener.person, "off")
    opened, errors = await gather_results(
        [open_tournament(desks[n % 3], GROUP, f"paper:{n}", f"d{n}") for n in range(10)]
    )
    assert (len(opened), set(errors)) == (1, {TooManyTournaments})


async def test_organiser_limit_holds_across_chats(desk: Desk) -> None:
    desks = [desk, Desk(desk.store)]
    opened, errors = await gather_results(
        [open_tournament(desks[n % 2], f"paper:{n}", ANNA, f"c{n}") for n in range(25)]
    )
    assert len(opened) == MAX_ORGANISED
    assert set(errors) == {OrganisesTooMany}
    assert len(await desk.tournaments.of_person(ANNA)) == MAX_ORGANISED
    # Refused openings left no entry in the lists.
    lists = {key.decode() async for key in desk.store.client.scan_iter("tournaments:*")}
    assert lists == {keys.in_chat(tournament.place) for tournament in opened}
    await desk.tournaments.commit(opened[0].code, "end", lambda _tournament: [Finish()])
    await open_tournament(desk, "paper:99", ANNA, "one more")
    with pytest.raises(OrganisesTooMany):
        await open_tournament(desk, "paper:99", ANNA, "too many")


async def test_called_off_tournaments_count_for_a_day(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(MAX_ORGANISED):
        code = (await open_tournament(desk, GROUP, ANNA, f"c{number}")).code
        await desk.registration.cancel(code, ANNA, f"off{number}")
        await desk.tournaments.unlist(await desk.tournaments.load(code))
        assert 0 < await desk.store.client.ttl(keys.log(code)) <= CALLED_OFF_SECONDS
    assert await desk.tournaments.of_person(ANNA) == []
    with pytest.raises(OrganisesTooMany):
        await open_tournament(desk, GROUP, ANNA, "once more")
    monkeypatch.setattr(index, "SETTLED_SECONDS", 0)
    await desk.store.client.delete(keys.log(code))  # a day later
    await open_tournament(desk, GROUP, ANNA, "the day after")


async def test_finished_tournament_leaves_only_the_chat_list(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    await desk.registration.start(code, ANNA, "start")
    await desk.tournaments.commit(code, "end", lambda _tournament: [Finish()])
    assert [tournament.code for tournament in await desk.tournaments.of_person(BRUNO)] == [code]
    assert await desk.tournaments.in_chat(GROUP) == []
    client = desk.store.client
    assert not await client.exists(keys.in_chat(GROUP))
    await client.expire(keys.log(code), 1000)  # more than a year later
    assert await desk.tournaments.of_person(BRUNO) == []
    assert await client.hexists(keys.tournaments_of_person(BRUNO), code)
    await desk.tournaments.unlist(await desk.tournaments.load(code))
    assert not await client.exists(keys.organised_by(ANNA))


async def test_refused_entry_leaves_no_index_entry(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration_module, "MAX_TEAMS", {"knockout": 1})
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA)).code
    with pytest.raises(IsFull):
        await desk.registration.enter(code, BRUNO, NAMES[BRUNO], "full")
    assert not await desk.store.client.exists(keys.tournaments_of_person(BRUNO))
    await desk.registration.leave(code, ANNA, "leave")
    await desk.registration.enter(code, CARLA, NAMES[CARLA], "in")
    with pytest.raises(IsFull):
        await desk.registration.enter(code, ANNA, NAMES[ANNA], "back")
    # The log still names her.
    assert await desk.store.client.hexists(keys.tournaments_of_person(ANNA), code)


# Number of changes


async def test_repeated_entries_cannot_block_the_start(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    for number in range(registration_module.MAX_TIMES_ENTERED):
        await desk.registration.enter(code, CARLA, NAMES[CARLA], f"in {number}")
        await desk.registration.leave(code, CARLA, f"out {number}")
    with pytest.raises(EnteredTooOften):
        await desk.registration.enter(code, CARLA, NAMES[CARLA], "once more")
    changed = await desk.registration.enter(code, DINO, NAMES[DINO], "in")
    monkeypatch.setattr(registration_module, "MAX_CHANGES", changed.version)
    for change in (
        desk.registration.enter(code, "paper:9", "Another", "too late"),
        desk.registration.choose_option(code, ANNA, "form", "swiss", "form"),
        desk.registration.choose_game(code, ANNA, Choice.default("testa"), "game"),
    ):
        with pytest.raises(ChangedTooOften):
            await change
    await desk.registration.leave(code, DINO, "out")
    assert (await desk.registration.start(code, ANNA, "start")).phase == "playing"


async def test_tournament_at_its_change_limit_can_be_called_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration_module, "MAX_CHANGES", 1)
    code = (await desk.open()).code
    assert (await desk.registration.cancel(code, ANNA, "off")).phase == "cancelled"


# Partners


@pytest.mark.parametrize(
    ("game", "person", "player", "error"),
    [
        ("tressette", DINO, 0, HasPartner),
        ("tressette", DINO, 2, NoSuchPartner),
        ("tressette", DINO, 9, NoSuchPartner),
        ("tressette", f"{PREFIX}x", 3, NotForPrograms),
        ("testa", DINO, 3, NoPartners),
    ],
)
async def test_refused_partner_has_not_entered(
    desk: Desk, game: str, person: str, player: int, error: type[TableError]
) -> None:
    code = (await desk.open_and_enter("tressette", "knockout", ANNA, BRUNO, CARLA, "paper:5")).code
    await desk.registration.join_partner(code, BRUNO, NAMES[BRUNO], 0, "pair")
    await desk.registration.leave(code, CARLA, "leave")
    before = await desk.registration.choose_game(code, ANNA, Choice.default(game), "game")
    with pytest.raises(error):
        await desk.registration.join_partner(code, person, "Somebody", player, "with")
    assert (await desk.tournaments.load(code)).entries == before.entries
    assert not await desk.store.client.exists(keys.tournaments_of_person(person))


async def test_joining_a_partner_enters_in_one_commit(desk: Desk) -> None:
    code = (await desk.open_and_enter("tressette", "knockout", ANNA)).code
    desks = [desk, Desk(desk.store)]
    done, errors = await gather_results(
        [desks[n % 2].registration.join_partner(code, f"paper:{n}", f"Player {n}", 0, f"with {n}") for n in range(8)]
    )
    assert (len(done), errors) == (1, [HasPartner] * 7)
    after = await Desk(desk.store).tournaments.load(code)
    assert (after.entered_players, after.partners) == ([0, 1], {0: 1, 1: 0})
    player = after.players[1]
    assert player
    repeated = await desk.registration.join_partner(code, player.person, player.name, 0, "again")
    assert repeated.entries == after.entries


# Expiry of logs


async def test_moving_a_chat_keeps_the_expiry(desk: Desk) -> None:
    code = (await desk.open()).code
    await desk.tournaments.commit(code, "end", lambda _tournament: [Finish()])
    await desk.store.client.expire(keys.log(code), 1000)
    await desk.tournaments.move_chat(GROUP, "paper:200")
    assert (await desk.tournaments.load(code)).place == "paper:200"
    assert 0 < await desk.store.client.ttl(keys.log(code)) <= 1000


@pytest.mark.parametrize(("entries", "longest"), [([], CALLED_OFF_SECONDS), ([Finish()], KEPT_SECONDS)])
async def test_rewritten_log_keeps_its_expiry(desk: Desk, entries: list[Entry], longest: int) -> None:
    client: Any = desk.store.client
    code = (await desk.open_and_enter("metamazzo", "knockout", BRUNO)).code
    if entries:
        await desk.tournaments.commit(code, "end", lambda _tournament: entries)
    await forget(desk.store, ANNA, "somebody:x")
    assert longest - 60 < await client.ttl(keys.log(code)) <= longest
    await client.expire(keys.log(code), 1000)
    await forget(desk.store, BRUNO, "somebody:y")
    assert 0 < await client.ttl(keys.log(code)) <= 1000


async def test_live_tournament_log_does_not_expire(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    await forget(desk.store, BRUNO, "somebody:y")
    assert await desk.store.client.ttl(keys.log(code)) == -1


def test_backup_takes_lists_of_entries_first() -> None:
    assert keys.tournaments_of_person(ANNA).startswith(PERSON_KEY_PREFIXES)
