"""Registration: each action counts once, and each refusal gives its reason."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bot.features.tournaments import keys
from bot.features.tournaments import registration as registration_module
from bot.features.tournaments.errors import (
    AlreadyEntered,
    HasBegun,
    HasPartner,
    IsFull,
    IsOver,
    NoSuchPartner,
    NoSuchTournament,
    NotEntered,
    NotForPrograms,
    NotRatedYet,
    OnlyTheOrganiser,
    TooFewTeams,
    UnreadableTournament,
)
from bot.features.tournaments.forgetting import export, forget
from bot.features.tournaments.log_entries import Entry, Finish, Round
from bot.features.tournaments.registration import Registration, teams_of
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import MAX_TEAMS, Form, Tournament
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings
from bot.identity.programs import PREFIX
from bot.store import Store
from bot.tables.game_choice import Choice
from engine.shuffle import commitment
from tests.bot.features.privacy.traces import find_traces
from tests.bot.features.tournaments.logs import playing_teams
from tests.bot.finished.games import finished_game, store_game

GROUP = "paper:100"
ANNA, BRUNO, CARLA, DINO = people = [f"paper:{1000 + number}" for number in range(4)]
NAMES = dict(zip(people, ("Annabella", "Brunello", "Carlotta", "Dinorah"), strict=True))


class Desk:
    """A worker's access to tournaments, with its own cache."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tournaments = Tournaments(store)
        self.registration = Registration(store, self.tournaments, Ratings(store.client, Archive(store.client)))

    async def open(self, game: str = "metamazzo", form: Form = "knockout", update: str = "c1") -> Tournament:
        return await self.registration.open(GROUP, ANNA, NAMES[ANNA], Choice.default(game), form, update)

    async def open_and_enter(self, game: str, form: Form, *entering: str) -> Tournament:
        tournament = await self.open(game, form)
        for person in entering:
            tournament = await self.registration.enter(
                tournament.code, person, NAMES.get(person, person), f"enter {person}"
            )
        return tournament


@pytest.fixture
async def desk(store: Store) -> Desk:
    return Desk(store)


async def test_one_update_opens_one_tournament(desk: Desk) -> None:
    first, second = await desk.open(), await desk.open()
    other = await Desk(desk.store).open()
    assert first.code == second.code == other.code
    assert (first.phase, first.place, first.opener.person, first.form) == ("open", GROUP, ANNA, "knockout")
    assert [tournament.code for tournament in await desk.tournaments.in_chat(GROUP)] == [first.code]
    assert list(await desk.tournaments.live_codes()) == [first.code]
    assert (await desk.open(update="c2")).code != first.code


async def test_entering_twice_is_refused_and_leaving_removes_player(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "swiss", ANNA, BRUNO)).code
    assert (await desk.registration.enter(code, BRUNO, "Bruno", f"enter {BRUNO}")).entered_players == [0, 1]
    with pytest.raises(AlreadyEntered):
        await desk.registration.enter(code, BRUNO, "Bruno", "again")
    after = await desk.registration.leave(code, BRUNO, "leave")
    assert (after.entered_players, after.player_of(BRUNO)) == ([0], None)
    with pytest.raises(NotEntered):
        await desk.registration.leave(code, BRUNO, "leave again")
    returned = await desk.registration.enter(code, BRUNO, "Bruno", "back")
    assert (returned.entered_players, returned.player_of(BRUNO)) == ([0, 2], 2)


async def test_concurrent_entries_at_two_workers_all_count(desk: Desk) -> None:
    code = (await desk.open()).code
    desks = [desk, Desk(desk.store)]
    await asyncio.gather(
        *(desks[n % 2].registration.enter(code, f"paper:{n}", f"Player {n}", f"e{n}") for n in range(20)),
        *(desks[n % 2].registration.enter(code, f"paper:{n}", f"Player {n}", f"e{n}") for n in range(20)),
    )
    tournament = await Desk(desk.store).tournaments.load(code)
    assert sorted(player.person for player in tournament.players if player) == sorted(f"paper:{n}" for n in range(20))


async def test_full_tournament_refuses_entries(desk: Desk) -> None:
    code = (
        await desk.open_and_enter("metamazzo", "roundrobin", *(f"paper:{n}" for n in range(MAX_TEAMS["roundrobin"])))
    ).code
    with pytest.raises(IsFull):
        await desk.registration.enter(code, ANNA, "Anna", "one more")


async def test_programs_cannot_enter(desk: Desk) -> None:
    code = (await desk.open()).code
    with pytest.raises(NotForPrograms):
        await desk.registration.enter(code, f"{PREFIX}x", "Robot", "u")


async def test_only_the_organiser_changes_starts_or_cancels(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    for change in (
        desk.registration.choose_option(code, BRUNO, "form", "swiss", "u1"),
        desk.registration.choose_game(code, BRUNO, Choice.default("testa"), "u2"),
        desk.registration.start(code, BRUNO, "u3"),
        desk.registration.cancel(code, BRUNO, "u4"),
    ):
        with pytest.raises(OnlyTheOrganiser):
            await change
    assert (await desk.registration.choose_option(code, ANNA, "form", "swiss", "u5")).form == "swiss"
    with pytest.raises(ValueError, match="form is one of"):
        await desk.registration.choose_option(code, ANNA, "form", "chess", "u6")
    changed = await desk.registration.choose_game(code, ANNA, Choice.default("testa"), "u7")
    assert changed.game == "testa"


async def test_start_waits_for_ratings_before_seeding(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (await desk.open_and_enter("testa", "knockout", ANNA, BRUNO)).code
    # An interrupted rebuild leaves Bruno's win unrated.
    game = finished_game(1)
    people = [BRUNO if seat in (game.record.winner or []) else ANNA for seat in range(2)]
    await store_game(desk.store, replace(game, people=people))
    monkeypatch.setattr(registration_module, "MAX_UNRATED", 0)
    with pytest.raises(NotRatedYet):
        await desk.registration.start(code, ANNA, "s1")
    assert (await desk.tournaments.load(code)).phase == "open"
    monkeypatch.setattr(registration_module, "MAX_UNRATED", 1)
    assert (await desk.registration.start(code, ANNA, "s1")).teams == ((1,), (0,))


async def test_start_needs_enough_teams_and_happens_once(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "roundrobin", ANNA, BRUNO)).code
    with pytest.raises(TooFewTeams):
        await desk.registration.start(code, ANNA, "too soon")
    await desk.registration.enter(code, CARLA, "Carla", "third")
    started = await desk.registration.start(code, ANNA, "start")
    assert (await Desk(desk.store).registration.start(code, ANNA, "start")).entries == started.entries
    assert sorted(started.teams) == [(0,), (1,), (2,)]
    assert started.seal == commitment(started.root)
    with pytest.raises(HasBegun):
        await desk.registration.start(code, ANNA, "again")
    with pytest.raises(HasBegun):
        await desk.registration.enter(code, DINO, "Dino", "late")


async def test_leaving_after_the_start_withdraws(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    await desk.registration.start(code, ANNA, "start")
    after = await desk.registration.leave(code, BRUNO, "leave")
    team = after.team_of(1)
    assert team is not None
    assert after.has_withdrawn(team)
    assert playing_teams(after) == [1 - team]
    with pytest.raises(NotEntered):
        await desk.registration.leave(code, BRUNO, "leave again")


async def test_partners_choose_each_other_or_are_assigned(desk: Desk) -> None:
    code = (await desk.open_and_enter("tressette", "knockout", ANNA, BRUNO, CARLA, DINO, "paper:5")).code
    paired = await desk.registration.join_partner(code, DINO, NAMES[DINO], 0, "pair")
    assert teams_of(paired) == [(0, 3), (1, 2)]
    with pytest.raises(HasPartner):
        await desk.registration.join_partner(code, BRUNO, NAMES[BRUNO], 3, "too late")
    with pytest.raises(NoSuchPartner):
        await desk.registration.join_partner(code, BRUNO, NAMES[BRUNO], 1, "with oneself")
    after = await desk.registration.leave(code, ANNA, "leave")
    assert teams_of(after) == [(1, 2), (3, 4)]
    started = await desk.registration.start(code, ANNA, "start")
    assert sorted(started.teams) == [(1, 2), (3, 4)]


async def test_player_left_without_a_partner_is_dropped(desk: Desk) -> None:
    code = (await desk.open_and_enter("tressette", "knockout", ANNA, BRUNO, CARLA, DINO, "paper:5")).code
    started = await desk.registration.start(code, ANNA, "start")
    assert started.player_of("paper:5") is None
    assert sorted(started.teams) == [(0, 1), (2, 3)]


async def test_finished_tournament_cannot_change(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    await desk.tournaments.commit(code, "end", lambda _tournament: [Finish()])
    for change in (
        desk.registration.enter(code, CARLA, "Carla", "u1"),
        desk.registration.leave(code, BRUNO, "u2"),
        desk.registration.cancel(code, ANNA, "u3"),
        desk.registration.start(code, ANNA, "u4"),
    ):
        with pytest.raises(IsOver):
            await change
    assert await desk.store.client.ttl(keys.log(code)) > 0


async def test_made_up_code_is_unknown(desk: Desk) -> None:
    with pytest.raises(NoSuchTournament):
        await desk.registration.enter("AAAAAA", ANNA, "Anna", "u")


async def test_moved_chat_keeps_its_tournaments(desk: Desk) -> None:
    code = (await desk.open()).code
    for _ in range(2):
        await desk.tournaments.move_chat(GROUP, "paper:200")
    assert (await desk.tournaments.load(code)).place == "paper:200"
    assert [tournament.code for tournament in await desk.tournaments.in_chat("paper:200")] == [code]
    assert await desk.tournaments.in_chat(GROUP) == []


async def test_forgetting_removes_all_traces(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO, CARLA)).code
    await desk.registration.leave(code, CARLA, "changed her mind")
    other = Desk(desk.store)
    assert (await other.tournaments.load(code)).players[1]
    assert [entry["player"] for entry in await export(desk.store.client, BRUNO)] == [1]
    for person in (BRUNO, CARLA):
        await forget(desk.store, person, f"somebody:{person[-4:]}x")
        await forget(desk.store, person, f"somebody:{person[-4:]}x")
    assert await find_traces(desk.store, NAMES[BRUNO], BRUNO, NAMES[CARLA], CARLA) == []
    tournament = await other.tournaments.load(code)
    assert [player.name for player in tournament.players if player] == [NAMES[ANNA]]
    await forget(desk.store, ANNA, "somebody:x")
    assert (await other.tournaments.load(code)).phase == "cancelled"
    assert await export(desk.store.client, ANNA) == []


async def test_unreadable_game_does_not_block_forgetting(desk: Desk) -> None:
    code = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    await desk.store.client.hset(keys.games(code), "1 ABCDEF-1", b"\xffdamaged")
    await forget(desk.store, BRUNO, "somebody:x")
    assert await export(desk.store.client, BRUNO) == []
    assert await desk.store.client.hlen(keys.games(code)) == 1


UNKNOWN = b"newer 1 2\tx"  # an entry of a newer release


@pytest.mark.parametrize(
    "unknown", [UNKNOWN, b"\xffdamaged", b"option form ladder\tx", b"play bridge 0\tx", b"seat 9 0 0 A\tx"]
)
async def test_unreadable_tournament_is_hidden_but_stays_indexed(desk: Desk, unknown: bytes) -> None:
    unreadable, readable = (await desk.open(update="c1")).code, (await desk.open(update="c2")).code
    await desk.store.client.rpush(keys.log(unreadable), unknown)
    # The index entries are too old for a commit in progress.
    for key in (keys.in_chat(GROUP), keys.tournaments_of_person(ANNA)):
        await desk.store.client.hset(key, unreadable, "1.0")
    with capture_logs() as logs:
        for _ in range(2):
            assert [tournament.code for tournament in await desk.tournaments.in_chat(GROUP)] == [readable]
            assert [tournament.code for tournament in await desk.tournaments.of_person(ANNA)] == [readable]
    assert [entry["code"] for entry in await export(desk.store.client, ANNA)] == [readable]
    assert [(event["event"], event["tournament"]) for event in logs] == [("tournament_unreadable", unreadable)]
    with pytest.raises(UnreadableTournament, match="tell the bot’s host"):
        await desk.registration.enter(unreadable, BRUNO, "Bruno", "u")
    assert await desk.store.client.hgetall(keys.tournaments_of_person(BRUNO)) == {}
    await desk.store.client.rpop(keys.log(unreadable))
    assert {tournament.code for tournament in await desk.tournaments.in_chat(GROUP)} == {readable, unreadable}
    assert {tournament.code for tournament in await desk.tournaments.of_person(ANNA)} == {readable, unreadable}


async def test_forgetting_covers_unreadable_tournaments(desk: Desk) -> None:
    unreadable = (await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)).code
    readable = await desk.open(update="c2")
    await desk.registration.enter(readable.code, BRUNO, NAMES[BRUNO], "u")
    await desk.store.client.rpush(keys.log(unreadable), UNKNOWN)
    for _ in range(2):
        await forget(desk.store, BRUNO, "somebody:x")
    assert await find_traces(desk.store, NAMES[BRUNO], BRUNO) == []
    assert await desk.tournaments.stored_entries(unreadable) == [
        *(await desk.tournaments.stored_entries(unreadable))[:-2],
        UNKNOWN,
        b"redacted",
    ]
    other = Desk(desk.store)
    assert (await other.tournaments.load(readable.code)).player_of("somebody:x") is None
    await desk.store.client.lrem(keys.log(unreadable), 1, UNKNOWN)
    tournament = await desk.tournaments.load(unreadable)
    assert [player.person for player in tournament.players if player] == [ANNA, "somebody:x"]


async def test_second_move_takes_a_tournament_readable_again(desk: Desk) -> None:
    unreadable, readable = (await desk.open(update="c1")).code, (await desk.open(update="c2")).code
    await desk.store.client.rpush(keys.log(unreadable), UNKNOWN)
    await desk.tournaments.move_chat(GROUP, "paper:200")
    assert [tournament.code for tournament in await desk.tournaments.in_chat("paper:200")] == [readable]
    await desk.store.client.rpop(keys.log(unreadable))
    await desk.tournaments.move_chat(GROUP, "paper:200")
    assert {tournament.code for tournament in await desk.tournaments.in_chat("paper:200")} == {readable, unreadable}
    assert await desk.store.client.exists(keys.in_chat(GROUP)) == 0


@pytest.mark.parametrize("length", [0, 2, None])
async def test_unreadable_tournament_is_cut_back_and_called_off(desk: Desk, length: int | None) -> None:
    before = await desk.open_and_enter("metamazzo", "knockout", ANNA, BRUNO)
    log = keys.log(before.code)
    if length is None:
        await desk.store.client.rpush(log, UNKNOWN)
    else:
        await desk.store.client.lset(log, length, UNKNOWN)
    assert list(await desk.tournaments.unreadable_codes()) == [before.code]
    for _ in range(2):
        await desk.tournaments.call_off_unreadable(before.code, "close")
    assert await desk.tournaments.unreadable_codes() == {}
    after = await Desk(desk.store).tournaments.load(before.code)
    assert after.entries == (*before.entries[:length], b"cancel\tclose")
    assert after.phase == "cancelled"
    assert await desk.store.client.ttl(log) > 0


async def test_readable_tournament_is_not_called_off(desk: Desk) -> None:
    code = (await desk.open()).code
    await desk.tournaments.call_off_unreadable(code, "close")
    assert (await desk.tournaments.load(code)).phase == "open"


async def test_forgetting_redacts_update_keys(desk: Desk) -> None:
    """Update keys of the playground contain the person's id."""
    ids = {person: person.partition(":")[2] for person in people}
    registration, code = desk.registration, (await desk.open("tressette", update=f"pg{ids[ANNA]}.1")).code
    for number, person in enumerate(people, 2):
        await registration.enter(code, person, NAMES[person], f"pg{ids[person]}.{number}")
    await registration.join_partner(code, BRUNO, NAMES[BRUNO], 0, f"pg{ids[BRUNO]}.6 partner")
    await registration.leave(code, CARLA, f"pg{ids[CARLA]}.7")
    await registration.enter(code, CARLA, NAMES[CARLA], f"pg{ids[CARLA]}.8")
    await registration.choose_option(code, ANNA, "time", "3600", f"pg{ids[ANNA]}.9")
    await registration.enter(code, f"paper:9{ids[BRUNO]}", "Another", f"pg9{ids[BRUNO]}.1")
    await registration.start(code, ANNA, f"pg{ids[ANNA]}.10")
    await desk.tournaments.commit(code, f"round:{ids[BRUNO]}", lambda _tournament: [Round(1, ((0, 1),))])
    for person in (BRUNO, CARLA, ANNA):
        await forget(desk.store, person, f"somebody:{NAMES[person][2:4]}")
        traces = await find_traces(desk.store, person, NAMES[person], f"pg{ids[person]}.")
        assert traces == []
    after = await Desk(desk.store).tournaments.load(code)
    assert after.has_seen(f"pg{ids[DINO]}.5")
    assert after.has_seen(f"pg9{ids[BRUNO]}.1")
    assert after.has_seen(f"round:{ids[BRUNO]}")


@pytest.mark.parametrize("action", ["open", "enter", "partner"])
async def test_press_during_forgetting_is_removed_by_the_next_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    code = (await desk.open_and_enter("tressette", "knockout", ANNA)).code
    write = desk.tournaments.write

    async def forget_then_write(
        tournament: Tournament, entries: Sequence[Entry], update: str
    ) -> Tournament | list[bytes]:
        await forget(desk.store, BRUNO, "somebody:x")
        return await write(tournament, entries, update)

    monkeypatch.setattr(desk.tournaments, "write", forget_then_write)
    if action == "open":
        choice = Choice.default("testa")
        await desk.registration.open("paper:300", BRUNO, NAMES[BRUNO], choice, "knockout", "late")
    elif action == "enter":
        await desk.registration.enter(code, BRUNO, NAMES[BRUNO], "late")
    else:
        await desk.registration.join_partner(code, BRUNO, NAMES[BRUNO], 0, "late")
    assert await find_traces(desk.store, BRUNO, NAMES[BRUNO])
    await forget(desk.store, BRUNO, "somebody:x")
    assert await find_traces(desk.store, BRUNO, NAMES[BRUNO]) == []


async def test_entry_during_forgetting_is_removed_by_the_next_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    code, other = [(await desk.open(update=f"c{number}")).code for number in range(2)]
    await desk.registration.enter(code, BRUNO, NAMES[BRUNO], "in")
    entries = desk.store.index.entries

    async def list_then_enter(key: str) -> dict[str, str]:
        listed = await entries(key)
        monkeypatch.setattr(desk.store.index, "entries", entries)
        await desk.registration.enter(other, BRUNO, NAMES[BRUNO], "late")
        return listed

    monkeypatch.setattr(desk.store.index, "entries", list_then_enter)
    await forget(desk.store, BRUNO, "somebody:x")
    assert await find_traces(desk.store, BRUNO, NAMES[BRUNO])
    await forget(desk.store, BRUNO, "somebody:x")
    assert await find_traces(desk.store, BRUNO, NAMES[BRUNO]) == []
