"""The deal of the day in chats: the same for all players, once each, and secret until the day is over."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta, tzinfo
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.cluster import host_time
from bot.features.daily import keys
from bot.features.daily.days import Days, load_chain
from bot.features.daily.errors import DailyUnavailable
from bot.features.daily.feature import DailyFeature
from bot.features.daily.game_of_day import unstored_game
from bot.features.daily.secret_chain import Chain, days_to_end
from bot.features.learn.feature import LearnFeature
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import forgetting_marks
from bot.pictures.scene_builder import hand_scene
from bot.platform import DeliveryError, MessageRefused, NotDelivered, PlatformFailure, SlowDown
from bot.store import Store
from bot.tables.snapshot import take_snapshot
from bot.words.wording import signed_text
from bot.worker import Worker
from engine import GAMES, Game, verify
from engine.errors import NoClaims
from engine.shuffle import commitment
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.daily.conftest import TODAY, TOMORROW
from tests.kills.daily import choose_zones

REAL_TODAY = Days.today  # the original, before the fixture replaces it


@asynccontextmanager
async def open_players(store: Store, *names: str) -> AsyncIterator[tuple[Worker, list[Player]]]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        yield worker, [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]


async def find_table_code(player: Player) -> str:
    [table] = await player.worker.room.lists.tables_of(player.person.id)
    return table.code


async def begin_deal(player: Player) -> str:
    """Begin the deal of the day. Return the table's code."""
    await player.say("/daily", player.private)
    await player.press("Play", player.private)
    return await find_table_code(player)


def choose_move(game: Game, seed: int) -> str:
    """Choose a move of seat 0 by the seed and the number of moves so far."""
    legal = [move for move in game.legal_moves(0) if move not in ("resign", "claim")]
    return Random(f"{seed} {len(game.moves)}").choice(legal)


async def make_move(player: Player, code: str, seed: int) -> bool:
    """Make one move, chosen as in `choose_move`. Return whether the deal was still running."""
    worker = player.worker
    await worker.alarms.wait_until_idle()
    table = await worker.room.table(code)
    if table.phase != "playing":
        return False
    assert table.game
    if table.game.turn == 0:
        move = choose_move(table.game, seed)
        await worker.room.make_move(code, player.person.id, table.version, move, f"m{table.version}")
    return True


async def play_deal(player: Player, code: str, seed: int) -> None:
    while await make_move(player, code, seed):
        pass
    await player.worker.wait_until_idle()


class FastClock(datetime):
    """A worker's clock that is a day ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "FastClock":
        return cls.fromtimestamp(time.time(), tz)


async def test_day_follows_the_stores_clock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fast_time = time.time() + 86400
    monkeypatch.setattr(time, "time", lambda: fast_time)
    monkeypatch.setattr(host_time, "datetime", FastClock)
    monkeypatch.setattr(Days, "today", REAL_TODAY)
    async with open_players(store, "Anna") as (worker, [anna]):
        # Use a zone in which the day does not end soon.
        worker.host_time._zone = ZoneInfo(choose_zones(datetime.now(UTC)).playing)
        day = datetime.fromtimestamp(await store.leases.current_time(), worker.host_time._zone).date()
        assert worker.feature(DailyFeature).days.today() == day
        table = await worker.room.table(await begin_deal(anna))
        assert table.day == day
        await worker.room.make_move(table.code, anna.person.id, table.version, "resign", "r1")
        await worker.wait_until_idle()
        assert await worker.feature(DailyFeature).days.results.pending_games()
        await worker.feature(DailyFeature).days.close_past()
        assert await worker.archive.count() == 0


async def test_same_moves_get_the_same_answers_after_a_restart(store: Store) -> None:
    moves_by_person = {}
    async with open_players(store, "Anna", "Bruno", "Carla") as (worker, (anna, bruno, carla)):
        for player, seed in ((anna, 1), (carla, 2)):
            await play_deal(player, await begin_deal(player), seed)
        code = await begin_deal(bruno)
        for _ in range(9):
            await make_move(bruno, code, 1)
    async with open_players(store, "Anna", "Bruno", "Carla") as (worker, (anna, bruno, carla)):
        await play_deal(bruno, code, 1)
        for day, game in await worker.feature(DailyFeature).days.results.pending_games():
            assert day == TODAY
            verify(game.record)
            moves_by_person[game.people[0]] = [entry[:2] for entry in game.record.deals[0].moves]
        assert moves_by_person["paper:1"] == moves_by_person["paper:2"]
        assert moves_by_person["paper:1"] != moves_by_person["paper:3"]
        ranking = await worker.feature(DailyFeature).days.results.ranking(TODAY)
        assert len({line.result for line in ranking if line.person != "paper:3"}) == 1


async def test_seal_is_behind_its_button(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        days = worker.feature(DailyFeature).days
        seal = commitment((await days.chain()).secret(days.today()))
        await anna.say("/daily", anna.private)
        text = anna.fake.last(anna.private).plain
        assert seal[:12] not in text
        await anna.press("Fair shuffle")
        assert seal in anna.fake.last(anna.private).plain
        await anna.press("Today")
        assert anna.fake.last(anna.private).plain == text


async def test_deal_can_be_played_once(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/daily", anna.private)
        assert "everyone gets the same cards" in anna.fake.last(anna.private).plain.lower()
        await anna.press("Play", anna.private)
        code = await find_table_code(anna)
        assert (await worker.feature(DailyFeature).days.open_table("paper:1", "Anna")).code == code
        await play_deal(anna, code, 1)
        result = anna.fake.texts(anna.private)[-1]
        assert "Deal of the day" in result
        assert "🟩" in result
        await anna.press("Share")
        shared = anna.fake.last(anna.private)
        assert shared.plain.startswith("Buongioco ")
        assert not shared.rows
        assert anna.fake.texts(anna.private)[-2] == result
        assert "cancelled" not in "".join(anna.fake.texts(anna.private))
        reply = await anna.press("Play", anna.private)
        assert "You’ve already played today’s deal" in reply.toast
        await worker.feature(DailyFeature).days.wait_for_par()
        await anna.say("/daily", anna.private)
        text = anna.fake.last(anna.private).plain
        assert "Place " not in text
        assert text.count("🟩") + text.count("⬜") == 20 + 2, "no other result can be compared"
        assert text.endswith("\n\n⏰ Choose an hour for a daily reminder.")
        assert "1 day in a row" in text
        assert "The robot with your cards: " in text


def list_labels(player: Player) -> list[str]:
    return [button.label for row in player.fake.last(player.private).rows for button in row]


async def test_rules_leave_the_daily_card_in_place(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/daily", GROUP)
        await anna.say("/daily", anna.private)
        days = worker.feature(DailyFeature).days
        game = await days.game_on(days.today())
        for place in (GROUP, anna.private):
            cards = anna.fake.texts(place)
            await anna.press("Rules", place)
            assert anna.fake.texts(place)[: len(cards)] == cards
            assert anna.fake.last(anna.private).plain.startswith(GAMES[game].name)
            await anna.press("◀ Back", anna.private)
            assert anna.fake.last(anna.private).plain.startswith("☀️ Deal of the day")
            assert "Play" in list_labels(anna)


async def test_game_of_the_day_comes_with_a_lesson_for_newcomers(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        site = worker.feature(DailyFeature).site
        await anna.say("/daily", GROUP)
        assert not [button for row in anna.fake.last(GROUP).rows for button in row if "Learn" in button.label]
        await anna.say("/daily", anna.private)
        [lesson] = (await site.page("paper:1", "en")).lessons
        assert lesson in (await site.page("", "en")).lessons, "strangers get it too"
        assert lesson.label in list_labels(anna)
        cards = anna.fake.texts(anna.private)
        await anna.press(lesson.label)
        assert anna.fake.texts(anna.private)[: len(cards)] == cards, "the deal's card stays"
        assert " · 1 of 9" in anna.fake.last(anna.private).plain
        await worker.feature(LearnFeature).first_games.stop_hints("paper:1")
        await anna.say("/daily", anna.private)
        assert not [label for label in list_labels(anna) if "Learn" in label]
        assert not (await site.page("paper:1", "en")).lessons


async def test_play_sends_the_hand_of_a_running_deal(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        for _ in range(3):
            await make_move(anna, code, 1)
        await worker.alarms.wait_until_idle()
        for place in (anna.private, GROUP):
            await anna.say("/daily", place)
            await anna.say("/help", anna.private)
            assert not anna.moves()
            toast = (await anna.press("Play", place)).toast
            assert ("on their way to our private chat" in toast) == (place == GROUP)
            assert anna.moves(), "the hand is sent again below the other messages"
            assert await find_table_code(anna) == code


async def test_deal_begun_in_a_group_is_played_in_private(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await anna.say("/daily", anna.private)
        for player in (anna, bruno):
            # On Discord, yesterday's page is visible only to its reader and has a button for today's deal.
            anna.fake.messages[player.aside]["9"] = anna.fake.last(anna.private)
        reply = await bruno.press("Play", bruno.aside)
        assert reply.start_word == "daily"
        assert not await worker.room.lists.tables_of(bruno.person.id)
        assert "on their way to our private chat" in (await anna.press("Play", anna.aside)).toast
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert table.hosts == (anna.private,)


async def test_deal_of_the_day_cannot_be_claimed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    day = next(day for day in (TODAY + timedelta(days=n) for n in range(7)) if unstored_game(day) == "tressette")
    monkeypatch.setattr(Days, "today", lambda _days: day)
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        await worker.alarms.wait_until_idle()
        await worker.wait_until_idle()
        assert anna.moves()
        assert not any("claim" in button.payload for _message, button in anna.moves())
        table = await worker.room.table(code)
        with pytest.raises(NoClaims):
            await worker.room.make_move(code, anna.person.id, table.version, "claim", "c")


async def test_game_added_while_its_day_closes_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await play_deal(anna, await begin_deal(anna), 1)
        [(_day, game)] = await worker.feature(DailyFeature).days.results.pending_games()
        results, client = worker.feature(DailyFeature).days.results, worker.store.client
        hset, hlen = client.hset, client.hlen

        async def close_day_first(*args: Any, **options: Any) -> int:
            await results.close_day(TODAY)
            return int(await hset(*args, **options))

        async def add_game_meanwhile(key: str) -> int:
            count = int(await hlen(key))
            monkeypatch.setattr(client, "hlen", hlen)
            await results.add_pending(TODAY, game)
            return count

        for name, meanwhile, change in (
            ("hset", close_day_first, results.add_pending(TODAY, game)),
            ("hlen", add_game_meanwhile, results.close_day(TODAY)),
        ):
            await results.remove_pending(TODAY, game)
            monkeypatch.setattr(client, name, meanwhile)
            await change
            monkeypatch.setattr(client, "hset", hset)
            assert [stored.id for _day, stored in await results.pending_games()] == [game.id], name


async def test_cards_are_secret_until_the_day_is_over(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        secret = (await worker.feature(DailyFeature).days.chain()).secret(TODAY).hex()
        code = await begin_deal(anna)
        table = await worker.room.table(code)
        assert await worker.watching.watch_id(table) == ""
        assert not [button for button in anna.fake.last(anna.private).rows for item in button if "Hint" in item.label]
        await play_deal(anna, code, 1)
        assert await worker.archive.count() == 0
        await worker.feature(DailyFeature).days.close_past()
        assert await worker.archive.count() == 0
        texts = "".join(text for place in anna.fake.messages for text in anna.fake.texts(place))
        assert secret not in texts
        assert "Replay" not in str([panel.rows for panel in anna.fake.messages[anna.private].values()])

        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        await worker.feature(DailyFeature).days.close_past()
        assert await worker.archive.count() == 1
        [game] = [game async for game in worker.archive.games()]
        assert not game.is_rated
        proof = game.record.deals[0].proof
        assert proof
        chain = await worker.feature(DailyFeature).days.chain()
        assert days_to_end(proof.commitment, chain.end) == (TODAY - chain.first).days
        await anna.say("/daily", anna.private)
        await anna.press("Yesterday", anna.private)
        text = anna.fake.last(anna.private).plain
        assert secret in text
        assert "\u2068Anna\u2069" in text
        # The moves determine the best line, because the same moves get the same answers.
        [line] = await worker.feature(DailyFeature).days.results.ranking(TODAY)
        assert f"Best play of the day, {signed_text(line.result.margin or 0)}:" in text
        best = await worker.feature(DailyFeature).days.results.line_of_play(TODAY, "paper:1")
        assert best
        moves = [move for seat, move, *_legal in game.record.deals[0].moves if seat == 0]
        assert [decision.move for decision in best.decisions] == moves
        assert sum(bool(decision.card) for decision in best.decisions) == 20
        await anna.press("Replay", anna.private)


async def test_wrong_year_changes_no_other_day(store: Store) -> None:
    client = store.client
    # A store of a release with a single chain.
    await client.set(keys.CHAIN, Chain(bytes(range(32)), TODAY).to_text())
    chain = await load_chain(client, TODAY)
    assert chain.root == bytes(range(32))
    for day in (date(1970, 1, 1), chain.last + timedelta(days=1)):
        other = await load_chain(client, day)
        assert other.first == day
        assert await load_chain(client, day + timedelta(days=1)) == other
    assert await load_chain(client, TODAY) == await load_chain(client, chain.last) == chain


async def test_chains_created_concurrently_are_the_same(store: Store) -> None:
    client = store.client
    chains = await asyncio.gather(load_chain(client, TODAY), load_chain(client, TODAY))
    assert chains[0] == chains[1] == await load_chain(client, TOMORROW)


async def test_group_sees_results_of_those_who_asked_there(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno", "Carla") as (_worker, (anna, bruno, carla)):
        await bruno.say("/help", bruno.private)
        await anna.say("/daily", GROUP)
        await bruno.press("Play", GROUP)
        await play_deal(bruno, await find_table_code(bruno), 1)
        await play_deal(carla, await begin_deal(carla), 1)
        await anna.say("/daily", GROUP)
        text = anna.fake.last(GROUP).plain
        assert "Bruno" in text
        assert "Carla" not in text
        assert "🟩" in text


async def test_hand_names_the_deal_of_the_day(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        await anna.say("/resign", anna.private)
        await worker.wait_until_idle()
        assert "Give up today’s deal" in anna.fake.last(anna.private).plain
        table = await worker.room.table(code)
        view = take_snapshot(table, 0, worker.policies.policy_of(table).own_texts)
        scene = hand_scene(view, "en", "italian", "classic")
        assert scene
        assert scene.target == "deal of the day"


async def test_resigned_daily_deal_counts_as_given_up(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        table = await worker.room.table(code)
        await worker.room.make_move(code, "paper:1", table.version, "resign", "r")
        await worker.wait_until_idle()
        assert "You gave up." in anna.fake.texts(anna.private)[-1]
        assert "doesn’t count" not in "".join(anna.fake.texts(anna.private))
        [line] = await worker.feature(DailyFeature).days.results.ranking(TODAY)
        assert line.rank is None


async def test_unfinished_deal_ends_when_the_next_begins(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        await make_move(anna, code, 1)
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await anna.say("/daily", anna.private)
        await anna.press("Play", anna.private)
        await worker.wait_until_idle()
        assert await find_table_code(anna) != code
        assert await worker.feature(DailyFeature).days.results.ranking(TODAY) == []
        assert "You gave up." in "".join(anna.fake.texts(anna.private))


async def test_deal_finished_after_its_day_does_not_count(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await play_deal(bruno, await begin_deal(bruno), 1)
        code = await begin_deal(anna)
        await make_move(anna, code, 2)
        hand = await anna.dispatcher.live_hands.open_hand(code, anna.person.id)
        assert hand
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        await anna.say("/daily", anna.private)
        await anna.press("Yesterday", anna.private)
        assert "Secret" in anna.fake.last(anna.private).plain
        await play_deal(anna, code, 2)
        note = "It doesn’t count: its day ended first, and everyone could see the cards."
        [result] = [text for text in anna.fake.texts(anna.private) if note in text]
        assert re.search("^(You|A draw)", result, re.MULTILINE)
        with pytest.raises(AssertionError, match="no button 'Share'"):
            anna.button("Share")
        page = await hand._page()
        assert page.line.endswith(note)
        [line] = await worker.feature(DailyFeature).days.results.ranking(TODAY)
        assert line.person == bruno.person.id
        assert list(await worker.feature(DailyFeature).days.results.lines_of_play(TODAY)) == [bruno.person.id]
        assert (await worker.feature(DailyFeature).days.results.streak(anna.person.id, TODAY)).longest == 0
        # The game can still be read.
        assert await worker.archive.find_latest_game_id(code, anna.person.id)


async def test_result_in_time_counts_if_reported_again_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker was killed before it removed the table."""
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        hand = await anna.dispatcher.live_hands.open_hand(code, anna.person.id)
        assert hand
        await play_deal(anna, code, 1)
        [(_day, game)] = await worker.feature(DailyFeature).days.results.pending_games()
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        assert await worker.feature(DailyFeature).days.finish(game, TODAY)
        # The page still counts the result.
        assert "does not count" not in (await hand._page()).line
        assert list(await worker.feature(DailyFeature).days.results.lines_of_play(TODAY)) == [anna.person.id]


async def test_day_has_no_deal_without_compiled_searches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [_anna]):
        monkeypatch.setattr("bot.features.daily.days.find_spec", lambda _name: None)
        with pytest.raises(DailyUnavailable):
            await worker.feature(DailyFeature).days.open_table("paper:1", "Anna")


async def test_forgotten_player_has_no_results_and_no_name(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await play_deal(anna, await begin_deal(anna), 1)
        file = await worker.feature(PrivacyFeature).own_data.file("paper:1", [], 0.0)
        assert b'"days": [{"day": "' in file.content
        await worker.feature(PrivacyFeature).forgetter.begin("paper:1")
        async with asyncio.timeout(20):
            while not (await forgetting_marks(store.client))["paper:1"].is_erased:
                await asyncio.sleep(0.01)
        assert await worker.feature(DailyFeature).days.results.ranking(TODAY) == []
        assert await worker.feature(DailyFeature).days.results.days_of("paper:1") == []
        [(_day, game)] = await worker.feature(DailyFeature).days.results.pending_games()
        assert "paper:1" not in game.people
        assert "Anna" not in game.record.to_json()


async def test_reminder_comes_once_unless_already_played(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        for player in (anna, bruno):
            await player.say("/daily", player.private)
            await player.press("13:00", player.private)
        await bruno.press("off", bruno.private)

        def count_reminders(player: Player) -> int:
            return sum("Play before midnight" in text for text in player.fake.texts(player.private))

        for hour, sent in ((12, 0), (13, 1), (14, 1), (15, 1), (13, 1)):
            await worker.feature(DailyFeature).reminders.send_due(
                datetime(TODAY.year, TODAY.month, TODAY.day, hour, 5, tzinfo=UTC)
            )
            assert (count_reminders(anna), count_reminders(bruno)) == (sent, 0)
        await play_deal(anna, await begin_deal(anna), 1)
        await worker.feature(DailyFeature).reminders.send_due(
            datetime(TODAY.year, TODAY.month, TODAY.day, 13, 5, tzinfo=UTC)
        )
        assert count_reminders(anna) == 1
        tomorrow = datetime(TOMORROW.year, TOMORROW.month, TOMORROW.day, 16, 0, tzinfo=UTC)
        await worker.feature(DailyFeature).reminders.send_due(tomorrow)
        assert count_reminders(anna) == 1, "three hours late is too late"
        await worker.feature(DailyFeature).reminders.send_due(tomorrow.replace(hour=14))
        assert count_reminders(anna) == 2
        await anna.press("Stop reminders", anna.private)
        assert await store.client.hlen(keys.REMINDERS) == 0


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (NotDelivered("not connected"), 1),
        (SlowDown(20), 1),
        (PlatformFailure("no answer"), 0),
        (MessageRefused("odd"), 0),
    ],
)
async def test_only_undelivered_or_slowed_reminder_is_retried(store: Store, error: DeliveryError, sent: int) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/daily", anna.private)
        await anna.press("13:00", anna.private)
        anna.fake.errors[anna.private] = [error]
        for minute, so_far in ((0, 0), (1, sent), (2, sent)):
            await worker.feature(DailyFeature).reminders.send_due(
                datetime(TODAY.year, TODAY.month, TODAY.day, 13, minute, tzinfo=UTC)
            )
            assert sum("Play before midnight" in text for text in anna.fake.texts(anna.private)) == so_far
