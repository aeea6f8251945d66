"""Why the best card of a puzzle earns more than another one, in a sentence."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.features.puzzles.texts import PuzzleText
from bot.words.spoken import card_in_sentence
from engine.puzzles.puzzle import Line, Puzzle
from engine.spades import SpadesDeal

MAX_CARDS = 3  # cards that a reason names for one move


class _Gain(NamedTuple):
    """What the reader's side takes after a card is ``played``: cards, whether the last trick too, and its tricks."""

    played: int
    cards: frozenset[int]
    has_last_trick: bool
    tricks: int


def reason(position: PuzzleText, card: str) -> str:
    """Return why the best card earns more than ``card``; for the best card, more than the second best."""
    puzzle = position.puzzle
    best = puzzle.lines[0]
    mine = puzzle.line(puzzle.pack.index[card])
    other = puzzle.lines[1] if mine is None or mine is best else mine
    with_best, with_other = _gain(puzzle, best), _gain(puzzle, other)
    first_cards = (position.code(line.cards[0]) for line in (best, other))
    names = dict(zip(("best", "other"), (card_in_sentence(position.words, code) for code in first_cards), strict=True))
    if puzzle.bids:
        tricks = [puzzle.taken[0] + gain.tricks for gain in (with_best, with_other)]
        return _spades_reason(position, puzzle.bids, tricks, names)
    return _tressette_reason(position, with_best, with_other, names)


def _gain(puzzle: Puzzle, line: Line) -> _Gain:
    here, trick = puzzle.position(), [*puzzle.trick]
    taken: list[int] = []
    tricks, is_mine = 0, False
    for card in line.cards:
        here.play(card)
        trick.append(card)
        if not here.trick_size:
            is_mine = here.turn % 2 == 0
            tricks += is_mine
            taken += trick if is_mine else []
            trick = []
    return _Gain(line.cards[0], frozenset(taken), is_mine, tricks)


def _tressette_reason(position: PuzzleText, best: _Gain, other: _Gain, names: dict[str, str]) -> str:
    _, are_four = position.words.text, len(position.names) > 2
    more, instead = _prizes(position, best, other), _prizes(position, other, best)
    if not more:
        # The best card itself makes the difference.
        line = (
            _("With {other} your opponents take {best} later.")
            if are_four
            else _("With {other} your opponent takes {best} later.")
        )
        return line.format(**names)
    if instead:
        line = (
            _("With {best} your side brings home {more}, with {other} only {instead}.")
            if are_four
            else _("With {best} you bring home {more}, with {other} only {instead}.")
        )
        return line.format(**names, more=more, instead=instead)
    line = (
        _("With {best} your side also brings home {more}. With {other} your opponents do.")
        if are_four
        else _("With {best} you also bring home {more}. With {other} your opponent does.")
    )
    return line.format(**names, more=more)


def _prizes(position: PuzzleText, gain: _Gain, without: _Gain) -> str:
    """Return what one gain has and another one has not: the last trick and cards worth points, the dearest first.

    The card that is played now goes without saying.
    """
    _, worth = position.words.text, position.puzzle.position().WORTH
    found = (card for card in gain.cards - without.cards - {gain.played} if worth[card])
    cards = sorted(found, key=lambda card: (-worth[card], -card))
    parts = [card_in_sentence(position.words, position.code(card)) for card in cards[:MAX_CARDS]]
    if hidden := len(cards[MAX_CARDS:]):
        parts.append(position.words.ngettext("one more card", "{count} more cards", hidden).format(count=hidden))
    if gain.has_last_trick and not without.has_last_trick:
        parts.append(_("the deal’s last trick"))
    return _list(parts, _(" and "))


def _list(parts: Sequence[str], last_joiner: str) -> str:
    return last_joiner.join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _spades_reason(position: PuzzleText, bids: tuple[int, int], won: Sequence[int], names: dict[str, str]) -> str:
    """Compare the reader's tricks, ``won``, with the best card and with the other one."""
    words = position.words
    _, lost = words.text, [SpadesDeal.LENGTH - tricks for tricks in won]

    def count(tricks: int) -> str:
        return words.ngettext("{count} trick", "{count} tricks", tricks).format(count=tricks)

    def bid_text(bid: int) -> str:
        return _("bid of {tricks}").format(tricks=bid) if bid else _("nil bid")

    if _is_made(bids[0], won[0]) and not _is_made(bids[0], won[1]):
        line = _("With {best} you take {tricks} and keep your {bid}. With {other} you take {count}.")
        return line.format(**names, tricks=count(won[0]), bid=bid_text(bids[0]), count=won[1])
    if _is_made(bids[1], lost[1]) and not _is_made(bids[1], lost[0]):
        line = _("With {best} your opponent takes {tricks} and misses the {bid}. With {other} it’s {count}.")
        return line.format(**names, tricks=count(lost[0]), bid=bid_text(bids[1]), count=lost[1])
    line = _("With {best} you take {tricks}, with {other} {count}.")
    return line.format(**names, tricks=count(won[0]), count=won[1])


def _is_made(bid: int, tricks: int) -> bool:
    return tricks >= bid if bid else not tricks
