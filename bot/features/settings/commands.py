"""What people may choose for themselves."""

from collections.abc import Mapping

from bot.actions import BadPayload
from bot.people import HANDS, STYLES, SUITS
from bot.texts import LANGUAGES
from bot.worker import Worker

OF_PICTURES: dict[str, tuple[str, ...]] = {"pictures": ("0", "1"), "deck": STYLES}
OWN: dict[str, tuple[str, ...]] = {
    **OF_PICTURES,
    "language": LANGUAGES,
    "suits": SUITS,
    "hands": HANDS,
    "called": ("0", "1"),
    "phrases": ("0", "1"),
}
"""A person's settings, and the values of each."""


async def choose_own(worker: Worker, person: str, chosen: Mapping[str, str]) -> None:
    """Set some of a person's settings, and have their tables shown by them. BadPayload for one that is none."""
    if any(value not in OWN.get(name, ()) for name, value in chosen.items()):
        raise BadPayload()
    await worker.people.choose(person, **chosen)
    for table in await worker.tables_of(person):
        await worker.touch(table.code)
