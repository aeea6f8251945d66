"""What each press does: a move, something else at a table, or another page."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from bot import payload
from bot.clockwork import STAND_IN
from bot.delivery.names import ChallengeCard, Hand
from bot.delivery.surface import Change
from bot.desk.commands import Commands
from bot.desk.faults import GameNotKept, NoAsides, NoHints, NoTimeForHints
from bot.desk.limits import Tries
from bot.desk.pages import Pages
from bot.house import House
from bot.panels.analysis import hint_text
from bot.panels.pages import help_page
from bot.panels.rules import rules_page
from bot.payload import BadPayload, MoveWish, PageWish, TableWish
from bot.people import Profile
from bot.platform import Press, Reply, is_private
from bot.somebody import is_somebody
from bot.tables.chairs import Invited
from bot.tables.faults import AlreadySeated, NoSuchTable, NotAtThisTable, OldPanel, OnlyTheChallenger
from bot.tables.table import CLOCKS, Table
from bot.texts import texts
from engine import GAMES
from engine.robots import LEVELS
from engine.rules import spell

ROBOT_NAMES = {
    "easy": ("Gino", "Pina", "Nino"),
    "medium": ("Teresa", "Amedeo", "Ida"),
    "strong": ("Nonna Rosa", "Zio Beppe", "Maestro Elio"),
}
"""Robots have names, for a table of four may seat three of them."""


ON_CARDS = {"sit", "stand", "robot", "cancel", "decline", "menu", "game", "rule", "clock"}
"""What is pressed on a challenge card."""


class Presses:
    """Reads payloads, which anybody may have made up, and does what they ask for."""

    def __init__(self, house: House, pages: Pages, commands: Commands, tries: Tries) -> None:
        self.house, self.pages, self.room = house, pages, house.room
        self.commands, self.tries = commands, tries
        self._verbs: dict[str, Callable[[Press, TableWish], Awaitable[str]]] = {
            "sit": self._sit,
            "stand": self._stand,
            "robot": self._robot,
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
            "aside": self._aside,
            "hint": self._hint,
        }

    async def answer(self, press: Press, profile: Profile) -> Reply:
        wish = payload.read(press.payload)
        if isinstance(wish, PageWish):
            return await self._page(press, profile, wish)
        if press.genuine or await self.commands.knows(press.person, press.place, wish.code):
            toast = await self._at_table(press, wish)
        else:
            # Nobody's button: the code may be a guess.
            async with self.tries.counted(press.person, partial(self.commands.is_at_table, press.person, wish.code)):
                toast = await self._at_table(press, wish)
        return Reply(toast=texts(profile.language).gettext(toast) if toast else "")

    async def _at_table(self, press: Press, wish: MoveWish | TableWish) -> str:
        """Do something at a table; returns a toast, perhaps an empty one."""
        if isinstance(wish, MoveWish):
            await self._move(press, wish)
            return ""
        verb = self._verbs.get(wish.verb)
        if verb is None:
            raise BadPayload()
        if wish.verb in ON_CARDS and press.genuine:
            await self._card_pressed(press, wish)
        return await verb(press, wish)

    # Moves

    async def _move(self, press: Press, wish: MoveWish) -> None:
        change = Change(pressed=press.message, place=press.place, genuine=press.genuine)
        is_hand = is_private(press.place)
        about = (press.person.id, change) if is_hand else None
        try:
            table = await self.room.press(wish.code, press.person.id, wish.version, wish.move, press.key, about)
        except OldPanel:
            # The panel may not have come through; its person looks at it just now.
            if is_hand:
                await self._looked(press.person.id, await self.room.known(wish.code), change)
            raise
        # Another worker that delivers the table was told with the move.
        if is_hand and self.room.delivers(wish.code):
            await self._looked(press.person.id, table, change)

    async def _looked(self, person: str, table: Table, change: Change) -> None:
        """Somebody looks at their hand, for they press something there."""
        seat = table.seat_of(person)
        if seat is not None:
            await self.house.change(table.code, Hand(seat), change)

    # At a table

    async def _card_pressed(self, press: Press, wish: TableWish) -> None:
        """The message may be one that a crash doubled, and shows a table as it was."""
        with suppress(NoSuchTable):
            table = await self.room.table(wish.code)
            if press.place in table.hosts:
                name = ChallengeCard(table.hosts.index(press.place))
                await self.house.change(wish.code, name, Change(pressed=press.message, genuine=True))

    async def _sit(self, press: Press, wish: TableWish) -> str:
        person = press.person
        seat = _number(wish.words) if wish.words else None
        table = await self.room.sit(wish.code, person.id, person.name, press.key, seat, handle=person.handle)
        _ = texts("en").gettext
        seat = table.seat_of(person.id)
        if seat is None:
            return _("You have asked for a chair.")
        if press.aside and table.phase == "playing" and (await self.house.people.person(person.id)).hands == "aside":
            await self.house.change(table.code, Hand(seat), Change(repost=True, place=press.aside))
        return ""

    async def _stand(self, press: Press, wish: TableWish) -> str:
        await self.room.stand(wish.code, press.person.id, press.key)
        return ""

    async def _robot(self, press: Press, wish: TableWish) -> str:
        level = wish.words[0] if wish.words else ""
        if level not in LEVELS:
            raise BadPayload()
        if level == "strong":
            self.house.thinkers.get_ready()
        names = [f"🤖 {name}" for name in ROBOT_NAMES[level]]
        await self.room.add_robot(wish.code, press.person.id, level, names, press.key)
        return ""

    async def _cancel(self, press: Press, wish: TableWish) -> str:
        await self.room.cancel(wish.code, press.person.id, press.key)
        return ""

    async def _decline(self, press: Press, wish: TableWish) -> str:
        await self.room.decline(wish.code, press.person.id, press.person.handle, press.key)
        return ""

    async def _menu(self, press: Press, wish: TableWish) -> str:
        table = await self.room.table(wish.code)
        if table.opener.person != press.person.id:
            raise OnlyTheChallenger(name=table.opener.name)
        if wish.words not in ([], ["game"], ["rules"]) or press.place not in table.hosts:
            raise BadPayload()
        name = ChallengeCard(table.hosts.index(press.place))
        await self.house.change(wish.code, name, Change(draft=f"0 {' '.join(wish.words)}"))
        return ""

    async def _game(self, press: Press, wish: TableWish) -> str:
        if wish.words[:1] == [] or wish.words[0] not in GAMES:
            raise BadPayload()
        is_again = (await self.room.table(wish.code)).log.has_seen(press.key)
        table = await self.room.choose_game(wish.code, press.person.id, wish.words[0], press.key)
        if press.place in table.hosts and not is_again:
            await self.house.change(wish.code, ChallengeCard(table.hosts.index(press.place)), Change(draft=""))
            await self.house.people.choose_for_chat(press.place, game=wish.words[0])
        return ""

    async def _rule(self, press: Press, wish: TableWish) -> str:
        table = await self.room.table(wish.code)
        choices = GAMES[table.game_id].rules.choices()
        name, _, value = " ".join(wish.words).partition("=")
        if value not in map(spell, choices.get(name, ())):
            raise BadPayload()
        await self.room.choose_rule(wish.code, press.person.id, f"{name}={value}", press.key)
        return ""

    async def _clock(self, press: Press, wish: TableWish) -> str:
        if len(wish.words) != 2 or wish.words[0] not in map(str, CLOCKS) or wish.words[1] not in ("0", "1"):
            raise BadPayload()
        seconds, strict = int(wish.words[0]), wish.words[1] == "1"
        await self.room.choose_clock(wish.code, press.person.id, seconds, strict, press.key)
        return ""

    async def _answer(self, press: Press, wish: TableWish) -> str:
        await self.room.answer(wish.code, press.person.id, _number(wish.words), wish.verb == "accept", press.key)
        return ""

    async def _draft(self, press: Press, wish: TableWish) -> str:
        table = await self.room.table(wish.code)
        seat = table.seat_of(press.person.id)
        if seat is None:
            raise NotAtThisTable(code=wish.code)
        version = _number(wish.words)
        if version != max(table.moved_at[seat], table.dealt_at):
            raise OldPanel()
        choices = [word.split(",") for word in wish.words[1:]]
        if len(choices) > 1 or any(len(set(chosen)) < len(chosen) for chosen in choices):
            raise BadPayload()
        place = press.place if is_private(press.place) else ""
        change = Change(pressed=press.message, draft=" ".join(wish.words), place=place, genuine=press.genuine)
        await self.house.change(wish.code, Hand(seat), change)
        return ""

    async def _claim(self, press: Press, wish: TableWish) -> str:
        await self.room.claim_on_time(wish.code, press.person.id, press.key)
        return ""

    async def _automatic(self, press: Press, wish: TableWish) -> str:
        table = await self.room.check_flagged(wish.code, press.person.id, press.key)
        if not table.log.has_seen(press.key):
            await self.house.clockwork.play_for(table, STAND_IN, press.key)
        return ""

    async def _wait(self, press: Press, wish: TableWish) -> str:
        await self.room.wait(wish.code, press.person.id, press.key)
        return ""

    async def _aside(self, press: Press, wish: TableWish) -> str:
        """The hand is wanted here, in the group, for its player's eyes only."""
        table = await self.room.table(wish.code)
        seat = table.seat_of(press.person.id)
        if seat is None or table.phase != "playing":
            raise NotAtThisTable(code=wish.code)
        if not press.aside:
            raise NoAsides()
        await self.house.change(wish.code, Hand(seat), Change(repost=True, place=press.aside))
        return ""

    async def _hint(self, press: Press, wish: TableWish) -> str:
        """What the strong robot would play: for who practises, and nobody else may learn of it."""
        table = await self.room.table(wish.code)
        seat = table.seat_of(press.person.id)
        game = table.game
        if seat is None:
            raise NotAtThisTable(code=wish.code)
        if not table.is_practice:
            raise NoHints()
        if game is None or game.turn != seat or _number(wish.words) != max(table.moved_at[seat], table.dealt_at):
            raise OldPanel()
        found = await self.house.thinkers.hint(game.view(seat), game.history(seat))
        if found is None:
            raise NoTimeForHints()
        profile = await self.house.people.person(press.person.id)
        return hint_text(found, profile.language, profile.suits, game.kind.id)

    # Pages

    async def _page(self, press: Press, profile: Profile, wish: PageWish) -> Reply:
        if not press.genuine:
            # Its answer would overwrite a message that may show something else.
            raise BadPayload()
        language = await self.pages.language(press.place, profile)
        words = wish.words
        if wish.page == "leaderboard" and len(words) == 3:
            return Reply(panel=await self.pages.leaderboard(press.place, profile, words[0], words[1], words[2]))
        if wish.page == "settings" and len(words) == 2:
            return Reply(panel=await self.pages.change_setting(press.place, profile, words[0], words[1]))
        if wish.page == "settings" and not words:
            return Reply(panel=self.pages.own_settings(profile), private=not is_private(press.place))
        if wish.page == "forget":
            return await self.commands.own_data.answer(press.place, profile, words)
        if wish.page == "rules":
            return Reply(panel=rules_page(language, " ".join(words)))
        if wish.page == "help":
            return Reply(panel=help_page(language))
        if wish.page == "hand" and len(words) == 1:
            if not await self.commands.bring_hands(profile.id, words[0], press.place):
                raise NotAtThisTable(code=words[0][:8])
            return Reply()
        if wish.page == "replay" and len(words) == 2:
            return await self._replay(press, profile, words)
        if wish.page == "analysis" and len(words) == 1:
            return await self._analysis(press, profile, words[0])
        if wish.page == "rematch" and len(words) == 1:
            return await self._rematch(press, profile, words[0])
        raise BadPayload()

    async def _replay(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """In a group the result stays where it is: the replay comes as a message of its own, to the presser alone."""
        panel = await self.pages.replay(press.place, profile, words[0], words[1])
        return Reply(panel=panel, private=not is_private(press.place))

    async def _analysis(self, press: Press, profile: Profile, game_id: str) -> Reply:
        panel = await self.pages.analysis(press.place, profile, game_id)
        return Reply(panel=panel, private=not is_private(press.place))

    async def _rematch(self, press: Press, profile: Profile, game_id: str) -> Reply:
        """The same game, options and pairs again. The first who wants it opens the table, the others sit down at it."""
        game = await self.house.archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if profile.id not in game.people:
            raise NotAtThisTable(code=game.code)
        rules = [f"rule {name} {spell(value)}" for name, value in game.record.rules.items()]
        seat = game.people.index(profile.id)
        robots = [
            f"sit {place} {person} {game.record.seats[place]}"
            for place, person in enumerate(game.people)
            if person.startswith("robot:")
        ]
        clock = f"clock {game.clock} {'strict' if game.strict else 'lax'}"
        others = [seat for seat, person in enumerate(game.people) if person != profile.id]
        opponent = others[0]
        # Whoever has been forgotten cannot be asked: then it is open to all.
        is_for_one = len(others) == 1 and not is_somebody(game.people[opponent])
        invited = Invited(game.people[opponent], "", game.record.seats[opponent]) if is_for_one else None
        table = await self.room.open_table(
            game.record.game,
            profile.id,
            press.person.name,
            f"again:{game_id}",
            again=True,
            host=press.place,
            setup=(*rules, clock, *robots),
            invited=invited if not robots else None,
            seat=seat,
        )
        if table.opener.person != profile.id:
            try:
                await self.room.sit(table.code, profile.id, press.person.name, press.key, seat)
            except AlreadySeated:
                return Reply()
        return Reply()


def _number(words: list[str]) -> int:
    """The first word as a number."""
    if not words or not words[0].isdecimal() or len(words[0]) > 6:
        raise BadPayload()
    return int(words[0])
