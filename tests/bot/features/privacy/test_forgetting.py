"""/forget removes exactly one person, everywhere and permanently."""

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
from bot.features.daily import keys as daily_keys
from bot.features.daily.feature import DailyFeature
from bot.features.daily.loop import reminder_hours
from bot.features.find.reports import Reports
from bot.features.privacy import forgetting
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.mydata import MyData
from bot.features.privacy.pages import owner_tag
from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.next_puzzle import choose_next
from bot.features.puzzles.puzzle_ratings import PuzzleRatings
from bot.features.tournaments import keys as tournament_keys
from bot.features.tournaments.registration import Registration
from bot.features.tournaments.store import Tournaments
from bot.finished import unrated_games
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings, Scope
from bot.identity.programs import Programs
from bot.identity.pseudonyms import ForgettingMark, forgetting_marks
from bot.people import People, Profile
from bot.platform import Person, Press, private_place
from bot.site.sessions import Sessions
from bot.store import Store, keys
from bot.store.entries import Move
from bot.store.first_release import index_people
from bot.tables.game_choice import Choice
from bot.worker import Worker
from tests.bot.backup.test_playing_on import write_backup
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, seat_players
from tests.bot.features.privacy.traces import dump_store, find_traces
from tests.bot.finished.games import finished_game
from tests.long import long, mostly_long

ANNA = "paper:1001"  # part of no other id or number


def make_players(worker: Worker, fake: FakePlatform) -> list[Player]:
    names = ("Annabella", "Brunello", "Carlotta", "Dinorah")
    return [Player(worker, fake, name, 1001 + number) for number, name in enumerate(names)]


@pytest.fixture(autouse=True)
def _count_early_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count games that are resigned at once. Such games save time."""
    monkeypatch.setattr(unrated_games, "is_given_up_early", lambda _record: False)


async def play_and_resign(worker: Worker, loser: Player, winner: Player, game: str = "testa") -> None:
    """Let ``loser`` open a game and resign at once."""
    await loser.say(f"/challenge {game}")
    await winner.press("Join", GROUP)
    await loser.say("/resign")
    await loser.press("Yes, I resign")
    await worker.wait_until_idle()


async def play_games(worker: Worker, fake: FakePlatform) -> list[Player]:
    """Create four people. Anna, Bruno and Carla play enough games for ranks in the leaderboards."""
    people = make_players(worker, fake)
    anna, bruno, carla, _ = people
    for loser, winner in ((anna, bruno), (bruno, anna), (carla, anna), (anna, carla), (bruno, carla), (carla, bruno)):
        await play_and_resign(worker, loser, winner)
    await worker.people.update_person(anna.person.id, suits="french")
    return people


async def forget_person(worker: Worker, person: str = ANNA) -> None:
    """Run all steps, including the second pass a minute later."""
    await run_first_pass(worker, person)
    await run_second_pass(worker)


async def run_first_pass(worker: Worker, person: str = ANNA) -> None:
    """Run all steps except the second pass."""
    await worker.feature(PrivacyFeature).forgetter.begin(person)
    # The worker's own loop can run too.
    while not (await forgetting_marks(worker.store.client))[person].is_erased:
        await worker.feature(PrivacyFeature).forgetter.work()
        await asyncio.sleep(0.01)
    await worker.wait_until_idle()


async def run_second_pass(worker: Worker) -> None:
    """Run the second pass, as if a minute had passed."""
    real_now = worker.feature(PrivacyFeature).forgetter.now
    worker.feature(PrivacyFeature).forgetter.now = lambda: real_now() + 2 * forgetting.SECOND_PASS_SECONDS
    while await forgetting_marks(worker.store.client):
        await worker.feature(PrivacyFeature).forgetter.work()
        await asyncio.sleep(0.01)
    worker.feature(PrivacyFeature).forgetter.now = real_now


async def load_standings(worker: Worker, *people: Player) -> dict[str, Any]:
    scopes = [Scope(), Scope(game="testa"), Scope(chat=GROUP), Scope(chat=GROUP, game="testa")]
    return {
        f"{player.person.id} {scope.key}": await worker.ratings.standing(scope, player.person.id)
        for player in people
        for scope in scopes
    }


async def test_forgotten_person_leaves_no_trace_in_the_store(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, dino = await play_games(worker, fake)
        await anna.say("/challenge")  # Anna's open challenge
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)  # a chair at an open table
        await carla.say("/challenge testa", about=(anna.person,))  # a challenge to her by name
        await dino.say("/challenge spades")
        await anna.press("Join", GROUP)  # a running game
        await anna.say("/challenge metamazzo", private_place(anna.person.id))  # a table in her private chat
        await anna.press("🤖 Easy")
        assert len(await find_traces(store, ANNA, "annabella")) > 10
        await forget_person(worker)
        assert await find_traces(store, ANNA, "1001", "annabella") == []
        assert keys.FORGETTING not in await dump_store(store)


async def test_forgotten_person_invited_by_handle_leaves_no_trace(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = make_players(worker, fake)
        await bruno.say("/challenge testa", about=(Person("", "Annabella", "Annabella"),))
        assert keys.tables_naming("paper:@annabella") in await dump_store(store)
        await anna.press("Join", GROUP)
        assert keys.tables_naming(ANNA) in await dump_store(store)
        await forget_person(worker)
        assert await find_traces(store, ANNA, "1001", "annabella") == []


@pytest.mark.parametrize("in_group", [True, False])
async def test_handles_a_forgotten_person_invited_leave_no_trace(store: Store, in_group: bool) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = make_players(worker, fake)
        await anna.say("/challenge testa", GROUP if in_group else anna.private, about=(Person("", "Bea", "bea"),))
        assert keys.tables_naming("paper:@bea") in await dump_store(store)
        await forget_person(worker)
        await worker.wait_until_idle()
        assert await find_traces(store, ANNA, "annabella", "@bea") == []


async def test_person_who_left_a_table_is_removed_from_its_log(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = make_players(worker, fake)
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)
        await anna.press("Stand up", GROUP)
        await carla.press("Sit East", GROUP)
        await bruno.press("Add robot", GROUP)
        for _ in range(2):
            await bruno.press("🤖 Easy", GROUP)
        [table] = await worker.room.lists.tables_of(bruno.person.id)
        assert table.phase == "playing"
        assert f"{{s{keys.shard_of(table.code)}}}:table:{table.code}" in await find_traces(store, ANNA)
        await forget_person(worker)
        assert await find_traces(store, ANNA, "annabella") == []
        # The game continues for this worker, and for a worker that has not loaded it yet.
        version, random = (await worker.room.table(table.code)).version, Random(3)
        async with asyncio.timeout(60):
            while (await worker.room.table(table.code)).version < version + 8:
                for player in (bruno, carla):
                    await player.play(random)
                    # Robots have the other chairs.
                    await worker.alarms.wait_until_idle()
                    await worker.wait_until_idle()
        worker.room.forget(table.code)
        after = await worker.room.table(table.code)
        assert after.phase == "playing"
        assert [chair and chair.person for chair in after.chairs][:2] == [bruno.person.id, carla.person.id]


async def test_worker_cannot_write_an_old_log_back(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker, open_worker(store, FakePlatform(), alone=False) as other:
        anna, bruno, *_ = make_players(worker, fake)
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)
        [table] = await worker.room.lists.tables_of(bruno.person.id)
        await anna.press("Stand up", GROUP)
        await other.room.table(table.code)
        await forget_person(worker)
        for number in range(20):
            # Enough entries to fold the log from memory.
            await other.challenges.choose_clock(
                table.code, bruno.person.id, (60, 300)[number & 1], False, f"clock{number}"
            )
        assert await find_traces(store, ANNA, "annabella") == []


async def test_ratings_of_others_stay_and_survive_a_rebuild(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, dino = await play_games(worker, fake)
        await play_and_resign(worker, dino, bruno)
        await dino.say("/challenge testa")
        await anna.press("Join", GROUP)
        before = await load_standings(worker, bruno, carla)
        await forget_person(worker)
        assert await load_standings(worker, bruno, carla) == before
        # The game that Anna resigned counts for her opponent, against her old rating.
        winner = await worker.ratings.standing(Scope(), dino.person.id)
        assert (winner.games, winner.wins) == (2, 1)
        after = await load_standings(worker, bruno, carla, dino)
        pseudonym_keys = [key for key in await dump_store(store) if "somebody" in key]
        assert pseudonym_keys == []
        await worker.ratings.rebuild()
        assert await load_standings(worker, bruno, carla, dino) == after
        page = await bruno.say("/leaderboard")
        assert page.panel
        assert "Annabella" not in page.panel.plain
        assert "somebody" not in page.panel.plain
        assert "Brunello" in page.panel.plain


async def test_replays_say_somebody_in_the_readers_language(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = make_players(worker, fake)
        await play_and_resign(worker, anna, bruno)
        await anna.say("/challenge testa")
        await bruno.press("Join", GROUP)
        await worker.people.update_person(bruno.person.id, language="it")
        await forget_person(worker)
        assert "somebody" in fake.last(GROUP).plain
        assert "Annabella" not in fake.last(GROUP).plain
        [first, second] = [game async for game in worker.archive.games()]
        assert {name for game in (first, second) for name in game.record.seats} == {"somebody", "Brunello"}
        assert first.people[0] == second.people[0] != ANNA
        reply = await press_payload(bruno, page("replay", first.id, 1))
        assert "qualcuno" in reply.plain
        assert "Annabella" not in reply.plain


async def press_payload(player: Player, payload: str) -> Any:
    """Press a genuine button with any payload."""
    key = f"g{next(player.numbers)}"
    reply = await player.dispatcher.handle_press(Press(key, player.person, player.private, "1", payload, genuine=True))
    assert reply.panel, reply.toast
    return reply.panel


@pytest.mark.parametrize("steps", mostly_long(range(2, 62, 10), 2))
async def test_forgetting_continues_after_a_kill(store: Store, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A killed worker's lease keeps others away until it expires.
    monkeypatch.setattr(forgetting, "FORGETTING_LEASE_SECONDS", 1)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = await play_games(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Join", GROUP)
        before = await load_standings(worker, carla)
        await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        mark = (await forgetting_marks(store.client))[ANNA]
        await forget_until_killed(worker, mark, steps)
    async with open_worker(store, fake) as worker:
        await forget_person(worker)
        assert await find_traces(store, ANNA, "annabella") == []
        assert await load_standings(worker, carla) == before
        after = await load_standings(worker, bruno, carla)
        await worker.ratings.rebuild()
        assert await load_standings(worker, bruno, carla) == after


class Killed(Exception):
    """The process ends here."""


async def forget_until_killed(worker: Worker, mark: ForgettingMark, calls: int) -> None:
    """Forget Anna, but stop after this many store commands, as a killed process would."""
    client = worker.store.client
    real, count = client.execute_command, 0

    async def counting_execute(*arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count > calls:
            raise Killed
        return await real(*arguments, **options)

    client.execute_command = counting_execute
    try:
        await worker.feature(PrivacyFeature).forgetter.forget(ANNA, mark)
    except Killed:
        pass
    finally:
        client.execute_command = real


async def test_forget_asks_first_and_names_its_effects(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = make_players(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Join", GROUP)
        [table] = await worker.room.lists.tables_of(ANNA)
        await anna.say("/challenge")
        reply = await anna.say("/dimenticami")
        assert reply.private
        assert reply.panel
        assert f"You resign your running games: {table.code}." in reply.panel.plain
        await anna.press("No")
        assert "stays as it is" in fake.last(anna.private).plain
        assert await forgetting_marks(store.client) == {}
        assert await find_traces(store, ANNA)


async def test_forget_page_works_only_for_the_person_it_asked(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = make_players(worker, fake)
        for player in (anna, bruno):
            await player.say("/help")
        # Bruno presses Anna's button, which is shown in the group. Then he invents a button with his own tag.
        key = f"g{next(bruno.numbers)}"
        stolen = page("forget", "yes", owner_tag(ANNA))
        reply = await bruno.dispatcher.handle_press(Press(key, bruno.person, GROUP, "1", stolen, genuine=True))
        assert reply.toast == "This question was for someone else: write /forget yourself."
        forged = await bruno.send(page("forget", "yes", owner_tag(bruno.person.id)), GROUP)
        assert forged.toast == "This button has expired: use the latest message."
        assert await forgetting_marks(store.client) == {}


async def test_returning_person_starts_as_a_stranger(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = await play_games(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Join", GROUP)
        _, card = anna.moves()[-1]
        reply = await anna.say("/forget")
        assert reply.panel
        confirmation = await press_payload(anna, reply.panel.rows[0][0].payload)
        assert "I’m forgetting you" in confirmation.plain
        await forget_person(worker)
        assert "table" in (await anna.send(card.payload, anna.private)).toast
        profile = await worker.people.person(ANNA)
        assert (profile.name, profile.suits) == ("Annabella", "italian")
        assert (await worker.ratings.standing(Scope(), ANNA)).games == 0
        assert await worker.room.lists.tables_of(ANNA) == []
        await play_and_resign(worker, anna, bruno)
        assert (await worker.ratings.standing(Scope(), ANNA)).games == 1


async def test_second_pass_keeps_data_of_a_returning_person(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = await play_games(worker, fake)
        tournaments, ratings = Tournaments(store), PuzzleRatings(store.client)
        registration = Registration(store, tournaments, worker.ratings)
        await run_first_pass(worker)
        await anna.say("/help")
        new_tournament = await registration.open(GROUP, ANNA, "Annabella", Choice.default("testa"), "knockout", "u1")
        await registration.enter(new_tournament.code, ANNA, "Annabella", "u2")
        puzzle = await choose_next(ratings, ANNA, all_puzzles())
        assert puzzle
        await ratings.take_answer(ANNA, puzzle, puzzle.pack.codes[puzzle.best])
        await anna.say("/challenge testa")
        programs, sessions = Programs(store.client), Sessions(store.client)
        await programs.add_owned(ANNA, ("read",), "u3")
        token = await sessions.start(ANNA)

        await run_second_pass(worker)
        [table] = await worker.room.lists.tables_of(ANNA)
        assert table.phase == "open"
        assert len(await programs.owned_by(ANNA)) == 1
        assert await sessions.authenticate(token) == ANNA
        assert (await worker.people.reload(ANNA)).name == "Annabella"
        tournament = await tournaments.load(new_tournament.code)
        assert tournament.phase == "open"
        assert tournament.player_of(ANNA) is not None
        assert (await ratings.export(ANNA))["answers"]

        # A second request within the minute starts again.
        for _ in range(2):
            await run_first_pass(worker)
            await anna.say("/help")
        await run_first_pass(worker)
        await run_second_pass(worker)
        assert await find_traces(store, ANNA, "1001", "annabella") == []
        assert (await tournaments.load(new_tournament.code)).phase == "cancelled"


async def test_second_pass_removes_late_writes_of_a_slow_worker(store: Store) -> None:
    fake = FakePlatform()
    async with (
        open_worker(store, fake) as worker,
        open_worker(store, FakePlatform(), alone=False) as slow,
    ):
        anna, bruno, *_ = make_players(worker, fake)
        await anna.say("/help")
        await bruno.say("/challenge tressette")
        [table] = await worker.room.lists.tables_of(bruno.person.id)
        await slow.people.person(ANNA)
        await run_first_pass(worker)
        await slow.people.note_choice(ANNA, Choice.default("testa"))
        await slow.people.update_chat(private_place(ANNA), clock="60")
        await slow.challenges.sit(table.code, ANNA, "Annabella", "late")
        await Programs(store.client).add_owned(ANNA, ("read",), "late")
        sessions = Sessions(store.client)
        await sessions.start(ANNA)
        await reminder_hours(store.client).choose(ANNA, 8)
        assert len(await find_traces(store, ANNA, "annabella")) > 6

        await run_second_pass(worker)
        await worker.wait_until_idle()
        assert await find_traces(store, ANNA, "1001", "annabella") == []
        assert await Programs(store.client).all_programs() == []
        # The slow worker's memory is cleared too.
        async with asyncio.timeout(20):
            while (await slow.people.last_choices(ANNA))[0].game == "testa":
                await asyncio.sleep(0.01)
        [table] = await worker.room.lists.tables_of(bruno.person.id)
        assert table.seat_of(ANNA) is None


async def test_worker_that_missed_a_notification_keeps_new_data(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with (
        open_worker(store, FakePlatform(), alone=False) as worker,
        open_worker(store, fake, alone=False) as uninformed,
    ):
        anna, *_ = make_players(uninformed, fake)
        await anna.say("/help")
        monkeypatch.setattr(uninformed.updates, "on_profile_changed", lambda _key: None)
        await run_first_pass(worker)
        # Every worker checks for new marks every few seconds.
        await uninformed.feature(PrivacyFeature).forgetter.work()
        assert ANNA in uninformed.people.being_forgotten
        await anna.say("/challenge testa")
        await run_second_pass(worker)
        [table] = await worker.room.lists.tables_of(ANNA)
        assert table.phase == "open"
        assert (await worker.people.reload(ANNA)).name == "Annabella"
        await uninformed.feature(PrivacyFeature).forgetter.work()
        assert not uninformed.people.being_forgotten


@pytest.mark.parametrize(("owner", "method"), [(Reports, "forget"), (People, "erase"), (PuzzleRatings, "forget")])
async def test_data_created_during_the_second_pass_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch, owner: type, method: str
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = make_players(worker, fake)
        programs, sessions, tokens = Programs(store.client), Sessions(store.client), list[str]()
        step = getattr(owner, method)
        await run_first_pass(worker)

        async def create_data_first(*args: Any, **options: Any) -> None:
            monkeypatch.setattr(owner, method, step)
            await anna.say("/challenge testa")
            await programs.add_owned(ANNA, ("read",), "u1")
            tokens.append(await sessions.start(ANNA))
            await step(*args, **options)

        monkeypatch.setattr(owner, method, create_data_first)
        await run_second_pass(worker)
        await worker.wait_until_idle()
        [table] = await worker.room.lists.tables_of(ANNA)
        assert table.phase == "open"
        assert len(await programs.owned_by(ANNA)) == 1
        assert await sessions.authenticate(tokens[0]) == ANNA
        assert (await worker.people.reload(ANNA)).name == "Annabella"


async def test_login_link_does_not_reveal_its_person(store: Store) -> None:
    sessions = Sessions(store.client)
    link = await sessions.create_link(ANNA)
    assert await find_traces(store, ANNA, "1001") == []
    assert await sessions.redeem_link(link.replace("1001", "1002")) == ""
    assert await sessions.redeem_link(link) == ANNA
    assert await sessions.redeem_link(link) == ""


async def test_request_during_the_second_pass_starts_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def skip_work() -> None:
        """Replace the worker's own loop."""

    async with open_worker(store, FakePlatform()) as worker:
        await run_first_pass(worker)
        reload = worker.people.reload

        async def reload_late(person: str) -> Profile:
            monkeypatch.setattr(worker.people, "reload", reload)
            await worker.feature(PrivacyFeature).forgetter.begin(person)
            return await reload(person)

        monkeypatch.setattr(worker.feature(PrivacyFeature).forgetter, "work", skip_work)
        monkeypatch.setattr(worker.people, "reload", reload_late)
        await worker.feature(PrivacyFeature).forgetter.finish(ANNA, (await forgetting_marks(store.client))[ANNA])
        assert not (await forgetting_marks(store.client))[ANNA].is_erased


async def test_request_while_an_old_mark_is_deleted_is_marked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        hsetnx = store.client.hsetnx

        async def delete_mark(*arguments: Any) -> int:
            monkeypatch.setattr(store.client, "hsetnx", hsetnx)
            return 0

        monkeypatch.setattr(store.client, "hsetnx", delete_mark)
        mark = await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        assert (await forgetting_marks(store.client))[ANNA].pseudonym == mark.pseudonym


async def test_rematch_does_not_invite_a_forgotten_person(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = make_players(worker, fake)
        await play_and_resign(worker, anna, bruno)
        await forget_person(worker)
        [game] = [game async for game in worker.archive.games()]
        key = f"g{next(bruno.numbers)}"
        reply = await bruno.dispatcher.handle_press(
            Press(key, bruno.person, GROUP, "1", page("rematch", game.id), genuine=True)
        )
        assert reply.toast == ""
        await worker.wait_until_idle()
        await carla.press("Join", GROUP)
        [table] = await worker.room.lists.tables_of(carla.person.id)
        assert table.phase == "playing"


async def test_game_stored_during_forgetting_is_anonymous(store: Store) -> None:
    """A worker stalls between reading a table and storing its game."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = await play_games(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Join", GROUP)
        [table] = await worker.room.lists.tables_of(ANNA)
        seat = table.seat_of(ANNA)
        assert seat is not None
        finished = table.with_entries([Move(seat, "resign")], "u")
        await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        await worker.feature(PrivacyFeature).forgetter.forget(ANNA, (await forgetting_marks(store.client))[ANNA])
        await worker.archive.add(finished, 1_770_000_000)
        await worker.ratings.catch_up()
        await worker.wait_until_idle()
        assert await find_traces(store, ANNA, "annabella") == [keys.FORGETTING]
        after = await load_standings(worker, bruno)
        await worker.ratings.rebuild()
        assert await load_standings(worker, bruno) == after


async def test_second_pass_removes_a_late_rating(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = make_players(worker, fake)
        await anna.say("/help")
        ratings = Ratings(store.client, worker.archive)
        game = finished_game(1)
        record = game.record.model_copy(update={"winner": [0], "seats": ["Annabella", "Bea"]})
        rated = replace(game, people=[ANNA, "paper:2"], record=record)
        late_game = replace(rated, id="T002-000002", code="T002")
        await worker.archive.keep(rated)
        index_scopes = ratings._index_scopes

        async def index_after_forgetting(people: Sequence[str], scopes: Sequence[Scope]) -> None:
            ratings._index_scopes = index_scopes  # type: ignore[method-assign]
            await run_first_pass(worker)
            await worker.archive.keep(late_game)
            await index_scopes(people, scopes)

        ratings._index_scopes = index_after_forgetting  # type: ignore[method-assign]
        await ratings.catch_up()
        assert {keys.scopes(ANNA), keys.last_game(ANNA)} <= set(await find_traces(store, ANNA))
        await run_second_pass(worker)
        assert await find_traces(store, ANNA, "annabella") == []


async def test_unreadable_daily_game_does_not_stop_forgetting(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = make_players(worker, fake)
        await anna.say("/help")
        today = date(2026, 11, 20)
        await store.client.sadd(daily_keys.OPEN, today.isoformat())
        await store.client.hset(daily_keys.games(today), "GAME-1", b"what a later release wrote")
        await forget_person(worker)
        assert await find_traces(store, ANNA, "annabella") == []
        # The game stays for a release that can read it.
        await worker.feature(DailyFeature).days.close_past()
        assert await store.client.hlen(daily_keys.games(today)) == 1
        assert await worker.feature(DailyFeature).days.results.open_days() == [today]


async def test_sent_reminders_leave_no_trace(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await reminder_hours(store.client).choose(ANNA, 8)
        time = worker.host_time.now().replace(hour=8)
        for ago in range(3):
            await worker.feature(DailyFeature).reminders.send_due(time - timedelta(days=ago))
        assert len(await find_traces(store, ANNA)) == 4
        await forget_person(worker)
        assert await find_traces(store, ANNA) == []


async def test_traces_are_found_in_pending_games(store: Store) -> None:
    pending_keys = [daily_keys.games(date(2026, 11, 20)), tournament_keys.games("K7QF2M")]
    for key in pending_keys:
        await store.client.hset(key, "T001-000001", replace(finished_game(1), people=[ANNA, "paper:2"]).to_bytes())
    assert await find_traces(store, ANNA) == pending_keys


async def test_failed_forgetting_does_not_stop_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = make_players(worker, fake)
        for player in (anna, bruno):
            await player.say("/help")
        real = worker.feature(PrivacyFeature).forgetter.forget

        async def forget(person: str, mark: ForgettingMark) -> forgetting.ForgetResult:
            if person == bruno.person.id:
                raise ValueError("unreadable data")
            return await real(person, mark)

        monkeypatch.setattr(worker.feature(PrivacyFeature).forgetter, "forget", forget)
        for player in (bruno, anna):
            await worker.feature(PrivacyFeature).forgetter.begin(player.person.id)
        async with asyncio.timeout(20):
            while not (await forgetting_marks(store.client))[ANNA].is_erased:
                await asyncio.sleep(0.01)
        assert not (await forgetting_marks(store.client))[bruno.person.id].is_erased


@pytest.mark.parametrize("step", ["_take_games", long("_take_ratings"), long("_take_tables")])
async def test_forgetting_works_after_a_restore(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The backup runs ``step``, then Anna is forgotten, then the backup runs its later steps."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = await play_games(worker, fake)
        await carla.say("/challenge testa", about=(Person("", "Annabella", "Annabella"),))
        await bruno.say("/challenge tressette")
        await anna.press("Sit East", GROUP)
        real = getattr(BackupTaker, step)

        async def step_then_forget(taking: BackupTaker, *arguments: Any) -> Any:
            result = await real(taking, *arguments)
            await forget_person(worker)
            return result

        monkeypatch.setattr(BackupTaker, step, step_then_forget)
        await write_backup(store, tmp_path / "backup")
        assert await find_traces(store, ANNA, "annabella") == []
    await restore(store.client, tmp_path / "backup", replace=True, alone=True)
    async with open_worker(store, fake) as worker:
        assert await find_traces(store, ANNA)
        await forget_person(worker)
        assert await find_traces(store, ANNA, "annabella") == []


async def test_handle_is_deleted_unless_it_has_a_new_owner(store: Store) -> None:
    people = People(store.client)
    await people.meet(Person(ANNA, "Anna", "anna"))
    await people.meet(Person(ANNA, "Anna", "annina"))
    assert await people.find_by_handle("paper", "anna") is None
    await people.meet(Person("paper:2", "Bruno", "annina"))
    await people.erase(ANNA)
    owner = await people.find_by_handle("paper", "annina")
    assert owner
    assert owner.id == "paper:2"


async def test_migrated_store_finds_and_forgets_people(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        _, bruno, carla, _ = await play_games(worker, fake)
        await bruno.say("/challenge testa", about=(Person(ANNA, "Annabella", "annabella"),))
        await store.client.set(keys.handle("paper", "formerly"), ANNA)
        for key in [
            key for key in await dump_store(store) if key.startswith(("games_of:", "{games}:scopes:", "named:"))
        ]:
            await store.client.delete(key)
        for _ in range(2):
            await index_people(store.client)
        before = await load_standings(worker, carla)
        await forget_person(worker)
        assert await find_traces(store, ANNA, "annabella") == []
        assert await load_standings(worker, carla) == before


async def test_profile_stores_its_last_day_once_a_day(store: Store) -> None:
    people = People(store.client)
    today = await store.leases.current_day()
    writes = []
    real = store.client.hset

    async def hset(*arguments: Any, **options: Any) -> Any:
        writes.append(options)
        return await real(*arguments, **options)

    store.client.hset = hset
    for day in (today, today, today + 1, today + 1):
        people._day = (time.monotonic(), day)
        await people.meet(Person(ANNA, "Anna", "anna"))
    assert len(writes) == 2
    assert (await store.client.hget(keys.person(ANNA), "used")) == str(today + 1).encode()


@pytest.mark.parametrize("years", [-1, 1])
async def test_wrong_worker_clock_does_not_change_the_last_day(
    store: Store, years: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_time = time.time() + years * 365 * 86400
    monkeypatch.setattr(time, "time", lambda: wrong_time)
    await People(store.client).meet(Person(ANNA, "Anna", "anna"))
    today = await store.leases.current_day()
    assert await store.client.hget(keys.person(ANNA), "used") == str(today).encode()


async def test_store_clock_set_back_corrects_the_last_day(store: Store) -> None:
    await People(store.client).meet(Person(ANNA, "Anna", "anna"))
    people, today = People(store.client), await store.leases.current_day()
    people._day = (time.monotonic(), today - 1000)
    await people.meet(Person(ANNA, "Anna", "anna"))
    assert await store.client.hget(keys.person(ANNA), "used") == str(today).encode()


async def test_mydata_is_complete_and_limited_to_once_a_minute(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = await play_games(worker, fake)
        await anna.say("/challenge testa")
        await bruno.press("Join", GROUP)
        [table] = await worker.room.lists.tables_of(ANNA)
        reply = await anna.say("/mieidati")
        assert reply.private
        assert reply.file
        document = json.loads(reply.file.content)
        assert document["person"] == ANNA
        assert document["profile"]["name"] == "Annabella"
        assert document["profile"]["suits"] == "french"
        assert [(table["code"], table["players"]) for table in document["tables"]] == [
            (table.code, ["Annabella", "Brunello"])
        ]
        assert len(document["games"]) == 4
        assert document["games"][0]["record"]["seats"][document["games"][0]["seat"]] == "Annabella"
        everywhere = {"chat": "*", "month": "*", "game": "*"}
        [rating] = [rating for rating in document["ratings"] if everywhere.items() <= rating.items()]
        assert (rating["games"], rating["wins"]) == (4, 2)
        assert table.game
        assert bytes(table.game.record().deals[-1].proof.secret, "ascii") not in reply.file.content
        second_reply = await anna.say("/mydata")
        assert second_reply.toast.startswith("You’ve just asked")
        assert second_reply.file is None


async def test_mydata_lists_numbers_of_archived_games(store: Store) -> None:
    archive = Archive(store.client)
    for number in (1, 2, 3):
        await archive.keep(replace(finished_game(number), people=[ANNA, "paper:2"]))
    for number in (1, 2):
        await store.client.zrem(keys.GAMES_ORDER, finished_game(number).id)
        await store.client.delete(keys.game(finished_game(number).id))
    my_data = MyData(store.client, archive, Ratings(store.client, archive), [], store.levers)
    document = json.loads((await my_data.file(ANNA, [], 0.0)).content)
    assert [game["number"] for game in document["games"]] == [3]
    assert document["games_without_record"] == [2, 1]


async def test_forgotten_player_of_four_leaves_no_trace(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        people = await seat_players(worker, fake, "tavolo")
        await forget_person(worker, people[2].person.id)
        assert await find_traces(store, people[2].person.id, "carla") == []
        assert [game.record.seats[2] async for game in worker.archive.games()] == ["somebody"]
