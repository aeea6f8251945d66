"""The record of a game, `buongioco/1`, in JSON.

A record that can be read is well formed: known keys, right types, a full pack in each deal. `engine.verify` checks the
game itself: legal moves, right scores, packs that follow from their secrets.
"""

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag, TypeAdapter, ValidationError

from .errors import BadRecord, quote
from .games import GAMES, GameKind
from .options import describe_errors
from .shuffle import CUT_PATTERN, Cut

Seat = Annotated[int, Field(ge=0, le=3)]
Count = Annotated[int, Field(ge=0)]
Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Ending = Literal["target", "claim", "resign", "timeout", "cancelled"]
Text = Annotated[str, StringConstraints(max_length=40)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]


# A seat (None for chance) and a text, optionally followed by all moves that were legal.
Move = Annotated[
    Annotated[tuple[Seat | None, Text], Tag("plain")] | Annotated[tuple[Seat | None, Text, list[Text]], Tag("legal")],
    Discriminator(lambda value: "legal" if isinstance(value, list | tuple) and len(value) > 2 else "plain"),
]


class StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Proof(StrictModel):
    """SHA-256 of the secret, and the secret, in hex."""

    commitment: Hex
    secret: Hex

    @property
    def made_cut(self) -> Cut | None:
        """The cut, if an opponent of the dealer made one."""
        return None


class CutProof(Proof):
    """The proof of a pack that follows from secret and cut. ``cut_by`` is the seat that cut."""

    cut: Annotated[str, StringConstraints(pattern=CUT_PATTERN)]
    cut_by: Seat

    @property
    def made_cut(self) -> Cut | None:
        return Cut(self.cut, self.cut_by)


def make_proof(commitment: str, secret: bytes, cut: Cut | None) -> Proof:
    if cut:
        return CutProof(commitment=commitment, secret=secret.hex(), cut=cut.text, cut_by=cut.seat)
    return Proof(commitment=commitment, secret=secret.hex())


def _has_cut(proof: object) -> bool:
    return isinstance(proof, CutProof) or (isinstance(proof, dict) and not proof.keys().isdisjoint({"cut", "cut_by"}))


AnyProof = Annotated[
    Annotated[Proof, Tag("uncut_proof")] | Annotated[CutProof, Tag("cut_proof")],
    Discriminator(lambda proof: "cut_proof" if _has_cut(proof) else "uncut_proof"),
]
UNSCORED_FIELDS = ("dealer", "pack", "proof", "moves", "totals")


class DealRecord(StrictModel):
    """A deal. ``pack`` is as shuffled, first card first. ``proof`` is None if the pack was laid out by hand."""

    dealer: Seat
    pack: list[Annotated[str, StringConstraints(min_length=2, max_length=2)]]
    proof: AnyProof | None
    moves: list[Move]
    if TYPE_CHECKING:  # subclasses define it, because it must be their last field
        totals: tuple[int, int]

    def entries(self) -> dict[str, Any]:
        """Return the deal's score by side, without the totals."""
        return {name: getattr(self, name) for name in type(self).model_fields if name not in UNSCORED_FIELDS}

    def leader(self) -> int | None:
        return next((entry[0] for entry in self.moves if entry[1].startswith("play ")), None)


class TressetteDealRecord(DealRecord):
    """Values are by side. ``thirds`` are thirds of a point taken in tricks; the others are whole points."""

    thirds: tuple[Count, Count]
    declared: tuple[Count, Count]
    points: tuple[Count, Count]
    totals: tuple[Count, Count]


Bid = Annotated[int, Field(ge=1, le=13)] | Literal["nil", "double nil"] | None


class SpadesDealRecord(DealRecord):
    """Values are by side. A bid is None if the deal ended before it. ``bags``, 0 to 9, carry over to the next deal."""

    bids: tuple[Bid, Bid]
    tricks: tuple[Count, Count]
    bags: tuple[Count, Count]
    points: tuple[int, int]
    totals: tuple[int, int]


class Record(StrictModel):
    """The record of a game. While the game is live, it holds hidden cards and the current deal's secret.

    ``winner`` and ``ending`` are None while the game is being played. The ``totals`` of deals are in whole points, not
    multiplied by ``score_unit``.
    """

    format: Literal["buongioco/1"]
    game: Annotated[str, StringConstraints(max_length=40)]
    rules: dict[str, int | str | bool]
    seats: list[Name]
    deals: list[Any]
    winner: list[Seat] | None
    ending: Ending | None

    @property
    def kind(self) -> GameKind:
        return GAMES[self.game]

    def to_json(self) -> str:
        """Return the record as JSON on a single line."""
        return self.model_dump_json()


class TressetteRecord(Record):
    deals: list[TressetteDealRecord]


class SpadesRecord(Record):
    deals: list[SpadesDealRecord]


_READER: TypeAdapter[TressetteRecord | SpadesRecord] = TypeAdapter(
    Annotated[
        Annotated[TressetteRecord, Tag("tressette")] | Annotated[SpadesRecord, Tag("spades")],
        Discriminator(
            lambda data: "spades" if isinstance(data, dict) and data.get("game") == "spades" else "tressette"
        ),
    ]
)
_TAGS = ("tressette", "spades", "plain", "legal", "uncut_proof", "cut_proof")
_PROBLEMS = {"missing": "is missing", "extra_forbidden": "is not a key of a record"}


def read(text: str | bytes) -> TressetteRecord | SpadesRecord:
    """Read a record from JSON. BadRecord names the path of the first fault. A key that occurs twice is a fault."""
    try:
        record = _READER.validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(quote(step, 40) for step in fault["loc"] if step not in _TAGS)
        raise BadRecord(path=path or "record", problem=_PROBLEMS.get(fault["type"], fault["msg"])) from None
    _check_game(record)
    # Pydantic keeps the last of equal keys, but another reader might keep the first.
    json.loads(text, object_pairs_hook=unique_keys)
    return record


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the dict of a JSON object: an ``object_pairs_hook`` for `json.loads`.

    Raises BadRecord if a key occurs twice.
    """
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        path = quote(next(name for name in names if names.count(name) > 1), 40)
        raise BadRecord(path=path, problem="occurs twice in one object")
    return fields


def _check_game(record: TressetteRecord | SpadesRecord) -> None:
    """Check the facts that depend on the game: options, seats and packs. Add options that its release did not have."""
    kind = GAMES.get(record.game)
    if kind is None:
        raise BadRecord(path="game", problem=f"{quote(record.game)!r} is not one of: {', '.join(GAMES)}")
    record.rules.update(kind.rules.complete(record.rules))
    for name, values in kind.rules.choices().items():
        if name not in record.rules and len(values) > 1:
            raise BadRecord(path=f"rules.{name}", problem="is missing: a record names every option")
    try:
        kind.rules.model_validate(record.rules)
    except ValidationError as error:
        name, fault = next(iter(describe_errors(kind.rules, error).items()))
        raise BadRecord(path=f"rules.{quote(name, 40)}", problem=fault) from None
    if len(record.seats) != kind.seats:
        raise BadRecord(path="seats", problem=f"{len(record.seats)} names, but the game has {kind.seats} seats")
    if (record.winner is None) != (record.ending is None):
        raise BadRecord(path="winner", problem="winner and ending must both be null, or neither")
    for seat in record.winner or ():
        if seat >= kind.seats:
            raise BadRecord(path="winner", problem=f"there is no seat {seat}")
    cards = sorted(kind.pack.new)
    for number, deal in enumerate(record.deals):
        if deal.dealer >= kind.seats:
            raise BadRecord(path=f"deals.{number}.dealer", problem=f"there is no seat {deal.dealer}")
        cut = deal.proof.made_cut if deal.proof else None
        if cut and cut.seat >= kind.seats:
            raise BadRecord(path=f"deals.{number}.proof.cut_by", problem=f"there is no seat {cut.seat}")
        if sorted(deal.pack) != cards:
            raise BadRecord(path=f"deals.{number}.pack", problem=f"is not the game's {len(cards)} cards, each once")
