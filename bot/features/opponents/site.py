"""Recent opponents and challenges for web pages."""

import hmac
from typing import NamedTuple

from cachetools import TTLCache

from bot.command_names import FIRST_GAME
from bot.features.opponents import keys
from bot.features.opponents.errors import ChallengedRecently, OpponentIsGone
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.http.addresses import Visitor
from bot.identity.programs import is_program, is_web_guest
from bot.identity.pseudonyms import is_pseudonym, localize_name
from bot.people import People
from bot.platform import Person, private_place
from bot.presence import Presence
from bot.site.attempts import try_to_open
from bot.store.entries import Clock, CutOption, Rule, Setup
from bot.tables.blocks import Blocks
from bot.tables.chairs import Invited
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable
from bot.tables.room import Room
from bot.tables.snapshot import isolate_name
from bot.tables.table import Table
from bot.texts import day_of, texts
from engine import GAMES

RECENT_GAMES = 20  # a person's last games, whose players are the recent opponents
RECENT_OPPONENTS = 5
CACHED_PEOPLE, CACHE_SECONDS = 10_000, 30.0
PAUSE_SECONDS = 6 * 3600  # time after a challenge until a person who did not accept it can be challenged again


class LastGame(NamedTuple):
    """The last game with an opponent. ``seat`` is the opponent's."""

    id: str
    seat: int
    person: str
    name: str
    game: str
    ended_at: int


class OpponentLine(NamedTuple):
    """An opponent in the list; ``is_here`` is whether they have a page open."""

    game_id: str
    seat: int
    name: str
    description: str
    is_here: bool


class ChallengeLine(NamedTuple):
    code: str
    name: str
    game: str


class OpponentsSite:
    """A person's recent opponents and challenges. Methods can raise store errors."""

    def __init__(
        self, archive: Archive, people: People, room: Room, challenges: Challenges, blocks: Blocks, presence: Presence
    ) -> None:
        self._archive, self._people, self._room = archive, people, room
        self._challenges, self._blocks, self._presence = challenges, blocks, presence
        self._client = room.store.client
        self._known: TTLCache[str, list[LastGame]] = TTLCache(CACHED_PEOPLE, CACHE_SECONDS)

    async def opponents(self, person: str, language: str) -> list[OpponentLine]:
        """Return a person's recent opponents, the latest first, without those whom the person has blocked."""
        last_games = self._known.get(person)
        if last_games is None:
            last_games = self._known[person] = await self._find_last_games(person)
        opponents = [last_game.person for last_game in last_games]
        own_blocks, *blocks_by_opponent = await self._blocks.blocked_people([person, *opponents])
        shown_games = [last_game for last_game in last_games if last_game.person not in own_blocks]
        # A person who has blocked the reader always looks as if no page of theirs were open.
        blocks = zip(opponents, blocks_by_opponent, strict=True)
        present_people = await self._presence.here([other for other, blocked in blocks if person not in blocked])
        _ = texts(language).gettext
        return [
            OpponentLine(
                last_game.id,
                last_game.seat,
                isolate_name(localize_name(last_game.name, language)),
                f"{_(GAMES[last_game.game].name)}, {day_of(last_game.ended_at, language)}",
                last_game.person in present_people,
            )
            for last_game in shown_games
        ]

    async def _find_last_games(self, person: str) -> list[LastGame]:
        numbers = (await self._archive.numbers_of(person))[::-1][:RECENT_GAMES]
        [blocked_people] = await self._blocks.blocked_people([person])
        games_by_opponent: dict[str, LastGame] = {}
        for game in await self._archive.games_by_number(numbers):
            for seat, other in enumerate(game.people):
                if other not in blocked_people and can_challenge(game, person, seat):
                    last_game = LastGame(game.id, seat, other, game.record.seats[seat], game.record.game, game.ended)
                    games_by_opponent.setdefault(other, last_game)
        return list(games_by_opponent.values())[:RECENT_OPPONENTS]

    async def challenge(
        self, person: Person, game_id: str, seat: int, visitor: Visitor | None = None
    ) -> tuple[str, str]:
        """Challenge the player in a seat of a finished game. Return the table's code, or "" and an error to show.

        A repeated challenge returns the same table while it waits. After one that came to nothing, the same person
        cannot be challenged for some hours. Both appear under their names in the finished game, because they can be
        strangers.
        """
        return await try_to_open(
            self._people, person, lambda _profile: self._open_challenge(person.id, game_id, seat, visitor)
        )

    async def _open_challenge(self, person: str, game_id: str, seat: int, visitor: Visitor | None) -> Table:
        game = await self._archive.get(game_id)
        # A guessed id gets the same answer, known or not.
        if game is None or not can_challenge(game, person, seat):
            raise OpponentIsGone()
        other, own_name = game.people[seat], game.record.seats[game.people.index(person)]
        of_person, of_other = await self._blocks.blocked_people([person, other])
        if other in of_person:
            raise OpponentIsGone()
        secret = await self._room.store.secret()
        key = keys.last_challenge(hmac.digest(secret, f"challenge {person} {other}".encode(), "sha256").hex())
        await self._check_pause(key, person)
        is_for_two, setup = len(game.people) == 2, list[Setup]()
        if is_for_two:
            setup = [*(Rule(name, value) for name, value in game.record.rules.items()), Clock(game.clock, game.strict)]
        table = await self._challenges.open_table(
            game.record.game if is_for_two else FIRST_GAME,
            person,
            own_name,
            f"challenge:{person} {other}",
            # To a person who was blocked, it looks as if the other did not answer.
            host="" if person in of_other else private_place(other),
            invited=Invited(other, "", game.record.seats[seat]),
            setup=[*setup, CutOption(True)],
            reopen=True,
            visitor=visitor,
        )
        if table.phase == "open":
            await self._client.set(key, table.code, ex=PAUSE_SECONDS, nx=True)
        return table

    async def _check_pause(self, key: str, person: str) -> None:
        """Raise ChallengedRecently if the last challenge came to nothing. Delete the key of one that was played."""
        if (stored_code := await self._client.get(key)) is None:
            return
        code = stored_code.decode()
        try:
            phase = (await self._room.load(code)).phase
        except NoSuchTable:
            phase = "over" if await self._archive.find_latest_game_id(code, person) else "closed"
        if phase == "closed":
            raise ChallengedRecently()
        if phase != "open":
            await self._client.delete(key)

    async def challenges_to(self, person: str, language: str) -> list[ChallengeLine]:
        """Return the tables at which another person waits for this one, without people whom this one has blocked."""
        _ = texts(language).gettext
        [blocked_people] = await self._blocks.blocked_people([person])
        lines = []
        for table in await self._room.lists.tables_at(private_place(person)):
            if table.phase != "open" or table.opener.person in blocked_people:
                continue
            waiting = next((chair for chair in table.localize(language).chairs if chair and not chair.is_robot), None)
            if waiting and person not in table.people and table.invites(person, ""):
                lines.append(ChallengeLine(table.code, isolate_name(waiting.name), _(GAMES[table.game_id].name)))
        return lines


def can_challenge(game: FinishedGame, person: str, seat: int) -> bool:
    """Return whether a player of a game can challenge the player in this seat.

    Strangers from chats have only a nickname, and their private chat is not for people who met them once. That includes
    people who met at open tables, which have no origin, or in tournaments.
    """
    if person not in game.people or not 0 <= seat < len(game.people):
        return False
    other = game.people[seat]
    if other == person or other.startswith("robot:") or is_pseudonym(other) or is_program(other):
        return False
    return is_web_guest(other) or bool(game.origin or (game.chats and not game.fixture))
