"""What may be chosen for an argument of a command, where a platform lets people choose instead of type."""

from bot.commands import ArgumentKind
from bot.game_words import targets
from bot.pasted_text import pasted_code
from bot.people import People
from bot.platform import Person, Suggestion, chat_of
from bot.tables.lists import TableLists
from bot.tables.table import Table
from bot.texts import language_of, texts
from engine import GAMES


async def suggestions(
    people: People, lists: TableLists, kind: ArgumentKind, begun: str, person: Person, place: str, game: str
) -> list[Suggestion]:
    """Return what a person may mean (`bot.card_room.CardRoom.suggestions`)."""
    if kind is ArgumentKind.POINTS:
        return _points(game if game in GAMES else (await people.chat(place)).game, begun)
    if kind is ArgumentKind.OPEN_TABLE:
        # A server's channels are one chat, and not everybody sees all of them.
        there = [table for table in await lists.tables_at(chat_of(place)) if table.is_shown_at(place)]
        tables = [table for table in there if table.phase == "open"]
    elif kind is ArgumentKind.OWN_TABLE:
        tables = [table for table in await lists.tables_of(person.id) if table.phase == "playing"]
    else:
        return []
    found = [Suggestion(table.code, _label(table, language_of(person.language))) for table in tables]
    pasted = pasted_code(begun)
    return [one for one in found if one.value == pasted or begun.casefold() in one.label.casefold()]


def _points(game: str, begun: str) -> list[Suggestion]:
    """What a game is played to; all of it where nothing begins so."""
    all_of_them = [str(points) for points in targets(game)]
    return [Suggestion(one, one) for one in [one for one in all_of_them if one.startswith(begun)] or all_of_them]


def _label(table: Table, language: str) -> str:
    names = ", ".join(chair.name for chair in table.chairs if chair)
    return f"{table.code} · {texts(language).gettext(GAMES[table.game_id].name)} · {names}"
