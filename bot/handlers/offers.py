"""Offers: what a person may send into any chat, and how a table comes of one that somebody presses there."""

import re
from collections.abc import Sequence

from bot import offers
from bot.actions import BadPayload, OfferAction
from bot.feature import Feature
from bot.game_words import targets
from bot.handlers.errors import ChallengerIsBusy, GameOnHere, OfferExpired, OfferTaken
from bot.panels.offer import offer_description, offer_panel, offer_title
from bot.people import People, Profile
from bot.places import Place
from bot.platform import Offer, Press, chat_of, is_inline, platform_of
from bot.store import Store, keys
from bot.tables.challenges import Challenges
from bot.tables.choice import Choice
from bot.tables.errors import NoSuchTable, TooManyChallenges, TooManyTables
from bot.tables.lists import TableLists
from bot.tables.table import Table
from bot.texts import LANGUAGES
from bot.words.phrases import game_names

TAKEN_SECONDS = 2 * offers.VALID_HOURS * 3600
"""For how long it is known where an offer was taken up: for longer than it is good."""

BOUND_SECONDS = 400 * 24 * 3600
"""For how long an inline message belongs to its offer after each time that its table is opened."""

SIGNATURE = re.compile(r"[\w-]{14}", re.ASCII)

NO_OFFER = "-"
"""Stands for an offer with a message that is none of those that people send through the bot."""


class Offers:
    """Makes offers, and opens the tables of those that are taken up."""

    def __init__(
        self, store: Store, people: People, challenges: Challenges, lists: TableLists, features: Sequence[Feature]
    ) -> None:
        self._store, self._people, self._challenges = store, people, challenges
        self._lists, self._features = lists, features

    async def find_offers(self, profile: Profile, typed: str) -> list[Offer]:
        """What fits what somebody has typed: each game, the one they named, and their own rating."""
        secret, language = await self._store.secret(), profile.language
        found = []
        for choice in await self._choices(profile.id, typed):
            payload = offers.encode(offers.new_terms(choice, profile.id), secret)
            panel = offer_panel(choice, profile.name, payload, language)
            about = offer_title(choice, language), offer_description(choice, language)
            found.append(Offer(f"{choice.game}.{_signature(payload)}", *about, panel))
        if not typed.strip():
            for feature in self._features:
                found += await feature.offers(profile)
        return found

    async def note_sent(self, person: str, offer: str, typed: str, place: str) -> None:
        """Note that somebody has sent the offer of this id, one of those that fitted what they had typed."""
        game, _, signature = offer.partition(".")
        if place and SIGNATURE.fullmatch(signature):
            client = self._store.client
            await client.set(_message_key(place), signature, nx=True, ex=TAKEN_SECONDS)
            await client.set(f"{keys.OFFER}{signature}", place, nx=True, ex=TAKEN_SECONDS)
        for choice in await self._choices(person, typed):
            if choice.game == game:
                await self._people.note_choice(person, choice)

    async def _choices(self, person: str, typed: str) -> list[Choice]:
        """The games that somebody means who has typed this, as they last chose to play them, to the points that they
        named.
        """
        words = typed.casefold().split()
        points = next((int(word) for word in words if word.isdecimal() and len(word) < 5), 0)
        named = " ".join(word for word in words if not word.isdecimal())
        found = [
            one
            for one in await self._people.last_choices(person)
            if (not points or points in targets(one.game)) and any(named in name for name in _names(one.game))
        ]
        return [one.with_target(targets(one.game)[points].value) for one in found] if points else found

    async def accept(self, press: Press, action: OfferAction) -> Table:
        """Somebody has pressed an offer: its table, at which they sit now unless it is their own offer.

        The first press opens it, whoever makes it, and the message becomes its board. An offer stands for one message.
        """
        if not is_inline(press.place):
            raise BadPayload()
        terms = offers.decode(action.terms, platform_of(press.place), await self._store.secret())
        if not terms.is_valid:
            raise OfferExpired()
        # The signature: the same each time, and nobody else has it.
        signature = _signature(action.terms)
        update = f"{keys.OFFER}{signature}"
        is_first = await self._bind_offer(update, press.place)
        await self._bind_message(press.place, signature, update, is_first=is_first)
        table = await self._open(terms, update, press)
        if is_first:
            await self._people.note_choice(terms.person, terms.choice)
        person = press.person
        if person.id == terms.person:
            return table
        return await self._challenges.sit(table.code, person.id, person.name, press.key, handle=person.handle)

    async def _bind_offer(self, update: str, place: str) -> bool:
        """Whether this is an offer's first press; OfferTaken where it was pressed elsewhere and then carried there: it
        could open tables without end.
        """
        first = await self._store.client.set(update, place, nx=True, get=True, ex=TAKEN_SECONDS)
        if first is not None and _parse_message(first.decode()) != _parse_message(place):
            raise OfferTaken()
        return first is None

    async def _bind_message(self, place: str, signature: str, update: str, *, is_first: bool) -> None:
        """Bind an inline message to its offer; raise if it belongs to another one, whatever the client pressed."""
        client = self._store.client
        bound = await client.set(_message_key(place), signature, nx=True, get=True, ex=BOUND_SECONDS)
        if bound is None:
            return
        if bound.decode() != signature:
            if is_first:
                # It was not taken up here, and still may be where it was sent.
                await client.delete(update)
            await check_is_free(self._lists, place, update)
            raise BadPayload()
        await client.expire(_message_key(place), BOUND_SECONDS)

    async def is_bound(self, place: str) -> bool:
        """Return whether an inline message is known to belong to an offer."""
        bound = await self._store.client.get(_message_key(place))
        return bound is not None and bound.decode() != NO_OFFER

    async def block_offers(self, place: str) -> None:
        """Note that a message with an inline id is none that somebody sent: no offer can be taken up there."""
        await self._store.client.set(_message_key(place), NO_OFFER, nx=True, ex=TAKEN_SECONDS)

    async def _open(self, terms: offers.Terms, update: str, press: Press) -> Table:
        await check_is_free(self._lists, press.place, update)
        opener = await self._people.person(terms.person)
        if opener.name == Profile.name:
            # They have had themselves forgotten since.
            raise OfferExpired()
        # Before there is a table: its first board speaks that language already.
        await self._people.note_chat(press.place, opener.language)
        try:
            return await self._challenges.open_table(
                terms.choice.game, opener.id, opener.name, update, host=press.place, setup=terms.choice.setup
            )
        except NoSuchTable:
            # It was opened, and its game is over.
            raise OfferExpired() from None
        except (TooManyTables, TooManyChallenges):
            if press.person.id == opener.id:
                raise
            raise ChallengerIsBusy(name=opener.name) from None


async def check_is_free(lists: TableLists, place: str, update: str) -> None:
    """An inline message shows one table: GameOnHere if it shows one that goes on, and was opened by another update.

    A press there need not be of a button that the message has.
    """
    for table in await lists.tables_at(chat_of(place)):
        if place in table.hosts and table.phase in ("open", "playing") and not table.log.was_opened_by(update):
            raise GameOnHere()


def _signature(terms: str) -> str:
    return terms.rpartition(".")[2]


def _parse_message(place: str) -> tuple[str, str]:
    """Return the platform and the inline id of a place, whose chat need not be known."""
    where = Place.parse(place)
    return where.platform, where.part


def _message_key(place: str) -> str:
    return f"{keys.OFFERED}{':'.join(_parse_message(place))}"


def _names(game: str) -> list[str]:
    return [game, *(game_names(language)[game].casefold() for language in LANGUAGES)]
