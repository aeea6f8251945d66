"""Whole tournaments of scripted people: tables open, results count, and standings match the game records."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any
from unittest.mock import AsyncMock

import pytest
from structlog.testing import capture_logs

from bot.delivery import answer_queue
from bot.features.tournaments import director
from bot.features.tournaments import keys as tournament_keys
from bot.features.tournaments.errors import AlreadyEntered
from bot.features.tournaments.forgetting import forget
from bot.features.tournaments.match_tables import chairs_for
from bot.features.tournaments.rounds import LEAGUE_AT_ONCE, Pairs, next_round
from bot.features.tournaments.standings import standings
from bot.features.tournaments.store import Decision, Tournaments
from bot.features.tournaments.tournament import DAY, Form, Tournament
from bot.finished.game import FinishedGame
from bot.panel import Panel
from bot.platform import ChatGone, MessageRefused, PlatformFailure, SentMessage
from bot.store import Store, keys
from bot.store.entry_text import UnreadableEntry
from bot.tables.errors import NoSuchTable
from bot.tables.game_choice import Choice
from bot.tables.limits import MAX_TABLES
from bot.tables.table import Table
from tests.bot.fake_platform import GROUP, open_worker
from tests.bot.features.privacy.traces import find_traces
from tests.bot.features.tournaments.field import (
    Field,
    count_duplicate_points,
    count_wins,
    find_open_tables,
    find_sides,
    name,
    open_field,
    person,
    team_name,
)
from tests.bot.full_store import full_store
from tests.long import long


@pytest.fixture(autouse=True)
def no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the director act only when a test calls it."""
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 1e6)
    monkeypatch.setattr(director, "ADVANCE_SECONDS", 0.0)


@pytest.fixture
async def field(store: Store) -> AsyncIterator[Field]:
    async with open_field(store) as field:
        yield field


async def pass_playing_time(field: Field, monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """Move the tournament clock forward."""
    time = await field.tournaments.playing_time() + seconds
    monkeypatch.setattr(field.tournaments, "playing_time", AsyncMock(return_value=time))


async def lose_table(field: Field, code: str) -> None:
    """Delete a table, as if it were missing from a restored backup."""
    await field.worker.store.client.delete(keys.table(code), keys.message_states(code))
    field.worker.room.forget(code)


def find_people(tournament: Tournament, team: int) -> frozenset[str]:
    return frozenset(player.person for player in tournament.members(team))


def find_places(tournament: Tournament) -> Mapping[frozenset[str], int]:
    """Return each team's place, by its people."""
    return {find_people(tournament, line.team): line.rank for line in standings(tournament)}


TOURNAMENTS: list[tuple[Form, str, int, int | None]] = [
    ("knockout", "metamazzo", 8, 21),
    ("roundrobin", "pizzichino", 4, 21),
    ("roundrobin", "pizzichino", 5, 21),
    ("knockout", "tavolo", 12, 11),
    ("swiss", "testa", 9, 11),
    ("league", "metamazzo", 6, 21),
    ("swiss", "tressette", 16, 21),
    ("knockout", "testa", 7, 11),
    ("knockout", "testa", 64, 11),
    ("roundrobin", "testa", 12, 11),
    ("swiss", "testa", 32, 11),
    ("league", "testa", 10, 11),
]


@pytest.mark.long
@pytest.mark.parametrize(("form", "game", "people", "target"), TOURNAMENTS)
async def test_tournament_of_whole_games_ranks_by_records(
    field: Field, form: Form, game: str, people: int, target: int | None
) -> None:
    code = (await field.start_tournament(game, form, people, target)).code
    finished = await field.play(code)
    assert finished.phase == "over"
    games = await field.games(code)
    assert all(game.chats == [GROUP] and game.is_rated for game in games)
    won = count_wins(games)
    places = find_places(finished)
    assert len(places) == len(finished.teams)
    if form == "knockout":
        assert len(games) == len(finished.teams) - 1
        [champion] = [team for team, rank in places.items() if rank == 1]
        assert won[champion] == max(won.values())
        # A team that lost once played no further game.
        assert all(len([game for game in games if team in find_sides(game)]) - won[team] <= 1 for team in places)
    if form in ("roundrobin", "league"):
        meetings = Counter(frozenset(find_sides(game)) for game in games)
        assert set(meetings.values()) == {1}
        assert len(meetings) == len(finished.teams) * (len(finished.teams) - 1) // 2
    if form != "knockout":
        byes = {find_people(finished, match.first): 1 for match in finished.matches if match.is_bye and form == "swiss"}
        order = sorted(places, key=lambda team: places[team])
        scores = [won[team] + byes.get(team, 0) for team in order]
        assert scores == sorted(scores, reverse=True)


DUPLICATES = [
    ("metamazzo", 8, "points"),
    ("tressette", 16, "points"),
    ("spades", 8, "steps"),
    ("metamazzo", 64, "points"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "people", "scoring"),
    [DUPLICATES[0], *(long(*case) for case in DUPLICATES[1:])],
)
async def test_duplicate_tables_share_packs_and_rank_by_records(
    field: Field, game: str, people: int, scoring: str
) -> None:
    code = (await field.start_tournament(game, "duplicate", people, scoring=scoring)).code
    finished = await field.play(code)
    games = await field.games(code)
    assert finished.phase == "over"
    assert not any(game.is_rated for game in games)
    packs: dict[tuple[int, int], set[str]] = {}
    for played_game in games:
        assert played_game.fixture_name
        key = (played_game.fixture_name.round, played_game.fixture_name.deal)
        packs.setdefault(key, set()).add("".join(played_game.record.deals[0].pack))
    assert all(len(packs_of_deal) == 1 for packs_of_deal in packs.values())
    assert len({pack for packs_of_deal in packs.values() for pack in packs_of_deal}) == len(packs)
    for number in range(people):
        own_packs = ["".join(game.record.deals[0].pack) for game in games if person(number) in game.people]
        assert len(own_packs) == len(set(own_packs))
    if scoring == "points":
        scores = count_duplicate_points(games, 50 if game == "spades" else 5)
        places = find_places(finished)
        order = sorted(places, key=lambda team: places[team])
        assert [scores[team] for team in order] == sorted((scores[team] for team in order), reverse=True)
    for match in finished.matches:
        if not match.is_bye:
            first, second = chairs_for(finished, match, 1), chairs_for(finished, match, 2)
            assert first[0] == second[1]


async def test_duplicate_cards_stay_secret_until_the_round_ends(field: Field, store: Store) -> None:
    started = await field.start_tournament("metamazzo", "duplicate", 4)
    await field.settle()
    tournament = await field.tournaments.load(started.code)
    first, second = list(find_open_tables(tournament))
    await field.play_out(first)
    await field.settle()
    secrets = [tournament.secret(1, deal).hex() for deal in (1, 2)]

    def is_leaked() -> bool:
        return any(
            secret in text
            for place in list(field.fake.messages)
            for text in field.fake.texts(place)
            for secret in secrets
        )

    assert await field.games(started.code) == []
    assert not is_leaked()
    assert (await field.worker.room.load(second)).phase == "playing"
    await field.play(started.code, rounds=1, resigning=0)
    assert len(await field.games(started.code)) == 4
    assert not await store.client.exists(tournament_keys.games(started.code))


@pytest.mark.long
async def test_unreadable_held_game_stays_and_blocks_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "RETRY_SECONDS", 0.0)
    async with open_field(store) as field:
        code = (await field.start_tournament("metamazzo", "duplicate", 4)).code
        key = tournament_keys.games(code)
        await store.client.hset(key, "1 ABCDEF-1", b"of another release")
        with capture_logs() as logs:
            finished = await field.play(code)
            await field.settle(3)
        assert finished.phase == "over"
        _, announcement = field.fake.texts(GROUP)
        assert any(team_name(finished, line.team) in announcement for line in standings(finished) if line.rank == 1)
        assert list(await field.tournaments.live_codes()) == []
        assert len(await field.games(code)) == sum(len(match.deals) for match in finished.matches)
        assert await store.client.hgetall(key) == {b"1 ABCDEF-1": b"of another release"}
        assert [event["game"] for event in logs if event["event"] == "game_unreadable"] == ["ABCDEF-1"]


async def test_card_is_one_message_and_winner_announced_once(field: Field) -> None:
    code = (await field.start_tournament("metamazzo", "knockout", 4, 21)).code
    await field.settle()
    assert len(field.fake.messages[GROUP]) == 1
    [card] = field.fake.messages[GROUP]
    finished = await field.play(code)
    await field.settle(3)
    assert next(iter(field.fake.messages[GROUP])) == card
    _, announcement = field.fake.texts(GROUP)
    [winner] = [line.team for line in standings(finished) if line.rank == 1]
    assert team_name(finished, winner) in announcement
    assert list(await field.tournaments.live_codes()) == []


async def test_first_hands_are_sent_without_an_edit(field: Field) -> None:
    """A fixture seats all players at once, so nothing shown earlier needs an edit."""
    await field.start_tournament("metamazzo", "knockout", 4)
    await field.settle()
    assert [action for action, place, _message in field.fake.calls if place != GROUP] == ["send"] * 4


@pytest.mark.long
async def test_new_worker_continues_the_tournament(store: Store) -> None:
    async with open_field(store) as field:
        code = (await field.start_tournament("testa", "swiss", 8, 11)).code
        await field.play(code, rounds=1)
        await field.settle()
        fake = field.fake
    async with open_worker(store, fake) as worker:
        field = Field(worker, fake, 2)
        finished = await field.play(code)
        assert finished.phase == "over"
        assert len(await field.games(code)) == sum(not match.is_bye for match in finished.matches)


async def test_withdrawn_player_loses_all_matches(field: Field) -> None:
    code = (await field.start_tournament("metamazzo", "roundrobin", 4, 21)).code
    await field.settle()
    await field.registration.leave(code, person(1), "leave")
    finished = await field.play(code, resigning=0)
    matches = [
        match for match in finished.matches if 1 in [number for team in match.teams for number in finished.teams[team]]
    ]
    results = [next(iter(match.results.values())).ending for match in matches]
    assert results[0] == "resign"
    assert set(results[1:]) == {"forfeit"}
    assert all(match.winner is not None and 1 not in finished.teams[match.winner] for match in matches)


async def test_withdrawal_during_pairing_leaves_player_unpaired(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (await field.start_tournament("testa", "swiss", 6, 11)).code
    loop = asyncio.get_running_loop()

    def pair_and_withdraw(tournament: Tournament) -> Pairs | None:
        """Withdraw a player during pairing, which runs in a thread."""
        pairs = next_round(tournament)
        if len(tournament.rounds) == 1 and not tournament.withdrawn:
            leaving = field.registration.leave(code, person(1), "leave")
            asyncio.run_coroutine_threadsafe(leaving, loop).result()
        return pairs

    monkeypatch.setattr(director, "next_round", pair_and_withdraw)
    tournament = await field.play(code, rounds=1)
    team = tournament.team_of(1)
    assert tournament.withdrawn == {1}
    assert team not in [paired for match in tournament.rounds[1] for paired in match.teams]
    assert len(tournament.rounds[1]) == 3


async def test_league_withdrawal_forfeits_unseated_matches_at_once(field: Field) -> None:
    code = (await field.start_tournament("testa", "league", 5, 11)).code
    await field.settle()
    tournament = await field.tournaments.load(code)
    table_counts = Counter(team for match in tournament.matches if match.seats for team in match.teams)
    match = next(match for match in tournament.matches if not match.seats)
    withdrawn, busy = sorted(match.teams, key=table_counts.__getitem__)
    assert table_counts[busy] == LEAGUE_AT_ONCE
    await field.registration.leave(code, person(tournament.teams[withdrawn][0]), "leave")
    await field.settle()
    after = await field.tournaments.load(code)
    assert after.match(match.round, match.number).results[0].ending == "forfeit"
    assert after.match(match.round, match.number).winner == busy
    running = [match for match in after.matches if busy in match.teams and match.seats and not match.is_over]
    assert len(running) == LEAGUE_AT_ONCE


async def test_player_to_move_loses_when_the_round_ends(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    started = await field.start_tournament("metamazzo", "knockout", 2)
    await field.settle()
    tournament = await field.tournaments.load(started.code)
    [code] = find_open_tables(tournament)
    table = await field.worker.room.load(code)
    mover = table.to_move
    assert mover
    await pass_playing_time(field, monkeypatch, DAY + 1)
    await field.settle(3)
    finished = await field.tournaments.load(started.code)
    assert finished.phase == "over"
    [match] = finished.matches
    assert match.results[0].ending == "timeout"
    assert match.winner is not None
    assert mover.person not in find_people(finished, match.winner)


async def test_player_who_has_not_played_is_reminded_once(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    started = await field.start_tournament("metamazzo", "knockout", 2)
    await field.settle()
    await pass_playing_time(field, monkeypatch, DAY - 3600 * 5)
    await field.settle(3)
    place = f"{person(0).replace(':', ':@')}"
    reminded = [text for text in field.fake.texts(place) if name(1) in text and "5 h" in text]
    assert len(reminded) == 1, field.fake.texts(place)
    assert (await field.tournaments.load(started.code)).phase == "playing"


async def test_calling_off_closes_duplicate_tables_and_archives_games(field: Field) -> None:
    started = await field.start_tournament("metamazzo", "duplicate", 4)
    await field.settle()
    tournament = await field.tournaments.load(started.code)
    tables = list(find_open_tables(tournament))
    await field.play_out(tables[0])
    await field.registration.cancel(started.code, person(0), "off")
    await field.settle(3)
    for code in tables:
        with pytest.raises(NoSuchTable):
            await field.worker.room.load(code)
    assert [game.code for game in await field.games(started.code)][:1] == [tables[0]]
    assert list(await field.tournaments.live_codes()) == []


async def test_reposted_card_replaces_the_stored_message(field: Field, store: Store) -> None:
    started = await field.start_tournament("metamazzo", "knockout", 2, 21)
    await field.settle()
    state = json.loads(await store.client.get(tournament_keys.card(started.code)))
    assert state["message"] in field.fake.messages[GROUP]
    await field.director.cards.repost(started.code)
    await field.settle(3)
    assert len(field.fake.messages[GROUP]) == 1
    assert state["message"] not in field.fake.messages[GROUP]


async def test_card_sent_without_an_answer_is_updated_not_duplicated(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_queue, "FIRST_RETRY_SECONDS", 0.0)
    async with open_field(store) as field:
        registration, fake = field.registration, field.fake
        fake.errors_after_delivery[GROUP].append(PlatformFailure("no answer"))
        tournament = await registration.open(GROUP, person(0), name(0), Choice.default("testa"), "knockout", "open")
        send = fake.send

        async def send_then_enter(place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
            # The worker can stop here, so the next worker must find everything in the store.
            try:
                return await send(place, panel, key, silent=silent)
            finally:
                with suppress(AlreadyEntered):
                    await registration.enter(tournament.code, person(1), name(1), "enter")

        monkeypatch.setattr(fake, "send", send_then_enter)
        await field.settle(3)
        [text] = fake.texts(GROUP)
        assert name(1) in text


async def test_card_reposted_twice_leaves_one_message(field: Field) -> None:
    code = (await field.start_tournament("testa", "knockout", 2, 11)).code
    await field.settle()
    for _ in range(2):
        await field.director.cards.repost(code)
    await field.settle(3)
    assert len(field.fake.messages[GROUP]) == 1


async def test_refused_card_is_not_retried_at_once(field: Field) -> None:
    field.fake.errors[GROUP] = [MessageRefused("no rights"), MessageRefused("no rights")]
    await field.start_tournament("testa", "knockout", 2, 11)
    await field.settle(5)
    assert len(field.fake.errors[GROUP]) == 1


async def test_failing_tournament_does_not_block_others(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = sorted([(await field.start_tournament("testa", "knockout", 2, 11)).code for _ in range(2)])
    load = field.tournaments.load

    async def load_or_fail(code: str) -> Tournament:
        if code == codes[0]:
            raise UnreadableEntry
        return await load(code)

    monkeypatch.setattr(field.tournaments, "load", load_or_fail)
    await field.settle(2)
    assert [len((await load(code)).rounds) for code in codes] == [0, 1]


@pytest.mark.long
@pytest.mark.parametrize("form", ["knockout", "duplicate"])
async def test_game_counts_once_its_tournament_is_readable_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, form: Form
) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(director, "RETRY_SECONDS", 0.0)
    async with open_field(store) as field:
        code = (await field.start_tournament("metamazzo", form, 4, 21)).code
        await field.settle()
        table, *_ = find_open_tables(await field.tournaments.load(code))
        await store.client.rpush(tournament_keys.log(code), b"newer 1 2\tx")
        with capture_logs() as logs:
            await field.play_out(table)
            await field.settle(3)
        assert [event["event"] for event in logs if event["log_level"] == "error"] == ["tournament_unreadable"]
        with pytest.raises(NoSuchTable):
            await field.worker.room.load(table)
        assert len(await field.games(code)) == (1 if form == "knockout" else 0)
        await store.client.rpop(tournament_keys.log(code))
        await field.settle(2)
        [match] = [match for match in (await field.tournaments.load(code)).matches if table in match.seats.values()]
        assert next(iter(match.results.values())).ending == "played"


async def test_unreadable_tournament_can_be_called_off(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "RETRY_SECONDS", 0.0)
    async with open_field(store) as field:
        code = (await field.start_tournament("metamazzo", "duplicate", 4)).code
        await field.settle()
        tables = list(find_open_tables(await field.tournaments.load(code)))
        await field.play_out(tables[0])
        await store.client.rpush(tournament_keys.log(code), b"newer 1 2\tx")
        await field.settle()
        # `buongioco tables close` does the same.
        await Tournaments(store).call_off_unreadable(code, "close")
        await field.settle(3)
        assert sorted(game.code for game in await field.games(code)) == sorted(tables)
        assert "called off" in field.fake.last(GROUP).plain
        assert list(await field.tournaments.live_codes()) == []
        assert await field.tournaments.in_chat(GROUP) == []


@pytest.mark.parametrize("ending", ["withdraws", "late"])
async def test_table_opened_before_a_crash_belongs_to_its_match(
    field: Field, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    code = (await field.start_tournament("testa", "knockout", 2, 11)).code
    commit = field.tournaments.commit

    async def fail_to_record_seat(code: str, update: str, decide: Decision) -> Tournament:
        if update.startswith("seat:"):
            raise OSError("a worker dies")
        return await commit(code, update, decide)

    monkeypatch.setattr(field.tournaments, "commit", fail_to_record_seat)
    with pytest.raises(OSError, match="dies"):
        await field.director.check_all()
    monkeypatch.setattr(field.tournaments, "commit", commit)
    [table] = await field.worker.room.lists.tables_of(person(0))
    if ending == "withdraws":
        await field.registration.leave(code, person(0), "leave")
    else:
        await pass_playing_time(field, monkeypatch, DAY + 1)
    await field.settle(3)
    finished = await field.tournaments.load(code)
    [match] = finished.matches
    assert match.seats == {0: table.code}
    assert match.results[0].ending == ("resign" if ending == "withdraws" else "timeout")
    assert [game.code for game in await field.games(code)] == [table.code]


async def test_player_with_too_many_tables_still_gets_a_match(field: Field) -> None:
    code = (await field.start_tournament("testa", "knockout", 2, 11)).code
    for number in range(MAX_TABLES):
        await field.worker.challenges.open_practice("testa", person(0), name(0), "easy", f"practice {number}")
    finished = await field.play(code)
    assert [match.results[0].ending for match in finished.matches] != ["void"]
    assert finished.phase == "over"


async def test_player_forgotten_during_table_opening_resigns(
    field: Field, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (await field.start_tournament("testa", "knockout", 2, 11)).code
    open_fixture = field.worker.challenges.open_fixture

    async def forget_then_open(*args: Any, **options: Any) -> Table:
        await forget(store, person(1), "somebody:1a")
        return await open_fixture(*args, **options)

    monkeypatch.setattr(field.worker.challenges, "open_fixture", forget_then_open)
    await field.settle(3)
    finished = await field.tournaments.load(code)
    assert finished.phase == "over"
    [match] = finished.matches
    assert match.results[0].ending == "resign"
    [game] = await field.games(code)
    assert sorted(game.people) == [person(0), "somebody:1a"]
    assert await find_traces(store, name(1)) == []


@pytest.mark.parametrize("is_archived", [True, False])
async def test_lost_table_is_replayed_unless_its_game_is_archived(
    store: Store, monkeypatch: pytest.MonkeyPatch, is_archived: bool
) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with open_field(store) as field:
        code = (await field.start_tournament("testa", "knockout", 2, 11)).code
        await field.settle()
        [table] = find_open_tables(await field.tournaments.load(code))
        if is_archived:

            async def ignore_game(_table: Table, _game: FinishedGame) -> None:
                """Record nothing, as if the restored log ended before this game."""

            monkeypatch.setattr(field.director, "record_game", ignore_game)
            await field.play_out(table)
        else:
            await lose_table(field, table)
        await field.settle(2)
        tournament = await field.tournaments.load(code)
        [match] = tournament.matches
        if is_archived:
            assert match.results[0].ending in ("played", "resign")
            assert tournament.phase == "over"
        else:
            assert not match.results
            assert (await field.worker.room.load(match.seats[0])).phase == "playing"


async def test_matches_wait_while_the_store_is_full(field: Field, store: Store) -> None:
    code = (await field.start_tournament("testa", "knockout", 4, 11)).code
    with capture_logs() as logs:
        async with full_store(store):
            await field.settle(2)
            tournament = await field.tournaments.load(code)
            assert [match.seats for match in tournament.matches] == [{}, {}]
            assert "no room for new tables" in field.fake.last(GROUP).plain
    assert not [event for event in logs if event["log_level"] == "error"]
    await field.settle(2)
    assert len(list(find_open_tables(await field.tournaments.load(code)))) == 2
    assert "no room for new tables" not in field.fake.last(GROUP).plain


async def test_lost_table_waits_while_the_store_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with open_field(store) as field:
        code = (await field.start_tournament("testa", "knockout", 2, 11)).code
        await field.settle()
        [table] = find_open_tables(await field.tournaments.load(code))
        await lose_table(field, table)
        async with full_store(store):
            await field.settle(2)
            [match] = (await field.tournaments.load(code)).matches
            assert not match.results
        await field.settle(2)
        [match] = (await field.tournaments.load(code)).matches
        assert (await field.worker.room.load(match.seats[0])).phase == "playing"


@pytest.mark.parametrize("reason", ["late", "withdrawn"])
async def test_lost_table_is_not_replayed_after_deadline_or_withdrawal(
    store: Store, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with open_field(store) as field:
        code, room = (await field.start_tournament("testa", "knockout", 2, 11)).code, field.worker.room
        await field.settle()
        [table] = find_open_tables(await field.tournaments.load(code))
        # An entry of another release sets the table aside, so it accepts no moves and no resignation.
        await store.client.rpush(keys.table(table), b"newer 1\tx")
        room.forget(table)
        if reason == "late":
            await pass_playing_time(field, monkeypatch, DAY + 1)
        else:
            await field.registration.leave(code, person(1), "leave")
        await field.settle()
        [match] = (await field.tournaments.load(code)).matches
        assert (match.seats, match.results) == ({0: table}, {})
        # `buongioco tables close` does the same.
        await room.remove(await room.load(table))
        await field.settle(3)
        tournament = await field.tournaments.load(code)
        [match] = tournament.matches
        assert match.seats == {0: table}
        assert match.results[0].ending == ("void" if reason == "late" else "forfeit")
        winners = [] if match.winner is None else tournament.members(match.winner)
        assert [player.person for player in winners] == ([] if reason == "late" else [person(0)])
        assert await field.games(code) == []


async def test_deal_with_lost_table_and_unreadable_game_is_void(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with open_field(store) as field:
        code = (await field.start_tournament("metamazzo", "duplicate", 4)).code
        await field.settle()
        table, *_ = find_open_tables(await field.tournaments.load(code))
        await store.client.hset(tournament_keys.games(code), f"1 {table}-1", b"of another release")
        await lose_table(field, table)
        await field.settle(2)
        [match] = [match for match in (await field.tournaments.load(code)).matches if table in match.seats.values()]
        assert match.results[1].ending == "void"


async def test_result_of_an_unpaired_match_is_ignored(field: Field, store: Store) -> None:
    code = (await field.start_tournament("metamazzo", "duplicate", 4)).code
    await field.settle()
    tournament = await field.tournaments.load(code)
    # Restore a log that is older than its tables.
    entries = [entry for entry in tournament.entries if not entry.startswith((b"round", b"seat"))]
    await store.client.delete(tournament_keys.log(code))
    await store.client.rpush(tournament_keys.log(code), *entries)
    for table in find_open_tables(tournament):
        await field.play_out(table)
    await field.settle(3)
    assert (await field.tournaments.load(code)).rounds


async def test_card_is_sent_once_the_moved_chat_is_reachable(field: Field) -> None:
    code = (await field.start_tournament("testa", "knockout", 2, 11)).code
    await field.settle()
    field.fake.errors["paper:200"] = [ChatGone("not yet")]
    await field.tournaments.move_chat(GROUP, "paper:200")
    await field.settle()
    assert not field.fake.messages["paper:200"]
    await field.director.cards.back_in_chat(code)
    await field.settle(2)
    assert len(field.fake.messages["paper:200"]) == 1


async def test_repost_during_an_edit_leaves_one_card(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = field.fake
    tournament = await field.registration.open(GROUP, person(0), name(0), Choice.default("testa"), "knockout", "open")
    await field.settle()
    [first] = fake.messages[GROUP]
    edit = fake.edit

    async def repost_then_edit(place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        await field.director.cards.repost(tournament.code)
        return await edit(place, sent, panel)

    monkeypatch.setattr(fake, "edit", repost_then_edit)
    await field.registration.enter(tournament.code, person(1), name(1), "enter")
    await field.settle(4)
    assert len(fake.messages[GROUP]) == 1
    assert first not in fake.messages[GROUP]
