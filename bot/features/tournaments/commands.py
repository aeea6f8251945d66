"""/tournament and /league, and presses on their cards and pages."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from bot.actions import BadPayload
from bot.delivery.private_hands import PrivateHands
from bot.features.tournaments.card import TournamentCards
from bot.features.tournaments.current_names import with_current_names
from bot.features.tournaments.errors import (
    AlreadyEntered,
    BotNotInChat,
    HasBegun,
    NotEntered,
    NotForPrograms,
    OnlyTheOrganiser,
)
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
from bot.features.tournaments.registration import Registration, check_organiser
from bot.features.tournaments.rules_page import rules_panel
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.texts import form_names
from bot.features.tournaments.tournament import DAY, FORMS, OPTIONS, USUAL, Form, Key, Tournament
from bot.finished.archive import Archive
from bot.panel import Button, Panel
from bot.parsing.games import parse_game_and_points, target_rule
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, can_write_anytime, chat_of, is_private, private_place
from bot.private_replies import private_reply
from bot.tables.clock import CLOCKS
from bot.tables.game_choice import Choice
from bot.texts import LANGUAGES, texts
from bot.viewers import Viewers
from engine import GAMES
from engine.options import format_value

START_WORD = "tournament"  # the word after /start in links to a person's own tournaments
LEAGUE_TIME = str(14 * DAY)  # usual time for a league in seconds, as an option's value
ORGANISER_VERBS = ("start", "off", "options", "done", "set", "game", "rule", "clock")


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

    # Commands

    async def open_or_show(self, form: Form, command: Command, profile: Profile) -> Reply:
        """Open a tournament, by default of this form.

        A command without words shows the group's live tournaments, or leagues, if there are any. In a private chat,
        show the person's own tournaments.
        """
        place = command.place
        if is_private(place):
            return Reply(panel=await self.list_own(profile), private=True)
        if command.words:
            chat, (chosen_form, words) = await self._people.chat(place), split_form(command.words)
            game, target = parse_game_and_points(words, chat.game)
            choice = replace(Choice.default(game), clock=chat.clock)
            if target is not None:
                choice = choice.with_target(target_rule(game, target).value)
            return await self._open(place, profile, command.key, chosen_form or form, choice)
        live_tournaments = [
            tournament
            for tournament in await self._tournaments.in_chat(place)
            if (tournament.form == "league") == (form == "league")
        ]
        if not live_tournaments:
            return await self._open(place, profile, command.key, form)
        if len(live_tournaments) == 1:
            await self._cards.repost(live_tournaments[0].code)
        language = (await self._viewers.viewer_at(place)).language
        return Reply(
            panel=existing_panel(language, form, await asyncio.gather(*map(self._with_names, live_tournaments)))
        )

    async def _open(self, place: str, profile: Profile, key: str, form: Form, choice: Choice | None = None) -> Reply:
        if not can_write_anytime(place):
            raise BotNotInChat()
        if choice is None:
            chat = await self._people.chat(place)
            choice = replace(Choice.default(chat.game), clock=chat.clock)
        choice = replace(choice, clock=DAY if form == "league" else choice.clock, strict=True)
        tournament = await self._registration.open(place, profile.id, profile.name, choice, form, key)
        if form == "league":
            await self._choose_usual_times(tournament, profile, key)
        with suppress(NotForPrograms):
            await self._registration.enter(tournament.code, profile.id, profile.name, f"{key} enter")
        tournament = await self._with_names(await self._tournaments.load(tournament.code))
        return Reply(panel=await self._player_panel(profile, tournament), private=True)

    async def _choose_usual_times(self, tournament: Tournament, profile: Profile, key: str) -> Tournament:
        """Set the usual clock and time of the form (leagues have their own), unless the organiser chose others."""
        chat = await self._people.chat(tournament.place)
        usual_times, league_times = (chat.clock, USUAL["time"]), (DAY, LEAGUE_TIME)
        is_league = tournament.form == "league"
        old_clock, old_time = usual_times if is_league else league_times
        clock, time = league_times if is_league else usual_times
        if tournament.choice.clock == old_clock:
            choice = replace(tournament.choice, clock=clock)
            tournament = await self._registration.choose_game(tournament.code, profile.id, choice, f"{key} clock")
        if tournament.options["time"] == old_time:
            tournament = await self._registration.choose_option(
                tournament.code, profile.id, "time", time, f"{key} time"
            )
        return tournament

    async def list_own(self, profile: Profile, number: int = 1) -> Panel:
        """Return a page of a person's tournaments, counted from 1."""
        page = own_page(await self._tournaments.of_person(profile.id), number)
        page = page._replace(tournaments=await asyncio.gather(*map(self._with_names, page.tournaments)))
        times_left = await asyncio.gather(*map(self._tournaments.seconds_left, page.tournaments))
        chats = await asyncio.gather(*(self._people.chat(tournament.place) for tournament in page.tournaments))
        groups = {tournament.code: chat.name for tournament, chat in zip(page.tournaments, chats, strict=True)}
        return own_panel(profile.language, profile.id, page._replace(groups=groups), times_left)

    # Presses

    async def answer(self, press: Press, profile: Profile, words: Sequence[str]) -> Reply:
        match words:
            case ["new", "knockout" | "league" as form] if not is_private(press.place):
                return await self._open(press.place, profile, press.key, form)
            case ["own", *numbers]:
                panel = await self.list_own(profile, _parse_number(numbers))
                return private_reply(press.place, profile.language, panel)
            case [code, verb, *numbers]:
                tournament = await self._with_names(await self._tournaments.load(code[:8]))
                handle = self._organise if verb in ORGANISER_VERBS else self._answer_player
                try:
                    answer = await handle(press, profile, tournament, verb, numbers)
                except OnlyTheOrganiser:
                    raise OnlyTheOrganiser(name=tournament.opener.name) from None
                return answer if isinstance(answer, Reply) else private_reply(press.place, profile.language, answer)
        raise BadPayload()

    async def _with_names(self, tournament: Tournament) -> Tournament:
        return await with_current_names(self._people, tournament)

    async def _answer_player(
        self, press: Press, profile: Profile, tournament: Tournament, verb: str, words: list[str]
    ) -> Panel | Reply:
        """Answer a press on a button that everyone can use."""
        language = profile.language
        answer: Panel | Reply
        match verb:
            case "enter":
                answer = await self._enter(press, profile, tournament)
            case "with":
                answer = await self._join_partner(press, profile, tournament, _parse_number(words))
            case "withdraw":
                answer = await self._withdraw(press, profile, tournament, is_confirmed=words == ["yes"])
            case "hand":
                answer = await self._send_hands(press, profile, tournament)
            case "results":
                answer = await self._results(press, profile, tournament, _parse_number(words))
            case "mine":
                answer = await self._player_panel(profile, tournament)
            case "partners":
                answer = partners_panel(language, profile.id, tournament, _parse_number(words) if words else 1)
            case "rules":
                answer = rules_panel(language, tournament, *words[:1])
            case "table" if tournament.teams:
                answer = table_panel(language, tournament, _parse_number(words))
            case "show" if chat_of(tournament.place) == chat_of(press.place):
                await self._cards.repost(tournament.code)
                answer = Reply()
            case _:
                raise BadPayload()
        return answer

    # Entering

    async def _enter(self, press: Press, profile: Profile, tournament: Tournament) -> Panel | Reply:
        """Enter a person, and show their page. A person who entered before also gets the page."""
        with suppress(AlreadyEntered):
            tournament = await self._with_names(
                await self._registration.enter(tournament.code, profile.id, profile.name, press.key)
            )
        panel = await self._player_panel(profile, tournament)
        if press.place == private_place(profile.id):
            return panel
        _ = texts(profile.language).gettext
        if profile.has_private_chat:
            toast = _("You’re in.")
        else:
            # The panel does not say where hands are sent.
            toast = _("You’re in. Open our private chat: your cards come there.")
        has_chat, private = profile.has_private_chat, not is_private(press.place)
        return Reply(toast, panel, private=private, start_word=START_WORD, has_private_chat=has_chat)

    async def _join_partner(self, press: Press, profile: Profile, tournament: Tournament, player: int) -> Panel:
        tournament = await self._registration.join_partner(tournament.code, profile.id, profile.name, player, press.key)
        return await self._player_panel(profile, await self._with_names(tournament))

    async def _withdraw(self, press: Press, profile: Profile, tournament: Tournament, *, is_confirmed: bool) -> Panel:
        """Leave a tournament. Ask for confirmation first if it has begun."""
        if tournament.phase != "open" and not is_confirmed:
            if tournament.player_of(profile.id) is None:
                raise NotEntered()
            return confirm_panel(profile.language, tournament, "withdraw")
        tournament = await self._registration.leave(tournament.code, profile.id, press.key)
        return await self._player_panel(profile, await self._with_names(tournament))

    # Organising

    async def _organise(
        self, press: Press, profile: Profile, tournament: Tournament, verb: str, words: list[str]
    ) -> Panel | Reply:
        """Answer a press on a button that only the organiser can use."""
        match verb:
            case "start":
                tournament = await self._registration.start(tournament.code, profile.id, press.key)
                if not is_private(press.place):
                    return Reply()
                return await self._player_panel(profile, await self._with_names(tournament))
            case "off":
                check_organiser(tournament, profile.id)
                if words != ["yes"]:
                    return confirm_panel(profile.language, tournament, "off")
                tournament = await self._registration.cancel(tournament.code, profile.id, press.key)
                return await self._player_panel(profile, await self._with_names(tournament))
            case "options":
                check_organiser(tournament, profile.id)
                if tournament.phase != "open":
                    raise HasBegun()
                return await self._options_panel(profile, tournament, *words[:1])
            case "done":
                return done_panel(profile.language, tournament)
        tournament = await self._choose(press, profile, tournament, verb, words)
        return await self._options_panel(profile, await self._with_names(tournament))

    async def _options_panel(self, profile: Profile, tournament: Tournament, option: str = "") -> Panel:
        has_pages = bool(await self._pages_url(profile))
        return options_panel(profile.language, tournament, option, has_pages=has_pages)

    async def _pages_url(self, profile: Profile) -> str:
        """Return the address of the bot's web pages, or "" if it has none."""
        return (await self._viewers.viewer_at(private_place(profile.id))).pages_url

    async def _choose(
        self, press: Press, profile: Profile, tournament: Tournament, verb: str, words: list[str]
    ) -> Tournament:
        """Change an option of the tournament, or its game, a rule or the clock."""
        match verb, words:
            case "set", [name, value] if value in OPTIONS.get(name, ()):
                was_league = tournament.form == "league"
                tournament = await self._registration.choose_option(tournament.code, profile.id, name, value, press.key)
                if name == "form" and (was_league or tournament.form == "league"):
                    tournament = await self._choose_usual_times(tournament, profile, press.key)
                return tournament
            case "game", [game] if game in GAMES:
                choice = tournament.choice if game == tournament.game else Choice.default(game)
                choice = replace(choice, clock=tournament.choice.clock, strict=True)
            case "rule", [*_]:
                name, _, text = " ".join(words).partition("=")
                values = {format_value(value): value for value in GAMES[tournament.game].rules.choices().get(name, ())}
                if text not in values or name not in tournament.choice.rules:
                    raise BadPayload()
                choice = replace(tournament.choice, rules={**tournament.choice.rules, name: values[text]})
            case "clock", [seconds] if seconds in map(str, CLOCKS):
                choice = replace(tournament.choice, clock=int(seconds))
            case _:
                raise BadPayload()
        return await self._registration.choose_game(tournament.code, profile.id, choice, press.key)

    # Reading

    async def _results(self, press: Press, profile: Profile, tournament: Tournament, number: int) -> Panel:
        games: dict[Key, str] = {}
        if pages := result_pages(tournament):
            page = pages[min(number, len(pages)) - 1]
            games = {
                (page.round, match.number, page.deal): result.game
                for match in page.matches
                if (result := match.results.get(page.deal)) and result.game
            }
        # The host might have moved some of the games to files.
        archived_ids = await self._archive.kept_ids(list(games.values()))
        replays = {key: id_ for key, id_ in games.items() if id_ in archived_ids}
        pages_url = (await self._viewers.viewer_at(press.place)).pages_url
        return results_panel(profile.language, tournament, number, replays, pages_url)

    async def _player_panel(self, profile: Profile, tournament: Tournament) -> Panel:
        seconds_left, own_tournaments = await asyncio.gather(
            self._tournaments.seconds_left(tournament), self._tournaments.of_person(profile.id)
        )
        has_others = any(other.code != tournament.code for other in own_tournaments)
        panel = player_panel(profile.language, profile.id, tournament, seconds_left, has_others=has_others)
        if not (tournament.is_public_on_web and (pages := await self._pages_url(profile))):
            return panel
        label = texts(profile.language).gettext("Page on the web")
        link = Button(label, f"{pages}/tournament/{tournament.code}", kind="link")
        return replace(panel, rows=(*panel.rows, (link,)))

    async def _send_hands(self, press: Press, profile: Profile, tournament: Tournament) -> Panel | Reply:
        """Send the hands of a person's open matches. Without an open match, show the person's page."""
        is_shown_here = is_private(press.place) or bool(press.ephemeral)
        place = press.place if is_private(press.place) else press.ephemeral or private_place(profile.id)
        toast = "" if is_shown_here else await self._private_hands.toast(profile)
        codes = tournament.tables_of(profile.id)
        sent_codes = [code for code in codes if await self._private_hands.resend(profile.id, code, place)]
        if not sent_codes:
            return await self._player_panel(profile, tournament)
        if is_shown_here:
            return Reply()
        if not profile.has_private_chat:
            toast = texts(profile.language).gettext("Open our private chat: your hand comes there.")
        return Reply(toast, start_word=sent_codes[0], has_private_chat=profile.has_private_chat)


def split_form(words: Sequence[str]) -> tuple[Form | None, list[str]]:
    """Split a command's words into a form (one or two words: its id, or its name in any language) and the rest."""
    forms: dict[str, Form] = {form: form for form in FORMS}
    forms |= {_letters(form_names(language)[form]): form for language in LANGUAGES for form in FORMS}
    for length in (2, 1):
        for start in range(len(words) - length + 1):
            if form := forms.get(_letters("".join(words[start : start + length]))):
                return form, [*words[:start], *words[start + length :]]
    return None, list(words)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.casefold()))


def _parse_number(words: Sequence[str]) -> int:
    if len(words) != 1 or not words[0].isdecimal() or len(words[0]) > 5:
        raise BadPayload()
    return int(words[0])
