"""Panels, pages and pictures do not depend on cards that are hidden from their viewer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from random import Random

import pytest

from bot.delivery.message_state import MessageState
from bot.delivery.surface_names import Hand
from bot.delivery.surface_panels import draw_surface
from bot.delivery.surfaces import required_surfaces
from bot.delivery.table_sync import NO_EXTRAS
from bot.panel_picture import CardStyle
from bot.panels.board import RatingChange
from bot.panels.drafts import NO_DRAFT, Draft
from bot.people import Profile
from bot.pictures.painter import paint
from bot.pictures.scene_builder import board_scene, hand_scene
from bot.platform import private_place
from bot.site.api_models import own_table, public_table
from bot.site.deal_log import watched_log
from bot.site.hand_page import hand_page
from bot.store.entries import Day, Entry, FirstDeal, Fixture, Host, Move, Open, Sit, Stop
from bot.table_policy import Outcome
from bot.tables.snapshot import take_snapshot
from bot.tables.table import Table
from bot.viewers import Viewer
from engine import GAMES, Game
from engine.options import RELEASE, resolve
from tests.engine.hidden import hidden_cards, shuffle_hidden
from tests.engine.tables import play_random_step, random_rules
from tests.long import long, mostly_long

VIEWERS: tuple[tuple[str, str, CardStyle], ...] = (("en", "italian", "classic"), ("it", "french", "easy"))


NAMES = [f"Person {seat}" for seat in range(4)]
DUPLICATE = Fixture("K7QF2M", 2, 0, 2, "p:100")


def random_table(
    game: str, random: Random, fixture: Fixture | Day | None = None, names: Sequence[str] = NAMES
) -> Table:
    """Return a table at a random point of its game. With a fixture or day, its boards are in private chats."""
    hosts: list[Entry] = [Host("p:100"), Host("q:200")]
    if fixture:
        hosts = [*(Host(private_place(f"p:{seat}")) for seat in range(GAMES[game].seats)), fixture]
    chairs = [Sit(seat, f"p:{seat}", names[seat]) for seat in range(GAMES[game].seats)]
    secret = random.randbytes(32)
    rules = resolve(GAMES[game].rules, random_rules(game, random)).model_dump()
    entries: list[Entry] = [Open(game, "p:0", names[0]), *hosts, *chairs, FirstDeal(secret, RELEASE, rules)]
    table = Table("ABCD").with_entries(entries, "u")
    assert table.game
    for _ in range(random.randrange(70)):
        if table.game.is_over or (table.game.needs_deal and random.random() < 0.5):
            break
        play_random_step(table.game, random)
    return table


def draw_panels(table: Table, viewer: int | None, drafts: Mapping[Hand, Draft]) -> dict[str, str]:
    """Return all panels, pages and program views of one seat, or the public ones, with their picture scenes."""
    view = public_table(table) if viewer is None else own_table(table, f"p:{viewer}")
    outcome = Outcome("ABCD-123456", [RatingChange("Person 0", 1000, 1040)])
    pages = {
        f"page {language} {suits}": repr(
            hand_page(table, f"p:{viewer}", Profile(f"p:{viewer}", language=language, suits=suits, deck=deck), choice)
        )
        for language, suits, deck in VIEWERS
        if viewer is not None
        for choice in [drafts.get(Hand(viewer), NO_DRAFT).choice]
    }
    logs = {
        f"log {language} {suits}": json.dumps(asdict(log)) if (log := watched_log(table, language, suits)) else ""
        for language, suits, _deck in VIEWERS
        if viewer is None
    }
    return {"view": view.model_dump_json(), **pages, **logs} | {
        f"{name} {language} {suits}": repr(
            draw_surface(
                table,
                name,
                MessageState(draft=drafts.get(name, NO_DRAFT) if isinstance(name, Hand) else NO_DRAFT),
                Viewer(language, suits, deck),
                NO_EXTRAS,
                outcome,
            )
        )
        for name in required_surfaces(table)
        if (name.seat if isinstance(name, Hand) else None) == viewer
        for language, suits, deck in VIEWERS
    }


@pytest.mark.parametrize("game", mostly_long(GAMES, "metamazzo", "tavolo", "spades"))
@pytest.mark.parametrize("fixture", [None, DUPLICATE], ids=["group", "tournament"])
@pytest.mark.parametrize("tables", [12, long(60)])
def test_panels_do_not_depend_on_hidden_cards(game: str, fixture: Fixture | None, tables: int) -> None:
    changed = 0
    for seed in range(tables):
        random = Random(f"{game} {seed}")
        table = random_table(game, random, fixture)
        assert table.game
        deal = table.game.current
        assert deal
        if table.game.turn is None:
            continue
        version = {seat: max(table.moved_at[seat], table.dealt_at) for seat in range(table.game.kind.seats)}
        drafts = {Hand(seat): Draft(version[seat], random.choice(["busso", "135", "", "resign"])) for seat in version}
        for viewer in (None, *range(table.game.kind.seats)):
            before = draw_panels(table, viewer, drafts)
            assert before
            for _ in range(3):
                other = shuffle_unseen(table, viewer, random)
                assert other.game
                assert other.game.current
                changed += other.game.current.hand(0) != deal.hand(0)
                assert draw_panels(other, viewer, drafts) == before
    assert changed > tables, "nothing was permuted"


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(GAMES, "tavolo", "spades"))
@pytest.mark.parametrize("fixture", [DUPLICATE, Day(date(2026, 11, 24))], ids=["tournament", "day"])
def test_finished_duplicate_reveals_no_cards(
    game: str, fixture: Fixture | Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a resignation or timeout, panels must not use the record, which has all cards.

    This holds even if the policy of the table's feature is missing.
    """
    changed = 0
    for seed in range(30):
        random = Random(f"over {game} {seed}")
        table = random_table(game, random, fixture)
        if table.game is None or table.game.turn is None:
            continue
        endings: list[Entry] = [Move(random.randrange(table.game.kind.seats), "resign"), Stop("timeout", 1)]
        ending = random.choice(endings)
        finished = table.with_entries([ending], "end")
        with monkeypatch.context() as patch:
            patch.setattr(
                Game, "record", lambda _game, **_options: pytest.fail("a panel read the record, which has all cards")
            )
            for viewer in (None, *range(table.game.kind.seats)):
                before = draw_panels(finished, viewer, {})
                assert any("Result" in name for name in before) == (viewer is None)
                for _ in range(3):
                    other = shuffle_unseen(table, viewer, random)
                    assert other.game
                    assert other.game.current
                    changed += other.game.current.hand(0) != table.game.current.hand(0)  # type: ignore[union-attr]
                    assert draw_panels(other.with_entries([ending], "end"), viewer, {}) == before
    assert changed > 50, "nothing was permuted"


def paint_picture(table: Table, viewer: int | None) -> bytes:
    """Paint the picture of one seat, or the public board."""
    view = take_snapshot(table, viewer)
    scene = (board_scene if viewer is None else hand_scene)(view, "en", "italian", "classic")
    assert scene
    return paint(scene)


@pytest.mark.parametrize("game", mostly_long(GAMES, "metamazzo", "tavolo", "spades"))
def test_pictures_do_not_depend_on_hidden_cards(game: str) -> None:
    random = Random(game)
    tables = (random_table(game, random) for _ in range(100))
    table = next(t for t in tables if t.game and t.game.turn is not None and len(_hidden_from(t, 0)) > 8)
    for viewer in (None, 0, 1):
        before = paint_picture(table, viewer)
        for _ in range(3):
            assert paint_picture(shuffle_unseen(table, viewer, random), viewer) == before


def shuffle_unseen(table: Table, viewer: int | None, random: Random) -> Table:
    """Return the table with the cards shuffled that this viewer cannot see."""
    assert table.game
    assert table.game.current
    other = Table("ABCD")
    other.__dict__.update(table.__dict__)
    other.game = table.game.copy()
    hidden = hidden_cards(table.game.current, viewer)
    other.game.current = other.game._playing = shuffle_hidden(table.game.current, hidden, random)
    return other


def _hidden_from(table: Table, seat: int) -> list[int]:
    return hidden_cards(table.game.current, seat) if table.game and table.game.current else []


def test_panels_depend_on_visible_cards() -> None:
    """Prove that the tests above can fail."""
    random = Random(1)
    tables = (random_table("metamazzo", random) for _ in range(100))
    table = next(t for t in tables if t.game and t.game.turn == 1 and len(_hidden_from(t, 0)) > 8)
    assert table.game
    assert table.game.current
    seen_by_other = [draw_panels(table, 1, {})]
    painted = {paint_picture(table, 1)}
    for _ in range(5):
        other = shuffle_unseen(table, 0, random)
        seen_by_other.append(draw_panels(other, 1, {}))
        painted.add(paint_picture(other, 1))
    assert any(panel != seen_by_other[0] for panel in seen_by_other)
    assert len(painted) > 1
