"""The delivery of one table, as a worker has it in memory."""

import asyncio
import time

from bot.delivery.drawing import Away, Outcome
from bot.delivery.surfaces import Surface
from bot.panel import Panel
from bot.tables.table import Table

NOTHING = Surface()


class Post:
    """The delivery of one table: what is known of its surfaces, and the tasks that bring them up to date.

    ``dirty`` when the table may have changed since it was last looked over, ``stale`` when another worker changed it,
    ``failed`` when a surface met a fault of ours, and the table is to be looked over again.
    ``inherited`` is whether a process before this one may have sent messages that it could not note any more. ``tried``
    has for each surface the digest of what may have been sent under the key of its next message, None for nothing.
    ``listed`` is who sat there, and which chats showed it, when the lists of tables last said so.
    ``doubts`` has the surfaces whose message may have arrived, to be told when the table has been looked over.
    ``looks`` counts how often the table was looked over, ``looked_at`` is the version when it was last.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.surfaces: dict[str, Surface] = {}
        self.noted: dict[str, Surface] = {}
        self.loaded = False
        self.looked_at = 0
        self.looks = 0
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.drawn: dict[str, tuple[object, Panel]] = {}
        self.fronts: set[str] = set()
        self.outcome: Outcome | None = None
        self.dirty = False
        self.stale = False
        self.failed = False
        self.inherited = False
        self.tried: dict[str, str | None] = {}
        self.doubts: dict[str, asyncio.Event] = {}
        self.pump: asyncio.Task[None] | None = None
        self.listed: object = None
        self.since = time.monotonic()

    @property
    def is_pumped(self) -> bool:
        """Whether the table is being looked over."""
        return self.pump is not None and not self.pump.done()

    @property
    def is_busy(self) -> bool:
        return self.dirty or bool(self.tasks) or self.is_pumped

    def take_changes(self) -> dict[str, str]:
        """What is known of surfaces and not noted, as text; it counts as noted from now on."""
        changes = {name: surface for name, surface in self.surfaces.items() if self.noted.get(name) != surface}
        self.noted |= changes
        return {name: surface.to_text() for name, surface in changes.items()}

    def away(self, table: Table, called: tuple[str, str] | None) -> Away:
        """Whose hand does not stand in the private chat, and who is ``called``."""
        hands = [(chair, self.surfaces.get(f"h{seat}", NOTHING)) for seat, chair in enumerate(table.chairs) if chair]
        return Away(
            tuple((chair.person, chair.name) for chair, hand in hands if hand.status == "unreachable"),
            any(hand.aside for _chair, hand in hands),
            called,
        )
