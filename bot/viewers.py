"""The viewers of a panel: their language, suits and pictures."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from bot.panel import Panel
from bot.panel_picture import CardStyle, Live, Picture, Subject
from bot.people import People
from bot.pictures.scene import Scene
from bot.platform import Adapter, is_inline, is_private, person_of, platform_of
from bot.texts import texts


class Viewer(NamedTuple):
    """The person or chat that a panel is drawn for.

    ``deck`` is None for no pictures. ``group`` is the chat's name, for pictures that are forwarded. ``pages_url`` is
    the address of our pages, empty if unreachable. ``wants_phrases``: they want to read phrases. ``wants_live_hands``:
    the platform has hands with cards to tap, and they want them, ``wants_large_cards``: with large cards and letters.
    ``plays_here``: a button can open the table inside the platform's app.
    """

    language: str
    suits: str = "italian"
    deck: CardStyle | None = None
    group: str = ""
    pages_url: str = ""
    wants_phrases: bool = True
    wants_live_hands: bool = False
    wants_large_cards: bool = False
    plays_here: bool = False


class Viewers:
    """Finds the viewer of a place: a person in private, otherwise a chat."""

    def __init__(self, people: People, adapters: Mapping[str, Adapter]) -> None:
        self._people, self._adapters = people, adapters

    async def viewer_at(self, place: str) -> Viewer:
        adapter = self._adapters.get(platform_of(place))
        pages = adapter.pages_url if adapter else ""
        plays_here = adapter is not None and adapter.plays_here
        can_show = adapter is not None and adapter.shows_pictures
        if is_private(place):
            profile = await self._people.person(person_of(place))
            deck = profile.deck if can_show and profile.wants_pictures else None
            return Viewer(
                profile.language,
                profile.suits,
                deck,
                pages_url=pages,
                wants_phrases=profile.wants_phrases,
                wants_live_hands=adapter is not None and adapter.has_live_hands and profile.wants_live_hands,
                wants_large_cards=profile.wants_large_cards,
                plays_here=plays_here,
            )
        chat = await self._people.chat(place)
        if is_inline(place):
            # Uploads are not possible there.
            return Viewer(chat.language, pages_url=pages)
        deck = chat.deck if can_show and chat.wants_pictures else None
        return Viewer(chat.language, deck=deck, group=chat.name, pages_url=pages, plays_here=plays_here)


def with_picture(
    panel: Panel, subject: Subject | None, language: str, *, is_lasting: bool = False, live: Live | None = None
) -> Panel:
    """Return the panel with a picture, and an alternative text that refers to the panel's text."""
    if subject is None:
        return panel
    _ = texts(language).gettext
    alt = _("A picture, described in the text.")
    if isinstance(subject, Scene):
        alt = _("A picture of the table, described in the text.")
    return replace(panel, picture=Picture(subject, alt, is_lasting=is_lasting, live=live))
