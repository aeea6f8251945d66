"""Offers of games: a person sends one into any chat, and the first press on it opens a table."""

import re
from collections.abc import Sequence

from bot.actions import BadPayload, OfferAction
from bot.command_names import find_command_spec
from bot.feature import Feature
from bot.finished.archive import Archive
from bot.handlers import offer_terms as offers
from bot.handlers.errors import ChallengerIsBusy, ChatHasGame, OfferExpired, OfferTaken
from bot.panels.offer import guest_hint, offer_description, offer_panel, offer_title, result_offer
from bot.parsing.codes_and_links import read_pasted
from bot.parsing.games import BEFORE_POINTS, targets
from bot.people import People, Profile
from bot.places import Place
from bot.platform import Offer, Press, chat_of, is_inline, platform_of
from bot.store import Store, keys
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, TooManyChallenges, TooManyTables
from bot.tables.game_choice import Choice
from bot.tables.limits import HOURS_TO_ACCEPT
from bot.tables.table import Table
from bot.tables.table_lists import TableLists
from bot.texts import LANGUAGES
from bot.words.table_lines import game_names
from engine import GAMES

# how long an accepted offer's place is stored: longer than the offer is valid
TAKEN_SECONDS = 2 * HOURS_TO_ACCEPT * 3600
BOUND_SECONDS = 400 * 24 * 3600  # how long an inline message belongs to its offer after the last press on the offer
SIGNATURE = re.compile(r"[\w-]{14}", re.ASCII)
PUNCTUATION = ",.:;!?"
NO_OFFER = "-"  # stored for an inline message that was not sent through the bot


class Offers:
    """Makes offers, and opens the tables of accepted ones."""

    def __init__(
        self,
        store: Store,
        people: People,
        challenges: Challenges,
        lists: TableLists,
        archive: Archive,
        features: Sequence[Feature],
    ) -> None:
        self._store, self._people, self._challenges, self._archive = store, people, challenges, archive
        self._lists, self._features = lists, features

    async def find_offers(self, profile: Profile, typed_text: str) -> list[Offer]:
        """Return the offers that match the typed text. Features add theirs if it is empty.

        The text can also be the id of a finished game, to share its result.
        """
        pasted_id = read_pasted(typed_text)
        if pasted_id and pasted_id.kind == "game" and (game := await self._archive.get(pasted_id.id)):
            return [result_offer(game, profile.language)]
        offers = [await self._make_offer(profile, choice) for choice in await self._choices(profile.id, typed_text)]
        if not typed_text.strip():
            for feature in self._features:
                offers += await feature.offers(profile)
        return offers

    async def answer_guest(self, profile: Profile, typed_text: str) -> Offer:
        """Return the likeliest offer for a text such as "challenge metamazzo", or a hint if it asks for none."""
        word, *other_words = [word.strip(PUNCTUATION) for word in typed_text.split()] or [""]
        spec = find_command_spec(word.removeprefix("/").casefold())
        if spec and spec.name == "challenge":
            terms = [word for word in other_words if not word.startswith("@") and word.casefold() not in BEFORE_POINTS]
            if choices := await self._choices(profile.id, " ".join(terms)):
                return await self._make_offer(profile, choices[0])
        return guest_hint(profile.language)

    async def _make_offer(self, profile: Profile, choice: Choice) -> Offer:
        payload = offers.encode(offers.new_terms(choice, profile.id), await self._store.secret())
        panel = offer_panel(choice, profile.name, payload, profile.language)
        labels = offer_title(choice, profile.language), offer_description(choice, profile.language)
        return Offer(f"{choice.game}.{_signature(payload)}", *labels, panel)

    async def note_sent(self, person: str, offer: str, typed_text: str, place: str) -> None:
        """Note that a person sent the offer with this id."""
        game, _, signature = offer.partition(".")
        if place and SIGNATURE.fullmatch(signature):
            client = self._store.client
            await client.set(_message_key(place), signature, nx=True, ex=TAKEN_SECONDS)
            await client.set(f"{keys.OFFER}{signature}", place, nx=True, ex=TAKEN_SECONDS)
        for choice in await self._choices(person, typed_text):
            if choice.game == game:
                await self._people.note_choice(person, choice)

    async def _choices(self, person: str, typed_text: str) -> list[Choice]:
        """Return a person's last choice of each game that matches the typed name and points, with those points."""
        words = typed_text.casefold().split()
        points = next((int(word) for word in words if word.isdecimal() and len(word) < 5), 0)
        name_start = " ".join(word for word in words if not word.isdecimal())
        names = {game: [game, *(game_names(language)[game].casefold() for language in LANGUAGES)] for game in GAMES}
        choices = [
            choice
            for choice in await self._people.last_choices(person)
            if (not points or points in targets(choice.game)) and any(name_start in name for name in names[choice.game])
        ]
        return [choice.with_target(targets(choice.game)[points].value) for choice in choices] if points else choices

    async def accept(self, press: Press, action: OfferAction) -> Table:
        """Return the table of a pressed offer, after seating the person there unless it is their own offer.

        The first press by anyone opens the table, and the message becomes its board. An offer is valid for one message.
        """
        if not is_inline(press.place):
            raise BadPayload()
        terms = offers.decode(action.terms, platform_of(press.place), await self._store.secret())
        if not terms.is_valid:
            raise OfferExpired()
        # The signature is the same for each press, and unique to the offer.
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
        """Return whether this is an offer's first press. Raises OfferTaken if it belongs to another message.

        Without this check a copied offer could open tables without limit.
        """
        first_place = await self._store.client.set(update, place, nx=True, get=True, ex=TAKEN_SECONDS)
        if first_place is not None and _parse_message(first_place.decode()) != _parse_message(place):
            raise OfferTaken()
        return first_place is None

    async def _bind_message(self, place: str, signature: str, update: str, *, is_first: bool) -> None:
        """Bind an inline message to its offer. Raise ChatHasGame or BadPayload if it belongs to another offer."""
        client = self._store.client
        bound = await client.set(_message_key(place), signature, nx=True, get=True, ex=BOUND_SECONDS)
        if bound is None:
            return
        if bound.decode() != signature:
            if is_first:
                # The offer was not accepted here, and is still valid in its own message.
                await client.delete(update)
            await check_is_free(self._lists, place, update)
            raise BadPayload()
        await client.expire(_message_key(place), BOUND_SECONDS)

    async def is_bound(self, place: str) -> bool:
        """Return whether an inline message is known to belong to an offer."""
        bound = await self._store.client.get(_message_key(place))
        return bound is not None and bound.decode() != NO_OFFER

    async def block_offers(self, place: str) -> None:
        """Note that a message with an inline id was not sent by a person, so no offer can be accepted there."""
        await self._store.client.set(_message_key(place), NO_OFFER, nx=True, ex=TAKEN_SECONDS)

    async def _open(self, terms: offers.Terms, update: str, press: Press) -> Table:
        await check_is_free(self._lists, press.place, update)
        opener = await self._people.person(terms.person)
        if opener.name == Profile.name or self._store.levers.ban_of(opener.id):
            # The person has used /forget since, or was banned.
            raise OfferExpired()
        # Set the language before the table opens, because its first board uses it.
        await self._people.note_chat(press.place, opener.language)
        try:
            return await self._challenges.open_table(
                terms.choice.game, opener.id, opener.name, update, host=press.place, setup=terms.choice.setup
            )
        except NoSuchTable:
            # The table was opened before, and its game is over.
            raise OfferExpired() from None
        except (TooManyTables, TooManyChallenges):
            if press.person.id == opener.id:
                raise
            raise ChallengerIsBusy(name=opener.name) from None


async def check_is_free(lists: TableLists, place: str, update: str) -> None:
    """Check that an inline message is free for this update's table. Raises ChatHasGame if it shows another live table.

    The pressed button need not belong to the message.
    """
    for table in await lists.tables_at(chat_of(place)):
        if place in table.hosts and table.phase in ("open", "playing") and not table.log.was_opened_by(update):
            raise ChatHasGame()


def _signature(terms: str) -> str:
    return terms.rpartition(".")[2]


def _parse_message(place: str) -> tuple[str, str]:
    """Return the platform and the inline id of a place. Its chat can be unknown."""
    parsed_place = Place.parse(place)
    return parsed_place.platform, parsed_place.part


def _message_key(place: str) -> str:
    return f"{keys.OFFERED}{':'.join(_parse_message(place))}"
