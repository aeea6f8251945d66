"""A game defined only here works in chat, pictures and pages, because all facts of a game are in its kind."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal

import pytest

import adapters
import bot
from adapters.discord.components import message_body
from adapters.telegram.keyboard import markup_of
from bot.panels.board import board_panel
from bot.panels.hand import hand_panel
from bot.panels.help import rules_page
from bot.people import Profile
from bot.pictures.painter import paint
from bot.pictures.rules import rules_sheet
from bot.pictures.scene_builder import board_scene, hand_scene
from bot.pictures.sheet import Ranking
from bot.site.api_models import public_table, replayed_deal, replayed_game
from bot.site.hand_page import hand_page
from bot.store import Store
from bot.store.entries import FirstDeal, Move, Open, Sit
from bot.tables.snapshot import take_snapshot
from bot.tables.table import Table
from bot.words.rules import rules_text
from bot.words.transcript import story
from engine import GAMES, GameKind, verify
from engine.cards import Pack, SuitTexts
from engine.deal import Carry, Deal, Score, deal_hands, pair, unknown_move
from engine.options import RELEASE, Rules, resolve
from engine.views import DealView
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker, play_until, seat_players
from tests.bot.handlers.test_live_hands import play_deals
from tests.long import mostly_long

PACK = Pack("CDHS", ("clubs", "diamonds", "hearts", "spades"), strength="TJQKA", printed="TJQKA")
PROFILES = (Profile("p:0"), Profile("p:0", language="it", suits="french", deck="easy"))


class TwentyRules(Rules):
    target: Literal[6] = 6


class TwentyDeal(Deal):
    """Ten cards each from a pack of twenty; hearts are trumps, and a trick is a point."""

    PACK = PACK
    VIEW = DealView
    LENGTH = 10
    TRUMPS = PACK.suit_masks[2]
    WORTH = (0,) * PACK.size
    PLAY_TEXTS = SuitTexts(PACK, "play {}")
    CARD_OF_PLAY: ClassVar = {f"play {code}": card for code, card in PACK.index.items()}

    def __init__(self, rules: Rules, dealer: int, pack: Sequence[int], carry: Carry) -> None:
        super().__init__(seats=2, dealer=dealer)
        deal_hands(pack, self.cards, 1 - dealer)

    def legal_moves(self, seat: int) -> list[str]:
        return self.play_moves(seat) if seat == self.turn else []

    def play_other(self, seat: int, move: str) -> None:
        raise unknown_move(move)

    def score(self) -> Score:
        points = pair(self.tricks)
        return Score(points, {"thirds": (0, 0), "declared": (0, 0), "points": points})

    def public_fields(self) -> dict[str, Any]:
        return self.common_fields((0, 0))


@pytest.fixture(autouse=True)
def twenty(monkeypatch: pytest.MonkeyPatch) -> GameKind:
    kind = GameKind(
        "twenty", "Twenty", 2, PACK, TwentyRules, TwentyDeal, cards_per_deal=20, trump="H", duplicate_unit=2
    )
    monkeypatch.setitem(GAMES, kind.id, kind)
    return kind


def game_tables() -> Iterator[Table]:
    """Yield the table before each move of a game, and at its end."""
    people = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(2)]
    deal = FirstDeal(bytes([7] * 32), RELEASE, resolve(TwentyRules, {}).model_dump())
    table = Table("ABCD").with_entries([Open("twenty", "p:0", "Person 0"), *people, deal], "begin")
    random = Random(1)
    while table.game and table.game.turn is not None:
        yield table
        seat = table.game.turn
        moves = [move for move in table.game.legal_moves(seat) if move != "resign"]
        table = table.with_entries([Move(seat, random.choice(moves))], f"u{table.version}")
    yield table


async def test_new_game_is_played_in_chat(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "twenty")
        assert "The cards are dealt: open our private chat to see yours." in fake.texts(GROUP)[0]
        await play_until(
            worker,
            players.copy(),
            Random(1),
            lambda: "Rematch" in str([panel.rows for panel in fake.messages[GROUP].values()]),
        )
        [finished] = [game async for game in worker.archive.games()]
        verify(finished.record)
        assert " beat" in fake.texts(GROUP)[-1]
        assert "Rating: " in fake.texts(GROUP)[-1]
        overview = replayed_game(finished, "en", "italian")
        assert overview.is_french
        assert overview.cards["TH"] == "10\N{WORD JOINER}♥️"
        step = replayed_deal(finished, 1, "en", "italian").steps[0]
        assert step.text.endswith("deals")
        assert step.view == DealView(**vars(step.view))
        assert any("10" in line for line, _ends in story(finished.record, 1, "en", "french_pack"))


async def test_new_game_is_played_on_a_page(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        await play_deals(worker, fake, "twenty", deals=2)


@pytest.mark.long
@pytest.mark.parametrize("profile", mostly_long(PROFILES, PROFILES[0]), ids=["english", "italian"])
def test_new_game_is_drawn_everywhere(profile: Profile) -> None:
    suits_of_winners = set()
    words = (profile.language, profile.suits)
    for number, table in enumerate(game_tables()):
        for seat in (0, 1):
            view = take_snapshot(table, seat)
            panel = hand_panel(view, *words)
            assert markup_of(panel, "bot") is not None or not view.is_my_turn
            assert message_body(panel, "discord:@1")
            page = hand_page(table, f"p:{seat}", profile)
            assert page.deck == f"french-{profile.deck}"
            assert {card.code for card in page.hand} <= PACK.index.keys()
            scene = hand_scene(view, *words, profile.deck)
            assert scene
            if number % 5 == 0:
                assert paint(scene).startswith(b"\x89PNG")
        view = take_snapshot(table, None)
        assert board_panel(view, *words).plain
        scene = board_scene(view, *words, profile.deck)
        assert scene
        trick = scene.last_trick
        suits_of_winners |= {(trick[0].card.code[1], played.card.code[1]) for played in trick if played.wins}
        assert public_table(table).is_french
    assert any(led_suit != "H" == suit for led_suit, suit in suits_of_winners), (
        "no trick was trumped: choose another seed"
    )


def test_no_code_outside_engine_compares_game_ids() -> None:
    places = []
    for path in (path for package in (bot, adapters) for path in Path(package.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                words = {child.value for child in ast.walk(node) if isinstance(child, ast.Constant)}
                places += [(path.name, node.lineno) for _word in words & GAMES.keys()]
    for path in Path(adapters.__path__[0]).rglob("*.js"):
        places += [(path.name, 0) for game in GAMES if re.search(rf"""[!=]== ["']{game}["']""", path.read_text())]
    assert not places, f"{places} compare a game id: make the difference an attribute of GameKind"


def test_rules_of_a_new_game_name_its_own_cards() -> None:
    text = rules_text("en", "twenty")
    assert text.lines == ["High to low: A K Q J 10."]
    assert [card for card, _worth in text.ranking] == ["AH", "KH", "QH", "JH", "TH"]
    assert text.suits == "french"
    assert "common to all" not in rules_page("en", "twenty").plain
    sheet = rules_sheet("twenty", "en", "italian", "classic")
    [ranking] = [part for part in sheet.parts if isinstance(part, Ranking)]
    assert [card.code for card in ranking.cards] == ["AH", "KH", "QH", "JH", "TH"]
