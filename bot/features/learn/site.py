"""Courses for web pages."""

from collections.abc import Iterable
from typing import NamedTuple

from bot.features.learn.courses import COURSES
from bot.features.learn.lesson import LAST, STEPS, Lesson, Spot, tap
from bot.features.learn.progress import Progress, Reached
from bot.people import People, Profile
from bot.platform import Person
from bot.texts import texts
from engine.views import LastTrick, PacketsView, ShownCard, SpadesView


class PageCourse(NamedTuple):
    id: str
    title: str
    line: str
    reached: Reached


class LearnCard(NamedTuple):
    """A card. ``drawn`` is its code in the reader's suits. ``taps`` is what a tap on it sends, empty if it is no move.

    ``by`` is the player of a card on the table.
    """

    drawn: str
    name: str
    taps: str = ""
    by: str = ""


class LessonPage(NamedTuple):
    """A step for a web page. ``answer`` is about the last tap. ``others`` are the bot's open cards.

    ``buttons`` are moves without a card: their labels and the values of their taps. ``skip`` is the next step.
    """

    course: str
    title: str
    game: str
    step: str
    steps: str
    answer: str
    text: str
    news: list[str]
    deck: str
    others: list[LearnCard]
    trick: list[LearnCard]
    last_trick: list[LearnCard]
    drawn: list[LearnCard]
    hand: list[LearnCard]
    packets: list[LearnCard]
    buttons: list[tuple[str, str]]
    skip: str
    is_won: bool
    can_restart: bool


class LearnSite:
    """Courses for web pages. Every method can raise a store error."""

    def __init__(self, people: People, progress: Progress) -> None:
        self._people, self._progress = people, progress

    async def courses(self, person: str, language: str) -> list[PageCourse]:
        """Return the list of courses. ``person`` is empty for a stranger."""
        _ = texts(language).gettext
        reached = await self._progress.courses_of(person) if person else {}
        return [
            PageCourse(id_, course.title, _(course.line), reached.get(id_, Reached()))
            for id_, course in COURSES.items()
        ]

    async def page(self, person: str, language: str, spot: Spot) -> LessonPage:
        """Return a step after a tap. Without a step the person continues where they left off.

        Raises BadPayload for a spot that does not exist. Stores nothing, because browsers also load pages that no
        person requested.
        """
        profile = await self._people.person(person) if person else Profile("")
        if person and not spot.step:
            spot = await self._progress.spot(person, spot.course)
        lesson, answer = tap(spot if spot.step else Spot(spot.course), language, profile.suits)
        return _lesson_page(lesson, answer, profile.deck)

    async def note_tap(self, person: Person | None, spot: Spot) -> None:
        """Store the step after a tap, if the person is known. Raises BadPayload like `page`."""
        lesson, _answer = tap(spot, "en", "italian")
        if person:
            await self._people.meet(person)
            await self._progress.note(person.id, lesson)


def _lesson_page(lesson: Lesson, answer: str, style: str) -> LessonPage:
    words, deal, names = lesson.words, lesson.deal, lesson.lines.names
    taps = {move: lesson.with_tap(number).taps for number, move in enumerate(lesson.moves)}

    def cards(codes: Iterable[str]) -> list[LearnCard]:
        return [LearnCard(words.faces.drawn_code(code), words.card(code)) for code in codes]

    def own(codes: Iterable[str]) -> list[LearnCard]:
        return [card._replace(taps=taps.get(f"play {code}", "")) for code in codes for card in cards([code])]

    def played(trick: Iterable[ShownCard]) -> list[LearnCard]:
        return [card._replace(by=names[shown_card.seat]) for shown_card in trick for card in cards([shown_card.card])]

    def tops(seat: int) -> list[str]:
        packets = deal.packets if isinstance(deal, PacketsView) else ()
        return [packet.top for packet in packets if packet.owner == seat and packet.top]

    last_trick: LastTrick | None = None if deal.trick or lesson.step else deal.last_trick
    return LessonPage(
        course=lesson.spot.course,
        title=lesson.course.title,
        game=lesson.course.game,
        step=lesson.spot.step,
        steps=LAST,
        answer=answer,
        text=lesson.text(),
        news=lesson.news(),
        deck=f"{words.faces.deck}-{style}",
        others=cards([*deal.known[1], *tops(1)]),
        trick=played(deal.trick),
        last_trick=played(last_trick.cards) if last_trick else [],
        drawn=cards([deal.drawn]) if isinstance(deal, SpadesView) and deal.drawn else [],
        hand=own(deal.hand or ()),
        packets=own(tops(0)),
        buttons=[(lesson.label(move), value) for move, value in taps.items() if not move.startswith("play ")],
        skip=STEPS[STEPS.index(lesson.spot.step) + 1] if lesson.step else "",
        is_won=lesson.is_won,
        can_restart=lesson.step is None and bool(lesson.spot.taps) and not lesson.is_won,
    )
