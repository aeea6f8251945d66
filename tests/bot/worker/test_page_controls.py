"""Every legal move of every game has exactly one visible control on the table's page.

Two moves can be in the page's menu instead. Resigning is never urgent, and a stray tap must not reach it. A claim can
be there if it would be refused; a correct claim must be visible.
"""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from bot import actions
from bot.actions import MoveAction, TableAction
from bot.people import Profile
from bot.site.hand_page import hand_page
from bot.site.page_models import HandPage
from bot.store.entries import Deal, Entry, FirstDeal, Flag, Match, Move, Open, Sit
from bot.tables.table import Table
from engine import GAMES, Game
from engine.errors import EngineError
from engine.options import RELEASE, resolve
from tests.engine.tables import play_random_step, random_rules
from tests.long import long, mostly_long

PROFILES = (Profile(""), Profile("", language="it", suits="french", deck="easy"))

QUESTIONS = ("resign", "block", "report", "say")  # choices that open a question and belong to no move of the deal
NAMED_ROLES = {"play", "pick", "claim", "resign"}  # moves with a button role of the same name
MAX_PAGES = 60  # limit of partial choices checked for one decision; an exchange alone has about 370

DRAFT_MOVES = {"draw", "keep", "pass", "blind", "exchange", "bid"}
MOVE_KINDS = {
    "pizzichino": {"take", "hold", "play", "pick", "declare"},
    "spizzichino": {"take", "hold", "play", "pick", "declare"},
    "metamazzo": {"play", "declare"},
    "testa": {"play", "declare"},
    "tressette": {"play", "declare", "claim"},
    "tavolo": {"play", "declare"},
    "spades": {"play", *DRAFT_MOVES},
}
"""Kinds of moves that must occur, or the test would prove nothing."""


def visible_payloads(page: HandPage) -> Counter[str]:
    """Return the payloads of controls outside the menu, as in static/table.js: cards, packets, buttons."""
    taps = [card.press for card in (*page.middle, *page.packets, *page.hand) if card.press]
    picks = [card.pick for card in page.packets if card.pick]
    return Counter([*taps, *picks, *(button.payload for row in page.extra for button in row)])


def visible_moves(page: HandPage) -> Counter[str]:
    moves: Counter[str] = Counter()
    for payload, count in visible_payloads(page).items():
        action = actions.parse_payload(payload)
        if isinstance(action, MoveAction):
            moves[action.move] += count
    return moves


def find_choices(page: HandPage) -> set[str]:
    """Return the partial choices that the visible controls can make."""
    parsed_actions = (actions.parse_payload(payload) for payload in visible_payloads(page))
    drafts = [
        action.words[1:] for action in parsed_actions if isinstance(action, TableAction) and action.verb == "draft"
    ]
    return {choice for [choice] in filter(None, drafts) if not choice.startswith(QUESTIONS)}


def is_composed(move: str) -> bool:
    """Return whether a move takes several taps: packets, cards, a signal and a card, or a question and its answer."""
    return move.startswith(("take ", "hold ", "exchange ", "blind")) or move.endswith(("busso", "volo"))


def find_required_moves(game: Game, seat: int) -> set[str]:
    """Return the legal moves that must be visible outside the menu."""
    moves = {*game.legal_moves(seat)} - {"resign"}
    if "claim" in moves:
        try:
            game.copy().play(seat, "claim")
        except EngineError:
            moves.remove("claim")
    return moves


def check_page(table: Table, seat: int, profile: Profile) -> None:
    """Check all controls of one seat's page."""
    assert table.game
    person = f"p:{seat}"
    first = hand_page(table, person, profile)
    required, legal = find_required_moves(table.game, seat), {*table.game.legal_moves(seat)}
    direct = visible_moves(first)
    position = f"{table.game_id} {table.game.moves} {table.alarm}, seat {seat}"
    composed = {move for move in required if is_composed(move)}
    assert not required - composed - direct.keys(), (
        f"no visible control for {required - composed - direct.keys()} at {position}"
    )

    for button in (button for row in first.rows for button in row):
        action = actions.parse_payload(button.payload)
        if isinstance(action, MoveAction):
            word = action.move.partition(" ")[0]
            assert button.role == (word if word in NAMED_ROLES else "move"), position

    if any(move.startswith("play ") for move in legal):
        # A tap on a card always plays it or explains why it cannot be played.
        assert all(":play " in card.press for card in (*first.packets, *first.hand)), position

    # Each partial choice has its own page. Every move of several taps must be on one of these pages.
    reachable, visited, pending = {*direct}, {""}, [first]

    # An open question must not become part of a move.
    pending += [hand_page(table, person, profile, question) for question in ("resign", "say")]
    while pending and len(visited) < MAX_PAGES:
        page = pending.pop()
        payloads, moves = visible_payloads(page), visible_moves(page)
        assert not [payload for payload, count in payloads.items() if count > 1], f"two controls at {position}"
        assert not [move for move in moves if moves[move] > 1], f"two controls at {position}"
        assert not [move for move in moves if not move.startswith("play ") and move not in legal], (
            f"a control without a legal move at {position}"
        )
        reachable |= moves.keys()
        for choice in sorted(find_choices(page) - visited):
            visited.add(choice)
            pending.append(hand_page(table, person, profile, choice))
    if len(visited) < MAX_PAGES:
        assert not required - reachable, f"no controls lead to {required - reachable} at {position}"


def new_table(game: str, random: Random) -> Table:
    """Return a table with random options at its first deal. Half of the tables have matched strangers."""
    people = [(f"p:{seat}", f"Person {seat}") for seat in range(GAMES[game].seats)]
    matched: list[Entry] = [Match(*person) for person in people] if random.random() < 0.5 else []
    rules = resolve(GAMES[game].rules, random_rules(game, random)).model_dump()
    chairs = [Sit(seat, *person) for seat, person in enumerate(people)]
    first_deal = FirstDeal(random.randbytes(32), RELEASE, rules)
    return Table("ABCD").with_entries([Open(game, *people[0]), *matched, *chairs, first_deal], "begin")


def next_table(table: Table, random: Random) -> Table:
    """Return the table after a random legal move or the next deal."""
    assert table.game
    if table.game.needs_deal:
        return table.with_entries([Deal(random.randbytes(32))], f"u{table.version}")
    ahead = table.game.copy()
    play_random_step(ahead, random)
    seat, move = next((seat, move) for seat, move in reversed(ahead.moves) if seat is not None)
    return table.with_entries([Move(seat, move)], f"u{table.version}")


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(GAMES, "pizzichino", "tavolo"))
@pytest.mark.parametrize(("tables", "is_brief"), [(8, True), long(80, False)], ids=["until all moves occur", "80"])
def test_every_legal_move_has_one_visible_control(game: str, tables: int, is_brief: bool) -> None:
    kinds: set[str] = set()
    for seed in range(tables):
        if is_brief and kinds >= MOVE_KINDS[game]:
            break
        random = Random(f"controls {game} {seed}")
        table = new_table(game, random)
        for _ in range(300):
            assert table.game
            if table.game.is_over:
                break
            if not table.game.needs_deal:
                table_or_flagged = table.with_entries([Flag()], "flag") if random.random() < 0.2 else table
                for seat in range(table.game.kind.seats):
                    kinds |= {move.partition(" ")[0] for move in find_required_moves(table.game, seat)}
                    check_page(table_or_flagged, seat, replace(random.choice(PROFILES), id=f"p:{seat}"))
            table = next_table(table, random)
    assert kinds >= MOVE_KINDS[game], f"no position had {MOVE_KINDS[game] - kinds}: try more tables"
