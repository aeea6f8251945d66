"""The search for an opponent from a page. The page asks every few seconds, and a page that stops asking has closed."""

from contextlib import suppress
from typing import Literal, NamedTuple

from bot.features.find.commands import DEFAULT_ROBOTS_AFTER_SECONDS
from bot.features.find.errors import AskedIfReady
from bot.features.find.finder import Finder
from bot.people import People, Profile
from bot.platform import Person
from bot.site.attempts import try_to_do
from bot.store.outage import STORE_ERRORS
from bot.tables.challenges import Challenges
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from engine import GAMES


class PageSearch(NamedTuple):
    """A person's search: none, waiting, matched ("asked", "ready" once they accepted), or "playing".

    ``text`` describes the state. ``game`` is an id. ``code`` is the table of the match.
    """

    state: Literal["none", "waiting", "asked", "ready", "playing"]
    text: str = ""
    game: str = ""
    code: str = ""


class FindSite:
    """The search for web pages. Methods can raise store errors."""

    def __init__(self, finder: Finder, people: People, challenges: Challenges) -> None:
        self._finder, self._people, self._challenges = finder, people, challenges

    async def start(self, person: Person, game: str, update: str) -> str:
        """Start a search, and return an error for the person or an empty string. Idempotent for an update."""
        robots_after = DEFAULT_ROBOTS_AFTER_SECONDS if GAMES[game].seats > 2 else None

        async def start_search(profile: Profile) -> None:
            if await self._finder.start_search(profile, [game], update, robots_after) == "asked":
                raise AskedIfReady()
            await self._finder.queue.note_page(person.id, is_new=True)

        return await try_to_do(self._people, person, start_search)

    async def search_of(self, person: str, language: str) -> PageSearch:
        """Return a person's search. If it was started on a page, note that the page is open."""
        _, queue = texts(language).gettext, self._finder.queue
        if pairing := await queue.pairing_of(person):
            await queue.note_page(person)
            table = await self._challenges.find_opened_table(f"find:{pairing.code}")
            if table and table.phase == "open":
                other_names = [isolate_name(chair.name) for chair in table.matched if chair.person != person]
                if person in table.people:
                    return PageSearch("ready", _("You’re ready. Waiting for the others."), pairing.game, table.code)
                text = _("You’re matched with {name}.").format(name=", ".join(other_names))
                return PageSearch("asked", text, pairing.game, table.code)
            if table and table.phase == "playing":
                return PageSearch("playing", "", pairing.game, table.code)
            # The search opens or closes the table in a moment.
            return PageSearch("waiting", _("One moment…"), pairing.game)
        if not (games := await queue.games_of(person)):
            return PageSearch("none")
        await queue.note_page(person)
        profile = await self._people.person(person)
        text = _("Looking for {game}… You appear as {name}.")
        game = _(GAMES[games[0]].name) if len(games) == 1 else _("any game for two")
        return PageSearch("waiting", text.format(game=game, name=isolate_name(profile.nickname)), games[0])

    async def stop(self, person: str, update: str) -> None:
        await self._finder.leave(person, update)

    async def count(self) -> int:
        """Return the number of people who are looking for an opponent; 0 while the store is away."""
        with suppress(*STORE_ERRORS):
            return await self._finder.queue.count()
        return 0
