"""Hints in practice games: one legal move at a time, with a reason."""

import asyncio

import pytest

from bot import actions
from bot.panels.hand_buttons import HINT
from bot.robots import pool as robot_pool
from bot.robots.pool import RobotPool
from bot.store import Store
from bot.tables.table import Table
from bot.words.spoken import spell_out
from bot.words.verdicts import NO_HINT, ShownHint
from bot.words.wording import Wording
from bot.worker import Worker
from engine import View
from engine.robots.verdicts import Hint
from tests.bot.fake_platform import GROUP, FakePlatform, Player, create_players, open_worker, seat_players


async def start_practice(
    worker: Worker, fake: FakePlatform, game: str = "testa", robots: tuple[str, ...] = ("Strong",)
) -> Player:
    anna = create_players(worker, fake)[0]
    await anna.say(f"/challenge {game}")
    await anna.press("Add robot", GROUP)
    for level in robots:
        await anna.press(f"🤖 {level}", GROUP)
    return anna


async def wait_for_turn(worker: Worker, player: Player) -> int:
    """Wait for the player's turn and return their panel's version."""
    async with asyncio.timeout(60):
        while True:
            [table] = await worker.room.lists.tables_of(player.person.id)
            seat = table.seat_of(player.person.id)
            assert seat is not None
            assert table.game
            if table.game.turn == seat:
                await worker.wait_until_idle()
                return max(table.moved_at[seat], table.dealt_at)
            await asyncio.sleep(0.01)


def shown_hint(player: Player) -> str:
    """Return the hint in the player's last private message, or ""."""
    hand_lines = player.fake.last(player.private).plain.splitlines()
    return next((line for line in hand_lines if line.startswith("💡")), "")


def hint_buttons(player: Player) -> list[str]:
    labels = [button.label for row in player.fake.last(player.private).rows for button in row]
    return [label for label in labels if "hint" in label.lower()]


async def test_hint_names_a_legal_move(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_pool, "HINT_SECONDS", 90.0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        await wait_for_turn(worker, anna)
        await anna.press("Hint")
        await worker.wait_until_idle()
        # A hint can also be a declaration.
        move, words = shown_hint(anna).removeprefix("💡 ").split(":")[0], Wording("en", (), "italian")
        labels = [button.label for _, button in anna.moves()]
        assert move in [
            label.removeprefix("📣 ") if label.startswith("📣 ") else f"Play the {spell_out(words, label)}"
            for label in labels
        ]


async def test_repeated_presses_search_for_one_hint(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    may_answer, calls = asyncio.Event(), 0

    async def hint(_pool: RobotPool, view: View, _history: object) -> Hint:
        nonlocal calls
        calls += 1
        await may_answer.wait()
        return Hint(next(move for move in view.moves if move.startswith("play ")), "only")

    monkeypatch.setattr(RobotPool, "hint", hint)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        [table] = await worker.room.lists.tables_of(anna.person.id)
        version = await wait_for_turn(worker, anna)
        for _ in range(3):
            await anna.send(actions.table(table.code, "draft", version, HINT))
        await worker.updates.wait_until_idle()
        assert shown_hint(anna) == "💡 Looking…"
        rows = len(fake.last(anna.private).rows)
        may_answer.set()
        await worker.wait_until_idle()
        assert shown_hint(anna).startswith("💡 Play ")
        assert len(fake.last(anna.private).rows) == rows, "the buttons of cards must not move"
        assert hint_buttons(anna) == ["💡 Hint"]
        assert calls == 1


async def test_hint_can_be_requested_again_after_a_timeout(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hints: list[Hint] = []

    async def hint(_pool: RobotPool, _view: View, _history: object) -> Hint | None:
        return hints[0] if hints else None

    monkeypatch.setattr(RobotPool, "hint", hint)
    monkeypatch.setattr("bot.hints.BUSY_SECONDS", 0.2)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        await wait_for_turn(worker, anna)
        await anna.press("Hint")
        await worker.wait_until_idle()
        assert shown_hint(anna) == "💡 No hint in time: press again."
        hints.append(Hint("play 3D", "only"))
        await asyncio.sleep(0.3)
        await anna.press("Hint")
        await worker.wait_until_idle()
        assert shown_hint(anna).startswith("💡 Play ")


async def test_requested_hint_stays_while_a_choice_is_made(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hint(_pool: RobotPool, view: View, _history: object) -> Hint:
        return Hint(view.moves[0], "unseen")

    monkeypatch.setattr(RobotPool, "hint", hint)
    async with open_worker(store, FakePlatform()) as worker:
        table = await worker.challenges.open_practice("pizzichino", "paper:1", "Anna", "easy", "practice")
        table = await wait_for_seats_turn(worker, table.code, 0)
        assert await worker.hints.hint_to_show(table, 0) == NO_HINT
        assert await worker.hints.hint_to_show(table, 0, is_asked=True) == ShownHint(is_asked=True)
        await worker.hints.wait_until_idle()
        # The panel no longer requests the hint, because the player has begun another choice.
        hint_shown_later = await worker.hints.hint_to_show(table, 0)
        assert hint_shown_later.found
        assert hint_shown_later.is_asked


async def test_waiting_for_hints_ends_at_two_tables_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    may_answer = asyncio.Event()

    async def hint(_pool: RobotPool, view: View, _history: object) -> Hint | None:
        await may_answer.wait()
        return None

    monkeypatch.setattr(RobotPool, "hint", hint)
    async with open_worker(store, FakePlatform()) as worker:
        shown: list[str] = []
        worker.hints.watchers.append(shown.append)
        tables = []
        for key in ("first", "second"):
            opened = await worker.challenges.open_practice("testa", "paper:1", "Anna", "easy", key)
            tables.append(await wait_for_seats_turn(worker, opened.code, 0))
        for table in tables:
            assert await worker.hints.hint_to_show(table, 0, is_asked=True) == ShownHint(is_asked=True)
        may_answer.set()
        await worker.hints.wait_until_idle()
        assert set(shown) == {table.code for table in tables}
        for table in tables:
            assert (await worker.hints.hint_to_show(table, 0)).is_busy


async def wait_for_seats_turn(worker: Worker, code: str, seat: int) -> Table:
    async with asyncio.timeout(20):
        while not (table := await worker.room.table(code)).game or table.game.turn != seat:
            await asyncio.sleep(0.01)
    return table


async def test_game_between_people_has_no_hints(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        [table] = await worker.room.lists.tables_of(players[0].person.id)
        for seat, player in enumerate(players):
            await player.send(actions.table(table.code, "draft", table.oldest_panel(seat), HINT))
            await worker.wait_until_idle()
            assert not shown_hint(player)
            assert not hint_buttons(player)
