"""Who asks for it is forgotten: everywhere, for good, and nobody else."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bot.actions import page
from bot.backup.restoring import restore
from bot.backup.taking import BackupTaker
from bot.features.daily.feature import DailyFeature
from bot.features.daily.loop import reminder_hours
from bot.features.find.reports import Reports
from bot.features.privacy import forgetting
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.mydata import MyData
from bot.features.privacy.pages import owner_tag
from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.ladder import Ladder
from bot.features.tournaments.registration import Registration
from bot.features.tournaments.store import Tournaments
from bot.finished import rating_rules
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings, Scope
from bot.people import People, Profile
from bot.platform import Person, Press, private_place
from bot.programs import Programs
from bot.pseudonyms import ForgettingMark, forgetting_marks
from bot.sessions import Sessions
from bot.store import Store, keys
from bot.store.entries import Move
from bot.store.indexing import index_people
from bot.tables.choice import Choice
from bot.worker import Worker
from tests.bot.backup.test_playing_on import write_backup
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, seated
from tests.bot.features.privacy.traces import everything, traces
from tests.bot.finished.games import finished
from tests.long import mostly_long

ANNA = "paper:1001"
"""No other id or number has it in it."""


def players(worker: Worker, fake: FakePlatform) -> list[Player]:
    names = ("Annabella", "Brunello", "Carlotta", "Dinorah")
    return [Player(worker, fake, name, 1001 + number) for number, name in enumerate(names)]


@pytest.fixture(autouse=True)
def _early_games_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are given up at once, to be quick, and count as if they had been played for longer."""
    monkeypatch.setattr(rating_rules, "is_given_up_early", lambda _record: False)


async def resigned(worker: Worker, loser: Player, winner: Player, game: str = "testa") -> None:
    """A game that the one opens and gives up at once."""
    await loser.say(f"/challenge {game}")
    await winner.press("Accept", GROUP)
    await loser.say("/resign")
    await loser.press("Yes, I resign")
    await worker.settled()


async def played(worker: Worker, fake: FakePlatform) -> list[Player]:
    """Four people with games behind them, ranked, in settled leaderboards."""
    people = players(worker, fake)
    anna, bruno, carla, _ = people
    for loser, winner in ((anna, bruno), (bruno, anna), (carla, anna), (anna, carla), (bruno, carla), (carla, bruno)):
        await resigned(worker, loser, winner)
    await worker.people.update_person(anna.person.id, suits="french")
    return people


async def forgotten(worker: Worker, person: str = ANNA) -> None:
    """All steps, the last look a minute later too."""
    await gone(worker, person)
    await looked_once_more(worker)


async def gone(worker: Worker, person: str = ANNA) -> None:
    """All steps but the last look."""
    await worker.feature(PrivacyFeature).forgetter.begin(person)
    # The worker's own loop may be at it as well.
    while not (await forgetting_marks(worker.store.client))[person].is_erased:
        await worker.feature(PrivacyFeature).forgetter.work()
        await asyncio.sleep(0.01)
    await worker.settled()


async def looked_once_more(worker: Worker) -> None:
    """A minute later."""
    now = worker.feature(PrivacyFeature).forgetter.now
    worker.feature(PrivacyFeature).forgetter.now = lambda: now() + 2 * forgetting.SECOND_PASS_AFTER
    while await forgetting_marks(worker.store.client):
        await worker.feature(PrivacyFeature).forgetter.work()
        await asyncio.sleep(0.01)
    worker.feature(PrivacyFeature).forgetter.now = now


async def standings(worker: Worker, *people: Player) -> dict[str, Any]:
    scopes = [Scope(), Scope(game="testa"), Scope(chat=GROUP), Scope(chat=GROUP, game="testa")]
    return {
        f"{one.person.id} {scope.key}": await worker.ratings.standing(scope, one.person.id)
        for one in people
        for scope in scopes
    }


async def test_nothing_is_left_of_a_person_in_the_whole_store(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, dino = await played(worker, fake)
        await anna.say("/challenge")  # open, and hers
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)  # a chair at a table that waits
        await carla.say("/challenge testa", about=(anna.person,))  # for her by name
        await dino.say("/challenge spades")
        await anna.press("Accept", GROUP)  # a game that is on
        await anna.say("/challenge metamazzo", private_place(anna.person.id))  # in her own chat
        await anna.press("Easy robot")
        assert len(await traces(store, ANNA, "annabella")) > 10
        await forgotten(worker)
        assert await traces(store, ANNA, "1001", "annabella") == []
        assert keys.FORGETTING not in await everything(store)


async def test_nothing_is_left_of_who_was_invited_by_handle_and_sat_down(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = players(worker, fake)
        await bruno.say("/challenge testa", about=(Person("", "Annabella", "Annabella"),))
        assert keys.named("paper:@annabella") in await everything(store)
        await anna.press("Accept", GROUP)
        assert keys.named(ANNA) in await everything(store)
        await forgotten(worker)
        assert await traces(store, ANNA, "1001", "annabella") == []


@pytest.mark.parametrize("in_group", [True, False])
async def test_nothing_is_left_of_who_was_invited_by_handle_by_somebody_forgotten(store: Store, in_group: bool) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = players(worker, fake)
        await anna.say("/challenge testa", GROUP if in_group else anna.private, about=(Person("", "Bea", "bea"),))
        assert keys.named("paper:@bea") in await everything(store)
        await forgotten(worker)
        await worker.settled()
        assert await traces(store, ANNA, "annabella", "@bea") == []


async def test_who_left_a_table_is_taken_out_of_its_log_while_the_game_goes_on(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = players(worker, fake)
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)
        await anna.press("Stand up", GROUP)
        await carla.press("Sit East", GROUP)
        for _ in range(2):
            await bruno.press("Easy robot", GROUP)
        [table] = await worker.tables_of(bruno.person.id)
        assert table.phase == "playing"
        assert f"{{s{keys.shard_of(table.code)}}}:table:{table.code}" in await traces(store, ANNA)
        await forgotten(worker)
        assert await traces(store, ANNA, "annabella") == []
        # The game goes on: for this worker, and for one that knows nothing of it.
        version, random = (await worker.room.table(table.code)).version, Random(3)
        async with asyncio.timeout(60):
            while (await worker.room.table(table.code)).version < version + 8:
                for player in (bruno, carla):
                    await player.play(random)
                    # Robots have the other chairs.
                    await worker.scheduler.settled()
                    await worker.settled()
        worker.room.forget(table.code)
        after = await worker.room.table(table.code)
        assert after.phase == "playing"
        assert [chair and chair.person for chair in after.chairs][:2] == [bruno.person.id, carla.person.id]


async def test_a_worker_that_remembers_the_old_log_cannot_write_it_back(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker, open_worker(store, FakePlatform(), alone=False) as other:
        anna, bruno, *_ = players(worker, fake)
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)
        [table] = await worker.tables_of(bruno.person.id)
        await anna.press("Stand up", GROUP)
        await other.room.table(table.code)
        await forgotten(worker)
        for number in range(20):
            # Enough to have the log folded from memory.
            await other.challenges.choose_clock(
                table.code, bruno.person.id, (60, 300)[number & 1], False, f"clock{number}"
            )
        assert await traces(store, ANNA, "annabella") == []


async def test_everybody_elses_ratings_stay_and_are_the_same_when_made_anew(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, dino = await played(worker, fake)
        await resigned(worker, dino, bruno)
        await dino.say("/challenge testa")
        await anna.press("Accept", GROUP)
        before = await standings(worker, bruno, carla)
        await forgotten(worker)
        assert await standings(worker, bruno, carla) == before
        # The game that she resigned counts for her opponent, against the rating that she had.
        winner = await worker.ratings.standing(Scope(), dino.person.id)
        assert (winner.games, winner.wins) == (2, 1)
        after = await standings(worker, bruno, carla, dino)
        somebody = [key for key in await everything(store) if "somebody" in key]
        assert somebody == []
        await worker.ratings.rebuild()
        assert await standings(worker, bruno, carla, dino) == after
        page = await bruno.say("/leaderboard")
        assert page.panel
        assert "Annabella" not in page.panel.plain
        assert "somebody" not in page.panel.plain
        assert "Brunello" in page.panel.plain


async def test_replays_and_boards_say_somebody_in_their_readers_language(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = players(worker, fake)
        await resigned(worker, anna, bruno)
        await anna.say("/challenge testa")
        await bruno.press("Accept", GROUP)
        await worker.people.update_person(bruno.person.id, language="it")
        await forgotten(worker)
        assert "somebody" in fake.last(GROUP).plain
        assert "Annabella" not in fake.last(GROUP).plain
        [first, second] = [game async for game in worker.archive.all()]
        assert {one for game in (first, second) for one in game.record.seats} == {"somebody", "Brunello"}
        assert first.people[0] == second.people[0] != ANNA
        reply = await press(bruno, page("replay", first.id, 1))
        assert "qualcuno" in reply.plain
        assert "Annabella" not in reply.plain


async def press(player: Player, payload: str) -> Any:
    """A press of a button that stands there, whatever it carries."""
    key = f"g{next(player.numbers)}"
    reply = await player.dispatcher.handle_press(Press(key, player.person, player.private, "1", payload, genuine=True))
    assert reply.panel, reply.toast
    return reply.panel


@pytest.mark.parametrize("steps", mostly_long(range(2, 62, 10), 2, 32))
async def test_a_bot_that_is_killed_in_the_middle_carries_on(
    store: Store, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The lease of one that was killed keeps others off until it runs out.
    monkeypatch.setattr(forgetting, "LEASE_SECONDS", 1)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = await played(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Accept", GROUP)
        before = await standings(worker, carla)
        await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        mark = (await forgetting_marks(store.client))[ANNA]
        await _cut_short(worker, mark, steps)
    async with open_worker(store, fake) as worker:
        await forgotten(worker)
        assert await traces(store, ANNA, "annabella") == []
        assert await standings(worker, carla) == before
        after = await standings(worker, bruno, carla)
        await worker.ratings.rebuild()
        assert await standings(worker, bruno, carla) == after


class Killed(Exception):
    """The process ends here."""


async def _cut_short(worker: Worker, mark: ForgettingMark, calls: int) -> None:
    """Forgetting, until so many calls of the store have been made; as if the process had ended there."""
    client = worker.store.client
    real, made = client.execute_command, 0

    async def counted(*words: Any, **more: Any) -> Any:
        nonlocal made
        made += 1
        if made > calls:
            raise Killed
        return await real(*words, **more)

    client.execute_command = counted
    try:
        await worker.feature(PrivacyFeature).forgetter.forget(ANNA, mark)
    except Killed:
        pass
    finally:
        client.execute_command = real


async def test_forgetting_asks_first_and_says_what_it_does(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = players(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Accept", GROUP)
        [table] = await worker.tables_of(ANNA)
        await anna.say("/challenge")
        reply = await anna.say("/dimenticami")
        assert reply.private
        assert reply.panel
        assert f"You resign where a game is on: {table.code}." in reply.panel.plain
        await anna.press("No")
        assert "stays as it is" in fake.last(anna.private).plain
        assert await forgetting_marks(store.client) == {}
        assert await traces(store, ANNA)


async def test_a_page_forgets_only_whom_it_asked(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = players(worker, fake)
        for one in (anna, bruno):
            await one.say("/help")
        # Anna's question was shown in the group, or Bruno has seen what its button carries.
        key = f"g{next(bruno.numbers)}"
        stolen = page("forget", "yes", owner_tag(ANNA))
        reply = await bruno.dispatcher.handle_press(Press(key, bruno.person, GROUP, "1", stolen, genuine=True))
        assert reply.toast == "That question was for somebody else: /forget asks you."
        forged = await bruno.send(page("forget", "yes", owner_tag(bruno.person.id)), GROUP)
        assert forged.toast == "This button does not work any more."
        assert await forgetting_marks(store.client) == {}


async def test_old_buttons_of_somebody_forgotten_answer_and_who_comes_back_is_a_stranger(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = await played(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Accept", GROUP)
        _, card = anna.moves()[-1]
        reply = await anna.say("/forget")
        assert reply.panel
        done = await press(anna, reply.panel.rows[0][0].payload)
        assert "I am forgetting you" in done.plain
        await forgotten(worker)
        assert "table" in (await anna.send(card.payload, anna.private)).toast
        profile = await worker.people.person(ANNA)
        assert (profile.name, profile.suits) == ("Annabella", "italian")
        assert (await worker.ratings.standing(Scope(), ANNA)).games == 0
        assert await worker.tables_of(ANNA) == []
        await resigned(worker, anna, bruno)
        assert (await worker.ratings.standing(Scope(), ANNA)).games == 1


async def test_what_is_begun_by_who_comes_back_within_a_minute_stays(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = await played(worker, fake)
        tournaments, ladder = Tournaments(store), Ladder(store.client)
        registration = Registration(store, tournaments, worker.ratings)
        await gone(worker)
        await anna.say("/help")
        opened = await registration.open(GROUP, ANNA, "Annabella", Choice.usual("testa"), "knockout", "u1")
        await registration.enter(opened.code, ANNA, "Annabella", "u2")
        puzzle = await ladder.next_puzzle(ANNA, all_puzzles())
        assert puzzle
        await ladder.take_answer(ANNA, puzzle, puzzle.pack.codes[puzzle.best])
        await anna.say("/challenge testa")
        programs, sessions = Programs(store.client), Sessions(store.client)
        await programs.add_owned(ANNA, ("read",), "u3")
        held = await sessions.start(ANNA)
        await looked_once_more(worker)
        [table] = await worker.tables_of(ANNA)
        assert table.phase == "open"
        assert len(await programs.owned_by(ANNA)) == 1
        assert await sessions.authenticate(held) == ANNA
        assert (await worker.people.reload(ANNA)).name == "Annabella"
        tournament = await tournaments.load(opened.code)
        assert tournament.phase == "open"
        assert tournament.player_of(ANNA) is not None
        assert (await ladder.export(ANNA))["answers"]
        # And who asks once more within the minute is forgotten once more.
        for _ in range(2):
            await gone(worker)
            await anna.say("/help")
        await gone(worker)
        await looked_once_more(worker)
        assert await traces(store, ANNA, "1001", "annabella") == []
        assert (await tournaments.load(opened.code)).phase == "cancelled"


async def test_what_a_slow_worker_writes_late_of_who_does_not_come_back_goes(store: Store) -> None:
    fake = FakePlatform()
    async with (
        open_worker(store, fake) as worker,
        open_worker(store, FakePlatform(), alone=False) as slow,
    ):
        anna, bruno, *_ = players(worker, fake)
        await anna.say("/help")
        await bruno.say("/challenge tressette")
        [table] = await worker.tables_of(bruno.person.id)
        await slow.people.person(ANNA)
        await gone(worker)
        await slow.people.note_choice(ANNA, Choice.usual("testa"))
        await slow.people.update_chat(private_place(ANNA), clock="60")
        await slow.challenges.sit(table.code, ANNA, "Annabella", "late")
        await Programs(store.client).add_owned(ANNA, ("read",), "late")
        sessions = Sessions(store.client)
        await sessions.start(ANNA)
        await reminder_hours(store.client).choose(ANNA, 8)
        assert len(await traces(store, ANNA, "annabella")) > 6
        await looked_once_more(worker)
        await worker.settled()
        assert await traces(store, ANNA, "1001", "annabella") == []
        assert await Programs(store.client).all() == []
        # Nor does that worker remember anything.
        async with asyncio.timeout(20):
            while (await slow.people.last_choices(ANNA))[0].game == "testa":
                await asyncio.sleep(0.01)
        [table] = await worker.tables_of(bruno.person.id)
        assert table.seat_of(ANNA) is None


async def test_what_is_begun_at_a_worker_that_heard_of_no_forgetting_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakePlatform()
    async with (
        open_worker(store, FakePlatform(), alone=False) as worker,
        open_worker(store, fake, alone=False) as deaf,
    ):
        anna, *_ = players(deaf, fake)
        await anna.say("/help")
        monkeypatch.setattr(deaf.updates, "on_profile_changed", lambda _key: None)
        await gone(worker)
        # As it looks every few seconds what there is to forget.
        await deaf.feature(PrivacyFeature).forgetter.work()
        assert ANNA in deaf.people.being_forgotten
        await anna.say("/challenge testa")
        await looked_once_more(worker)
        [table] = await worker.tables_of(ANNA)
        assert table.phase == "open"
        assert (await worker.people.reload(ANNA)).name == "Annabella"
        await deaf.feature(PrivacyFeature).forgetter.work()
        assert not deaf.people.being_forgotten


@pytest.mark.parametrize(("where", "what"), [(Reports, "forget"), (People, "erase"), (Ladder, "forget")])
async def test_what_is_begun_during_the_last_look_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: type, what: str
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = players(worker, fake)
        programs, sessions, held = Programs(store.client), Sessions(store.client), list[str]()
        step = getattr(where, what)
        await gone(worker)

        async def meanwhile(*args: Any, **options: Any) -> None:
            monkeypatch.setattr(where, what, step)
            await anna.say("/challenge testa")
            await programs.add_owned(ANNA, ("read",), "u1")
            held.append(await sessions.start(ANNA))
            await step(*args, **options)

        monkeypatch.setattr(where, what, meanwhile)
        await looked_once_more(worker)
        await worker.settled()
        [table] = await worker.tables_of(ANNA)
        assert table.phase == "open"
        assert len(await programs.owned_by(ANNA)) == 1
        assert await sessions.authenticate(held[0]) == ANNA
        assert (await worker.people.reload(ANNA)).name == "Annabella"


async def test_no_link_tells_whose_it_is(store: Store) -> None:
    sessions = Sessions(store.client)
    held = await sessions.create_link(ANNA)
    assert await traces(store, ANNA, "1001") == []
    assert await sessions.redeem_link(held.replace("1001", "1002")) == ""
    assert await sessions.redeem_link(held) == ANNA
    assert await sessions.redeem_link(held) == ""


async def test_who_asks_once_more_during_the_last_look_is_forgotten_once_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_work() -> None:
        """In place of the worker's own."""

    async with open_worker(store, FakePlatform()) as worker:
        await gone(worker)
        fresh = worker.people.reload

        async def late(person: str) -> Profile:
            monkeypatch.setattr(worker.people, "reload", fresh)
            await worker.feature(PrivacyFeature).forgetter.begin(person)
            return await fresh(person)

        monkeypatch.setattr(worker.feature(PrivacyFeature).forgetter, "work", no_work)
        monkeypatch.setattr(worker.people, "reload", late)
        await worker.feature(PrivacyFeature).forgetter.finish(ANNA, (await forgetting_marks(store.client))[ANNA])
        assert not (await forgetting_marks(store.client))[ANNA].is_erased


async def test_who_asks_while_an_earlier_mark_is_taken_away_is_marked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        hsetnx = store.client.hsetnx

        async def taken_away(*words: Any) -> int:
            monkeypatch.setattr(store.client, "hsetnx", hsetnx)
            return 0

        monkeypatch.setattr(store.client, "hsetnx", taken_away)
        mark = await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        assert (await forgetting_marks(store.client))[ANNA].pseudonym == mark.pseudonym


async def test_nobody_can_be_rematched_with_somebody(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = players(worker, fake)
        await resigned(worker, anna, bruno)
        await forgotten(worker)
        [game] = [game async for game in worker.archive.all()]
        key = f"g{next(bruno.numbers)}"
        reply = await bruno.dispatcher.handle_press(
            Press(key, bruno.person, GROUP, "1", page("rematch", game.id), genuine=True)
        )
        assert reply.toast == ""
        await worker.settled()
        await carla.press("Accept", GROUP)
        [table] = await worker.tables_of(carla.person.id)
        assert table.phase == "playing"


async def test_a_game_that_ends_while_its_player_is_being_forgotten_is_somebodys(store: Store) -> None:
    """A worker that hung between reading a table and keeping its game."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = await played(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Accept", GROUP)
        [table] = await worker.tables_of(ANNA)
        seat = table.seat_of(ANNA)
        assert seat is not None
        ended = table.after([Move(seat, "resign")], "u")
        await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        await worker.feature(PrivacyFeature).forgetter.forget(ANNA, (await forgetting_marks(store.client))[ANNA])
        await worker.archive.add(ended, 1_770_000_000)
        await worker.ratings.catch_up()
        await worker.settled()
        assert await traces(store, ANNA, "annabella") == [keys.FORGETTING]
        after = await standings(worker, bruno)
        await worker.ratings.rebuild()
        assert await standings(worker, bruno) == after


async def test_what_a_worker_writes_late_of_a_game_that_it_had_read_before_goes(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = players(worker, fake)
        await anna.say("/help")
        ratings = Ratings(store.client, worker.archive)
        game = finished(1)
        record = game.record.model_copy(update={"winner": [0], "seats": ["Annabella", "Bea"]})
        rated = replace(game, people=[ANNA, "paper:2"], record=record)
        kept_late = replace(rated, id="T002-000002", code="T002")
        await worker.archive.keep(rated)
        real = ratings._index_scopes

        async def enter(people: Sequence[str], scopes: Sequence[Scope]) -> None:
            ratings._index_scopes = real  # type: ignore[method-assign]
            await gone(worker)
            await worker.archive.keep(kept_late)
            await real(people, scopes)

        ratings._index_scopes = enter  # type: ignore[method-assign]
        await ratings.catch_up()
        assert {keys.scopes(ANNA), keys.last_game(ANNA)} <= set(await traces(store, ANNA))
        await looked_once_more(worker)
        assert await traces(store, ANNA, "annabella") == []


async def test_a_game_of_a_day_that_cannot_be_read_keeps_nobody_from_being_forgotten(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = players(worker, fake)
        await anna.say("/help")
        today = date(2026, 11, 20)
        await store.client.sadd(keys.DAILY_OPEN, today.isoformat())
        await store.client.hset(keys.daily_games(today), "GAME-1", b"what a later release wrote")
        await forgotten(worker)
        assert await traces(store, ANNA, "annabella") == []
        # It waits for a version that can read it.
        await worker.feature(DailyFeature).days.close_past()
        assert await store.client.hlen(keys.daily_games(today)) == 1
        assert await worker.feature(DailyFeature).days.results.open_days_before(date(2026, 11, 25)) == [today]


async def test_nothing_tells_that_somebody_was_reminded_of_the_deals_of_the_days(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await reminder_hours(store.client).choose(ANNA, 8)
        now = worker.clock.now().replace(hour=8)
        for ago in range(3):
            await worker.feature(DailyFeature).reminders.send_due(now - timedelta(days=ago))
        assert len(await traces(store, ANNA)) == 4
        await forgotten(worker)
        assert await traces(store, ANNA) == []


async def test_traces_are_looked_for_in_games_that_wait_for_the_end_of_their_day_or_round(store: Store) -> None:
    held = [keys.daily_games(date(2026, 11, 20)), keys.tournament_games("K7QF2M")]
    for key in held:
        await store.client.hset(key, "T001-000001", replace(finished(1), people=[ANNA, "paper:2"]).to_bytes())
    assert await traces(store, ANNA) == held


async def test_one_forgetting_that_fails_holds_up_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = players(worker, fake)
        for one in (anna, bruno):
            await one.say("/help")
        real = worker.feature(PrivacyFeature).forgetter.forget

        async def forget(person: str, mark: ForgettingMark) -> forgetting.ForgetResult:
            if person == bruno.person.id:
                raise ValueError("what is his cannot be read")
            return await real(person, mark)

        monkeypatch.setattr(worker.feature(PrivacyFeature).forgetter, "forget", forget)
        for one in (bruno, anna):
            await worker.feature(PrivacyFeature).forgetter.begin(one.person.id)
        async with asyncio.timeout(20):
            while not (await forgetting_marks(store.client))[ANNA].is_erased:
                await asyncio.sleep(0.01)
        assert not (await forgetting_marks(store.client))[bruno.person.id].is_erased


@pytest.mark.parametrize("step", ["_take_ratings", "_take_tables", "_take_games"])
async def test_who_was_forgotten_while_a_backup_was_taken_can_be_forgotten_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """`step` has been made by then, and all that follow have not."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = await played(worker, fake)
        await carla.say("/challenge testa", about=(Person("", "Annabella", "Annabella"),))
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)
        real = getattr(BackupTaker, step)

        async def then_forgotten(taking: BackupTaker, *words: Any) -> Any:
            result = await real(taking, *words)
            await forgotten(worker)
            return result

        monkeypatch.setattr(BackupTaker, step, then_forgotten)
        await write_backup(store, tmp_path / "backup")
        assert await traces(store, ANNA, "annabella") == []
    await restore(store.client, tmp_path / "backup", replace=True, alone=True)
    async with open_worker(store, fake) as worker:
        assert await traces(store, ANNA)
        await forgotten(worker)
        assert await traces(store, ANNA, "annabella") == []


async def test_a_former_handle_is_dropped_and_never_anothers(store: Store) -> None:
    people = People(store.client)
    await people.meet(Person(ANNA, "Anna", "anna"))
    await people.meet(Person(ANNA, "Anna", "annina"))
    assert await people.find_by_handle("paper", "anna") is None
    await people.meet(Person("paper:2", "Bruno", "annina"))
    await people.erase(ANNA)
    known = await people.find_by_handle("paper", "annina")
    assert known
    assert known.id == "paper:2"


async def test_an_older_store_finds_people_after_its_migration(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        _, bruno, carla, _ = await played(worker, fake)
        await bruno.say("/challenge testa", about=(Person(ANNA, "Annabella", "annabella"),))
        await store.client.set(keys.handle("paper", "formerly"), ANNA)
        for key in [
            key for key in await everything(store) if key.startswith(("games_of:", "{games}:scopes:", "named:"))
        ]:
            await store.client.delete(key)
        for _ in range(2):
            await index_people(store.client)
        before = await standings(worker, carla)
        await forgotten(worker)
        assert await traces(store, ANNA, "annabella") == []
        assert await standings(worker, carla) == before


async def test_a_profile_notes_the_day_it_was_used_once_a_day(store: Store) -> None:
    people = People(store.client)
    today = await store.attendance.current_day()
    written = []
    real = store.client.hset

    async def hset(*words: Any, **more: Any) -> Any:
        written.append(more)
        return await real(*words, **more)

    store.client.hset = hset
    for day in (today, today, today + 1, today + 1):
        people._day = (time.monotonic(), day)
        await people.meet(Person(ANNA, "Anna", "anna"))
    assert len(written) == 2
    assert (await store.client.hget(keys.person(ANNA), "used")) == str(today + 1).encode()


@pytest.mark.parametrize("years", [-1, 1])
async def test_a_workers_clock_that_is_a_year_wrong_marks_nobody_as_unused(
    store: Store, years: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time() + years * 365 * 86400
    monkeypatch.setattr(time, "time", lambda: now)
    await People(store.client).meet(Person(ANNA, "Anna", "anna"))
    today = await store.attendance.current_day()
    assert await store.client.hget(keys.person(ANNA), "used") == str(today).encode()


async def test_a_stores_clock_that_is_set_back_marks_nobody_as_unused(store: Store) -> None:
    await People(store.client).meet(Person(ANNA, "Anna", "anna"))
    people, today = People(store.client), await store.attendance.current_day()
    people._day = (time.monotonic(), today - 1000)
    await people.meet(Person(ANNA, "Anna", "anna"))
    assert await store.client.hget(keys.person(ANNA), "used") == str(today).encode()


async def test_my_data_is_all_that_is_kept_and_once_a_minute(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = await played(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Accept", GROUP)
        [table] = await worker.tables_of(ANNA)
        reply = await anna.say("/mieidati")
        assert reply.private
        assert reply.file
        document = json.loads(reply.file.content)
        assert document["person"] == ANNA
        assert document["profile"]["name"] == "Annabella"
        assert document["profile"]["suits"] == "french"
        assert [(one["code"], one["players"]) for one in document["tables"]] == [
            (table.code, ["Annabella", "Brunello"])
        ]
        assert len(document["games"]) == 4
        assert document["games"][0]["record"]["seats"][document["games"][0]["seat"]] == "Annabella"
        everywhere = {"chat": "*", "month": "*", "game": "*"}
        [rating] = [one for one in document["ratings"] if everywhere.items() <= one.items()]
        assert (rating["games"], rating["wins"]) == (4, 2)
        assert table.game
        assert bytes(table.game.record().deals[-1].proof.secret, "ascii") not in reply.file.content
        again = await anna.say("/mydata")
        assert again.toast.startswith("You asked a moment ago")
        assert again.file is None


async def test_my_data_has_the_numbers_of_games_that_were_moved_out_into_files(store: Store) -> None:
    archive = Archive(store.client)
    for number in (1, 2, 3):
        await archive.keep(replace(finished(number), people=[ANNA, "paper:2"]))
    for number in (1, 2):
        await store.client.zrem(keys.GAMES_ORDER, finished(number).id)
        await store.client.delete(keys.game(finished(number).id))
    my_data = MyData(store.client, archive, Ratings(store.client, archive), [])
    document = json.loads((await my_data.file(ANNA, [], 0.0)).content)
    assert [game["number"] for game in document["games"]] == [3]
    assert document["games_without_record"] == [2, 1]


async def test_seated_players_of_four_leave_no_trace_either(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        people = await seated(worker, fake, "tavolo")
        await forgotten(worker, people[2].person.id)
        assert await traces(store, people[2].person.id, "carla") == []
        assert [game.record.seats[2] async for game in worker.archive.all()] == ["somebody"]
