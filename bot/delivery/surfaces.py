"""Surfaces: the places where a table is shown, and what is known of what stands there.

A table has, by name:

| name | what |
|---|---|
| ``h<seat>`` | the hand of the person in that seat, in the private chat |
| ``c<host>`` | the challenge card in a chat; ``<host>`` is its number in the table's list of hosts |
| ``d<deal>.<host>`` | the board of a deal there |
| ``r<host>`` | the end of the game there |
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from bot.platform import is_aside, is_private, is_same_place, private_place
from bot.tables.table import Table

FIELDS = 10


class Change(NamedTuple):
    """Something that somebody did with a surface: pressed it on a message, chose part of a move, or asks for it anew.

    ``place`` is the private chat or aside where they did so, or want it from now on. ``genuine`` is whether the
    platform says that the pressed message shows this surface (`bot.platform.Press`); if not, it is left alone unless it
    is known to do so.
    """

    pressed: str = ""
    draft: str | None = None
    front: bool = False
    place: str = ""
    genuine: bool = False


class Surface(NamedTuple):
    """What is known of one surface.

    ``message`` is what stands there, empty if nothing does, and ``digest`` the panel it shows. ``whom`` is a tag of the
    place, for another person may take a chair. ``sent`` counts the messages sent for it, which makes each send's key.
    ``at`` is when it last came to the person's eye (sent, or pressed by them), Unix seconds. ``status`` is "", "done"
    (it will not change any more), "unreachable" or "dropped". ``calls`` is how loudly it calls for the viewer
    (`drawing.calls`). ``draft`` is a choice in several presses, behind the version it is for. ``stale`` are older
    messages to be taken away; those of another place stand behind it and a bar. ``aside`` is where a hand is shown in
    place of the private chat: in a group, to its owner alone.
    """

    message: str = ""
    digest: str = ""
    whom: str = ""
    sent: int = 0
    at: int = 0
    status: str = ""
    calls: int = 0
    draft: str = ""
    stale: tuple[str, ...] = ()
    aside: str = ""

    def to_text(self) -> str:
        """As it is stored: fields behind tabs, empty ones at the end left out."""
        draft = self.draft.replace("\t", " ")
        fields = (self.message, self.digest, self.whom, self.sent, self.at, self.status, self.calls, draft)
        return "\t".join(str(field or "") for field in (*fields, " ".join(self.stale), self.aside)).rstrip("\t")

    @classmethod
    def of(cls, text: str) -> "Surface":
        fields = (text.split("\t") + [""] * FIELDS)[:FIELDS]
        message, digest, whom, sent, at, status, calls, draft, stale, aside = fields
        numbers = int(sent or 0), int(at or 0)
        return cls(message, digest, whom, *numbers, status, int(calls or 0), draft, tuple(stale.split()), aside)

    def draft_for(self, version: int) -> str:
        """The draft, if it is for a decision of this version."""
        meant, _, draft = self.draft.partition(" ")
        return draft if meant == str(version) else ""

    def has_shown(self, message: str, home: str, place: str) -> bool:
        """Whether a message of a place, by default where the surface is, is known to show it or to have shown it."""
        here = self.aside or home
        if not place or is_same_place(here, place):
            return message == self.message or message in self.stale
        stale = (old.rpartition("|") for old in self.stale)
        return any(old == message and is_same_place(where, place) for where, _, old in stale)

    def moved(self, home: str, place: str, pressed: str) -> "Surface":
        """The surface, from now on at a place that is its home, a private chat, or an aside.

        ``pressed`` is the message that stands there already, if one does. What stood at the place before is stale.
        """
        before = self.aside or home
        aside = place if is_aside(place) else ""
        if is_same_place(before, place):
            return self._replace(aside=aside)
        stale = tuple(old if "|" in old else f"{before}|{old}" for old in (*self.stale, self.message) if old)
        return self._replace(aside=aside, message=pressed, digest="", stale=stale)

    def edited(self, digest: str, calls: int) -> "Surface":
        """The surface once its message shows another panel."""
        # Each press comes by here, and `_replace` takes five times as long.
        return Surface(self.message, digest, *self[2:6], calls, *self[7:])

    def looked_at(self, now: int, aside: str) -> "Surface":
        """The surface once its person has pressed something there."""
        return Surface(*self[:4], now, *self[5:9], aside)

    def finished(self) -> "Surface":
        """Nothing more to be shown here; of what was, only that is kept."""
        return Surface(whom=self.whom, status="done")


@lru_cache(maxsize=10_000)
def tag_of(place: str) -> str:
    """A short tag that tells one place from another."""
    return f"{crc32(place.encode()) & 0xFFFF:x}"


def is_taken(table: Table, name: str) -> bool:
    """Whether this surface is the hand of somebody who sits at the table."""
    seat = seat_of(name)
    return seat is not None and seat < len(table.chairs) and table.chairs[seat] is not None


def wanted(table: Table) -> Iterator[str]:
    """The surfaces that a table should have, the most urgent first: whose turn it is, the other hands, the boards."""
    if table.game is None:
        yield from (f"h{seat}" for seat in range(len(table.chairs)) if _is_asked(table, seat))
        yield from (f"c{host}" for host in range(len(table.hosts)))
        return
    turn = table.game.turn
    seats = sorted(range(len(table.chairs)), key=lambda seat: seat != turn)
    yield from (f"h{seat}" for seat in seats if (chair := table.chairs[seat]) and not chair.is_robot)
    for host in range(len(table.hosts)):
        yield f"c{host}"
        # In a private chat the hand stands already: there a deal gets its board when it is over.
        running = is_private(table.hosts[host]) and table.phase != "over"
        yield from (f"d{deal}.{host}" for deal in range(1, table.game.deal_number + 1 - running))
        if table.phase == "over":
            yield f"r{host}"


def _is_asked(table: Table, seat: int) -> bool:
    return any(table.ruler_of(asked) == seat for asked in table.asking)


def seat_of(name: str) -> int | None:
    """The seat whose hand this surface is."""
    return int(name[1:]) if name[0] == "h" else None


def deal_of(name: str) -> int:
    """The deal whose board this surface is."""
    return int(name[1:].partition(".")[0])


def place_of(table: Table, name: str, surface: Surface) -> str:
    """Where a surface is: at home, or aside."""
    return surface.aside or home_of(table, name)


def home_of(table: Table, name: str) -> str:
    """Where a surface belongs: a hand in its person's private chat, a board in a chat that hosts the table."""
    if name[0] == "h":
        chair = table.chairs[int(name[1:])]
        return private_place(chair.person) if chair else ""
    return table.hosts[int(name[1:].rpartition(".")[2])]


def is_final(table: Table, name: str) -> bool:
    """Whether what the surface should show now is what it will show for ever."""
    return table.phase in ("over", "closed") or not is_open(table, name)


def is_open(table: Table, name: str) -> bool:
    """Whether what the surface is about goes on: a hand, the deal that is played, a challenge that waits."""
    if name[0] == "d":
        return table.game is not None and deal_of(name) == table.game.deal_number
    return name[0] == "h" or (name[0] == "c" and table.game is None and not table.closed)
