"""Completions for arguments of commands, on platforms that offer them."""

from bot.command_names import ArgumentKind
from bot.parsing.codes_and_links import pasted_code
from bot.parsing.games import targets
from bot.people import People
from bot.platform import Person, Suggestion, chat_of
from bot.tables.table_lists import TableLists
from bot.texts import language_of, texts
from engine import GAMES


async def suggestions(
    people: People, lists: TableLists, kind: ArgumentKind, typed_text: str, person: Person, place: str, game: str
) -> list[Suggestion]:
    """See `bot.card_room.CardRoom.suggestions`."""
    if kind is ArgumentKind.POINTS:
        points = [str(target) for target in targets(game if game in GAMES else (await people.chat(place)).game)]
        # Suggest all of them if none begins with the typed text.
        return [Suggestion(text, text) for text in [text for text in points if text.startswith(typed_text)] or points]
    if kind is ArgumentKind.OPEN_TABLE:
        # A server's channels are one chat, but not all members see every channel.
        visible = [table for table in await lists.tables_at(chat_of(place)) if table.is_shown_at(place)]
        tables = [table for table in visible if table.phase == "open"]
    elif kind is ArgumentKind.OWN_TABLE:
        tables = [table for table in await lists.tables_of(person.id) if table.phase == "playing"]
    else:
        return []
    code, gettext, suggestions_found = pasted_code(typed_text), texts(language_of(person.language)).gettext, []
    for table in tables:
        names = ", ".join(chair.name for chair in table.chairs if chair)
        label = f"{table.code} · {gettext(GAMES[table.game_id].name)} · {names}"
        if table.code == code or typed_text.casefold() in label.casefold():
            suggestions_found.append(Suggestion(table.code, label))
    return suggestions_found
