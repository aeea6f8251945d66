"""A finished game in the archive."""

import dataclasses
import json
import time
import zlib
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from bot.identity.programs import is_program
from bot.identity.pseudonyms import NAME, is_pseudonym
from bot.tables.fixtures import FixtureName
from engine import Record, read
from engine.errors import BadRecord


class UnreadableGame(ValueError):
    """A stored game that this version cannot read."""


@dataclass(frozen=True)
class FinishedGame:
    id: str
    code: str  # of the table
    ended: int  # Unix seconds
    people: list[str]  # ``platform:id`` by seat
    chats: list[str]  # group chats that showed the table
    clock: int  # seconds for a move, 0 for no clock
    strict: bool  # `bot.store.entries.Clock.strict`
    record: Record
    fixture: str = ""  # game of a tournament (`bot.tables.fixtures.FixtureName`), otherwise empty
    origin: Literal["", "page", "chat"] = ""  # `Table.origin`; also empty if an older release stored the game
    rating_rules: int = 1  # number of the rules by which the game is rated (`bot.finished.unrated_games`)
    trial: bool = False  # whether a guest on trial took part
    has_cuts: bool = False  # whether a player could cut each pack (`Table.has_cuts`)
    winner_gains: bool | None = None  # decided when the game is rated; None before, and if no other game matters

    def __post_init__(self) -> None:
        if self.origin not in ("", "page", "chat"):
            raise ValueError(f"unknown origin: {self.origin}")
        if self.fixture:
            FixtureName.parse(self.fixture)

    @property
    def is_rated(self) -> bool:
        """True if the game has a winner, and no robot, program or guest on trial took part.

        A duplicate's deal is unrated, because other tables had the same cards.
        """
        machines = (person.startswith("robot:") or is_program(person) for person in self.people)
        is_duplicate = self.fixture_name is not None and self.fixture_name.is_duplicate
        return bool(self.record.winner) and not any(machines) and not is_duplicate and not self.trial

    @property
    def fixture_name(self) -> FixtureName | None:
        return FixtureName.parse(self.fixture) if self.fixture else None

    @property
    def month(self) -> str:
        """The month in which the game ended, in UTC, such as ``2026-11``."""
        return time.strftime("%Y-%m", time.gmtime(self.ended))

    @property
    def known_people(self) -> list[str]:
        """The players who are neither robots nor pseudonyms."""
        return [
            person for person in self.people if person and not person.startswith("robot:") and not is_pseudonym(person)
        ]

    def redact(self, person: str, pseudonym: str) -> "FinishedGame":
        """Return the game with a pseudonym instead of a person, and without the person's name."""
        seats = [
            NAME if player == person else name for player, name in zip(self.people, self.record.seats, strict=True)
        ]
        people = [pseudonym if player == person else player for player in self.people]
        return replace(self, people=people, record=self.record.model_copy(update={"seats": seats}))

    @property
    def fields(self) -> dict[str, Any]:
        """The fields for JSON. Default values are left out, so that older releases can read most games."""
        fields = asdict(self) | {"record": json.loads(self.record.to_json())}
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        return {name: value for name, value in fields.items() if value != defaults[name]}

    def to_bytes(self) -> bytes:
        return zlib.compress(json.dumps(self.fields, separators=(",", ":")).encode(), 9)

    @classmethod
    def parse(cls, content: bytes) -> "FinishedGame":
        """Parse the output of `to_bytes`, or raise UnreadableGame."""
        try:
            fields = json.loads(zlib.decompress(content))
            return cls(**fields | {"record": read(json.dumps(fields["record"]))})
        except (zlib.error, ValueError, KeyError, TypeError, BadRecord) as error:
            raise UnreadableGame(str(error)) from error
