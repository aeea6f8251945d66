"""A game that strangers played together, live or finished."""

from typing import NamedTuple

from bot.finished.archive import Archive
from bot.people import Profile
from bot.tables.chairs import Chair
from bot.tables.errors import DidNotPlay


class SharedGame(NamedTuple):
    game_id: str
    game: str
    code: str
    chairs: list[Chair]
    seat: int  # of the person who acts


async def find_shared_game(archive: Archive, profile: Profile, game_id: str) -> SharedGame:
    """Return a finished game, or raise DidNotPlay if the person did not play it."""
    game = await archive.require(game_id)
    if profile.id not in game.people:
        raise DidNotPlay()
    chairs = [Chair(person, name) for person, name in zip(game.people, game.record.seats, strict=True)]
    return SharedGame(game_id, game.record.game, game.code, chairs, game.people.index(profile.id))
