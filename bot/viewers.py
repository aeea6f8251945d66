"""Who looks at a panel: in which language, with which suits, and with which cards in pictures, if any."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from bot.panel import Panel
from bot.people import People
from bot.picture import CardStyle, Picture, Subject
from bot.pictures.scene import Scene
from bot.platform import Adapter, is_inline, is_private, person_of, platform_of
from bot.texts import texts


class Viewer(NamedTuple):
    """For whom a panel is drawn: the language and suits of a person or chat, and how cards in pictures are drawn; None
    for no pictures. ``group`` is what the chat is called, for pictures that are passed on. ``pages`` is where our pages
    are, empty if they cannot be reached. ``hears`` is whether they want to read what strangers say.
    """

    language: str
    suits: str = "italian"
    deck: CardStyle | None = None
    group: str = ""
    pages_url: str = ""
    wants_phrases: bool = True


class Viewers:
    """Those who look at what stands in a place: a person in private, otherwise a chat."""

    def __init__(self, people: People, adapters: Mapping[str, Adapter]) -> None:
        self._people, self._adapters = people, adapters

    async def viewer_at(self, place: str) -> Viewer:
        """Whoever looks at what stands in a place."""
        adapter = self._adapters.get(platform_of(place))
        pages = adapter.pages_url if adapter else ""
        can_show = adapter is not None and adapter.shows_pictures
        if is_private(place):
            profile = await self._people.person(person_of(place))
            deck = profile.deck if can_show and profile.wants_pictures else None
            return Viewer(profile.language, profile.suits, deck, pages_url=pages, wants_phrases=profile.wants_phrases)
        chat = await self._people.chat(place)
        if is_inline(place):
            # Nothing can be uploaded there.
            return Viewer(chat.language, pages_url=pages)
        deck = chat.deck if can_show and chat.wants_pictures else None
        return Viewer(chat.language, deck=deck, group=chat.name, pages_url=pages)


def with_picture(panel: Panel, subject: Subject | None, language: str, *, is_lasting: bool = False) -> Panel:
    """The panel with a picture, if there is one; its alternative text says where all that it shows can be read.

    ``is_lasting`` is as for `Picture`.
    """
    if subject is None:
        return panel
    _ = texts(language).gettext
    alt = (
        _("A picture of the table: what it shows is in the text.")
        if isinstance(subject, Scene)
        else _("A picture: what it shows is in the text.")
    )
    return replace(panel, picture=Picture(subject, alt, is_lasting=is_lasting))
