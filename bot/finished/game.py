"""One finished game, as the archive keeps it."""

import json
import time
import zlib
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from bot.programs import is_program
from bot.pseudonyms import NAME, is_pseudonym
from bot.tables.fixtures import FixtureName
from engine import Record, read
from engine.errors import BadRecord


class UnreadableGame(ValueError):
    """What is stored as a finished game is none that this version can read."""


@dataclass(frozen=True)
class FinishedGame:
    """A finished game. ``people`` are ``platform:id`` by seat, ``chats`` the group chats that watched.

    ``ended`` is in Unix seconds; ``clock`` and ``strict`` as at the table. ``fixture`` is which game of a tournament it
    is (`bot.tables.fixtures.FixtureName`), as text; empty for any other. ``origin`` is where it was opened
    (`Table.origin`), empty also for what an older release has kept. ``rating_rules`` and ``trial`` are told in
    `bot.finished.rating_rules`: the number of the rules that rate it, and whether a guest on trial took part.
    ``winner_gains`` is what was decided when the game was rated; None if the decision needs no other game.
    """

    id: str
    code: str
    ended: int
    people: list[str]
    chats: list[str]
    clock: int
    strict: bool
    record: Record
    fixture: str = ""
    origin: Literal["", "page", "chat"] = ""
    rating_rules: int = 1
    trial: bool = False
    winner_gains: bool | None = None

    def __post_init__(self) -> None:
        if self.origin not in ("", "page", "chat"):
            raise ValueError(f"no origin: {self.origin}")
        if self.fixture:
            FixtureName.parse(self.fixture)

    @property
    def is_rated(self) -> bool:
        """Whether it counts for ratings: somebody won, and no robot, program or guest on trial took part.

        A duplicate's deal does not count, because other tables had the same cards.
        """
        machines = (person.startswith("robot:") or is_program(person) for person in self.people)
        is_duplicate = self.fixture_name is not None and self.fixture_name.is_duplicate
        return bool(self.record.winner) and not any(machines) and not is_duplicate and not self.trial

    @property
    def fixture_name(self) -> FixtureName | None:
        """Which game of which tournament it is; None for any other."""
        return FixtureName.parse(self.fixture) if self.fixture else None

    @property
    def month(self) -> str:
        """When it ended, as ``2026-11``, in UTC."""
        return time.strftime("%Y-%m", time.gmtime(self.ended))

    @property
    def known_people(self) -> list[str]:
        """The people who took part; robots and those who have been forgotten are left out."""
        return [one for one in self.people if one and not one.startswith("robot:") and not is_pseudonym(one)]

    def redact(self, person: str, somebody: str) -> "FinishedGame":
        """The game with somebody in place of a person."""
        seats = [NAME if one == person else name for one, name in zip(self.people, self.record.seats, strict=True)]
        people = [somebody if one == person else one for one in self.people]
        return replace(self, people=people, record=self.record.model_copy(update={"seats": seats}))

    @property
    def fields(self) -> dict[str, Any]:
        """What is written of it, ready for JSON: of a group's game that is no tournament's the same as ever."""
        fields = asdict(self) | {"record": json.loads(self.record.to_json())}
        usual = {"fixture": "", "origin": "", "rating_rules": 1, "trial": False, "winner_gains": None}
        return {name: value for name, value in fields.items() if value != usual.get(name)}

    def to_bytes(self) -> bytes:
        return zlib.compress(json.dumps(self.fields, separators=(",", ":")).encode(), 9)

    @classmethod
    def parse(cls, stored: bytes) -> "FinishedGame":
        """The game that `to_bytes` wrote; UnreadableGame for anything else."""
        try:
            fields = json.loads(zlib.decompress(stored))
            return cls(**fields | {"record": read(json.dumps(fields["record"]))})
        except (zlib.error, ValueError, KeyError, TypeError, BadRecord) as error:
            raise UnreadableGame(str(error)) from error
