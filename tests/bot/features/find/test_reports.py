"""Reports about strangers to the host."""

import asyncio
import json
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.features.find import keys
from bot.features.find.feature import FindFeature
from bot.features.find.reports import REPORTS_A_DAY, Report, Reports
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import NAME, forgetting_marks, is_pseudonym
from bot.platform import PlatformFailure, Unreachable
from bot.settings import Settings
from bot.store import EmbeddedStore, Store, open_store
from bot.worker import Worker
from engine import read
from tests.bot.command import run_command
from tests.bot.fake_platform import FakePlatform, Player, open_worker
from tests.bot.features.find.conftest import find_each_other
from tests.bot.features.find.test_strangers import resign

HOST = "paper:77"


@pytest.fixture(autouse=True)
def no_automatic_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop automatic matching and reporting."""
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)


def add_host(player: Player) -> Player:
    """Send reports to a host from now on. Return the host as a player."""
    worker = player.worker
    worker.feature(FindFeature)._strangers._host = HOST
    return Player(worker, player.fake, "Olga", 77)


async def list_reports(worker: Worker) -> list[Report]:
    return [report async for _id, report in worker.feature(FindFeature).report_sender.reports.all_reports()]


async def test_host_gets_report_and_replay_after_the_game(playing: list[Player]) -> None:
    anna, bruno = playing
    olga = add_host(anna)
    await olga.say("/help", olga.private)
    nickname = (await anna.worker.people.person(bruno.person.id)).nickname
    await anna.press("🚩 Report")
    assert "the bot’s host" in anna.fake.last(anna.private).plain
    assert await list_reports(anna.worker) == []
    assert "The bot’s host can read your report" in (await anna.press("Yes, report")).toast
    await anna.worker.feature(FindFeature).report_sender.send_unsent(HOST)
    await anna.worker.feature(FindFeature).report_sender.send_unsent(HOST)
    received = [text for text in anna.fake.texts(olga.private) if text.startswith("A report")]
    assert len(received) == 1
    for part in (anna.person.id, bruno.person.id, nickname):
        assert part in received[0]
    assert "no longer in the archive" in (await olga.press("Replay")).toast
    await resign(bruno)
    await olga.press("Replay")
    assert "Pizzichino" in anna.fake.last(olga.private).plain
    # The reported player learns nothing.
    assert not [text for text in bruno.fake.texts(bruno.private) if "eport" in text]


async def test_reports_are_limited_per_game_and_day(playing: list[Player]) -> None:
    anna, bruno = playing
    await anna.press("🚩 Report")
    await anna.press("Yes, report")
    await resign(bruno)
    await anna.press("🚩 Report")
    assert "already reported this game" in (await anna.press("Yes, report")).toast
    # The other player can report the game too.
    await bruno.press("🚩 Report")
    await bruno.press("Yes, report")
    assert "You’ve reported" in bruno.fake.last(bruno.private).plain
    [first, second] = await list_reports(anna.worker)
    assert {first.by, second.by} == {anna.person.id, bruno.person.id}
    reports = anna.worker.feature(FindFeature).report_sender.reports
    for number in range(1, REPORTS_A_DAY + 1):
        result = await reports.file(Report(f"GAME-{number}", "testa", "GAME", 0, bruno.person.id, "B", HOST, "O"), 0)
        assert result == ("filed" if number < REPORTS_A_DAY else "many")
    assert 0 < await anna.worker.store.client.ttl(keys.report_count(bruno.person.id)) <= 86400


async def test_concurrent_reports_are_filed_once(store: Store, shared_valkey: EmbeddedStore) -> None:
    async with open_store(shared_valkey.url) as second_store:
        report = Report("GAME-1", "testa", "GAME", 0, "paper:1", "Anna", "paper:2", "Bruno")
        workers = [Reports(store.client), Reports(second_store.client)]
        results = await asyncio.gather(*(workers[copy % 2].file(report, 0) for copy in range(6)))
        assert sorted(results) == ["again"] * 5 + ["filed"]
        assert await workers[0].unsent() == ["GAME-1.0"]


async def test_unsent_report_is_retried(playing: list[Player]) -> None:
    anna, _bruno = playing
    await anna.press("🚩 Report")
    await anna.press("Yes, report")
    olga = add_host(anna)
    anna.fake.errors[olga.private] += [PlatformFailure("it is away"), Unreachable(olga.private)]
    with capture_logs() as logs:
        for _ in range(2):
            await anna.worker.feature(FindFeature).report_sender.send_unsent(HOST)
    # The reason is logged once.
    assert [(line["event"], line["why"]) for line in logs] == [("report_not_sent", "PlatformFailure")]
    assert anna.fake.texts(olga.private) == []
    await anna.worker.feature(FindFeature).report_sender.send_unsent(HOST)
    assert len(anna.fake.texts(olga.private)) == 1
    assert await anna.worker.feature(FindFeature).report_sender.reports.unsent() == []


async def test_only_the_host_can_open_a_report(playing: list[Player]) -> None:
    anna, _bruno = playing
    await anna.press("🚩 Report")
    await anna.press("Yes, report")
    olga = add_host(anna)
    await anna.worker.feature(FindFeature).report_sender.send_unsent(HOST)
    message, button = olga.button("Replay")
    anna.fake.messages[anna.private]["9999"] = anna.fake.messages[olga.private][message]
    assert "has expired" in (await anna.send(button.payload, anna.private, "9999")).toast


async def test_reports_do_not_name_forgotten_players(playing: list[Player]) -> None:
    anna, bruno = playing
    for player in playing:
        await player.press("🚩 Report")
        await player.press("Yes, report")
    worker = anna.worker
    mydata = worker.feature(PrivacyFeature).own_data
    [report] = json.loads((await mydata.file(anna.person.id, [], 0)).content)["reports"]
    assert report["about"] == (await worker.people.person(bruno.person.id)).nickname
    await worker.feature(PrivacyFeature).forgetter.begin(bruno.person.id)
    while not (await forgetting_marks(worker.store.client))[bruno.person.id].is_erased:
        await asyncio.sleep(0.01)
    [stored_report] = await list_reports(worker)
    assert (stored_report.by, stored_report.about_name) == (anna.person.id, NAME)
    assert is_pseudonym(stored_report.about)
    assert not await worker.store.client.exists(keys.report_count(bruno.person.id))


async def test_reports_command_lists_shows_and_drops(tmp_path: Path) -> None:
    async def run_reports(*arguments: str, code: int = 0) -> tuple[str, str]:
        result = await asyncio.to_thread(run_command, tmp_path, "reports", *arguments, BUONGIOCO_PLAYGROUND_PORT="0")
        assert result.returncode == code, result.stderr
        return result.stdout, result.stderr

    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            players = [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]
            await find_each_other(players)
            for player in players:
                await player.press("Ready")
            await players[0].press("🚩 Report")
            await players[0].press("Yes, report")
            [id_] = await worker.feature(FindFeature).report_sender.reports.unsent()
            listed, count = await run_reports()
            assert id_ in listed
            assert "(paper:2) by " in listed
            assert "1 report" in count
            assert "still plays it" in (await run_reports("show", id_))[1]
            await resign(players[1])
            assert read((await run_reports("show", id_))[0]).ending == "resign"
            assert f"Report {id_} is dropped" in (await run_reports("drop", id_))[0]
            for action in ("show", "drop"):
                assert "There is no report" in (await run_reports(action, id_, code=2))[1]
    await valkey.stop()


def test_reports_to_must_be_a_person() -> None:
    assert Settings(_env_file=None).reports_to is None
    for text in ("42", "telegram:@anna", "telegram: 42"):
        with pytest.raises(ValueError, match="must be a person"):
            Settings(_env_file=None, reports_to=text)
    assert Settings(_env_file=None, reports_to=" telegram:42 ").reports_to == "telegram:42"
