"""What people do on pages. If it cannot be done, the page shows the error's text in their language."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from bot.people import People, Profile
from bot.platform import Person
from bot.store.outage import begin_request
from bot.texts import error_text
from engine.errors import EngineError


class HasCode(Protocol):
    """A table or a duel."""

    @property
    def code(self) -> str: ...


async def try_to_open(
    people: People, person: Person, open_: Callable[[Profile], Awaitable[HasCode]]
) -> tuple[str, str]:
    """Return the code of what ``open_`` opens and "", or "" and an error to show. Can raise a store error."""
    begin_request()
    profile = await people.meet(person)
    try:
        return (await open_(profile)).code, ""
    except EngineError as error:
        return "", error_text(error, profile.language)


async def try_to_do(people: People, person: Person, act: Callable[[Profile], Awaitable[object]]) -> str:
    """Call ``act``. Return an error to show, or an empty string. Can raise a store error."""
    begin_request()
    profile = await people.meet(person)
    try:
        await act(profile)
    except EngineError as error:
        return error_text(error, profile.language)
    return ""
