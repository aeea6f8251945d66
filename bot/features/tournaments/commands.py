"""/tournament and /league, and presses on their cards and pages."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from bot.actions import BadPayload
from bot.delivery.private_hands import PrivateHands
from bot.features.tournaments.card import TournamentCards
from bot.features.tournaments.errors import HasBegun, NotEntered, OnlyTheOrganiser, TournamentsNeedMe, WantsAnother
from bot.features.tournaments.naming import with_current_names
from bot.features.tournaments.options_page import done_panel, options_panel
from bot.features.tournaments.pages import (
    confirm_panel,
    existing_panel,
    own_page,
    own_panel,
    partners_panel,
    player_panel,
    result_pages,
    results_panel,
    table_panel,
)
from bot.features.tournaments.registration import Registration
from bot.features.tournaments.rules_page import rules_panel
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.texts import form_names
from bot.features.tournaments.tournament import DAY, FORMS, OPTIONS, USUAL, Form, Key, Tournament
from bot.finished.archive import Archive
from bot.panel import Panel
from bot.people import People, Profile
from bot.platform import Press, Reply, can_write_anytime, chat_of, is_ephemeral, is_private, private_place
from bot.replies import private_reply
from bot.tables.choice import Choice
from bot.tables.table import CLOCKS
from bot.texts import LANGUAGES, texts
from bot.viewers import Viewers
from engine import GAMES
from engine.options import format_value

START_WORD = "tournament"  # the word after /start in links to a person's own tournaments
LEAGUE_TIME = str(14 * DAY)  # usual seconds for a league, as an option's value


class TournamentCommands:
    """Answers to commands and presses about tournaments."""

    def __init__(
        self,
        tournaments: Tournaments,
        registration: Registration,
        cards: TournamentCards,
        viewers: Viewers,
        people: People,
        private_hands: PrivateHands,
        archive: Archive,
    ) -> None:
        self._tournaments, self._registration, self._cards = tournaments, registration, cards
        self._viewers, self._people, self._private_hands, self._archive = viewers, people, private_hands, archive
        self._verbs: dict[str, Callable[[Press, Profile, Tournament, list[str]], Awaitable[Panel | Reply]]] = {
            "enter": self._enter,
            "leave": self._leave,
            "with": self._with,
            "partners": self._partners,
            "start": self._start,
            "options": self._options,
            "set": self._set,
            "game": self._game,
            "rule": self._rule,
            "clock": self._clock,
            "done": self._done,
            "off": self._off,
            "withdraw": self._withdraw,
            "rules": self._rules,
            "table": self._table,
            "results": self._results,
            "hand": self._hand,
            "mine": self._mine,
            "show": self._show,
        }

    # Commands

    async def open_or_show(self, place: str, profile: Profile, key: str, form: Form, choice: Choice | None) -> Reply:
        """Open a tournament of this form, or without a ``choice`` show the group's open ones.

        In a private chat, show the person's own tournaments.
        """
        if is_private(place):
            return Reply(panel=await self.list_own(profile), private=True)
        in_chat = [t for t in await self._tournaments.in_chat(place) if t.is_live]
        alike = [t for t in in_chat if (t.form == "league") == (form == "league")]
        if choice is None and alike:
            return await self._repost(place, form, alike)
        return await self._open(place, profile, key, form, choice)

    async def _repost(self, place: str, form: Form, tournaments: Sequence[Tournament]) -> Reply:
        """Send the card of the group's tournament again; ask which one if there are several."""
        if len(tournaments) == 1:
            await self._cards.repost(tournaments[0].code)
        tournaments = await asyncio.gather(*map(self._with_names, tournaments))
        language = (await self._viewers.viewer_at(place)).language
        return Reply(panel=existing_panel(language, form, tournaments))

    async def _open(self, place: str, profile: Profile, key: str, form: Form, choice: Choice | None) -> Reply:
        if not can_write_anytime(place):
            raise TournamentsNeedMe()
        if choice is None:
            chat = await self._people.chat(place)
            choice = replace(Choice.default(chat.game), clock=chat.clock)
        choice = replace(choice, clock=DAY if form == "league" else choice.clock, strict=True)
        t = await self._with_names(await self._registration.open(place, profile.id, profile.name, choice, form, key))
        if t.form == "league":
            await self._choose_usual_times(t, profile, key)
        return Reply()

    async def _choose_usual_times(self, t: Tournament, profile: Profile, key: str) -> Tournament:
        """Choose the usual clock and time of leagues, or of other forms, unless the organiser chose others."""
        usual, leagues = ((await self._people.chat(t.place)).clock, USUAL["time"]), (DAY, LEAGUE_TIME)
        (old_clock, old_time), (clock, time) = (usual, leagues) if t.form == "league" else (leagues, usual)
        if t.choice.clock == old_clock:
            choice = replace(t.choice, clock=clock)
            t = await self._registration.choose_game(t.code, profile.id, choice, f"{key} clock")
        if t.options["time"] == old_time:
            t = await self._registration.choose_option(t.code, profile.id, "time", time, f"{key} time")
        return await self._with_names(t)

    async def list_own(self, profile: Profile, number: int = 1) -> Panel:
        """Return a page of a person's tournaments, counted from 1."""
        page = own_page(await self._tournaments.of_person(profile.id), number)
        page = page._replace(tournaments=await asyncio.gather(*map(self._with_names, page.tournaments)))
        lefts = await asyncio.gather(*map(self._tournaments.seconds_left, page.tournaments))
        chats = await asyncio.gather(*(self._people.chat(one.place) for one in page.tournaments))
        groups = {one.code: chat.name for one, chat in zip(page.tournaments, chats, strict=True)}
        return own_panel(profile.language, profile.id, page._replace(groups=groups), lefts)

    # Presses

    async def answer(self, press: Press, profile: Profile, words: Sequence[str]) -> Reply:
        match words:
            case ["new", "knockout" | "league" as form] if not is_private(press.place):
                return await self._open(press.place, profile, press.key, form, None)
            case ["own", *rest]:
                return private_reply(press.place, profile.language, await self.list_own(profile, _parse_number(rest)))
            case [code, verb, *rest] if verb in self._verbs:
                t = await self._with_names(await self._tournaments.load(code[:8]))
                try:
                    answer = await self._verbs[verb](press, profile, t, rest)
                except OnlyTheOrganiser:
                    raise OnlyTheOrganiser(name=t.opener.name) from None
                return answer if isinstance(answer, Reply) else private_reply(press.place, profile.language, answer)
        raise BadPayload()

    async def _with_names(self, t: Tournament) -> Tournament:
        return await with_current_names(self._people, t)

    # Entering

    async def _enter(self, press: Press, profile: Profile, t: Tournament, _words: list[str]) -> Panel | Reply:
        t = await self._with_names(await self._registration.enter(t.code, profile.id, profile.name, press.key))
        if not is_private(press.place):
            return self._entered_reply(press, profile)
        panel = await self._player_panel(profile, t)
        if is_ephemeral(press.place) and not profile.has_private_chat:
            # The panel does not say where hands are sent.
            return replace(self._entered_reply(press, profile), panel=panel)
        return panel

    def _entered_reply(self, press: Press, profile: Profile) -> Reply:
        """Confirm an entry. A person without a private chat gets a link to it, because hands are sent there."""
        _ = texts(profile.language).gettext
        if press.place == private_place(profile.id):
            return Reply(_("You have entered."))
        if profile.has_private_chat:
            return Reply(_("You have entered."), start_word=START_WORD, has_private_chat=True)
        return Reply(_("You have entered. Open our private chat: your hands come there."), start_word=START_WORD)

    async def _with(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Reply:
        """Enter as a player's partner, or become their partner after entering."""
        player, own = _parse_number(words), t.player_of(profile.id)
        if player == own:
            raise WantsAnother()
        await self._registration.join_partner(t.code, profile.id, profile.name, player, press.key)
        if own is None:
            return self._entered_reply(press, profile)
        return Reply(texts(profile.language).gettext("You are partners now."))

    async def _partners(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        number = _parse_number(words) if words else 1
        return partners_panel(profile.language, t, number)

    async def _leave(self, press: Press, profile: Profile, t: Tournament, _words: list[str]) -> Panel | Reply:
        if t.phase != "open":
            return await self._withdraw(press, profile, t, [])
        await self._registration.leave(t.code, profile.id, press.key)
        return Reply(texts(profile.language).gettext("You have left."))

    async def _withdraw(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        """Leave a tournament. Once it has begun, ask for confirmation first."""
        if t.phase != "open" and words != ["yes"]:
            if t.player_of(profile.id) is None:
                raise NotEntered()
            return confirm_panel(profile.language, t, "withdraw")
        t = await self._with_names(await self._registration.leave(t.code, profile.id, press.key))
        return await self._player_panel(profile, t)

    # Organising

    async def _start(self, press: Press, profile: Profile, t: Tournament, _words: list[str]) -> Panel | Reply:
        t = await self._with_names(await self._registration.start(t.code, profile.id, press.key))
        return await self._player_panel(profile, t) if is_private(press.place) else Reply()

    async def _off(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        self._check_organiser(profile, t)
        if words != ["yes"]:
            return confirm_panel(profile.language, t, "off")
        t = await self._with_names(await self._registration.cancel(t.code, profile.id, press.key))
        return await self._player_panel(profile, t)

    async def _options(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        self._check_organiser(profile, t)
        if t.phase != "open":
            raise HasBegun()
        return options_panel(profile.language, t, *words[:1])

    @staticmethod
    def _check_organiser(profile: Profile, t: Tournament) -> None:
        if t.opener.person != profile.id:
            raise OnlyTheOrganiser(name=t.opener.name)

    async def _set(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        if len(words) != 2 or words[1] not in OPTIONS.get(words[0], ()):
            raise BadPayload()
        (name, value), former = words, t.form
        t = await self._with_names(await self._registration.choose_option(t.code, profile.id, name, value, press.key))
        if name == "form" and "league" in (former, t.form):
            t = await self._choose_usual_times(t, profile, press.key)
        return options_panel(profile.language, t)

    async def _game(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        if len(words) != 1 or words[0] not in GAMES:
            raise BadPayload()
        choice = t.choice if words[0] == t.game else Choice.default(words[0])
        return await self._choose_game(press, profile, t, replace(choice, clock=t.choice.clock, strict=True))

    async def _rule(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        name, _, text = " ".join(words).partition("=")
        values = {format_value(value): value for value in GAMES[t.game].rules.choices().get(name, ())}
        if text not in values or name not in t.choice.rules:
            raise BadPayload()
        choice = replace(t.choice, rules={**t.choice.rules, name: values[text]})
        return await self._choose_game(press, profile, t, choice)

    async def _clock(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        seconds = _parse_number(words)
        if seconds not in CLOCKS:
            raise BadPayload()
        return await self._choose_game(press, profile, t, replace(t.choice, clock=seconds))

    async def _choose_game(self, press: Press, profile: Profile, t: Tournament, choice: Choice) -> Panel:
        t = await self._with_names(await self._registration.choose_game(t.code, profile.id, choice, press.key))
        return options_panel(profile.language, t)

    async def _done(self, press: Press, profile: Profile, t: Tournament, _words: list[str]) -> Panel:
        return done_panel(profile.language, t)

    # Reading

    async def _rules(self, press: Press, profile: Profile, t: Tournament, _words: list[str]) -> Panel:
        is_organiser = t.opener.person == profile.id
        return rules_panel(profile.language, t, is_organiser=is_organiser)

    async def _table(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        if not t.teams:
            raise BadPayload()
        return table_panel(profile.language, t, _parse_number(words))

    async def _results(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel:
        number, pages = _parse_number(words), (await self._viewers.viewer_at(press.place)).pages_url
        return results_panel(profile.language, t, number, await self._replays(t, number), pages)

    async def _replays(self, t: Tournament, number: int) -> dict[Key, str]:
        """Return the ids of the archived games on a page of results."""
        pages = result_pages(t)
        if not pages:
            return {}
        round_, deal, matches = pages[min(number, len(pages)) - 1]
        games = {
            (round_, match.number, deal): result.game
            for match in matches
            if (result := match.results.get(deal)) and result.game
        }
        # The host can have moved some of them to files.
        kept = await self._archive.kept_ids(list(games.values()))
        return {key: id_ for key, id_ in games.items() if id_ in kept}

    async def _mine(self, press: Press, profile: Profile, t: Tournament, _words: list[str]) -> Panel:
        return await self._player_panel(profile, t)

    async def _player_panel(self, profile: Profile, t: Tournament) -> Panel:
        left, all_own = await asyncio.gather(self._tournaments.seconds_left(t), self._tournaments.of_person(profile.id))
        has_others = any(one.code != t.code for one in all_own)
        return player_panel(profile.language, profile.id, t, left, has_others=has_others)

    async def _hand(self, press: Press, profile: Profile, t: Tournament, words: list[str]) -> Panel | Reply:
        """Send the hands of a person's open matches. Without any, show their own page."""
        is_shown_here = is_private(press.place) or bool(press.ephemeral)
        place = press.place if is_private(press.place) else press.ephemeral or private_place(profile.id)
        toast = "" if is_shown_here else await self._private_hands.toast(profile)
        codes = tables_of(t, profile.id)
        brought = [code for code in codes if await self._private_hands.resend(profile.id, code, place)]
        if not brought:
            return await self._player_panel(profile, t)
        if is_shown_here:
            return Reply()
        if not profile.has_private_chat:
            toast = texts(profile.language).gettext("Open our private chat: your hand comes there.")
        return Reply(toast, start_word=brought[0], has_private_chat=profile.has_private_chat)

    async def _show(self, press: Press, _profile: Profile, t: Tournament, _words: list[str]) -> Reply:
        if chat_of(t.place) != chat_of(press.place):
            raise BadPayload()
        await self._cards.repost(t.code)
        return Reply()


def tables_of(t: Tournament, person: str) -> list[str]:
    """Return the codes of the tables at which a person plays in a tournament now."""
    team = t.team_with(person)
    matches = [] if team is None or t.phase != "playing" else t.matches_of(team)
    return [match.table for match in matches if match.table]


def split_form(words: Sequence[str]) -> tuple[Form | None, list[str]]:
    """Split a command's words into a form and the other words.

    The form takes one or two words: its id, or its name in any language.
    """
    forms: dict[str, Form] = {form: form for form in FORMS}
    for language in LANGUAGES:
        names = form_names(language)
        forms |= {_letters(names[form]): form for form in FORMS}
    for length in (2, 1):
        for at in range(len(words) - length + 1):
            form = forms.get(_letters("".join(words[at : at + length])))
            if form:
                return form, [*words[:at], *words[at + length :]]
    return None, list(words)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.casefold()))


def _parse_number(words: Sequence[str]) -> int:
    if len(words) != 1 or not words[0].isdecimal() or len(words[0]) > 5:
        raise BadPayload()
    return int(words[0])
