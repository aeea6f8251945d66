"""Shares of good decisions, added to results."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bot.features.analysis.feature import AnalysisFeature
from bot.panel_picture import Subject
from bot.pictures import pool
from bot.store import Store, keys
from bot.tables.snapshot import isolate_name
from bot.worker import Worker
from engine import Record
from engine.robots.verdicts import Verdict
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, play_cards, resign, seat_players
from tests.bot.pictures.test_pool import paint_slowly

VERDICTS = [
    Verdict(1, 3, 0, "play 4D", "play 4D", 0.0, exact=False),
    Verdict(1, 4, 1, "play 4D", "play 3D", 1.5, exact=True),
]


@pytest.fixture(autouse=True)
def enable_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_ANALYSE_RESULTS", "true")
    monkeypatch.setattr("bot.core.find_spec", lambda _name: True)
    monkeypatch.setattr("bot.finished.analysis_pool.IDLE_SECONDS", 0.01)


def paint_at_once(scene: Subject) -> bytes:
    return b"at once"


class FakeAnalyser:
    """A fake analysis process that answers when the test allows it."""

    def __init__(self, worker: Worker) -> None:
        self.calls = 0
        self.may_answer = asyncio.Event()
        worker.robot_pool.verdicts = self.verdicts  # type: ignore[method-assign]

    async def verdicts(self, record: Record, deal: int) -> list[Verdict]:
        self.calls += 1
        await self.may_answer.wait()
        return VERDICTS


async def play_and_resign(worker: Worker, fake: FakePlatform) -> list[Player]:
    players = await seat_players(worker, fake, "testa", "to 11")
    await play_cards(worker, players, 12)
    await resign(worker, fake, players, 0)
    return players


async def wait_for_completion(worker: Worker) -> None:
    await worker.feature(AnalysisFeature).completion.wait()
    await worker.delivery.answers.tasks.wait()


async def test_result_gets_shares_of_good_decisions_later(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        await play_and_resign(worker, fake)
        before, messages = fake.last(GROUP), list(fake.messages[GROUP])
        assert "Good decisions" not in before.plain, "the result does not wait for the analysis"
        assert not await worker.room.lists.tables_of("paper:1")
        analyser.may_answer.set()
        await wait_for_completion(worker)
        after = fake.last(GROUP)
        shares = f"Good decisions: {isolate_name('Anna')} 100 % (1/1) · {isolate_name('Bruno')} 0 % (0/1)"
        result_lines = before.plain.split("\n")
        assert after.plain.split("\n") == [*result_lines[:-1], shares, result_lines[-1]]
        assert (after.rows, list(fake.messages[GROUP])) == (before.rows, messages)
        [game] = [game async for game in worker.archive.games()]
        assert await store.client.get(keys.analysis(game.id)), "the analysis is stored for /analyse"


async def test_player_without_decisions_is_left_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.VERDICTS", VERDICTS[:1])
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        await play_and_resign(worker, fake)
        analyser.may_answer.set()
        await wait_for_completion(worker)
        assert f"\nGood decisions: {isolate_name('Anna')} 100 % (1/1)\n" in fake.last(GROUP).plain


async def test_result_waits_for_its_new_picture(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    fake.shows_pictures = True
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_at_once)
        await play_and_resign(worker, fake)
        before = fake.last(GROUP).picture
        assert before
        assert before.png == b"at once"
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_slowly)
        analyser.may_answer.set()
        await wait_for_completion(worker)
        after = fake.last(GROUP)
        assert "Good decisions" in after.plain
        assert after.picture
        assert after.picture.png == b"painted"


async def test_results_wait_for_robots_and_requests(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        checks = asyncio.Semaphore(0)

        def is_busy(_pool: object) -> bool:
            checks.release()
            return True

        monkeypatch.setattr(type(worker.robot_pool), "is_busy", property(is_busy))
        players = await play_and_resign(worker, fake)
        async with asyncio.timeout(60):
            for _ in range(3):
                await checks.acquire()
        assert analyser.calls == 0
        # A player's request for this game does not wait for the robots.
        analyser.may_answer.set()
        await players[0].press("Analysis", GROUP)
        assert "Analysis of" in fake.last(players[0].private).plain
        await wait_for_completion(worker)
        assert analyser.calls == 1
        assert "Good decisions" in fake.last(GROUP).plain


async def test_setting_turns_completion_off(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_ANALYSE_RESULTS", "false")
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        await play_and_resign(worker, fake)
        await wait_for_completion(worker)
        assert analyser.calls == 0


async def test_results_beyond_the_limit_are_not_completed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.analysis.completion.MAX_PENDING", 1)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        await play_and_resign(worker, fake)
        first = list(fake.messages[GROUP])[-1]
        await play_and_resign(worker, fake)
        analyser.may_answer.set()
        await wait_for_completion(worker)
        assert analyser.calls == 1
        assert "Good decisions" in fake.messages[GROUP][first].plain
        assert "Good decisions" not in fake.last(GROUP).plain


async def test_failed_analysis_keeps_the_result(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:

        async def failing_verdicts(record: Record, deal: int) -> list[Verdict]:
            raise RuntimeError("the process is gone")

        worker.robot_pool.verdicts = failing_verdicts  # type: ignore[method-assign]
        await play_and_resign(worker, fake)
        before = fake.last(GROUP)
        await wait_for_completion(worker)
        assert fake.last(GROUP) == before


@pytest.mark.parametrize("missing_key", ["game", "verdicts"])
async def test_missing_game_or_analysis_logs_no_error(
    store: Store, monkeypatch: pytest.MonkeyPatch, missing_key: str
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        analyser.may_answer.set()

        async def return_none(_game: object) -> None:
            return None

        if missing_key == "game":
            monkeypatch.setattr(worker.archive, "get", return_none)
        else:
            monkeypatch.setattr(worker.analysis_pool, "analyse_when_idle", return_none)
        with capture_logs() as logs:
            await play_and_resign(worker, fake)
            before = fake.last(GROUP)
            await wait_for_completion(worker)
        assert fake.last(GROUP) == before
        assert not [line for line in logs if line["log_level"] == "error"]


async def test_result_in_a_private_chat_is_not_edited(store: Store) -> None:
    """The result's buttons replace the message with other pages, which must not be overwritten."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        analyser = FakeAnalyser(worker)
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/challenge testa", anna.private)
        await anna.press("🤖 Easy", anna.private)
        await worker.wait_until_idle()
        await resign(worker, fake, [anna], 0)
        await wait_for_completion(worker)
        assert analyser.calls == 0
