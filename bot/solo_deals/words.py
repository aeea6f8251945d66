"""Words for results and lines of deals that people play alone."""

from collections.abc import Sequence

from bot.solo_deals.lines import Decision, SoloLine, first_fork
from bot.solo_deals.results import SoloResult
from bot.words.verdicts import advice_text, short_move
from bot.words.wording import Wording

SQUARES_PER_ROW = 10  # fits on a narrow phone


def squares_text(result: SoloResult) -> str:
    """Return the tricks as squares, which reveal no card."""
    return "".join("🟩" if trick == "1" else "⬜" for trick in result.tricks)


def rows_of_squares(result: SoloResult) -> list[str]:
    """Return the tricks as squares, in rows of equal length that fit on a phone."""
    squares = squares_text(result)
    rows = max(1, -(-len(squares) // SQUARES_PER_ROW))
    size = max(1, -(-len(squares) // rows))
    return [squares[start : start + size] for start in range(0, len(squares), size)]


def fork_text(words: Wording, lines: Sequence[SoloLine]) -> str:
    """Return where the lines first differ. With fewer than two lines, explain the squares instead."""
    _ = words.text
    if len(lines) < 2:
        return _("Trick by trick: green squares are tricks taken.")
    fork = first_fork(lines)
    if fork is None:
        return _("Everyone played the same cards.")
    branch_texts = []
    for branch in fork.branches:
        template = _("{move}, later") if branch.is_later else "{move}"
        branch_texts.append(f"{template.format(move=move_text(words, branch.move))} ×{branch.times}")
    when = moment_text(words, fork.decision)
    return _("First difference, {when}: {ways}").format(when=when, ways=" · ".join(branch_texts))


def moment_text(words: Wording, decision: Decision) -> str:
    _ = words.text
    return (_("at trick {trick}") if decision.card else _("before trick {trick}")).format(trick=decision.trick)


def move_text(words: Wording, move: str) -> str:
    """Return a move without its player's name: a card alone, any other move in words."""
    word, *arguments = move.split(" ")
    if word == "play":
        return words.card(arguments[0]) + (f" ({arguments[1]}!)" if len(arguments) > 1 else "")
    return short_move(words, move) if word in ("declare", "bid") else f"“{advice_text(words, move)}”"
