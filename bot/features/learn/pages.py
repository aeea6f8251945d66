"""Messages of courses."""

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter

from bot import actions
from bot.features.learn.courses import COURSES
from bot.features.learn.lesson import LAST, STEPS, Lesson, Spot
from bot.features.learn.progress import Reached
from bot.panel import Button, Panel, Row, Writer
from bot.texts import texts


def payload(spot: Spot) -> str:
    return actions.page("learn", *filter(None, spot))


def courses_page(language: str, reached: Mapping[str, Reached]) -> Panel:
    """Return the list of courses. ``reached`` are the courses that the reader has begun."""
    _ = texts(language).gettext
    page = Writer(_("🎓 Learn in three minutes"))
    page.line(_("Eight small tables, then the end of a real deal. Pick a game:"))
    page.gap()
    rows = []
    for id_, course in COURSES.items():
        page.line("{course} · {line}", course=course.title, line=_(course.line))
        step, is_done = reached.get(id_, Reached())
        label = f"{'✓ ' * is_done}{course.title}{f' · {step}/{LAST}' if step else ''}"
        rows.append((Button(label, actions.page("learn", id_)),))
    return page.panel(*rows)


def lesson_page(lesson: Lesson, answer: str) -> Panel:
    """Return a step. ``answer`` is the sentence about the last tap, or empty."""
    _ = lesson.words.text
    page = Writer()
    if answer:
        page.line(answer)
        page.gap()
    title = lesson.course.title
    page.line(_("{course} · {step} of {count}"), "bold", course=title, step=lesson.spot.step, count=LAST)
    page.line(lesson.text())
    _write_table(page, lesson)
    return page.panel(*_move_rows(lesson), *_ways(lesson))


def _write_table(page: Writer, lesson: Lesson) -> None:
    deal, words, lines, _ = lesson.deal, lesson.words, lesson.lines, lesson.words.text
    page.gap()
    lines.write_trick(page, deal)
    for line in lesson.news():
        page.line(line)
    page.fold()
    if deal.last_trick:
        page.line(_("Previous trick: {trick}"), trick=lines.trick_text(deal.last_trick))
    lines.write_known_cards(page, deal)
    if deal.hand:
        page.line(_("Your hand"), "italic")
    for suit, codes in groupby(deal.hand or (), key=itemgetter(1)):
        page.line(f"{words.faces.sign(suit)}  {' '.join(map(words.faces.rank, codes))}", "bold")
    lines.write_packets(page, deal)
    lines.write_bids(page, deal)


def _move_rows(lesson: Lesson) -> list[Row]:
    """Return a button for each move: declarations and pick-ups one per row, then the hand and the tops of packets."""
    hand: list[Button] = []
    packet_tops: list[Button] = []
    other_moves: list[Button] = []
    for number, move in enumerate(lesson.moves):
        button = Button(lesson.label(move), payload(lesson.with_tap(number)))
        row = other_moves if move.startswith(("declare ", "pick ")) else packet_tops if lesson.is_top(move) else hand
        row.append(button)
    return [*((button,) for button in other_moves), tuple(hand), tuple(packet_tops)]


def _ways(lesson: Lesson) -> list[Row]:
    _ = lesson.words.text
    courses = Button(_("◀ Courses"), actions.page("learn"))
    spot = lesson.spot
    if lesson.is_won:
        robot = Button(_("🤖 Play a robot"), actions.page("find", "robot", lesson.course.game, "easy"), "good")
        return [(robot,), (courses,)]
    if lesson.step is None:
        again_button = Button(_("Try again"), payload(Spot(spot.course, LAST)))
        return [(again_button, courses) if spot.taps else (courses,)]
    next_step = STEPS[STEPS.index(spot.step) + 1]
    return [(courses, Button(_("Skip ▶"), payload(Spot(spot.course, next_step))))]
