"""Tournament tables in chats: duplicate deals stay secret, and whole games count like other games."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

import pytest
from structlog.testing import capture_logs

from bot import actions
from bot.features.tournaments.feature import TournamentsFeature
from bot.finished.archive import game_id
from bot.finished.game import FinishedGame
from bot.finished.ratings import Scope
from bot.panel import Button, Panel, Writer
from bot.panels.hand_buttons import HINT
from bot.platform import SentMessage
from bot.site.hand_page import hand_page
from bot.store import Store
from bot.store.entries import Fixture, Setup
from bot.tables.chairs import Chair
from bot.tables.errors import NoSuchTable
from bot.tables.fixtures import duplicate_rules
from bot.tables.game_choice import Choice
from bot.tables.table import Table
from bot.words.duplicate_results import deal_result
from bot.words.wording import MINUS, Wording
from bot.worker import Worker
from engine import GAMES, legal_moves_for_record, verify
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.long import mostly_long

SECRET = bytes(range(32))
NAMES = ("Anna", "Bruno", "Carla", "Dino", "Elia", "Fede", "Gaia", "Hugo")


class RecordingPlatform(FakePlatform):
    """A platform that records every panel and has web pages.

    An edit that changes nothing is not recorded, as on real platforms.
    """

    pages_url = "https://pages.example"

    def __init__(self) -> None:
        super().__init__()
        self.shown: defaultdict[str, list[Panel]] = defaultdict(list)

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        self.shown[place].append(panel)
        return await super().send(place, panel, key, silent=silent)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        if self.messages[place].get(sent.message) == panel:
            return sent
        self.shown[place].append(panel)
        return await super().edit(place, sent, panel)

    @property
    def all_text(self) -> str:
        return "\n".join(repr(panel) for panels in self.shown.values() for panel in panels)


async def open_fixture(worker: Worker, game: str, deal: int, players: list[Player], update: str) -> Table:
    """Open a fixture for players who have private chats."""
    for player in players:
        await player.say("/help", player.private)
    choice = replace(Choice.default(game), clock=86400, strict=True)
    setup: list[Setup] = [Fixture("K7QF2M", 2, 0, deal, GROUP), *(duplicate_rules(choice) if deal else choice).setup]
    chairs = [Chair(player.person.id, player.person.name) for player in players]
    table = await worker.challenges.open_fixture(game, chairs, update, setup=setup, secret=SECRET)
    await worker.wait_until_idle()
    return table


async def play_random_move(worker: Worker, code: str, random: Random) -> Table:
    table = await worker.room.table(code)
    assert table.game
    seat = table.game.turn
    assert seat is not None
    legal = [move for move in legal_moves_for_record(table.game, seat) if move not in ("resign", "claim")]
    chair = table.chairs[seat]
    assert chair
    return await worker.room.make_move(code, chair.person, table.version, random.choice(legal), f"m{table.version}")


def make_players(worker: Worker, fake: FakePlatform, count: int) -> list[Player]:
    return [Player(worker, fake, name, number) for number, name in enumerate(NAMES[:count], 1)]


def find_visible_cards(table: Table, player: Player) -> set[str]:
    """Return every card that the player's view names."""
    assert table.game
    view = table.game.view(table.seat_of(player.person.id))
    return set(re.findall(r"'([0-9A-Z]{1,2}[A-Z])'", repr(view)))


@pytest.mark.parametrize("game", mostly_long(GAMES, "pizzichino"))
async def test_deal_stays_secret_until_all_tables_have_played(
    store: Store, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, seats, random = RecordingPlatform(), GAMES[game].seats, Random(game)
    finished: list[FinishedGame] = []

    async def record_game(_table: Table, game: FinishedGame) -> None:
        finished.append(game)

    async with open_worker(store, fake) as worker:
        monkeypatch.setattr(worker.feature(TournamentsFeature).director, "record_game", record_game)
        players = make_players(worker, fake, 2 * seats)
        first, second = players[:seats], players[seats:]
        with capture_logs() as logs:
            table = await open_fixture(worker, game, 1, first, "one")
            other_table = await open_fixture(worker, game, 1, second, "other")
            before = {player.private: len(fake.shown[player.private]) for player in second}
            pages, api = [], []
            playing = first[0].dispatcher.program_tables
            fair = Button("Sealed deck", actions.page("fair", game_id(table), 1))
            fake.messages[GROUP]["0"] = Writer().panel((fair,))
            assert "no longer in the archive" in (await first[0].send(fair.payload, GROUP)).toast
            while table.phase == "playing":
                assert await worker.watching.watch_id(table) == ""
                api += [(await playing.table(table.code, player.person.id)).model_dump_json() for player in first]
                pages += [
                    repr(hand_page(table, player.person.id, await worker.people.person(player.person.id)))
                    for player in first
                ]
                table = await play_random_move(worker, table.code, random)
            pages += [
                repr(hand_page(table, player.person.id, await worker.people.person(player.person.id)))
                for player in first
            ]
            await worker.wait_until_idle()
            assert "no longer in the archive" in (await first[0].send(fair.payload, GROUP)).toast

        with pytest.raises(NoSuchTable):
            await worker.room.table(table.code)
        output = "\n".join((fake.all_text, *pages, *api, json.dumps(logs, default=repr)))
        assert SECRET.hex() not in output
        assert "Replay" not in fake.all_text
        assert "analysis" not in fake.all_text
        assert await worker.archive.count() == 0
        assert await worker.archive.last_game(first[0].person.id) is None
        assert not fake.shown[GROUP]
        # Players with the same cards at another table have read nothing new.
        for player in second:
            assert len(fake.shown[player.private]) == before[player.private]
            assert table.code not in repr(fake.shown[player.private])

        [finished_game] = finished
        verify(finished_game.record)
        assert (finished_game.fixture, finished_game.is_rated) == ("K7QF2M 2.0.1", False)
        assert len(finished_game.record.deals) == 1
        result = deal_result(finished_game.record)
        assert result.ending == "played"
        for player in first:
            panel = fake.last(player.private)
            assert "🏆 Tournament K7QF2M · round 2 · match 1 · deal 1" in panel.plain
            [points] = [line for line in panel.plain.splitlines() if line.startswith("Score: ")]
            assert tuple(map(int, re.findall(r"-?\d+(?=,|$)", points.replace(MINUS, "-")))) == result.points
            assert "when the round is over" in panel.plain
            assert not panel.rows
        assert (await worker.room.table(other_table.code)).version == other_table.version


async def test_called_off_deal_does_not_mention_the_round(store: Store) -> None:
    fake = RecordingPlatform()
    async with open_worker(store, fake) as worker:
        players = make_players(worker, fake, 4)
        table = await open_fixture(worker, "testa", 1, players[:2], "one")
        await open_fixture(worker, "testa", 1, players[2:], "other")
        # The director does this for each table of a duplicate that is called off.
        await worker.feature(TournamentsFeature).director.match_tables.close(table.code)
        await worker.wait_until_idle()
        for player in players[:2]:
            text = fake.last(player.private).plain
            assert "everyone can see them once all tables have finished" in text
            assert "round" not in text.splitlines()[-1]


async def test_resigning_a_deal_reveals_no_hidden_cards(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = RecordingPlatform()

    async def record_game(_table: Table, _game: FinishedGame) -> None:
        """Ignore the game."""

    async with open_worker(store, fake) as worker:
        monkeypatch.setattr(worker.feature(TournamentsFeature).director, "record_game", record_game)
        players = [Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2, "it")]
        table = await open_fixture(worker, "metamazzo", 2, players, "one")
        visible = {player.private: find_visible_cards(table, player) for player in players}
        for _ in range(7):
            table = await play_random_move(worker, table.code, Random(3))
            for player in players:
                visible[player.private] |= find_visible_cards(table, player)
        await players[0].say("/resign", players[0].private)
        assert "The other side wins the deal." in fake.last(players[0].private).plain
        await players[0].press("Yes, I resign")
        for player in players:
            hidden = set(GAMES["metamazzo"].pack.codes) - visible[player.private]
            assert len(hidden) > 10
            texts = "\n".join(panel.plain for panel in fake.shown[player.private])
            payloads = " ".join(
                button.payload for panel in fake.shown[player.private] for row in panel.rows for button in row
            )
            wording = Wording(player.person.language, NAMES[:2], "italian")
            assert not [code for code in hidden if wording.card(code) in texts or f" {code}" in payloads]
        english, italian = (fake.last(player.private).plain for player in players)
        assert "Anna\u2069 resigned" in english
        assert "🏆 Tournament K7QF2M · round 2 · match 1 · return deal 2" in english
        assert "🏆 Torneo K7QF2M · turno 2 · incontro 1 · smazzata di ritorno 2" in italian
        assert "quando il turno è finito" in italian
        assert SECRET.hex() not in fake.all_text
        assert await worker.archive.count() == 0


async def test_whole_game_counts_for_the_tournament_chat(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = RecordingPlatform()
    reports: list[tuple[str, bool]] = []

    async def record_game(table: Table, game: FinishedGame) -> None:
        # The table and its archived game still exist now.
        stored_game = await worker.archive.get(game.id)
        reports.append(
            ((await worker.room.table(table.code)).phase, bool(stored_game and stored_game.record == game.record))
        )

    async with open_worker(store, fake) as worker:
        monkeypatch.setattr(worker.feature(TournamentsFeature).director, "record_game", record_game)
        players = make_players(worker, fake, 2)
        table = await open_fixture(worker, "testa", 0, players, "one")
        assert [len(fake.messages[player.private]) for player in players] == [2, 2], (
            "players must get only the help and their hands"
        )
        watch_id = await worker.watching.watch_id(table)
        assert await worker.watching.get_table(watch_id)
        await players[0].say("/settings")
        await players[0].press("Anyone with the link can watch", GROUP)
        assert await worker.watching.get_table(watch_id) is None
        for _ in range(200):
            table = await play_random_move(worker, table.code, Random(table.version))
            if table.phase != "playing" or (table.game and table.game.deal_number > 1):
                break
        assert table.phase == "playing"
        await worker.wait_until_idle()
        [hand] = [text for text in fake.texts(players[0].private) if text.startswith("Deal 1: ")]
        assert "\nScore (to 21): you " in hand
        fair = Button("Sealed deck", actions.page("fair", game_id(table), 1))
        fake.messages[GROUP]["0"] = Writer().panel((fair,))
        proof = (await players[0].send(fair.payload, GROUP)).panel
        assert proof
        assert SECRET.hex() in proof.plain, "the first deal of a whole game is over, and its shuffle is proved"
        await worker.room.resign_for(table.code, 1, "leave")
        await worker.wait_until_idle()
        assert reports == [("over", True)]
        [game] = [game async for game in worker.archive.games()]
        assert (game.chats, game.is_rated, game.fixture) == ([GROUP], True, "K7QF2M 2.0.0")
        for scope in (Scope(), Scope(chat=GROUP)):
            assert (await worker.ratings.standing(scope, players[0].person.id)).games == 1
        for player in players:
            labels = [button.label for row in fake.last(player.private).rows for button in row]
            assert "Rematch" not in labels
            assert "Analysis" in labels
            assert "Tournament K7QF2M · round 2 · match 1" in fake.last(player.private).plain


async def test_failed_game_report_is_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []

    async def record_game(_table: Table, game: FinishedGame) -> None:
        reported.append(game.id)
        if len(reported) == 1:
            raise OSError("first report")

    async with open_worker(store, RecordingPlatform()) as worker:
        monkeypatch.setattr(worker.feature(TournamentsFeature).director, "record_game", record_game)
        players = make_players(worker, worker.adapters["paper"], 2)  # type: ignore[arg-type]
        table = await open_fixture(worker, "testa", 1, players, "one")
        await worker.room.end_overdue(table.code, "round over")
        while len(reported) < 2:
            await worker.wait_until_idle()
            worker.delivery.touch(table.code)
        await worker.wait_until_idle()
        assert len(set(reported)) == 1
        with pytest.raises(NoSuchTable):
            await worker.room.table(table.code)


@pytest.mark.parametrize("deal", [0, 1])
async def test_fixture_offers_no_group_board_robot_or_hint(store: Store, deal: int) -> None:
    fake = RecordingPlatform()
    async with open_worker(store, fake) as worker:
        players = make_players(worker, fake, 2)
        table = await open_fixture(worker, "metamazzo", deal, players, "one")
        reply = await players[0].say(f"/join {table.code}")
        assert "can’t decide that" in reply.toast
        assert not fake.shown[GROUP]
        for player in players:
            for verb in ("automatic", "wait", "claim"):
                assert (await player.send(actions.table(table.code, verb))).toast
            await player.send(actions.table(table.code, "draft", table.oldest_panel(players.index(player)), HINT))
        await worker.wait_until_idle()
        assert (await worker.room.table(table.code)).version == table.version
        labels = [
            button.label for panels in fake.shown.values() for panel in panels for row in panel.rows for button in row
        ]
        assert not [label for label in labels if "Hint" in label or "robot" in label or label == "Wait"]
        assert not [panel for panels in fake.shown.values() for panel in panels if "💡" in panel.plain]


async def test_strict_clock_forfeits_after_three_late_moves(store: Store) -> None:
    async with open_worker(store, RecordingPlatform()) as worker:
        players = make_players(worker, worker.adapters["paper"], 2)  # type: ignore[arg-type]
        table = await open_fixture(worker, "metamazzo", 1, players, "one")
        lates: Counter[int] = Counter()
        while table.phase == "playing":
            assert table.game
            mover = table.game.turn
            assert mover is not None
            table = await worker.room.handle_alarm(table.code, table.version)
            assert table.alarm == "nudged"
            await worker.alarms._act(table)
            table = worker.room.cached_table(table.code) or table
            lates[mover] += 1
        assert table.game
        assert table.game.ending == "timeout"
        assert max(lates.values()) == 3


async def test_claim_is_not_offered_in_a_duplicate_deal(store: Store) -> None:
    fake = RecordingPlatform()
    async with open_worker(store, fake) as worker:
        players = make_players(worker, fake, 4)
        for deal, is_offered in ((1, False), (0, True)):
            table = await open_fixture(worker, "tressette", deal, players, f"deal {deal}")
            for seat, player in enumerate(players):
                view = table.view(seat)
                assert view
                assert ("claim" in view.moves) == is_offered
                # A claim before the first trick would be wrong, so no panel has the button yet.
                assert not [
                    button for row in fake.last(player.private).rows for button in row if "Claim" in button.label
                ]
