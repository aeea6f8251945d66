"""Answers presses: moves, other things at a table, and pages."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from bot import actions
from bot.actions import BadPayload, MoveAction, OfferAction, PageAction, TableAction, number_in
from bot.core import Core
from bot.delivery.names import Hand, encode_name
from bot.delivery.surface import Change, encode_change
from bot.delivery.surfaces import card_at
from bot.feature import PageHandler, VerbHandler
from bot.handlers.commands import Commands
from bot.handlers.errors import NoEphemeral, NoHints
from bot.handlers.guard import Guard
from bot.handlers.hints import Hints
from bot.handlers.offers import Offers
from bot.handlers.pages import Pages
from bot.handlers.rematch import rematch
from bot.panels.drafts import NO_DRAFT, Draft
from bot.panels.pages import help_page
from bot.panels.strangers import spoken
from bot.people import Profile
from bot.platform import Press, Reply, is_inline, is_private, private_place
from bot.replies import for_one
from bot.tables.chairs import ROBOT_NAMES, STAND_IN
from bot.tables.checks import check_open
from bot.tables.choice import Choice
from bot.tables.errors import NoSuchTable, NotAtThisTable, NotYoursToDecide, OldPanel, OnlyTheChallenger
from bot.tables.table import CLOCKS, PHRASES, Table
from bot.texts import texts
from bot.words.verdicts import hint_text
from engine import GAMES
from engine.robots import LEVELS
from engine.rules import spell

ON_CARDS = {"sit", "stand", "robot", "invite", "cancel", "decline", "menu", "game", "rule", "clock"}
"""What is pressed on a challenge card."""


class Presses:
    """Does what payloads ask for. Anybody can send a made-up payload."""

    def __init__(self, core: Core, pages: Pages, commands: Commands, offers: Offers, guard: Guard) -> None:
        self.core, self.pages = core, pages
        self.room, self.challenges = core.room, core.challenges
        self.commands, self.offers, self.guard = commands, offers, guard
        self.hints = Hints(core.robot_pool)
        self._pages_by_name: dict[str, PageHandler] = {
            "tables": self._list,
            "rules": self._rules,
            "help": self._help,
            "hand": self._hands,
            "replay": self._replay,
            "fair": self._fair,
            "rematch": self._rematch,
        }
        self._pages_for_one = {"replay", "fair", "rematch"}
        self._feature_verbs: dict[str, VerbHandler] = {}
        self._verbs: dict[str, Callable[[Press, TableAction], Awaitable[str]]] = {
            "sit": self._sit,
            "stand": self._stand,
            "robot": self._robot,
            "invite": self._invite,
            "cancel": self._cancel,
            "decline": self._decline,
            "menu": self._menu,
            "game": self._game,
            "rule": self._rule,
            "clock": self._clock,
            "accept": self._answer,
            "refuse": self._answer,
            "draft": self._draft,
            "claim": self._claim,
            "automatic": self._automatic,
            "wait": self._wait,
            "aside": self._ephemeral,
            "hint": self._hint,
            "say": self._say,
        }
        for feature in core.features:
            self._pages_by_name |= feature.pages
            self._pages_for_one.update(feature.pages_for_one)
            self._feature_verbs |= feature.verbs

    async def answer(self, press: Press, profile: Profile) -> Reply:
        action = actions.parse(press.payload)
        if isinstance(action, PageAction):
            return await self._page(press, profile, action)
        if isinstance(action, OfferAction):
            return _seated(press, profile, await self.offers.taken_up(press, action), "")
        if is_inline(press.place) and not await self._is_board(press.place, action.code):
            # An ordinary message that Telegram calls by an inline id, or a made-up press: no message is touched.
            private = private_place(press.person.id)
            if await self.room.lists.names(press.person.id, private, action.code):
                await self.offers.keep_offers_off(press.place)
            elsewhere = replace(press, place=private, message="")
            reply = await self._pressed_at_table(elsewhere, profile, action)
            return replace(reply, private=True) if reply.panel else reply
        return await self._pressed_at_table(press, profile, action)

    async def _is_board(self, place: str, code: str) -> bool:
        """Return whether an inline message is the board of a table. False if there is no such table."""
        try:
            return place in (await self.room.cached(code)).hosts or place in (await self.room.table(code)).hosts
        except NoSuchTable:
            return False

    async def _pressed_at_table(self, press: Press, profile: Profile, action: MoveAction | TableAction) -> Reply:
        if press.genuine:
            return await self._at_table(press, profile, action)
        async with self.guard.checked(press.person, press.place, action.code):
            return await self._at_table(press, profile, action)

    async def _at_table(self, press: Press, profile: Profile, action: MoveAction | TableAction) -> Reply:
        """Do something at a table; the reply is often empty."""
        if isinstance(action, MoveAction):
            await self._move(press, action)
            return Reply()
        if handler := self._feature_verbs.get(action.verb):
            return await handler(press, profile, action)
        verb = self._verbs.get(action.verb)
        if verb is None:
            raise BadPayload()
        if action.verb in ON_CARDS and press.genuine:
            await self._card_pressed(press, action)
        toast = await verb(press, action)
        toast = texts(profile.language).gettext(toast) if toast else ""
        if action.verb == "invite":
            return await self.commands.invitation(await self.room.cached(action.code), profile, press.place)
        if action.verb == "sit":
            return _seated(press, profile, await self.room.cached(action.code), toast)
        return Reply(toast)

    # Moves

    async def _move(self, press: Press, action: MoveAction) -> None:
        code, person = action.code, press.person.id
        # A player who presses on their hand is looking at it. The worker that delivers the table learns of it.
        look = Change(pressed=press.message, place=press.place, genuine=press.genuine)
        seat = (await self.room.cached(code)).seat_of(person) if press.message and is_private(press.place) else None
        about = None if seat is None else (encode_name(Hand(seat)), encode_change(look))
        try:
            await self.room.press(code, person, action.version, action.move, press.key, about)
        except OldPanel:
            # The panel may not have come through.
            if seat is not None:
                await self.core.updates.change(code, Hand(seat), look)
            raise

    # At a table

    async def _card_pressed(self, press: Press, action: TableAction) -> None:
        """Note which message was pressed: a crash may have doubled it, and it may show an old state."""
        with suppress(NoSuchTable):
            table = await self.room.table(action.code)
            if press.place in table.hosts:
                name = card_at(table, table.hosts.index(press.place))
                await self.core.updates.change(action.code, name, Change(pressed=press.message, genuine=True))

    async def _sit(self, press: Press, action: TableAction) -> str:
        person = press.person
        seat = number_in(action.words) if action.words else None
        table = await self.challenges.sit(
            action.code, person.id, person.name, press.key, seat, handle=person.handle, terms=action.version
        )
        _ = texts("en").gettext
        seat = table.seat_of(person.id)
        if seat is None:
            return _("You have asked for a chair.")
        if press.ephemeral and table.phase == "playing" and (await self.core.people.person(person.id)).wants_ephemeral:
            await self.core.updates.change(table.code, Hand(seat), Change(repost=True, place=press.ephemeral))
        return ""

    async def _stand(self, press: Press, action: TableAction) -> str:
        await self.challenges.stand(action.code, press.person.id, press.key)
        return ""

    async def _robot(self, press: Press, action: TableAction) -> str:
        level = action.words[0] if action.words else ""
        if level not in LEVELS:
            raise BadPayload()
        if level == "strong":
            self.core.robot_pool.get_ready()
        names = [f"🤖 {name}" for name in ROBOT_NAMES[level]]
        await self.challenges.add_robot(action.code, press.person.id, level, names, press.key)
        return ""

    async def _invite(self, press: Press, action: TableAction) -> str:
        """Check that a challenge can be passed on: by anybody who sees it, while it waits for players."""
        table = await self.room.table(action.code)
        check_open(table)
        if table.matched:
            raise NotYoursToDecide()
        return ""

    async def _cancel(self, press: Press, action: TableAction) -> str:
        await self.challenges.cancel(action.code, press.person.id, press.key)
        return ""

    async def _decline(self, press: Press, action: TableAction) -> str:
        table = await self.room.table(action.code)
        if not await self.core.policies.of(table).decline(table, press.person.id, press.key):
            await self.challenges.decline(action.code, press.person.id, press.person.handle, press.key)
        return ""

    async def _menu(self, press: Press, action: TableAction) -> str:
        table = await self.room.table(action.code)
        if table.opener.person != press.person.id:
            raise OnlyTheChallenger(name=table.opener.name)
        if action.words not in ([], ["game"], ["rules"]) or press.place not in table.hosts:
            raise BadPayload()
        name = card_at(table, table.hosts.index(press.place))
        await self.core.updates.change(action.code, name, Change(draft=Draft(0, *action.words)))
        return ""

    async def _game(self, press: Press, action: TableAction) -> str:
        if action.words[:1] == [] or action.words[0] not in GAMES:
            raise BadPayload()
        is_again = (await self.room.table(action.code)).log.has_seen(press.key)
        table = await self.challenges.choose_game(action.code, press.person.id, action.words[0], press.key)
        if press.place in table.hosts and not is_again:
            name = card_at(table, table.hosts.index(press.place))
            await self.core.updates.change(action.code, name, Change(draft=NO_DRAFT))
            await self.core.people.choose_for_chat(press.place, game=action.words[0])
        return ""

    async def _rule(self, press: Press, action: TableAction) -> str:
        table = await self.room.table(action.code)
        choices = GAMES[table.game_id].rules.choices()
        name, _, value = " ".join(action.words).partition("=")
        if value not in map(spell, choices.get(name, ())):
            raise BadPayload()
        table = await self.challenges.choose_rule(action.code, press.person.id, f"{name}={value}", press.key)
        await self.core.people.note_choice(press.person.id, Choice.of_table(table))
        return ""

    async def _clock(self, press: Press, action: TableAction) -> str:
        if len(action.words) != 2 or action.words[0] not in map(str, CLOCKS) or action.words[1] not in ("0", "1"):
            raise BadPayload()
        seconds, strict = int(action.words[0]), action.words[1] == "1"
        table = await self.challenges.choose_clock(action.code, press.person.id, seconds, strict, press.key)
        await self.core.people.note_choice(press.person.id, Choice.of_table(table))
        return ""

    async def _answer(self, press: Press, action: TableAction) -> str:
        await self.challenges.answer(
            action.code, press.person.id, number_in(action.words), action.verb == "accept", press.key
        )
        return ""

    async def _draft(self, press: Press, action: TableAction) -> str:
        table = await self.room.table(action.code)
        seat = table.seat_of(press.person.id)
        if seat is None:
            raise NotAtThisTable(code=action.code)
        version = number_in(action.words)
        if version != table.oldest_panel(seat):
            raise OldPanel()
        if len(action.words) > 2:
            raise BadPayload()
        draft = Draft(version, *action.words[1:])
        if draft.repeats_itself:
            raise BadPayload()
        place = press.place if press.message and is_private(press.place) else ""
        change = Change(pressed=press.message, draft=draft, place=place, genuine=press.genuine)
        await self.core.updates.change(action.code, Hand(seat), change)
        return ""

    async def _claim(self, press: Press, action: TableAction) -> str:
        await self.room.claim_on_time(action.code, press.person.id, press.key)
        return ""

    async def _automatic(self, press: Press, action: TableAction) -> str:
        table = await self.room.check_flagged(action.code, press.person.id, press.key)
        if not table.log.has_seen(press.key):
            await self.core.scheduler.play_for(table, STAND_IN, press.key)
        return ""

    async def _wait(self, press: Press, action: TableAction) -> str:
        await self.room.wait(action.code, press.person.id, press.key)
        return ""

    async def _ephemeral(self, press: Press, action: TableAction) -> str:
        """Show the hand in the group, to its player alone."""
        table = await self.room.table(action.code)
        seat = table.seat_of(press.person.id)
        if seat is None or table.phase != "playing":
            raise NotAtThisTable(code=action.code)
        if not press.ephemeral:
            raise NoEphemeral()
        await self.core.updates.change(action.code, Hand(seat), Change(repost=True, place=press.ephemeral))
        return ""

    async def _hint(self, press: Press, action: TableAction) -> str:
        """Say what the strong robot would play, to a person who practises and to nobody else."""
        table = await self.room.table(action.code)
        seat = table.seat_of(press.person.id)
        game = table.game
        if seat is None:
            raise NotAtThisTable(code=action.code)
        if not table.is_practice or table.is_duplicate:
            raise NoHints()
        if game is None or game.turn != seat or number_in(action.words) != table.oldest_panel(seat):
            raise OldPanel()
        found = await self.hints.give(press.person.id, table, seat)
        profile = await self.core.people.person(press.person.id)
        return hint_text(found, profile.language, profile.suits, game.kind.id)

    async def _say(self, press: Press, action: TableAction) -> str:
        if len(action.words) != 1 or action.words[0] not in PHRASES:
            raise BadPayload()
        table = await self.room.say(action.code, press.person.id, action.words[0], press.key)
        seat = table.seat_of(press.person.id)
        if seat is not None:
            await self.core.updates.change(table.code, Hand(seat), Change(draft=NO_DRAFT))
        return f"💬 {spoken((await self.core.people.person(press.person.id)).language, action.words[0])}"

    # Pages

    async def _page(self, press: Press, profile: Profile, action: PageAction) -> Reply:
        if not (press.genuine or (is_inline(press.place) and action.page in self._pages_for_one)):
            # Its answer would overwrite a message that may show something else.
            raise BadPayload()
        if handler := self._pages_by_name.get(action.page):
            return await handler(press, profile, action.words)
        raise BadPayload()

    async def _list(self, press: Press, _profile: Profile, words: list[str]) -> Reply:
        """Sit down at a table that a list shows, and show the list as it is then."""
        if len(words) != 2 or words[0] != "sit":
            raise BadPayload()
        code, person = words[1], press.person
        if not await self.guard.knows(person, press.place, code):
            raise NoSuchTable(code=code[:8])
        await self.challenges.sit(code, person.id, person.name, press.key, handle=person.handle)
        return Reply(panel=await self.pages.open_tables(press.place))

    async def _rules(self, press: Press, _profile: Profile, words: list[str]) -> Reply:
        return Reply(panel=await self.pages.rules(press.place, " ".join(words)))

    async def _help(self, press: Press, _profile: Profile, _words: list[str]) -> Reply:
        return Reply(panel=help_page(await self.pages.language(press.place)))

    async def _hands(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        [code] = _counted(words, 1)
        if not await self.core.private_hands.bring(profile.id, code, press.place):
            raise await self.core.private_hands.why_none(profile.id, code)
        return Reply()

    async def _replay(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """In a group the result stays where it is: the page comes as a message of its own, to the presser alone."""
        game_id, deal = _counted(words, 2)
        panel = await self.core.replays.replay(press.place, profile, game_id, deal)
        return for_one(press.place, profile.language, panel)

    async def _fair(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        game_id, deal = _counted(words, 2)
        return for_one(press.place, profile.language, await self.core.replays.fair(press.place, game_id, deal))

    async def _rematch(self, press: Press, _profile: Profile, words: list[str]) -> Reply:
        [game_id] = _counted(words, 1)
        if is_inline(press.place) and not await self.offers.is_bound(press.place):
            raise BadPayload()
        return await rematch(self.core, press, game_id)


def _counted(words: list[str], count: int) -> list[str]:
    """Return the words after a page's name; BadPayload if they are not as many as they should be."""
    if len(words) != count:
        raise BadPayload()
    return words


def _seated(press: Press, profile: Profile, table: Table, toast: str) -> Reply:
    """Return the answer to a press at a table.

    If the bot is no member of the chat, it leads players to their private chat: nothing else there does.
    """
    word = table.code if is_inline(press.place) and press.person.id in table.people else ""
    return Reply(toast, start_word=word, has_private_chat=profile.has_private_chat)
