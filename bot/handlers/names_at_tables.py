"""The name under which a person sits down at a table."""

from bot.identity.programs import is_web_guest
from bot.identity.pseudonyms import new_nickname
from bot.people import People
from bot.tables.table import Table


async def choose_nickname(people: People, table: Table, person: str) -> str:
    """Return a nickname if the table was open to anyone and the person comes from a chat; otherwise an empty string.

    Strangers must not read names from chats. Guests of the web pages chose a name for strangers.
    """
    if not table.was_listed or is_web_guest(person):
        return ""
    nickname = (await people.person(person)).nickname
    if not nickname:
        nickname = new_nickname()
        await people.update_person(person, nickname=nickname)
    return nickname
