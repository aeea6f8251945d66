"""Why the best card of a puzzle earns more than another one, in a sentence."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.features.puzzles.texts import PuzzleText
from bot.words.spoken import card_in_sentence
from engine.puzzles.puzzle import Line, Puzzle
from engine.spades import SpadesDeal

MAX_CARDS = 3  # cards that a reason names for one move


class _Gain(NamedTuple):
    """What the reader's side takes after ``played_card``: cards, perhaps the last trick, and a number of tricks."""

    played_card: int
    cards: frozenset[int]
    has_last_trick: bool
    tricks: int


def reason(position: PuzzleText, card: str) -> str:
    """Return why the best card earns more than ``card``; for the best card, more than the second best."""
    puzzle = position.puzzle
    best = puzzle.lines[0]
    own_line = puzzle.line(puzzle.pack.index[card])
    other = puzzle.lines[1] if own_line is None or own_line is best else own_line
    with_best, with_other = _gain(puzzle, best), _gain(puzzle, other)
    first_cards = (position.code(line.cards[0]) for line in (best, other))
    names = dict(zip(("best", "other"), (card_in_sentence(position.words, code) for code in first_cards), strict=True))
    if puzzle.bids:
        tricks = [puzzle.taken[0] + gain.tricks for gain in (with_best, with_other)]
        return _spades_reason(position, puzzle.bids, tricks, names)
    return _tressette_reason(position, with_best, with_other, names)


def _gain(puzzle: Puzzle, line: Line) -> _Gain:
    position, trick = puzzle.position(), [*puzzle.trick]
    taken_cards: list[int] = []
    tricks, is_mine = 0, False
    for card in line.cards:
        position.play(card)
        trick.append(card)
        if not position.trick_size:
            is_mine = position.turn % 2 == 0
            tricks += is_mine
            taken_cards += trick if is_mine else []
            trick = []
    return _Gain(line.cards[0], frozenset(taken_cards), is_mine, tricks)


def _tressette_reason(position: PuzzleText, best: _Gain, other: _Gain, names: dict[str, str]) -> str:
    _, are_four = position.words.text, len(position.names) > 2
    best_prizes, other_prizes = _prizes(position, best, other), _prizes(position, other, best)
    if not best_prizes:
        # The best card itself makes the difference.
        line = _("With {other} your opponent takes {best} later.")
        if are_four:
            line = _("With {other} your opponents take {best} later.")
    elif other_prizes:
        line = _("With {best} you bring home {more}, with {other} only {instead}.")
        if are_four:
            line = _("With {best} your side brings home {more}, with {other} only {instead}.")
    else:
        line = _("With {best} you also bring home {more}. With {other} your opponent does.")
        if are_four:
            line = _("With {best} your side also brings home {more}. With {other} your opponents do.")
    return line.format(**names, more=best_prizes, instead=other_prizes)


def _prizes(position: PuzzleText, gain: _Gain, other_gain: _Gain) -> str:
    """Return what one gain has and another one has not: the last trick and cards worth points, the dearest first.

    The card that is played now goes without saying.
    """
    _, card_values = position.words.text, position.puzzle.position().WORTH
    prize_cards = (card for card in gain.cards - other_gain.cards - {gain.played_card} if card_values[card])
    cards = sorted(prize_cards, key=lambda card: (-card_values[card], -card))
    parts = [card_in_sentence(position.words, position.code(card)) for card in cards[:MAX_CARDS]]
    if hidden_count := len(cards[MAX_CARDS:]):
        line = position.words.ngettext("one more card", "{count} more cards", hidden_count)
        parts.append(line.format(count=hidden_count))
    if gain.has_last_trick and not other_gain.has_last_trick:
        parts.append(_("the deal’s last trick"))
    return _(" and ").join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _spades_reason(
    position: PuzzleText, bids: tuple[int, int], won_tricks: Sequence[int], names: dict[str, str]
) -> str:
    """Compare the reader's tricks, ``won_tricks``, with the best card and with the other one."""
    words = position.words
    _, lost_tricks = words.text, [SpadesDeal.LENGTH - tricks for tricks in won_tricks]

    def count(tricks: int) -> str:
        return words.ngettext("{count} trick", "{count} tricks", tricks).format(count=tricks)

    def bid_text(bid: int) -> str:
        return _("bid of {tricks}").format(tricks=bid) if bid else _("nil bid")

    if _is_made(bids[0], won_tricks[0]) and not _is_made(bids[0], won_tricks[1]):
        line = _("With {best} you take {tricks} and keep your {bid}. With {other} you take {count}.")
        return line.format(**names, tricks=count(won_tricks[0]), bid=bid_text(bids[0]), count=won_tricks[1])
    if _is_made(bids[1], lost_tricks[1]) and not _is_made(bids[1], lost_tricks[0]):
        line = _("With {best} your opponent takes {tricks} and misses the {bid}. With {other} it’s {count}.")
        return line.format(**names, tricks=count(lost_tricks[0]), bid=bid_text(bids[1]), count=lost_tricks[1])
    line = _("With {best} you take {tricks}, with {other} {count}.")
    return line.format(**names, tricks=count(won_tricks[0]), count=won_tricks[1])


def _is_made(bid: int, tricks: int) -> bool:
    return tricks >= bid if bid else not tricks
