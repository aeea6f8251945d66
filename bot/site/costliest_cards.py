"""The cards that cost a player most in a finished game, by its analysis."""

from dataclasses import dataclass
from typing import Literal

from bot.finished.analysis_pool import Analysis
from bot.finished.game import FinishedGame
from bot.words.spoken import spoken_card
from bot.words.verdicts import better_text, lost_text, open_cards_note, replay_step, scale_verdicts
from bot.words.wording import Wording, faces_of
from engine.robots.verdicts import Verdict, costliest_moves

LISTED = 3  # cards


@dataclass(frozen=True, slots=True)
class CostlyCard:
    """A card that cost points: the drawn card, its name, what it cost, and the part of the replay's address."""

    code: str
    name: str
    text: str
    step: str


@dataclass(frozen=True, slots=True)
class CostliestCards:
    """``state`` says whether the game's analysis is missing, running or done. ``title`` is above the ``cards``."""

    state: Literal["missing", "running", "done"]
    title: str = ""
    cards: tuple[CostlyCard, ...] = ()


def costliest_cards(
    game: FinishedGame, analysis: Analysis | None, seat: int, language: str, suits: str
) -> CostliestCards:
    """Return the cards that cost the player at ``seat`` most points, each with the better move."""
    if analysis is None:
        return CostliestCards("missing")
    if analysis.deals < len(game.record.deals):
        return CostliestCards("running")
    words = Wording(language, game.record.seats, faces_of(game.record.kind, suits))
    own_verdicts = [
        verdict for verdict in analysis.verdicts if verdict.seat == seat and verdict.move.startswith("play ")
    ]
    costliest = costliest_moves(scale_verdicts(own_verdicts, game.record.game), LISTED)
    _ = words.text
    if not costliest:
        return CostliestCards("done", _("No card cost you points."))
    count = len(costliest)
    title = words.ngettext("Your costliest card", "Your {count} costliest cards", count).format(count=count)
    return CostliestCards("done", title, tuple(_costly_card(words, verdict) for verdict in costliest))


def _costly_card(words: Wording, verdict: Verdict) -> CostlyCard:
    _, card = words.text, verdict.move.split(" ")[1]
    points, better = lost_text(words, verdict), better_text(words, verdict)
    line = _("Deal {deal}: {card}, {points}. {better}")
    text = line.format(deal=verdict.deal, card=words.card(card), points=points, better=better)
    text = f"{text} {open_cards_note(words, verdict)}".rstrip()
    return CostlyCard(words.faces.drawn_code(card), spoken_card(words, card), text, replay_step(verdict))
