"""Rate limits: floods of updates and guessed codes."""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.command_names import ArgumentKind
from bot.delivery.answer_queue import MAX_WAITING, AnswerQueue
from bot.delivery.outages import Outages
from bot.delivery.send_limiter import SendLimiter
from bot.handlers import press_limits
from bot.platform import DeliveryError, MessageRefused, NotDelivered, PlatformFailure, Press, SlowDown
from bot.rate_limiter import RateLimit
from bot.store import Store, keys
from bot.tables.code_guard import WRONG_CODES
from bot.tables.codes import CODE_LENGTH, CODE_LETTERS
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker, seat_players


@pytest.fixture(autouse=True)
def _limits_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_RATE_LIMITS", "true")


YEAR = 365.25 * 24 * 3600


def store_command_counter(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a counter of commands that reach the store."""
    calls = count()
    execute = worker.store.client.execute_command

    async def count_and_execute(*args: Any, **options: Any) -> Any:
        next(calls)
        return await execute(*args, **options)

    monkeypatch.setattr(worker.store.client, "execute_command", count_and_execute)
    return lambda: int(repr(calls).partition("(")[2].rstrip(")"))


async def test_press_flood_is_refused_without_store_access(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        anna, bruno = await seat_players(worker, fake, "testa")
        await anna.say("/help", anna.private)
        code = await code_of(worker, anna)
        toasts = [(await anna.send(f"1t{code}:wait")).toast for _ in range(100)]
        assert "still time" in toasts[0]
        await anna.dispatcher.handle_press(Press("key", anna.person, anna.private, "0", f"1t{code}:wait"))
        count_calls = store_command_counter(worker, monkeypatch)
        for _ in range(200):
            assert "Too fast for me" in (await anna.send(f"1t{code}:wait")).toast
        assert count_calls() == 0
        # Other players are not slowed down.
        assert "still time" in (await bruno.send(f"1t{code}:wait")).toast


async def test_command_flood_gets_one_warning_per_break(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        bruno.dispatcher = anna.dispatcher
        replies = [await anna.say("/help") for _ in range(100)]
        warnings = [reply for reply in replies if reply.toast and not reply.optional]
        assert ["write again in 30 seconds" in reply.toast for reply in warnings] == [True]
        assert sum(reply.panel is not None for reply in replies) <= 35
        assert all(reply.toast for reply in replies if reply.optional)
        assert (await bruno.say("/help")).panel
        now = asyncio.get_running_loop().time()
        anna.dispatcher.limits._breaks._clock = anna.dispatcher.limits._commands._clock = lambda: (
            now + press_limits.BREAK_SECONDS + 1
        )
        assert (await anna.say("/help")).panel


async def test_crowd_cannot_flood_a_group(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        crowd = [Player(worker, fake, f"Player {number}", number) for number in range(1, 101)]
        for player in crowd:
            player.dispatcher = crowd[0].dispatcher
        replies = [await player.say("/help") for player in crowd]
        assert sum(reply.panel is not None for reply in replies) <= press_limits.COMMANDS_IN_GROUP.burst + 10
        assert sum(bool(reply.toast) and not reply.optional for reply in replies) == 1
        assert (await crowd[-1].say("/help", crowd[-1].private)).panel


# Guessed codes


def test_code_guessing_finds_under_one_table_a_year() -> None:
    open_tables = 100_000
    tries = WRONG_CODES.burst + YEAR / WRONG_CODES.interval
    assert tries * open_tables / len(CODE_LETTERS) ** CODE_LENGTH < 1


async def test_wrong_codes_are_counted_across_workers(store: Store) -> None:
    fake, other_fake = FakePlatform(), FakePlatform()
    async with (
        open_worker(store, fake, rate_limits=True) as worker,
        open_worker(store, other_fake, alone=False) as other,
    ):
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/challenge testa")
        code = await code_of(worker, anna)
        guessers = [Player(worker, fake, "Zoe", 9), Player(other, other_fake, "Zoe", 9)]
        guesses = [guessers[n % 2].say(f"/join QQQQ{n:02}", place="paper:9") for n in range(10, 20)]
        guesses += [guessers[n % 2].send(f"1tQQQQ{n}:sit") for n in range(20, 30)]
        guesses += [guessers[n % 2].send(f"1mQQQQ{n}:1:play 3D") for n in range(30, 40)]
        toasts = [reply.toast for reply in await asyncio.gather(*guesses)]
        assert sum("There’s no table" in toast for toast in toasts) == WRONG_CODES.burst
        assert sum("in 60 min" in toast for toast in toasts) == len(toasts) - WRONG_CODES.burst

        # The right code is refused too, but the button of the challenge works.
        assert "Too many wrong codes" in (await guessers[1].say(f"/join {code}", place="paper:9")).toast
        assert (await worker.room.table(code)).phase == "open"
        assert not (await guessers[0].press("Join", GROUP)).toast
        assert (await worker.room.table(code)).phase == "playing"
        assert 0 < await store.client.pttl(keys.tries("paper:9")) <= 1000 * WRONG_CODES.burst * WRONG_CODES.interval


async def test_seated_player_passes_the_code_limit_at_every_worker(store: Store) -> None:
    fake, other_fake = FakePlatform(), FakePlatform()
    async with open_worker(store, fake, rate_limits=True, alone=False) as worker:
        anna, bruno = await seat_players(worker, fake, "testa")
        code = await code_of(worker, anna)
        for number in range(WRONG_CODES.burst + 1):
            await bruno.say(f"/join QQQQ{number}2", place="paper:2")

        # The other worker has just started and has no table in its cache.
        async with open_worker(store, other_fake, rate_limits=True, alone=False) as other:
            other_bruno = Player(other, other_fake, "Bruno", 2)
            assert other.room.cached_table(code) is None
            # The platform sends no details for presses on very old messages.
            assert "still time" in (await other_bruno.send(f"1t{code}:wait")).toast
            other.room.forget(code)
            assert "You’re at" in (await other_bruno.say(f"/join {code}", place="paper:5")).toast
            other.room.forget(code)
            stranger = Player(other, other_fake, "Carla", 3)
            assert "already started" in (await stranger.send(f"1t{code}:sit", GROUP)).toast
            assert not await store.client.exists(keys.tries("paper:3"))


async def test_mistyped_code_gets_help_and_right_code_is_free(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        assert "check the code" in (await bruno.say("/join QQQQQQ", place="paper:2")).toast
        assert "check the code" in (await bruno.say("/join what's-this?", place="paper:2")).toast
        for _ in range(WRONG_CODES.burst + 2):
            await anna.say("/challenge testa")
            [table] = await worker.room.lists.tables_of("paper:1")
            assert "You’re at" in (await bruno.say(f"/join {table.code.lower()}", place="paper:2")).toast
            await anna.say("/resign")
            await anna.press("Yes, I resign")
        assert await store.client.pttl(keys.tries("paper:2")) <= 1000 * WRONG_CODES.interval


async def test_late_press_is_not_a_guess(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        anna, bruno = await seat_players(worker, fake, "testa")
        code, carla = await code_of(worker, anna), Player(worker, fake, "Carla", 3)
        for _ in range(WRONG_CODES.burst + 2):
            assert "has expired" in (await bruno.send(f"1m{code}:1:play 3D")).toast
            assert "already started" in (await carla.send(f"1t{code}:sit", GROUP)).toast
        assert not await store.client.exists(keys.tries("paper:2"), keys.tries("paper:3"))


async def test_answer_is_retried_only_if_surely_not_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.platform.SHORTEST_WAIT", 0.001)
    monkeypatch.setattr("bot.delivery.answer_queue.FIRST_RETRY_SECONDS", 0.001)
    monkeypatch.setattr("bot.delivery.answer_queue.MAX_RETRY_SECONDS", 0.001)
    outcomes: list[str] = []
    for errors in (
        [NotDelivered("away")] * 20,
        [SlowDown(0.001)] * 20,
        [PlatformFailure("no answer")],
        [MessageRefused("odd")],
    ):
        answers = AnswerQueue(
            SendLimiter(lambda place: RateLimit()), Outages(lambda _platform: True, lambda _platform: None)
        )
        remaining: list[DeliveryError] = list(errors)

        async def answer(remaining: list[DeliveryError] = remaining) -> None:
            if remaining:
                raise remaining.pop()
            outcomes.append("sent")

        answers.send("paper:1", answer)
        while answers.tasks:
            await asyncio.wait(answers.tasks)
        assert not remaining
        outcomes.append("")
    assert outcomes == ["sent", "", "sent", "", "", ""]


async def test_only_the_latest_pending_edit_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = AnswerQueue(
        SendLimiter(lambda place: RateLimit(3, 0.02)), Outages(lambda _platform: True, lambda _platform: None)
    )
    shown_numbers: list[int] = []

    async def show(number: int) -> None:
        shown_numbers.append(number)

    for number in range(100):
        answers.send("paper:1", partial(show, number), message="7")
        if number == 50:
            await asyncio.sleep(0.01)
    while answers.tasks:
        await asyncio.wait(answers.tasks)
    assert shown_numbers == [50, 99]
    assert not answers._waiting
    assert not answers._jobs


async def test_answers_wait_for_the_platform_and_overflow_is_dropped() -> None:
    answers = AnswerQueue(
        SendLimiter(lambda place: RateLimit()), Outages(lambda _platform: True, lambda _platform: None)
    )
    errors = [SlowDown(0.01), SlowDown(0.01)]
    sent = count()

    async def answer() -> None:
        if errors:
            raise errors.pop()
        next(sent)

    are_accepted = [answers.send("paper:1", answer) for _ in range(100)]
    assert are_accepted == [True] * MAX_WAITING + [False] * (100 - MAX_WAITING)
    assert answers.send("paper:2", answer)
    while answers.tasks:
        await asyncio.wait(answers.tasks)
    assert next(sent) == MAX_WAITING + 1
    assert not answers._waiting


@pytest.mark.parametrize("choice", ["AS,AS,AS", "1 1", "resign resign"])
async def test_draft_with_repeated_choices_is_refused(store: Store, choice: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        table = await worker.room.table(await code_of(worker, players[0]))
        for player in players:
            reply = await player.send(f"1t{table.code}:draft {table.dealt_at} {choice}")
            assert "has expired" in reply.toast


async def test_lone_surrogate_becomes_a_question_mark(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        zoe = Player(worker, fake, "Zoe", 9)
        zoe.person = zoe.person._replace(name="Z\ud800", handle="z\udfff", language="\ud83d")
        with capture_logs() as logs:
            for text in ("/help", "/x\ud800", "/join \ud800", "/challenge \ud800", "/challenge @\udc00"):
                reply = await zoe.say(text)
                assert (reply.panel.plain if reply.panel else reply.toast).encode()
            assert (await zoe.send("1m\ud800")).toast.encode()
        assert not [line for line in logs if line["log_level"] == "error"]


async def test_suggestions_list_open_tables_of_the_channel_only(store: Store) -> None:
    fake = FakePlatform()
    first_channel, second_channel = "paper:100/7", "paper:100/8"
    async with open_worker(store, fake) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        await anna.say("/challenge testa", first_channel)
        await bruno.say("/challenge metamazzo", second_channel)
        for place, name in ((first_channel, "Anna"), (second_channel, "Bruno")):
            [suggestion] = await anna.dispatcher.suggestions(ArgumentKind.OPEN_TABLE, "", anna.person, place)
            assert name in suggestion.label
        assert not await anna.dispatcher.suggestions(ArgumentKind.OPEN_TABLE, "", anna.person, "paper:100")


async def test_too_many_suggestion_requests_return_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press_limits, "PRESSES_OF_PERSON", RateLimit(burst=3, interval=3600.0))
    fake = FakePlatform()
    async with open_worker(store, fake, rate_limits=True) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        await anna.say("/challenge testa")
        suggestions = [
            await bruno.dispatcher.suggestions(ArgumentKind.OPEN_TABLE, "", bruno.person, GROUP) for _ in range(5)
        ]
        assert list(map(len, suggestions)) == [1, 1, 1, 0, 0]
        assert await anna.dispatcher.suggestions(ArgumentKind.OPEN_TABLE, "", anna.person, GROUP)
        # Presses and commands still work.
        assert "once" not in (await bruno.say("/help", bruno.private)).toast
        assert (await bruno.press("Join", GROUP)).toast != press_limits.TooManyPresses.sentence
