"""Results that come to say how well everybody played."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bot.features.analysis.feature import AnalysisFeature
from bot.picture import Subject
from bot.pictures import pool
from bot.store import Store, keys
from bot.tables.snapshot import isolated
from bot.worker import Worker
from engine import Record
from engine.robots.findings import Verdict
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, resign, seated, some_cards
from tests.bot.pictures.test_pool import unhurried

FOUND = [
    Verdict(1, 3, 0, "play 4D", "play 4D", 0.0, exact=False),
    Verdict(1, 4, 1, "play 4D", "play 3D", 1.5, exact=True),
]


@pytest.fixture(autouse=True)
def _analyses_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_ANALYSE_RESULTS", "true")
    monkeypatch.setattr("bot.core.find_spec", lambda _name: True)
    monkeypatch.setattr("bot.finished.analysis_pool.IDLE_SECONDS", 0.01)


def at_once(scene: Subject) -> bytes:
    return b"at once"


class Thinker:
    """In place of the process that looks back at games: it answers when it is let."""

    def __init__(self, worker: Worker) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()
        worker.robot_pool.verdicts = self.verdicts  # type: ignore[method-assign]

    async def verdicts(self, record: Record, deal: int) -> list[Verdict]:
        self.asked += 1
        await self.may_answer.wait()
        return FOUND


async def a_game(worker: Worker, fake: FakePlatform) -> list[Player]:
    players = await seated(worker, fake, "testa", "to 11")
    await some_cards(worker, players, 12)
    await resign(worker, fake, players, 0)
    return players


async def completed(worker: Worker) -> None:
    await worker.feature(AnalysisFeature).completion.wait()
    await worker.delivery.answers.tasks.wait()


async def test_a_result_says_how_well_everybody_played_as_soon_as_that_is_known(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        await a_game(worker, fake)
        before, messages = fake.last(GROUP), list(fake.messages[GROUP])
        assert "Good decisions" not in before.plain, "nothing waits for it"
        assert not await worker.room.lists.tables_of("paper:1")
        thinker.may_answer.set()
        await completed(worker)
        after = fake.last(GROUP)
        assert (
            after.plain
            == f"{before.plain}\nGood decisions: {isolated('Anna')} 100 % (1/1) · {isolated('Bruno')} 0 % (0/1)"
        )
        assert (after.rows, list(fake.messages[GROUP])) == (before.rows, messages)
        [game] = [game async for game in worker.archive.all()]
        assert await store.client.get(keys.analysis(game.id)), "whoever asks has it at once"


async def test_who_decided_nothing_is_left_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.FOUND", FOUND[:1])
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        await a_game(worker, fake)
        thinker.may_answer.set()
        await completed(worker)
        assert fake.last(GROUP).plain.endswith(f"\nGood decisions: {isolated('Anna')} 100 % (1/1)")


async def test_a_result_keeps_its_picture_though_the_next_one_is_late(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakePlatform()
    fake.shows_pictures = True
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        monkeypatch.setattr(worker.picture_pool, "_paint", at_once)
        await a_game(worker, fake)
        before = fake.last(GROUP).picture
        assert before
        assert before.png == b"at once"
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        monkeypatch.setattr(worker.picture_pool, "_paint", unhurried)
        thinker.may_answer.set()
        await completed(worker)
        after = fake.last(GROUP)
        assert "Good decisions" in after.plain
        assert after.picture
        assert after.picture.png == b"painted"


async def test_robots_that_think_and_people_who_ask_go_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        looked = asyncio.Semaphore(0)

        def is_busy(_pool: object) -> bool:
            looked.release()
            return True

        monkeypatch.setattr(type(worker.robot_pool), "is_busy", property(is_busy))
        players = await a_game(worker, fake)
        async with asyncio.timeout(60):
            for _ in range(3):
                await looked.acquire()
        assert thinker.asked == 0
        # Who asks for this very game need not wait for the robots.
        thinker.may_answer.set()
        await players[0].press("Analysis", GROUP)
        assert "Analysis of" in fake.last(players[0].private).plain
        await completed(worker)
        assert thinker.asked == 1
        assert "Good decisions" in fake.last(GROUP).plain


async def test_a_host_can_turn_it_off(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_ANALYSE_RESULTS", "false")
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        await a_game(worker, fake)
        await completed(worker)
        assert thinker.asked == 0


async def test_more_games_than_can_wait_are_left_as_they_are(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.analysis.completion.MOST_PENDING", 1)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        await a_game(worker, fake)
        first = list(fake.messages[GROUP])[-1]
        await a_game(worker, fake)
        thinker.may_answer.set()
        await completed(worker)
        assert thinker.asked == 1
        assert "Good decisions" in fake.messages[GROUP][first].plain
        assert "Good decisions" not in fake.last(GROUP).plain


async def test_a_failure_leaves_the_result_as_it_is(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:

        async def failing(record: Record, deal: int) -> list[Verdict]:
            raise RuntimeError("the process is gone")

        worker.robot_pool.verdicts = failing  # type: ignore[method-assign]
        await a_game(worker, fake)
        before = fake.last(GROUP)
        await completed(worker)
        assert fake.last(GROUP) == before


@pytest.mark.parametrize("missing", ["game", "verdicts"])
async def test_a_game_of_which_nothing_can_be_told_is_no_failure(
    store: Store, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        thinker.may_answer.set()

        async def nothing(_asked: object) -> None:
            return None

        if missing == "game":
            monkeypatch.setattr(worker.archive, "get", nothing)
        else:
            monkeypatch.setattr(worker.analysis_pool, "analyse_when_idle", nothing)
        with capture_logs() as logs:
            await a_game(worker, fake)
            before = fake.last(GROUP)
            await completed(worker)
        assert fake.last(GROUP) == before
        assert not [line for line in logs if line["log_level"] == "error"]


async def test_a_result_in_a_private_chat_is_left_alone(store: Store) -> None:
    """Its buttons put other pages in its place, which must not be overwritten."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        thinker = Thinker(worker)
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/challenge testa", anna.private)
        await anna.press("🤖 Easy robot", anna.private)
        await worker.settled()
        await resign(worker, fake, [anna], 0)
        await completed(worker)
        assert thinker.asked == 0
