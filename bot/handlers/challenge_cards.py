"""Presses on a challenge card: chairs, options, answers, invitations."""

import re
from contextlib import suppress
from functools import partial
from hashlib import sha256

from bot import actions
from bot.actions import BadPayload, TableAction, parse_number
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.surfaces import card_at
from bot.delivery.updates import Updates
from bot.feature import Handlers, VerbHandler, verb_handler
from bot.handlers.invitations import Invitations
from bot.handlers.names_at_tables import choose_nickname
from bot.handlers.pages import CorePages
from bot.panel import Writer
from bot.panels.challenge import INVITED, MENUS
from bot.panels.challenge_form import challenge_form, refused_form_panel
from bot.panels.drafts import NO_DRAFT, Draft
from bot.panels.tables import free_chairs
from bot.parsing.challenge_form import FormChoices, NotInThisGame, OnlyOneOfThese
from bot.parsing.games import NoSuchTarget
from bot.people import People, Profile
from bot.platform import Press, Reply, is_inline, is_private, private_place
from bot.private_replies import private_toast
from bot.robots.names import ROBOT_NAMES
from bot.table_policy import Policies
from bot.tables.challenges import Challenges
from bot.tables.checks import check_open
from bot.tables.clock import CLOCKS
from bot.tables.errors import NoSuchTable, NotYoursToDecide, OnlyTheChallenger
from bot.tables.game_choice import Choice
from bot.tables.room import Room
from bot.tables.table import Table
from bot.texts import texts
from engine import GAMES
from engine.options import format_value
from engine.robots import LEVELS
from engine.shuffle import CUT_PATTERN

CUT_DIGITS = 32  # hex digits of the text that is derived for a cut in a chat


class ChallengeCards(Handlers):
    def __init__(
        self,
        room: Room,
        challenges: Challenges,
        people: People,
        updates: Updates,
        policies: Policies,
        invitations: Invitations,
        pages: CorePages,
    ) -> None:
        self._room, self._challenges, self._people, self._updates = room, challenges, people, updates
        self._policies, self._invitations = policies, invitations
        self._pages = pages
        on_cards: dict[str, VerbHandler] = {
            "sit": self._sit,
            "stand": self._stand,
            "robot": self._robot,
            "invite": self._invite,
            "rules": self._rules,
            "cancel": verb_handler(challenges.cancel),
            "decline": self._decline,
            "menu": self._menu,
            "game": self._game,
            "rule": self._rule,
            "clock": self._clock,
            "cutting": self._choose_cuts,
            "cut": self._cut,
        }
        self.verbs = {verb: partial(self._handle_with_refresh, handler) for verb, handler in on_cards.items()}
        self.verbs |= {"accept": self._answer, "refuse": self._answer, "form": self._form}

    async def _handle_with_refresh(
        self, handler: VerbHandler, press: Press, profile: Profile, action: TableAction
    ) -> Reply:
        """Update the pressed card if the press is genuine, then call the handler.

        This corrects a duplicate card that shows an old state after a crash.
        """
        if press.genuine:
            with suppress(NoSuchTable):
                table = await self._room.table(action.code)
                if press.place in table.hosts:
                    await self._change_card(table, press, Change(pressed=press.message, genuine=True))
        return await handler(press, profile, action)

    async def _change_card(self, table: Table, press: Press, change: Change) -> None:
        await self._updates.send_change(table.code, card_at(table, table.hosts.index(press.place)), change)

    async def _sit(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        person = press.person
        seat = parse_number(action.words) if action.words else None
        name = await choose_nickname(self._people, await self._room.table(action.code), person.id) or person.name
        table = await self._challenges.sit(
            action.code, person.id, name, press.key, seat, handle=person.handle, terms=action.version
        )
        seat, toast = table.seat_of(person.id), ""
        if seat is None:
            toast = texts(profile.language).gettext("You’ve asked for a seat: wait for the answer.")
        elif press.ephemeral and table.phase == "playing" and profile.wants_ephemeral:
            await self._updates.send_change(table.code, Hand(seat), Change(repost=True, place=press.ephemeral))
        return seated_reply(press, profile, await self._room.load_cached(action.code), toast)

    async def _stand(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        await self._challenges.stand_up(action.code, press.person.id, press.key)
        return Reply(texts(profile.language).gettext("You’ve left the table."))

    async def _robot(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        level = action.words[0] if action.words else ""
        if level not in LEVELS:
            raise BadPayload()
        names = [f"🤖 {name}" for name in ROBOT_NAMES[level]]
        table = await self._challenges.add_robot(action.code, press.person.id, level, names, press.key)
        # In the private chat there is no one to wait for.
        for seat in free_chairs(table) if is_private(press.place) else ():
            if table.phase == "open" and seat in free_chairs(table):
                key = f"{press.key}.{seat}"
                table = await self._challenges.add_robot(action.code, press.person.id, level, names, key)
        return Reply()

    async def _invite(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        # Anyone who sees an open challenge can invite others, unless its players are matched strangers.
        table = await self._room.table(action.code)
        check_open(table)
        if table.matched:
            raise NotYoursToDecide()
        if is_private(press.place) and press.place in table.hosts:
            await self._change_card(table, press, Change(draft=Draft(0, INVITED)))
            table = await self._room.load_cached(action.code)
            return await self._invitations.send_below_card(table, profile, press.place, press.key)
        return await self._invitations.invitation(await self._room.load_cached(action.code), profile, press.place)

    async def _rules(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        table = await self._room.table(action.code)
        panel = await self._pages.rules(private_place(profile.id), table.game_id)
        return Reply(private_toast(press.place, profile.language), panel, private=True)

    async def _decline(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        table = await self._room.table(action.code)
        if not await self._policies.policy_of(table).decline(table, press.person.id, press.key):
            await self._challenges.decline(action.code, press.person.id, press.person.handle, press.key)
        return Reply()

    async def _menu(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        table = await self._room.table(action.code)
        if table.opener.person != press.person.id:
            raise OnlyTheChallenger(name=table.opener.name)
        if action.words not in ([], *([menu] for menu in MENUS)) or press.place not in table.hosts:
            raise BadPayload()
        if action.words == ["rules"] and not is_private(press.place):
            # A private card has a menu with more choices than the form, so it is never replaced by the form.
            if press.answers is not None:
                return await self._change_terms(press, profile, action.code, is_first=True)
            if press.can_show_form:
                return Reply(form=challenge_form(press.payload, FormChoices.from_table(table), profile.language))
        await self._change_card(table, press, Change(draft=Draft(0, *action.words)))
        return Reply()

    async def _form(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        """Open the form of the button *Change* again, or apply its answers. The pressed message is a refusal."""
        if not press.genuine or (press.answers is None and not press.can_show_form):
            raise BadPayload()
        if press.answers is not None:
            return await self._change_terms(press, profile, action.code)
        choices = FormChoices.from_words(action.words)
        return Reply(form=challenge_form(press.payload, choices, profile.language))

    async def _change_terms(self, press: Press, profile: Profile, code: str, *, is_first: bool = False) -> Reply:
        """Give an open table the choices of a form. If they do not go together, offer the form again.

        Unless ``is_first``, the pressed message is the refusal of an earlier form.
        """
        choices = FormChoices.from_answers(press.answers or {})
        try:
            table = await self._challenges.choose_terms(code, press.person.id, choices, press.key)
        except (NoSuchTarget, NotInThisGame, OnlyOneOfThese) as error:
            payload = actions.table(code, "form", *choices.words)
            return Reply(panel=refused_form_panel(error, payload, profile.language), private=is_first)
        await self._people.note_choice(press.person.id, Choice.from_table(table))
        await self._people.update_chat(press.place, game=table.game_id)
        if is_first:
            return Reply()
        return Reply(panel=Writer(texts(profile.language).gettext("The challenge has changed.")).panel())

    async def _game(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        if not action.words or action.words[0] not in GAMES:
            raise BadPayload()
        is_repeat = (await self._room.table(action.code)).log.has_update(press.key)
        table = await self._challenges.choose_game(action.code, press.person.id, action.words[0], press.key)
        if press.place in table.hosts and not is_repeat:
            await self._change_card(table, press, Change(draft=NO_DRAFT))
            await self._people.update_chat(press.place, game=action.words[0])
        return Reply()

    async def _rule(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        table = await self._room.table(action.code)
        choices = GAMES[table.game_id].rules.choices()
        name, _, value = " ".join(action.words).partition("=")
        if value not in map(format_value, choices.get(name, ())):
            raise BadPayload()
        table = await self._challenges.choose_rule(action.code, press.person.id, f"{name}={value}", press.key)
        await self._people.note_choice(press.person.id, Choice.from_table(table))
        return Reply()

    async def _clock(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        if len(action.words) != 2 or action.words[0] not in map(str, CLOCKS) or action.words[1] not in ("0", "1"):
            raise BadPayload()
        seconds, strict = int(action.words[0]), action.words[1] == "1"
        table = await self._challenges.choose_clock(action.code, press.person.id, seconds, strict, press.key)
        await self._people.note_choice(press.person.id, Choice.from_table(table))
        return Reply()

    async def _choose_cuts(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        if action.words not in (["true"], ["false"]):
            raise BadPayload()
        await self._challenges.choose_cuts(action.code, press.person.id, action.words == ["true"], press.key)
        return Reply()

    async def _cut(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        """Cut the pack. A page sends the text of the cut. In a chat the text is derived from the press."""
        text = action.words[0] if action.words else sha256(press.key.encode()).hexdigest()[:CUT_DIGITS]
        if len(action.words) > 1 or action.version is None or not re.fullmatch(CUT_PATTERN, text):
            raise BadPayload()
        await self._room.cut(action.code, press.person.id, action.version, text, press.key)
        return Reply()

    async def _answer(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        is_accepted = action.verb == "accept"
        await self._challenges.answer(action.code, press.person.id, parse_number(action.words), is_accepted, press.key)
        return Reply()


def seated_reply(press: Press, profile: Profile, table: Table, toast: str) -> Reply:
    """Return the reply to a press that can seat a person. In an inline chat, only it can open the private chat."""
    word = table.code if is_inline(press.place) and press.person.id in table.people else ""
    return Reply(toast, start_word=word, has_private_chat=profile.has_private_chat)
