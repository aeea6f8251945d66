"""The card that cost a player most in a finished game, by its analysis."""

from dataclasses import dataclass
from typing import Literal

from bot.finished.analysis_pool import Analysis
from bot.finished.game import FinishedGame
from bot.words.spoken import spoken_card
from bot.words.verdicts import better_text, lost_text, open_cards_note, scale_verdicts
from bot.words.wording import Wording, faces_of
from engine.robots.verdicts import costliest_moves


@dataclass(frozen=True, slots=True)
class CostliestCard:
    """``state`` says whether the game's analysis is missing, running or done. ``text`` describes the card.

    ``code`` is the drawn card, ``name`` its name in words, and ``step`` the part of the replay's address that leads to
    it. These three are empty if no card cost anything.
    """

    state: Literal["missing", "running", "done"]
    text: str = ""
    code: str = ""
    name: str = ""
    step: str = ""


def costliest_card(
    game: FinishedGame, analysis: Analysis | None, seat: int, language: str, suits: str
) -> CostliestCard:
    """Return the card that cost the player at ``seat`` most points, with the better move."""
    if analysis is None:
        return CostliestCard("missing")
    if analysis.deals < len(game.record.deals):
        return CostliestCard("running")
    words = Wording(language, game.record.seats, faces_of(game.record.kind, suits))
    _ = words.text
    own = [verdict for verdict in analysis.verdicts if verdict.seat == seat and verdict.move.startswith("play ")]
    worst = next(iter(costliest_moves(scale_verdicts(own, game.record.game), 1)), None)
    if worst is None:
        return CostliestCard("done", _("No card cost you points."))
    card = worst.move.split(" ")[1]
    text = _("Your costliest card: {card}, deal {deal} ({points}). {better}").format(
        card=words.card(card),
        deal=worst.deal,
        points=lost_text(worst, language),
        better=better_text(words, worst),
    )
    text = f"{text} {open_cards_note(words, worst)}".rstrip()
    step = f"#d{worst.deal}m{worst.move_index + 1}"
    return CostliestCard("done", text, words.faces.drawn_code(card), spoken_card(words, card), step)
