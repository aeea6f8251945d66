"""Lines of a hand about what has just happened."""

from itertools import product
from random import Random

import pytest

from bot.panels.hand_news import later_declaration, move_news, newcomer_lines, partner_line, step_line, trick_news
from bot.site.seat_events import seat_events
from bot.store.entries import FirstDeal, Host, Move, Open, Sit
from bot.tables.snapshot import TableSnapshot, take_snapshot
from bot.tables.table import Table
from bot.words.spoken import card_in_sentence
from bot.words.table_lines import TableLines, table_words
from bot.words.wording import Wording, target_choice, thirds_text, usual_deals
from engine import GAMES, game_kind, legal_moves_for_record
from engine.cards import ITALIAN
from engine.options import RELEASE, resolve
from engine.tressette import THIRDS
from engine.views import PacketsView, StockView
from tests.bot.panels.test_boards import make_random_move


def dealt_table(game: str, random: Random) -> Table:
    chairs = [Sit(seat, f"p:{seat}", f"Person {seat}") for seat in range(GAMES[game].seats)]
    deal = FirstDeal(random.randbytes(32), RELEASE, resolve(GAMES[game].rules, {}).model_dump())
    return Table("ABCD").with_entries([Open(game, "p:0", "Person 0"), Host("p:100"), *chairs, deal], "u")


def seen_by(table: Table, seat: int) -> tuple[TableSnapshot, Wording]:
    table_snapshot = take_snapshot(table, seat)
    return table_snapshot, table_words(table_snapshot, "en", "italian")


@pytest.mark.parametrize("game", ["metamazzo", "tressette", "spades"])
def test_trick_news_names_taker_and_drawn_card(game: str) -> None:
    random, news_count = Random(game), 0
    table = dealt_table(game, random)
    for _ in range(120):
        table = make_random_move(table, random)
        assert table.game
        if table.game.is_over or table.game.needs_deal:
            break
        for seat in range(len(table.chairs)):
            seen, words = seen_by(table, seat)
            assert seen.view
            assert seen.view.deal
            deal = seen.view.deal
            news = trick_news(seen, words, deal)
            if any(played.seat == seat for played in deal.trick) or not deal.last_trick:
                assert news == ""
                continue
            taker = deal.last_trick.winner
            if seen.kind.is_tressette:
                thirds = sum(THIRDS[ITALIAN.index[card]] for _seat, card, _signal in deal.last_trick.cards)
                assert f"(+{thirds_text(3 * thirds if game == 'tressette' else thirds)})" in news
            assert news.startswith("You took" if taker == seat else f"{seen.name(taker)} took")
            if isinstance(deal, StockView) and deal.drawn:
                card = next(card for by, card, _signal in deal.drawn if by == seat)
                assert card_in_sentence(words, card) in news
            news_count += 1
    assert news_count


def test_later_declaration_names_what_the_seat_can_soon_declare() -> None:
    random, news_count = Random(7), 0
    for _ in range(30):
        table = dealt_table("tressette", random)
        for _turn in range(4):
            assert table.game
            seat = table.game.turn
            assert seat is not None
            move = next(move for move in legal_moves_for_record(table.game, seat) if move.startswith("play "))
            declarations = {viewer: later_declaration(*seen_by(table, viewer)) for viewer in range(4)}
            table = table.with_entries([Move(seat, move)], "u")
        assert table.game
        for viewer in range(4):
            moves = [move for move in legal_moves_for_record(table.game, viewer) if move.startswith("declare ")]
            _snapshot, words = seen_by(table, viewer)
            assert bool(declarations[viewer]) == bool(moves)
            assert all(words.combination(move) in declarations[viewer] for move in moves)
            assert later_declaration(*seen_by(table, viewer)) == ""
            news_count += len(moves)
    assert news_count


def test_partner_is_named_until_the_first_move() -> None:
    table = dealt_table("tressette", Random(1))
    assert partner_line(*seen_by(table, 1)) == "Your partner: \u2068Person 3\u2069"
    assert partner_line(*seen_by(dealt_table("metamazzo", Random(1)), 0)) == ""
    assert table.game
    seat = table.game.turn
    assert seat is not None
    table_after = make_random_move(table, Random(1))
    assert partner_line(*seen_by(table_after, seat)) == ""


@pytest.mark.parametrize(
    ("game", "target"),
    [
        *product(("metamazzo", "pizzichino", "testa", "tressette"), (21, 31)),
        *product(("spades",), (200, 300, 500)),
    ],
)
def test_newcomers_read_the_game_length_of_the_first_page(game: str, target: int) -> None:
    table = dealt_table(game, Random(1))
    seen, words = seen_by(table, 0)
    seen = seen._replace(is_practice=True, rules=seen.rules | {"target": target})
    length_text = target_choice("en", seen.kind, target).rpartition(" · ")[2]
    assert f"That’s {length_text}." in list(newcomer_lines(seen, words))


def test_first_draw_of_spades_is_explained() -> None:
    table = dealt_table("spades", Random(1))
    assert table.game
    assert table.game.turn is not None
    assert step_line(*seen_by(table, table.game.turn)).startswith("You draw 13 cards:")
    assert step_line(*seen_by(table, 1 - table.game.turn)) == ""
    assert list(newcomer_lines(*seen_by(table, table.game.turn))) == ["500 points win."]
    steps: list[str] = []
    while len(steps) < 4:
        assert table.game is not None
        seat = table.game.turn
        assert seat is not None
        seen, words = seen_by(table, seat)
        if (line := step_line(seen, words)) and line not in steps:
            steps.append(line)
        assert seen.view
        move = next(move for move in seen.view.moves if move != "blind")
        table = table.with_entries([Move(seat, move)], "u")
    assert [line.split(":")[0].split(".")[0] for line in steps] == [
        "You draw 13 cards",
        "Your bid scores 10 a trick if you take that many, and loses 10 a trick if not",
        "Follow suit if you can",
        "Tricks above your bid are bags",
    ]


def test_declaration_of_another_player_has_its_points() -> None:
    random, declared = Random(3), 0
    table = dealt_table("metamazzo", random)
    while table.game and not table.game.needs_deal and declared < 1:
        seat = table.game.turn
        assert seat is not None
        seen, words = seen_by(table, seat)
        for line in move_news(seen, words, TableLines(seen, words)):
            if " declares " in line:
                declared += 1
                assert line.endswith((" (+3)", " (+4)"))
        declare = [move for move in seen.view.moves if move.startswith("declare ")] if seen.view else []
        table = table.with_entries([Move(seat, declare[0])], "u") if declare else make_random_move(table, random)
    assert declared


def test_spades_length_is_what_robots_needed() -> None:
    """See `engine.games.GameKind` for the measurement."""
    spades = game_kind("spades")
    assert [usual_deals(spades, target) for target in (200, 300, 500)] == [4, 6, 11]


def test_news_names_the_card_picked_up_from_a_packet() -> None:
    random, table, picks = Random(5), dealt_table("pizzichino", Random(5)), 0
    while table.game and not table.game.needs_deal:
        seat = table.game.turn
        assert seat is not None
        moves = legal_moves_for_record(table.game, seat)
        pick = next((move for move in moves if move.startswith("pick ")), "")
        if not pick:
            table = make_random_move(table, random)
            continue
        before = table.view(seat)
        view = before.deal if before else None
        assert isinstance(view, PacketsView)
        top = next(packet.top for packet in view.packets if f"pick {packet.number}" == pick)
        table = table.with_entries([Move(seat, pick)], "u")
        seen, words = seen_by(table, 1 - seat)
        news = list(move_news(seen, words, TableLines(seen, words)))
        assert top
        assert news[-1] == f"{seen.name(seat)} takes {words.card(top)} from packet {pick[-1]} into hand"
        picks += 1
    assert picks


def test_second_declaration_of_the_same_rank_says_again() -> None:
    seen, words = seen_by(dealt_table("metamazzo", Random(1)), 0)
    first, second, four = "declare three A missing D", "declare three A missing C", "declare four A"
    history = ((0, first), (1, "declare three A missing S"), (0, "play 4D"), (1, "play 5D"), (0, second), (1, four))
    seen = seen._replace(history=history, since=5)
    own, *others = list(move_news(seen, words, TableLines(seen, words)))
    assert own == "You declared three aces, all but cups (again): +3."
    assert others == [f"{seen.name(1)} declares four aces (+4)"]
    seen = seen._replace(seat=1, since=4)
    assert f"{seen.name(0)} declares three aces, all but cups (again) (+3)" in list(
        move_news(seen, words, TableLines(seen, words))
    )
    texts = [event.text for event in seat_events(seen, words)]
    assert texts == ["Three aces! +3", "Three aces! +3", "Three aces! (again) +3", "Four aces! +4"]
