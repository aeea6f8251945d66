"""Whole tournaments of scripted people: tables open by themselves, results count, and who is ahead is who the records
say.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.delivery import answers
from bot.features.tournaments import director
from bot.features.tournaments.director import LEAGUE_AT_ONCE
from bot.features.tournaments.errors import AlreadyEntered
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.fixtures import chairs_for
from bot.features.tournaments.forgetting import forget
from bot.features.tournaments.pairing import Pairs, next_round
from bot.features.tournaments.standings import standings
from bot.features.tournaments.store import Decision, Tournaments
from bot.features.tournaments.tournament import DAY, Form, Tournament
from bot.finished.game import FinishedGame
from bot.panel import Panel
from bot.platform import ChatGone, MessageRefused, PlatformFailure, SentMessage
from bot.store import Store, keys
from bot.store.forms import UnreadableEntry
from bot.tables.choice import Choice
from bot.tables.errors import NoSuchTable
from bot.tables.lists import MOST_TABLES
from bot.tables.table import Table
from tests.bot.fake_platform import GROUP, open_worker
from tests.bot.features.privacy.traces import find_traces
from tests.bot.features.tournaments.field import (
    Field,
    duplicate_points,
    field,
    name,
    open_tables,
    person,
    sides,
    team_name,
    wins,
)
from tests.bot.full import full
from tests.long import long


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The director does something when a test has it do so."""
    monkeypatch.setattr(director, "POLL_SECONDS", 1e6)
    monkeypatch.setattr(director, "ADVANCE_SECONDS", 0.0)


def people_of(tournament: Tournament, team: int) -> frozenset[str]:
    return frozenset(one.person for one in tournament.members(team))


def by_people(tournament: Tournament) -> Mapping[frozenset[str], int]:
    """Each team's place."""
    return {people_of(tournament, line.team): line.place for line in standings(tournament)}


WHOLE: list[tuple[Form, str, int, int | None]] = [
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


@pytest.mark.parametrize(
    ("form", "game", "people", "target"), [WHOLE[1], *(long(*one) for one in WHOLE if one != WHOLE[1])]
)
async def test_tournament_of_whole_games_ranks_by_records(
    store: Store, form: Form, game: str, people: int, target: int | None
) -> None:
    async with field(store) as some:
        code = (await some.started(game, form, people, target)).code
        over = await some.played(code)
        assert over.phase == "over"
        games = await some.games(code)
        assert all(game.chats == [GROUP] and game.is_rated for game in games)
        won = wins(games)
        places = by_people(over)
        assert len(places) == len(over.teams)
        if form == "knockout":
            assert len(games) == len(over.teams) - 1
            [champion] = [team for team, place in places.items() if place == 1]
            assert won[champion] == max(won.values())
            # Whoever lost once is out, and met nobody after that.
            assert all(len([one for one in games if team in sides(one)]) - won[team] <= 1 for team in places)
        if form in ("roundrobin", "league"):
            met = Counter(frozenset(sides(game)) for game in games)
            assert set(met.values()) == {1}
            assert len(met) == len(over.teams) * (len(over.teams) - 1) // 2
        if form != "knockout":
            byes = {people_of(over, one.first): 1 for one in over.matches if one.is_bye and form == "swiss"}
            order = sorted(places, key=lambda team: places[team])
            counted = [won[team] + byes.get(team, 0) for team in order]
            assert counted == sorted(counted, reverse=True)


DUPLICATES = [
    ("metamazzo", 8, "points"),
    ("tressette", 16, "points"),
    ("spades", 8, "steps"),
    ("metamazzo", 64, "points"),
]


@pytest.mark.parametrize(
    ("game", "people", "scoring"),
    [DUPLICATES[0], *(long(*one) for one in DUPLICATES[1:])],
)
async def test_duplicate_tables_share_packs_and_rank_by_records(
    store: Store, game: str, people: int, scoring: str
) -> None:
    async with field(store) as some:
        code = (await some.started(game, "duplicate", people, scoring=scoring)).code
        over = await some.played(code)
        games = await some.games(code)
        assert over.phase == "over"
        assert not any(game.is_rated for game in games)
        packs: dict[tuple[int, int], set[str]] = {}
        for one in games:
            assert one.fixture_name
            where = (one.fixture_name.round, one.fixture_name.deal)
            packs.setdefault(where, set()).add("".join(one.record.deals[0].pack))
        assert all(len(found) == 1 for found in packs.values())
        assert len({pack for found in packs.values() for pack in found}) == len(packs)
        for number in range(people):
            held = ["".join(one.record.deals[0].pack) for one in games if person(number) in one.people]
            assert len(held) == len(set(held))
        if scoring == "points":
            counted = duplicate_points(games, 50 if game == "spades" else 5)
            places = by_people(over)
            order = sorted(places, key=lambda team: places[team])
            assert [counted[team] for team in order] == sorted((counted[team] for team in order), reverse=True)
        for match in over.matches:
            if not match.is_bye:
                first, second = chairs_for(over, match, 1), chairs_for(over, match, 2)
                assert first[0] == second[1]


async def test_duplicate_cards_stay_secret_until_the_round_ends(store: Store) -> None:
    async with field(store) as some:
        started = await some.started("metamazzo", "duplicate", 4)
        await some.tended()
        tournament = await some.worker.feature(TournamentsFeature).director.tournaments.load(started.code)
        first, second = list(open_tables(tournament))
        await some.play_out(first)
        await some.tended()
        secrets = [tournament.secret(1, deal).hex() for deal in (1, 2)]

        def is_told() -> bool:
            return any(
                secret in text
                for place in list(some.fake.messages)
                for text in some.fake.texts(place)
                for secret in secrets
            )

        assert await some.games(started.code) == []
        assert not is_told()
        assert (await some.worker.room.load(second)).phase == "playing"
        await some.played(started.code, rounds=1, resigning=0)
        assert len(await some.games(started.code)) == 4
        assert not await store.client.exists(keys.tournament_games(started.code))


async def test_unreadable_held_game_stays_and_blocks_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "RETRY_SECONDS", 0.0)
    async with field(store) as some:
        code = (await some.started("metamazzo", "duplicate", 4)).code
        held = keys.tournament_games(code)
        await store.client.hset(held, "1 ABCDEF-1", b"of another release")
        with capture_logs() as logs:
            over = await some.played(code)
            for _ in range(3):
                await some.tended()
        assert over.phase == "over"
        _, told = some.fake.texts(GROUP)
        assert any(team_name(over, line.team) in told for line in standings(over) if line.place == 1)
        assert list(await some.worker.feature(TournamentsFeature).director.tournaments.live_codes()) == []
        assert len(await some.games(code)) == sum(len(match.deals) for match in over.matches)
        assert await store.client.hgetall(held) == {b"1 ABCDEF-1": b"of another release"}
        assert [one["game"] for one in logs if one["event"] == "game_unreadable"] == ["ABCDEF-1"]


async def test_card_is_one_message_and_winner_announced_once(store: Store) -> None:
    async with field(store) as some:
        code = (await some.started("metamazzo", "knockout", 4, 21)).code
        await some.tended()
        assert len(some.fake.messages[GROUP]) == 1
        [card] = some.fake.messages[GROUP]
        over = await some.played(code)
        for _ in range(3):
            await some.tended()
        assert next(iter(some.fake.messages[GROUP])) == card
        _, told = some.fake.texts(GROUP)
        [winner] = [line.team for line in standings(over) if line.place == 1]
        assert team_name(over, winner) in told
        assert list(await some.worker.feature(TournamentsFeature).director.tournaments.live_codes()) == []


async def test_first_hands_are_sent_without_an_edit(store: Store) -> None:
    """A table at which everybody sat from the beginning has shown nothing else that an edit would have to mend."""
    async with field(store) as some:
        await some.started("metamazzo", "knockout", 4)
        await some.tended()
        assert [what for what, place, _message in some.fake.calls if place != GROUP] == ["send"] * 4


async def test_new_worker_continues_the_tournament(store: Store) -> None:
    async with field(store) as some:
        code = (await some.started("testa", "swiss", 8, 11)).code
        await some.played(code, rounds=1)
        await some.tended()
        fake = some.fake
    async with open_worker(store, fake) as worker:
        some = Field(worker, fake, 2)
        over = await some.played(code)
        assert over.phase == "over"
        assert len(await some.games(code)) == sum(not match.is_bye for match in over.matches)


async def test_withdrawn_player_loses_all_matches(store: Store) -> None:
    async with field(store) as some:
        code = (await some.started("metamazzo", "roundrobin", 4, 21)).code
        await some.tended()
        await some.worker.feature(TournamentsFeature).registration.leave(code, person(1), "leave")
        over = await some.played(code, resigning=0)
        mine = [match for match in over.matches if 1 in [number for team in match.teams for number in over.teams[team]]]
        results = [next(iter(match.results.values())).how for match in mine]
        assert results[0] == "resign"
        assert set(results[1:]) == {"forfeit"}
        assert all(match.winner is not None and 1 not in over.teams[match.winner] for match in mine)


async def test_withdrawal_during_pairing_leaves_player_unpaired(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with field(store) as some:
        code = (await some.started("testa", "swiss", 6, 11)).code
        loop = asyncio.get_running_loop()

        def meanwhile(tournament: Tournament) -> Pairs | None:
            """Pairs are worked out in a thread of their own."""
            pairs = next_round(tournament)
            if len(tournament.rounds) == 1 and not tournament.withdrawn:
                leaving = some.worker.feature(TournamentsFeature).registration.leave(code, person(1), "leave")
                asyncio.run_coroutine_threadsafe(leaving, loop).result()
            return pairs

        monkeypatch.setattr(director, "next_round", meanwhile)
        t = await some.played(code, rounds=1)
        team = t.team_of(1)
        assert t.withdrawn == {1}
        assert team not in [one for match in t.rounds[1] for one in match.teams]
        assert len(t.rounds[1]) == 3


async def test_league_withdrawal_forfeits_unseated_matches_at_once(store: Store) -> None:
    async with field(store) as some:
        code, at = (await some.started("testa", "league", 5, 11)).code, some.worker.feature(TournamentsFeature).director
        await some.tended()
        t = await at.tournaments.load(code)
        on = Counter(team for match in t.matches if match.seats for team in match.teams)
        match = next(one for one in t.matches if not one.seats)
        gone, busy = sorted(match.teams, key=on.__getitem__)
        assert on[busy] == LEAGUE_AT_ONCE
        await some.worker.feature(TournamentsFeature).registration.leave(code, person(t.teams[gone][0]), "leave")
        await some.tended()
        now = await at.tournaments.load(code)
        assert now.match(match.round, match.number).results[0].how == "forfeit"
        assert now.match(match.round, match.number).winner == busy
        still_on = [one for one in now.matches if busy in one.teams and one.seats and not one.is_over]
        assert len(still_on) == LEAGUE_AT_ONCE


async def test_player_to_move_loses_when_the_round_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with field(store) as some:
        started = await some.started("metamazzo", "knockout", 2)
        await some.tended()
        tournament = await some.worker.feature(TournamentsFeature).director.tournaments.load(started.code)
        [code] = open_tables(tournament)
        table = await some.worker.room.load(code)
        mover = table.to_move
        assert mover
        played = await some.worker.feature(TournamentsFeature).director.tournaments.playing_time()

        async def later() -> int:
            return played + DAY + 1

        monkeypatch.setattr(some.worker.feature(TournamentsFeature).director.tournaments, "playing_time", later)
        for _ in range(3):
            await some.tended()
        over = await some.worker.feature(TournamentsFeature).director.tournaments.load(started.code)
        assert over.phase == "over"
        [match] = over.matches
        assert match.results[0].how == "timeout"
        assert match.winner is not None
        assert mover.person not in people_of(over, match.winner)


async def test_player_who_has_not_played_is_reminded_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with field(store) as some:
        started = await some.started("metamazzo", "knockout", 2)
        await some.tended()
        played = await some.worker.feature(TournamentsFeature).director.tournaments.playing_time()

        async def later() -> int:
            return played + DAY - 3600 * 5

        before = len(some.fake.messages[person(0)])
        monkeypatch.setattr(some.worker.feature(TournamentsFeature).director.tournaments, "playing_time", later)
        for _ in range(3):
            await some.tended()
        place = f"{person(0).replace(':', ':@')}"
        reminded = [text for text in some.fake.texts(place) if name(1) in text and "5 h" in text]
        assert len(reminded) == 1, (before, some.fake.texts(place))
        assert (
            await some.worker.feature(TournamentsFeature).director.tournaments.load(started.code)
        ).phase == "playing"


async def test_calling_off_closes_duplicate_tables_and_archives_games(store: Store) -> None:
    async with field(store) as some:
        started = await some.started("metamazzo", "duplicate", 4)
        await some.tended()
        tournament = await some.worker.feature(TournamentsFeature).director.tournaments.load(started.code)
        tables = list(open_tables(tournament))
        await some.play_out(tables[0])
        await some.worker.feature(TournamentsFeature).registration.cancel(started.code, person(0), "off")
        for _ in range(3):
            await some.tended()
        for code in tables:
            with pytest.raises(NoSuchTable):
                await some.worker.room.load(code)
        assert [one.code for one in await some.games(started.code)][:1] == [tables[0]]
        assert list(await some.worker.feature(TournamentsFeature).director.tournaments.live_codes()) == []


async def test_reposted_card_replaces_the_stored_message(store: Store) -> None:
    async with field(store) as some:
        started = await some.started("metamazzo", "knockout", 2, 21)
        await some.tended()
        state = json.loads(await store.client.get(keys.tournament_card(started.code)))
        assert state["message"] in some.fake.messages[GROUP]
        await some.worker.feature(TournamentsFeature).director.cards.repost(started.code)
        for _ in range(3):
            await some.tended()
        assert len(some.fake.messages[GROUP]) == 1
        assert state["message"] not in some.fake.messages[GROUP]


async def test_card_sent_without_an_answer_is_updated_not_doubled(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "FIRST_PAUSE", 0.0)
    async with field(store) as some:
        registration, fake = some.worker.feature(TournamentsFeature).registration, some.fake
        fake.after_faults[GROUP].append(PlatformFailure("no answer"))
        opened = await registration.open(GROUP, person(0), name(0), Choice.usual("testa"), "knockout", "open")
        send = fake.send

        async def meanwhile(place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
            # A worker may die in between, too: all that the next one knows is in the store.
            try:
                return await send(place, panel, key, silent=silent)
            finally:
                with suppress(AlreadyEntered):
                    await registration.enter(opened.code, person(1), name(1), "enter")

        monkeypatch.setattr(fake, "send", meanwhile)
        for _ in range(3):
            await some.tended()
        [text] = fake.texts(GROUP)
        assert name(1) in text


async def test_card_reposted_twice_leaves_one_message(store: Store) -> None:
    async with field(store) as some:
        code = (await some.started("testa", "knockout", 2, 11)).code
        await some.tended()
        for _ in range(2):
            await some.worker.feature(TournamentsFeature).director.cards.repost(code)
        for _ in range(3):
            await some.tended()
        assert len(some.fake.messages[GROUP]) == 1


async def test_refused_card_is_not_retried_at_once(store: Store) -> None:
    async with field(store) as some:
        some.fake.errors[GROUP] = [MessageRefused("no rights"), MessageRefused("no rights")]
        await some.started("testa", "knockout", 2, 11)
        for _ in range(5):
            await some.tended()
        assert len(some.fake.errors[GROUP]) == 1


async def test_failing_tournament_does_not_block_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with field(store) as some:
        codes = sorted([(await some.started("testa", "knockout", 2, 11)).code for _ in range(2)])
        load = some.worker.feature(TournamentsFeature).director.tournaments.load

        async def broken(code: str) -> Tournament:
            if code == codes[0]:
                raise UnreadableEntry
            return await load(code)

        monkeypatch.setattr(some.worker.feature(TournamentsFeature).director.tournaments, "load", broken)
        for _ in range(2):
            await some.tended()
        assert [len((await load(code)).rounds) for code in codes] == [0, 1]


@pytest.mark.parametrize("form", ["knockout", "duplicate"])
async def test_game_of_unreadable_tournament_counts_once_readable(
    store: Store, monkeypatch: pytest.MonkeyPatch, form: Form
) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(director, "RETRY_SECONDS", 0.0)
    async with field(store) as some:
        code, at = (await some.started("metamazzo", form, 4, 21)).code, some.worker.feature(TournamentsFeature).director
        await some.tended()
        table, *_ = open_tables(await at.tournaments.load(code))
        await store.client.rpush(keys.tournament(code), b"newer 1 2\tx")
        with capture_logs() as logs:
            await some.play_out(table)
            for _ in range(3):
                await some.tended()
        assert [one["event"] for one in logs if one["log_level"] == "error"] == ["tournament_unreadable"]
        with pytest.raises(NoSuchTable):
            await some.worker.room.load(table)
        assert len(await some.games(code)) == (1 if form == "knockout" else 0)
        await store.client.rpop(keys.tournament(code))
        for _ in range(2):
            await some.tended()
        [match] = [one for one in (await at.tournaments.load(code)).matches if table in one.seats.values()]
        assert next(iter(match.results.values())).how == "played"


async def test_unreadable_tournament_can_be_called_off(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "RETRY_SECONDS", 0.0)
    async with field(store) as some:
        code, at = (
            (await some.started("metamazzo", "duplicate", 4)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        await some.tended()
        tables = list(open_tables(await at.tournaments.load(code)))
        await some.play_out(tables[0])
        await store.client.rpush(keys.tournament(code), b"newer 1 2\tx")
        await some.tended()
        # As `buongioco tables close` does.
        await Tournaments(store).call_off_unreadable(code, "close")
        for _ in range(3):
            await some.tended()
        assert sorted(one.code for one in await some.games(code)) == sorted(tables)
        assert "called off" in some.fake.last(GROUP).plain
        assert list(await at.tournaments.live_codes()) == []
        assert await at.tournaments.in_chat(GROUP) == []


@pytest.mark.parametrize("ends", ["withdraws", "late"])
async def test_table_opened_before_a_crash_belongs_to_its_match(
    store: Store, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    async with field(store) as some:
        code, at = (
            (await some.started("testa", "knockout", 2, 11)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        commit = at.tournaments.commit

        async def dies(code: str, update: str, decide: Decision) -> Tournament:
            if update.startswith("seat:"):
                raise OSError("a worker dies")
            return await commit(code, update, decide)

        monkeypatch.setattr(at.tournaments, "commit", dies)
        with pytest.raises(OSError, match="dies"):
            await at.check_all()
        monkeypatch.setattr(at.tournaments, "commit", commit)
        [table] = await some.worker.tables_of(person(0))
        if ends == "withdraws":
            await some.worker.feature(TournamentsFeature).registration.leave(code, person(0), "leave")
        else:
            played = await at.tournaments.playing_time()

            async def later() -> int:
                return played + DAY + 1

            monkeypatch.setattr(at.tournaments, "playing_time", later)
        for _ in range(3):
            await some.tended()
        over = await at.tournaments.load(code)
        [match] = over.matches
        assert match.seats == {0: table.code}
        assert match.results[0].how == ("resign" if ends == "withdraws" else "timeout")
        assert [one.code for one in await some.games(code)] == [table.code]


async def test_player_with_too_many_tables_still_gets_a_match(store: Store) -> None:
    async with field(store) as some:
        code = (await some.started("testa", "knockout", 2, 11)).code
        for number in range(MOST_TABLES):
            await some.worker.challenges.open_practice("testa", person(0), name(0), "easy", f"practice {number}")
        over = await some.played(code)
        assert [match.results[0].how for match in over.matches] != ["void"]
        assert over.phase == "over"


async def test_player_forgotten_during_table_opening_resigns(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with field(store) as some:
        code, at = (
            (await some.started("testa", "knockout", 2, 11)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        opening = some.worker.challenges.open_fixture

        async def crossed(*args: Any, **options: Any) -> Table:
            await forget(store, person(1), "somebody:1a")
            return await opening(*args, **options)

        monkeypatch.setattr(some.worker.challenges, "open_fixture", crossed)
        for _ in range(3):
            await some.tended()
        over = await at.tournaments.load(code)
        assert over.phase == "over"
        [match] = over.matches
        assert match.results[0].how == "resign"
        [game] = await some.games(code)
        assert sorted(game.people) == [person(0), "somebody:1a"]
        assert await find_traces(store, name(1)) == []


@pytest.mark.parametrize("is_kept", [True, False])
async def test_lost_table_is_replayed_unless_its_game_is_archived(
    store: Store, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with field(store) as some:
        code, at = (
            (await some.started("testa", "knockout", 2, 11)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        await some.tended()
        [table] = open_tables(await at.tournaments.load(code))
        if is_kept:

            async def unheard(_table: Table, _game: FinishedGame) -> None:
                """The tournament's log is of before the end."""

            monkeypatch.setattr(at, "record_game", unheard)
            await some.play_out(table)
        else:
            await store.client.delete(keys.table(table), keys.shown(table))
            some.worker.room.forget(table)
        for _ in range(2):
            await some.tended()
        tournament = await at.tournaments.load(code)
        [match] = tournament.matches
        if is_kept:
            assert match.results[0].how in ("played", "resign")
            assert tournament.phase == "over"
        else:
            assert not match.results
            assert (await some.worker.room.load(match.seats[0])).phase == "playing"


async def test_matches_wait_while_the_store_is_full(store: Store) -> None:
    async with field(store) as some:
        code, at = (
            (await some.started("testa", "knockout", 4, 11)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        with capture_logs() as logs:
            async with full(store):
                for _ in range(2):
                    await some.tended()
                tournament = await at.tournaments.load(code)
                assert [one.seats for one in tournament.matches] == [{}, {}]
                assert "no room for new tables" in some.fake.last(GROUP).plain
        assert not [one for one in logs if one["log_level"] == "error"]
        for _ in range(2):
            await some.tended()
        assert len(list(open_tables(await at.tournaments.load(code)))) == 2
        assert "no room for new tables" not in some.fake.last(GROUP).plain


async def test_lost_table_waits_while_the_store_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with field(store) as some:
        code, at = (
            (await some.started("testa", "knockout", 2, 11)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        await some.tended()
        [table] = open_tables(await at.tournaments.load(code))
        await store.client.delete(keys.table(table), keys.shown(table))
        some.worker.room.forget(table)
        async with full(store):
            for _ in range(2):
                await some.tended()
            [match] = (await at.tournaments.load(code)).matches
            assert not match.results
        for _ in range(2):
            await some.tended()
        [match] = (await at.tournaments.load(code)).matches
        assert (await some.worker.room.load(match.seats[0])).phase == "playing"


@pytest.mark.parametrize("over", ["late", "withdrawn"])
async def test_lost_table_is_not_replayed_after_deadline_or_withdrawal(
    store: Store, monkeypatch: pytest.MonkeyPatch, over: str
) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with field(store) as some:
        code, at, room = (
            (await some.started("testa", "knockout", 2, 11)).code,
            some.worker.feature(TournamentsFeature).director,
            some.worker.room,
        )
        await some.tended()
        [table] = open_tables(await at.tournaments.load(code))
        # What another release wrote there sets it aside: nobody plays on, and nobody can be made to give up.
        await store.client.rpush(keys.table(table), b"newer 1\tx")
        room.forget(table)
        if over == "late":
            played = await at.tournaments.playing_time()

            async def later() -> int:
                return played + DAY + 1

            monkeypatch.setattr(at.tournaments, "playing_time", later)
        else:
            await some.worker.feature(TournamentsFeature).registration.leave(code, person(1), "leave")
        await some.tended()
        [match] = (await at.tournaments.load(code)).matches
        assert (match.seats, match.results) == ({0: table}, {})
        # As `buongioco tables close` does.
        await room.remove(await room.load(table))
        for _ in range(3):
            await some.tended()
        tournament = await at.tournaments.load(code)
        [match] = tournament.matches
        assert match.seats == {0: table}
        assert match.results[0].how == ("void" if over == "late" else "forfeit")
        winners = [] if match.winner is None else tournament.members(match.winner)
        assert [one.person for one in winners] == ([] if over == "late" else [person(0)])
        assert await some.games(code) == []


async def test_deal_with_lost_table_and_unreadable_game_is_void(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(director, "TABLE_CHECK_SECONDS", 0.0)
    async with field(store) as some:
        code, at = (
            (await some.started("metamazzo", "duplicate", 4)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        await some.tended()
        table, *_ = open_tables(await at.tournaments.load(code))
        await store.client.hset(keys.tournament_games(code), f"1 {table}-1", b"of another release")
        await store.client.delete(keys.table(table), keys.shown(table))
        some.worker.room.forget(table)
        for _ in range(2):
            await some.tended()
        [match] = [one for one in (await at.tournaments.load(code)).matches if table in one.seats.values()]
        assert match.results[1].how == "void"


async def test_result_of_an_unpaired_match_is_ignored(store: Store) -> None:
    async with field(store) as some:
        code, at = (
            (await some.started("metamazzo", "duplicate", 4)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        await some.tended()
        tournament = await at.tournaments.load(code)
        # The log of a backup that is older than its tables.
        begun = [one for one in tournament.entries if not one.startswith((b"round", b"seat"))]
        await store.client.delete(keys.tournament(code))
        await store.client.rpush(keys.tournament(code), *begun)
        for table in open_tables(tournament):
            await some.play_out(table)
        for _ in range(3):
            await some.tended()
        assert (await at.tournaments.load(code)).rounds


async def test_card_is_sent_once_the_moved_chat_is_reachable(store: Store) -> None:
    async with field(store) as some:
        code, at = (
            (await some.started("testa", "knockout", 2, 11)).code,
            some.worker.feature(TournamentsFeature).director,
        )
        await some.tended()
        some.fake.errors["paper:200"] = [ChatGone("not yet")]
        await at.tournaments.move_chat(GROUP, "paper:200")
        await some.tended()
        assert not some.fake.messages["paper:200"]
        await at.cards.back_in_chat(code)
        for _ in range(2):
            await some.tended()
        assert len(some.fake.messages["paper:200"]) == 1


async def test_repost_during_an_edit_leaves_one_card(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with field(store) as some:
        at, fake = some.worker.feature(TournamentsFeature).director, some.fake
        opened = await some.worker.feature(TournamentsFeature).registration.open(
            GROUP, person(0), name(0), Choice.usual("testa"), "knockout", "open"
        )
        await some.tended()
        [first] = fake.messages[GROUP]
        edit = fake.edit

        async def meanwhile(place: str, sent: SentMessage, panel: Panel) -> SentMessage:
            await at.cards.repost(opened.code)
            return await edit(place, sent, panel)

        monkeypatch.setattr(fake, "edit", meanwhile)
        await some.worker.feature(TournamentsFeature).registration.enter(opened.code, person(1), name(1), "enter")
        for _ in range(4):
            await some.tended()
        assert len(fake.messages[GROUP]) == 1
        assert first not in fake.messages[GROUP]
