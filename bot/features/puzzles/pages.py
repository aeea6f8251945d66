"""Messages with a puzzle or its solution."""

from datetime import date
from typing import NamedTuple

from bot import actions
from bot.days.chosen_hours import hour_row
from bot.features.puzzles.puzzle_ratings import AnswerCounts, PuzzleStanding, StandingChange
from bot.features.puzzles.reasons import reason
from bot.features.puzzles.texts import PuzzleText
from bot.panel import Button, Panel, Writer
from bot.texts import gettext_noop as _
from bot.texts import texts
from bot.words.table_lines import card_name
from bot.words.wording import score_unit_of, signed_text
from engine.puzzles.puzzle import Puzzle

FIRST_RATED_ANSWERS = 5  # answers before which a rating and counts say little
QUESTION = _("It’s your turn, and all hands are open. Which card earns most by the end?")


class PuzzleContext(NamedTuple):
    """Where a puzzle is shown: in a private chat, or in a group as the puzzle of ``day``.

    ``answers`` are the group's answers so far. ``hour`` is the hour at which the group gets a puzzle each day.
    """

    day: date | None = None
    answers: AnswerCounts = AnswerCounts(0, 0)
    hour: int | None = None


def puzzle_panel(
    language: str, suits: str, puzzle: Puzzle, context: PuzzleContext, *, has_hours: bool = False
) -> Panel:
    """Ask which card is best. With ``has_hours``, a group can choose when a new puzzle comes each day."""
    position = PuzzleText(language, suits, puzzle)
    _, ngettext = texts(language)
    page = Writer()
    position.write_heading(page, context.day)
    page.line(_(QUESTION))
    page.line(position.order())
    page.line(position.scoring(), "small")
    if context.day and (count := sum(context.answers)):
        line = ngettext("{right} of {count} answer was right.", "{right} of {count} answers were right.", count)
        page.line(line, right=context.answers.right, count=count)
    if has_hours:
        page.line(_("🔔 Choose an hour to get a puzzle here every day."), "small")
    page.fold()
    position.write_cards(page)
    rows = position.card_rows("group" if context.day else "play")
    if not context.day:
        return page.panel(*rows)
    why_button = Button(_("💡 Why?"), actions.page("puzzle", "why", puzzle.id))
    if not has_hours:
        return page.panel(*rows, (why_button,))
    hours = hour_row(language, context.hour, lambda hour: actions.page("puzzle", "hour", hour, puzzle.id))
    return page.panel(*rows, (why_button,), hours)


def solution_panel(
    language: str, suits: str, puzzle: Puzzle, card: str, change: StandingChange | None, standing: PuzzleStanding
) -> Panel:
    """Return the panel after an answer. ``change`` is None for a repeated answer, which is not rated."""
    position = PuzzleText(language, suits, puzzle)
    page = Writer()
    position.write_heading(page, None)
    page.line(verdict(language, suits, puzzle, card), "bold")
    page.line(reason(position, card))
    page.gap()
    position.write_figures(page, card)
    page.gap()
    for line in standing_lines(language, change, standing):
        page.line(line)
    page.fold()
    position.write_cards(page)
    lines_button = Button(texts(language).gettext("💡 Best play"), actions.page("puzzle", "lines", puzzle.id))
    return page.panel((lines_button, _next_button(language)))


def lines_panel(language: str, suits: str, puzzle: Puzzle, card: str, *, has_verdict: bool = True) -> Panel:
    """Show how the deal continues with best play, after the best card and after the reader's ``card``."""
    position = PuzzleText(language, suits, puzzle)
    _ = texts(language).gettext
    page = Writer()
    if has_verdict:
        position.write_heading(page, None)
        page.line(verdict(language, suits, puzzle, card), "bold")
        page.gap()
    page.line(_("Best play from here:"))
    position.write_line(page, puzzle.lines[0])
    own_line = puzzle.line(puzzle.pack.index[card])
    if own_line and own_line != puzzle.lines[0]:
        page.gap()
        page.line(_("After {card}:"), card=position.words.card(card))
        position.write_line(page, own_line)
    if has_verdict:
        page.fold()
        position.write_cards(page)
    return page.panel((_next_button(language),))


def _next_button(language: str) -> Button:
    return Button(texts(language).gettext("Next puzzle"), actions.page("puzzle", "next"), "good")


def verdict(language: str, suits: str, puzzle: Puzzle, card: str) -> str:
    """Return whether a card was the best one. If not, a second line says how much more the best one earns."""
    _, ngettext = texts(language)
    words, best = PuzzleText(language, suits, puzzle).words, puzzle.pack.codes[puzzle.best]
    if best == card:
        return _("✅ Right: {card} earns most.").format(card=card_name(words, card))
    points_lost = puzzle.points_lost(card) * score_unit_of(puzzle.game)
    sentence = ngettext(
        "❌ Best: {best},\n{count} point more than your {card}",
        "❌ Best: {best},\n{count} points more than your {card}",
        points_lost,
    )
    return sentence.format(best=card_name(words, best), card=card_name(words, card), count=points_lost)


def all_answered_panel(language: str, standing: PuzzleStanding) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("🧩 You’ve answered all my puzzles."), "bold")
    for line in standing_lines(language, None, standing):
        page.line(line)
    return page.panel()


def standing_lines(language: str, change: StandingChange | None, standing: PuzzleStanding) -> list[str]:
    """Return a person's puzzle rating, with its ``change`` by the last answer, and their right answers."""
    _ = texts(language).gettext
    rating = _("Your puzzle rating: {rating}").format(rating=standing.rating)
    if change:
        gain = signed_text(change.new_standing.rating - change.old_standing.rating)
        rating = _("Your puzzle rating: {rating} ({change})").format(rating=change.new_standing.rating, change=gain)
    if standing.answered < FIRST_RATED_ANSWERS:
        return []
    right = _("Right answers: {solved} of {answered} · in a row: {run} (best: {longest})").format(
        solved=standing.solved, answered=standing.answered, run=standing.run, longest=standing.longest
    )
    return [rating, right]
