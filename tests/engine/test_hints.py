"""The reasons of hints, in positions that make a similar reason false."""

from random import Random

import pytest

from engine import Game
from engine.cards import ITALIAN
from engine.robots import Budget
from engine.robots.hints import find_hint, find_reason
from engine.robots.strong import ADVICE_LEEWAY, MoveEstimate, StrongRobot, equal_moves, lowest_alike
from tests.engine.tables import (
    draft,
    full_table,
    last_packet_card_table,
    packets_table,
    play,
    play_any_card,
    play_cards,
    playable_cards,
    spades_table,
    stock_table,
)
from tests.groups import COMPILED_SEARCHES

pytestmark = COMPILED_SEARCHES


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The move that the patched strong robot chooses, under the key ``move``."""
    move: dict[str, str] = {}
    monkeypatch.setattr(StrongRobot, "choose", lambda *_: move["move"])
    return move


class HintReason:
    """A callable that returns the reason of a hint for a legal move."""

    def __init__(self, chosen: dict[str, str]) -> None:
        self.chosen = chosen
        self.cards: tuple[str, ...] = ()  # those that the last hint named

    def __call__(self, table: Game, move: str) -> str:
        assert table.turn is not None
        assert move in table.legal_moves(table.turn)
        self.chosen["move"] = move
        hint = find_hint(table.view(table.turn), table.history(table.turn), Random(1), Budget())
        assert hint
        assert hint.move == move
        self.cards = hint.cards
        return hint.reason


@pytest.fixture
def reason(chosen: dict[str, str]) -> HintReason:
    return HintReason(chosen)


FOLLOWING = {
    "the only card": ("3D", "4D", "4D", "only_follows"),
    "a trick without points": ("4D", "3D 5D", "5D", "takes"),
    "two thirds are no point": ("RD", "3D 5D", "3D", "takes"),
    "three thirds are a point": ("RD", "AD 5D", "AD", "takes_points"),
    "an ace alone is a point": ("4D", "AD 5D", "AD", "takes_points"),
    "the ace could have won a point": ("RD", "AD 5D", "5D", "likely"),
    "the three could have won a third": ("4D", "3D AD 5D RD", "5D", "takes"),
    "the three could have won two thirds": ("RD", "3D 5D", "5D", "spares"),
    "the ace could not have won": ("3D", "AD 5D", "5D", "gives_little"),
    "an ace is not the least card": ("3D", "AD 5D", "AD", "likely"),
    "a figure is more than a five": ("3D", "RD 5D", "RD", "likely"),
    "figures are equally little": ("3D", "RD FD", "RD", "gives_little"),
    "a two is more than a figure": ("3D", "2D FD", "2D", "likely"),
    "an ace is not spared": ("2D", "3D AD 4D", "AD", "likely"),
    "no card of another suit wins": ("4D", "4C 5C 6C 7C FC CC RC 4B 5B 6B", "6B", "gives_little"),
}


@pytest.mark.parametrize(("led_cards", "hand", "played", "expected_reason"), FOLLOWING.values(), ids=FOLLOWING)
def test_last_card_of_a_trick_has_its_reason(
    reason: HintReason, led_cards: str, hand: str, played: str, expected_reason: str
) -> None:
    table = stock_table("metamazzo", led_cards, hand)
    play_cards(table, led_cards)
    assert reason(table, f"play {played}") == expected_reason


def test_last_card_of_a_deal_has_its_reason(reason: HintReason) -> None:
    table = full_table("tressette", ["", "", "", ""])
    for _ in range(36):
        play_any_card(table)
    assert table.turn is not None
    [card] = playable_cards(table, table.turn)
    assert reason(table, f"play {card}") == "last_card"


def test_only_card_that_is_no_spade_must_be_led(reason: HintReason) -> None:
    table = spades_table("", "AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2H")
    play(table, "1: bid 4", "0: bid 4")
    assert reason(table, "play 2H") == "no_spades_yet"


@pytest.mark.parametrize(("partner", "wins"), [("RD", True), ("6D", False)])
def test_points_are_given_only_to_a_winning_partner(reason: HintReason, partner: str, wins: bool) -> None:
    hands = ["5D 4D", "7D", partner, "FD"]
    for dealer in range(4):
        table = full_table("tressette", [hands[seat - dealer] for seat in range(4)], dealer=dealer)
        play_cards(table, f"7D {partner} FD")
        assert (reason(table, "play 5D") == "gives_partner") == wins


def test_card_of_another_suit_does_not_win_for_a_rival(reason: HintReason) -> None:
    """Seat 3 discards a three of another suit, and the partner's seven still wins."""
    table = full_table("tressette", ["5D 4D", "6D", "7D", "3B 4C 5C 6C 7C FC 4S 5S 6S 7S"])
    play_cards(table, "6D 7D 3B")
    assert reason(table, "play 5D") == "gives_partner"


BEFORE_THE_LAST = {
    "a king can be beaten": ("7D", "RD 4D", "RD", "highest_so_far"),
    "a three cannot be beaten": ("7D", "3D 4D", "3D", "takes"),
    "the partner can still beat a king": ("RD", "CD 4D", "4D", "lost_so_far"),
    "an ace is not little": ("2D", "AD 4D", "AD", "likely"),
    "the partner cannot beat a three": ("3D", "CD 4D", "4D", "gives_little"),
    "the partner has played": ("7D RD", "CD 4D", "4D", "gives_little"),
    "the partner's king can be beaten": ("RD 7D", "CD 4D", "4D", "partners_so_far"),
    "the partner's three cannot be beaten": ("3D 7D", "CD 4D", "4D", "gives_partner"),
}


@pytest.mark.parametrize(("trick", "hand", "played", "why"), BEFORE_THE_LAST.values(), ids=BEFORE_THE_LAST)
def test_reasons_allow_for_seats_that_play_later(
    reason: HintReason, trick: str, hand: str, played: str, why: str
) -> None:
    """Seat 1 leads; ``hand`` belongs to the seat to play."""
    led_cards = trick.split()
    hands = [*led_cards, f"{hand} 4C 5C 6C 7C FC CC RC 4B"]
    table = full_table("tressette", ["", *hands, "", ""][:4], dealer=0)
    play_cards(table, trick)
    assert reason(table, f"play {played}") == why


@pytest.mark.parametrize(
    ("hand", "led", "why"),
    [
        ("3D 2D", "3D", "cannot_be_beaten"),
        ("3D 2D", "2D", "cannot_be_beaten"),
        ("2D FD", "2D", "likely"),
        ("2D FD", "FD", "likely"),
        ("2D CD", "CD", "likely"),
        ("2D 7D", "7D", "leads_low"),
        ("2D 4D", "4D", "leads_low"),
        ("RD 4D 5D 6D 7D 4C 5C 6C 7C FC", "4D", "likely"),
        ("RD 4D 5D 6D 7D 4C 5C 6C 7C AC", "4D", "leads_low"),
    ],
)
def test_lead_has_its_reason(reason: HintReason, hand: str, led: str, why: str) -> None:
    assert reason(stock_table("metamazzo", hand, "3S"), f"play {led}") == why


def test_exact_findings_have_the_reason_cards_open() -> None:
    table = stock_table("metamazzo", "2D CD", "3S")
    view, history = table.view(1), table.history(1)
    assert [find_reason(view, history, "play CD", exact=exact) for exact in (True, False)] == ["cards_open", "likely"]


@pytest.mark.parametrize(("drawn_cards", "why"), [("7S 3D", "likely"), ("3D 7S", "cannot_be_beaten")])
def test_only_the_opponents_shown_three_counts(reason: HintReason, drawn_cards: str, why: str) -> None:
    table = stock_table("metamazzo", "AD 2D", "4D", drawn_cards)
    play_cards(table, "AD 4D")
    assert reason(table, "play 2D") == why


def test_missing_card_of_a_declaration_beats_nothing(reason: HintReason) -> None:
    table = stock_table("metamazzo", "2S 2C RC", "3D 3B 3C 4C", "7S 6S")
    assert reason(table, "play 2S") == "likely"
    assert reason.cards == ("3S",)
    play(table, "1: play 2C", "0: declare three 3 missing S", "0: play 4C")
    assert reason(table, "play 2S") == "cannot_be_beaten"
    assert reason(table, "play RC") == "likely"


def test_card_of_a_suit_not_followed_beats_nothing(reason: HintReason) -> None:
    table = stock_table("metamazzo", "3D 2D RD", "4C 5C 6C 7C FC CC RC AC 4B 5B", "7S 6S")
    assert reason(table, "play RD") == "likely"
    play_cards(table, "3D 4C")
    assert reason(table, "play RD") == "cannot_be_beaten"
    packets = packets_table("pizzichino", ["3D RD", "", "4D", "5D", "4C 5C 6C 7C FC"])
    assert reason(packets, "play RD") == "likely"


def test_reason_is_counted_only_with_the_stock_gone(reason: HintReason) -> None:
    table = stock_table("metamazzo", "3D AD", "4D")
    assert reason(table, "play AD") == "likely"
    while table.view(None).deal.stock or table.view(None).deal.trick:  # type: ignore[union-attr]
        play_any_card(table)
    assert table.turn is not None
    assert {reason(table, f"play {card}") for card in playable_cards(table, table.turn)} == {"counted"}


CLUBLESS = "AS KS 5S AH 7H 3H KD 9D 4D QD TD JD 2D"
OTHER = "QS 4S 2S KH 8H 2H AD 7D 3D KC JC 5C 3C"
SPADELESS = "AH 7H 3H KD 9D 4D QD TD JD 2D 6H 5H 4H"


def bid_table(first: str, lead: str, bids: str = "4 4") -> Game:
    """Return a table with these bids, seat 1's first; seat 1 leads."""
    table = spades_table(first, OTHER)
    for seat, bid in zip((1, 0), bids.split(), strict=True):
        play(table, f"{seat}: bid {bid}")
    play_cards(table, lead)
    return table


@pytest.mark.parametrize(
    ("hand", "led", "played", "why"),
    [
        (CLUBLESS, "3C", "5S", "takes"),
        (CLUBLESS, "3C", "AH", "likely"),
        (CLUBLESS, "3C", "2D", "spares"),
        (SPADELESS, "3C", "AH", "likely"),
        (SPADELESS, "3C", "2D", "gives_little"),
        (CLUBLESS, "KH", "AH", "takes"),
        (CLUBLESS, "KH", "3H", "spares"),
    ],
)
def test_spades_are_the_only_trumps_in_reasons(reason: HintReason, hand: str, led: str, played: str, why: str) -> None:
    assert reason(bid_table(hand, led), f"play {played}") == why


def test_led_spade_is_taken_by_a_higher_one(reason: HintReason) -> None:
    table = bid_table(CLUBLESS, "3C AS 5S")
    assert reason(table, "play QS") == "takes"
    assert reason(table, "play 2S") == "spares"


@pytest.mark.parametrize(("led", "why"), [("AD", "likely"), ("3D", "leads_low"), ("7D", "leads_low"), ("8H", "likely")])
def test_spades_leads_of_other_suits_can_be_trumped(reason: HintReason, led: str, why: str) -> None:
    assert reason(bid_table(CLUBLESS, ""), f"play {led}") == why


def test_highest_spade_cannot_be_beaten(reason: HintReason) -> None:
    table = bid_table(CLUBLESS, "3C 5S")
    assert reason(table, "play KS") == "cannot_be_beaten"
    assert reason(table, "play KD") == "likely"


@pytest.mark.parametrize(
    ("led", "played", "why"),
    [
        ("KH", "3H", "wants_none"),
        ("KH", "AH", "likely"),
        ("KH", "7H", "wants_none"),
        ("3C", "2D", "wants_none"),
        ("3C", "AH", "wants_none"),
        ("3C", "5S", "likely"),
        ("3C 5S 4D AD KH", "7H", "spares"),
    ],
)
def test_nil_bidder_wants_no_trick_until_one_is_won(reason: HintReason, led: str, played: str, why: str) -> None:
    assert reason(bid_table(CLUBLESS, led, "4 0"), f"play {played}") == why


@pytest.mark.parametrize(
    ("led", "why"), [("3D", "wants_none"), ("AD", "likely"), ("8H", "likely"), ("2H", "wants_none")]
)
def test_nil_bidder_leads_low_to_win_no_trick(reason: HintReason, led: str, why: str) -> None:
    assert reason(bid_table(CLUBLESS, "", "0 4"), f"play {led}") == why


def test_double_nil_wants_no_trick(reason: HintReason) -> None:
    table = spades_table(CLUBLESS, OTHER, drafted=False)
    play(table, "0: draw", "0: keep", "1: blind")
    draft(table)
    play(table, "1: exchange", "0: bid 4")
    assert reason(table, "play 3D") == "wants_none"


def test_other_moves_have_their_own_reasons(reason: HintReason) -> None:
    assert reason(stock_table("metamazzo", "3D 2D AD", "AS"), "declare napoletana D") == "declares"
    packets = packets_table("pizzichino", ["", "", "3C"], are_chosen=False)
    assert reason(packets, "take 1 2 3 4") == "unseen"
    play(packets, "1: take 1 2 3 4")
    assert reason(packets, "hold 1 2") == "unseen"
    peeked = packets_table("pizzichino", ["", "", "3C"], {"packets": "peek"}, are_chosen=False)
    play(peeked, "1: take 1 2 3 4")
    assert reason(peeked, "hold 1 2") == "packets"
    assert reason(packets_table("pizzichino", ["", "", "3C"]), "pick 3") == "picks"
    for declare in ("none", "dealt"):
        assert reason(packets_table("pizzichino", ["", "", "3C"], {"declare": declare}), "pick 3") == "frees"
    assert reason(last_packet_card_table("acquired"), "pick 3") == "picks_last"
    assert reason(full_table("tressette", [""] * 4), "claim") == "claims"


def test_useless_honour_is_picked_up_for_the_card_below(reason: HintReason) -> None:
    """An honour is useful while its rank or its suit has not scored and can still be completed."""
    threes = ["3D 3S", "3B 4C", "3C", "", "", ""]
    assert reason(packets_table("pizzichino", [*threes, "2C"]), "pick 3") == "picks"
    for opponent_cards, reuse, expected_reason in (
        ("2C", False, "frees"),
        ("4S", False, "picks"),
        ("2C", True, "picks"),
    ):
        table = packets_table("pizzichino", [*threes, opponent_cards], {"reuse": reuse})
        play(table, "1: declare three 3 missing C")
        assert reason(table, "pick 3") == expected_reason


def test_spades_draft_and_bid_have_their_own_reasons(reason: HintReason) -> None:
    table = spades_table(CLUBLESS, OTHER, drafted=False)
    assert reason(table, "draw") == "draws"
    play(table, "0: blind")
    assert reason(table, "draw") == "only"
    play(table, "0: draw")
    assert reason(table, "keep") == "drafts_low"
    assert reason(table, "pass") == "passes_high"
    play(table, "0: keep", "1: draw")
    assert reason(table, "keep") == "drafts"
    assert reason(table, "pass") == "passes"
    play(table, "1: keep")
    while table.current and table.current.phase == "draft":
        assert table.turn is not None
        table.play(table.turn, "keep" if "keep" in table.legal_moves(table.turn) else "draw")
    assert reason(table, "exchange AH") == "exchanges"
    assert reason(table, "exchange") == "exchanges_nothing"
    play(table, "0: exchange")
    assert reason(table, "bid 0") == "nil"
    assert reason(table, "bid 4") == "bids"


@pytest.mark.parametrize(
    ("trick", "hand", "chosen_card", "named_card"),
    [
        ("3D", "RD 6D 4D", "6D", "4D"),
        ("3D", "RD 6D 4D", "RD", "4D"),
        ("3D", "RD CD", "CD", "CD"),
        ("3D", "CD FD 4S", "CD", "FD"),
        ("3D", "2D 7D 5D", "7D", "5D"),
        ("4S", "CD FD", "CD", "FD"),
        ("5D", "7D 6D 4D", "7D", "6D"),
        ("5D", "7D 6D 4D", "4D", "4D"),
        ("3D", "6C 5C 4S", "6C", "5C"),
        ("", "7D 5D 4C", "7D", "5D"),
        ("", "3D 7D 5D", "3D", "3D"),
    ],
)
def test_hint_names_the_lowest_of_equally_good_cards(trick: str, hand: str, chosen_card: str, named_card: str) -> None:
    table = stock_table("metamazzo", trick, hand) if trick else stock_table("metamazzo", hand, "4B")
    if trick:
        play_cards(table, trick)
    assert table.turn is not None
    deal = table.view(table.turn).deal
    assert deal
    equal = [ITALIAN.index[code] for code in hand.split()]
    assert lowest_alike(deal, ITALIAN.index[chosen_card], equal) == ITALIAN.index[named_card]


def test_lower_card_is_advised_only_within_the_search_error() -> None:
    deal = stock_table("metamazzo", "7D 5D 4D", "3S").view(1).deal
    assert deal
    judged = {
        ITALIAN.index["7D"]: MoveEstimate(1000, 3.0),
        ITALIAN.index["5D"]: MoveEstimate(900, 2.5),
        ITALIAN.index["4D"]: MoveEstimate(900, 0.0),
    }
    best = ITALIAN.index["7D"]
    assert equal_moves(deal, judged, best) == [best, ITALIAN.index["5D"]]
    # Advice also accepts a card of the same suit that was tried seldom.
    seldom = {best: MoveEstimate(3000, 3.0), ITALIAN.index["5D"]: MoveEstimate(150, 1.5)}
    assert equal_moves(deal, seldom, best) == [best]
    assert equal_moves(deal, seldom, best, leeway=ADVICE_LEEWAY) == [*seldom]
    # A card that the solver finds worse has no visits.
    assert equal_moves(deal, {best: MoveEstimate(5, 2.0), ITALIAN.index["4D"]: MoveEstimate(0, 0.0)}, best) == [best]
