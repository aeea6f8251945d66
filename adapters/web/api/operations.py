"""The operations of `/api/v1`, served by `server` and described by `openapi`."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from bot.command_names import ArgumentKind, choices_of
from bot.features.ratings.players import ALL, PERIODS, Leaderboard, Player
from bot.identity.programs import Scope
from bot.site.api_models import (
    RECORD_TYPES,
    LineVerdicts,
    OwnTable,
    PublicTable,
    ReplayedAnalysis,
    ReplayedDeal,
    ReplayedGame,
    ReplayedLine,
)
from bot.texts import LANGUAGES
from engine.shuffle import CUT_PATTERN

BASE = "/api/v1"
CODE, GAME_ID, WATCH_ID = "[A-Z0-9]{4,8}", "[A-Z0-9]{4,8}-[0-9a-f]{1,64}", "[A-Z0-9]{4,8}-[A-Z0-9]{12}"
SUITS = ("italian", "french")
NDJSON = "application/x-ndjson"


class RequestBody(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class WantedTable(RequestBody):
    """A table to open."""

    game: str = Field(description="The game's id.", max_length=16)
    rules: dict[str, int | str | bool] = Field(
        default_factory=dict, description="Options that differ from the defaults, named as in records.", max_length=32
    )
    robots: Literal["easy", "medium", "strong"] | None = Field(
        None, description="The level of the robots on all other seats; null leaves those seats free."
    )
    cuts: bool = Field(False, description="Whether an opponent of the dealer can cut each pack.")


class WantedSeat(RequestBody):
    """A seat to take."""

    seat: int | None = Field(None, ge=0, le=3, description="The seat; null for the first free one.")


class Move(RequestBody):
    """A move."""

    version: int = Field(ge=0, description="The version of the table from which the move was chosen.")
    move: str = Field(description="One of the table's `moves`, in a record's notation.", max_length=40)


class Cut(RequestBody):
    """A cut of the pack."""

    version: int = Field(ge=0, description="The version of the table at which the pack waits.")
    cut: str = Field(
        description="The digits to mix into the secret. Draw 16 random bytes or more, so that nobody can guess them.",
        pattern=CUT_PATTERN,
    )


class WantedLine(RequestBody):
    """Moves that continue a position differently from the record."""

    place: int = Field(ge=0, le=1000, description="The number of the deal's recorded moves before the line.")
    moves: list[Annotated[str, Field(max_length=40)]] = Field(
        description="The line's moves, each by the seat to move, in a record's notation.", max_length=100
    )


class PlayedLine(WantedLine):
    """Moves that continue a position differently from the record, with the strong robot."""

    seat: int | None = Field(
        None,
        ge=0,
        le=3,
        description="The reader's seat. If it is another seat's turn, the robot moves. Null for no robot.",
    )


class Me(BaseModel):
    """The program that a token belongs to."""

    name: str = Field(description="The name that others at a table see.")
    scopes: list[Scope] = Field(description="The scopes of the token.")


class OwnTables(BaseModel):
    """The tables at which a program sits or has asked for a seat."""

    tables: list[OwnTable]


class Parameter(NamedTuple):
    """A request parameter. ``pattern`` matches the whole value; ``choices`` lists the allowed values."""

    name: str
    location: Literal["path", "query", "header"]
    description: str
    pattern: str = ""
    choices: tuple[str, ...] = ()
    kind: Literal["string", "integer"] = "string"


@dataclass(frozen=True)
class Operation:
    """An operation of the API.

    ``name`` is the method of `Api` that answers it. The answer is one of ``models``, or with the media type NDJSON a
    stream of them, one per line. ``scope`` is the scope that the token must have; None means that no token is needed.
    """

    name: str
    path: str
    summary: str
    models: tuple[type[BaseModel], ...]
    method: Literal["GET", "POST"] = "GET"
    parameters: tuple[Parameter, ...] = ()
    description: str = ""
    media_type: str = "application/json"
    errors: tuple[int, ...] = (404, 429, 503)
    body: type[RequestBody] | None = None
    scope: Scope | None = None

    @property
    def statuses(self) -> tuple[int, ...]:
        if self.body and not self.scope:
            return 400, 404, 408, 413, 422, 429, 503
        if self.body:
            return 400, 401, 403, 404, 408, 409, 413, 422, 429, 503
        return (401, 403, *self.errors) if self.scope else self.errors

    @property
    def is_stream(self) -> bool:
        return self.media_type == NDJSON


GAME = Parameter("game_id", "path", "The id of a finished game, from the link of its result.", GAME_ID)
DEAL = Parameter("deal", "path", "The deal's number, from 1.", "[1-9][0-9]{0,3}", kind="integer")
TABLE = Parameter("watch_id", "path", "A table's id for watching, from its link.", WATCH_ID)
LANGUAGE = Parameter("language", "query", "The language of texts; by default the client's.", choices=LANGUAGES)
FACES = Parameter("suits", "query", "The suits that texts name; by default Italian.", choices=SUITS)
READER = (LANGUAGE, FACES)
PLAYER_ID = "[A-Za-z0-9_-]{60,400}"
PLAYER = Parameter("player_id", "path", "A player's id, from a leaderboard.", PLAYER_ID)
KIND = Parameter(
    "game", "query", "The game; by default all games together.", choices=(ALL, *choices_of(ArgumentKind.GAME))
)
PERIOD = Parameter("period", "query", "This month, in UTC, or all time, the default.", choices=PERIODS)
TABLE_CODE = Parameter("code", "path", "A table's code.", CODE)
KEY = Parameter(
    "Idempotency-Key",
    "header",
    (
        "A new key for each request. A request repeated with its key takes effect once and gets the same "
        "answer. A different request with that key gets 422."
    ),
    "[A-Za-z0-9_-]{8,64}",
)
COOKIE_NOTE = "The pages' cookie identifies the reader. It is optional."

OPERATIONS = (
    Operation("game", "/games/{game_id}", "A finished game", (ReplayedGame,), parameters=(GAME, *READER)),
    Operation(
        "record",
        "/games/{game_id}/record",
        "A finished game's record",
        RECORD_TYPES,
        description="The whole game in the format `buongioco/1`, which anyone can check: see docs/records.md.",
        parameters=(GAME,),
    ),
    Operation(
        "deal",
        "/games/{game_id}/deals/{deal}",
        "A deal of a finished game, step by step",
        (ReplayedDeal,),
        description="The public view and each seat's view of each position.",
        parameters=(GAME, DEAL, *READER),
    ),
    Operation(
        "line",
        "/games/{game_id}/deals/{deal}/line",
        "Play on from a position of a finished game",
        (ReplayedLine,),
        method="POST",
        description=(
            "The positions after moves that differ from the record. With a `seat`, the strong robot makes the next "
            "move for any other seat, knowing only that seat's cards. 422 if a move is not legal. Nothing is stored."
        ),
        parameters=(GAME, DEAL, *READER),
        body=PlayedLine,
    ),
    Operation(
        "line_verdicts",
        "/games/{game_id}/deals/{deal}/line/verdicts",
        "The cost of each move after a line",
        (LineVerdicts,),
        method="POST",
        description="The solver's verdict with all cards open. It can take a second.",
        parameters=(GAME, DEAL),
        body=WantedLine,
    ),
    Operation(
        "analysis",
        "/games/{game_id}/analysis",
        "The analysis of a finished game, as far as it exists",
        (ReplayedAnalysis,),
        parameters=(GAME, *READER),
    ),
    Operation(
        "begin_analysis",
        "/games/{game_id}/analysis",
        "Have a finished game analysed",
        (ReplayedAnalysis,),
        method="POST",
        description="The answer is its progress. A game is analysed once, and the result is kept for a week.",
        parameters=(GAME, *READER),
    ),
    Operation(
        "leaderboard",
        "/leaderboard",
        "The leaderboard",
        (Leaderboard,),
        description=f"It covers all chats; a group's own leaderboard is shown only in that group. {COOKIE_NOTE}",
        parameters=(KIND, PERIOD, LANGUAGE),
        errors=(400, 429, 503),
    ),
    Operation(
        "player",
        "/players/{player_id}",
        "A player",
        (Player,),
        description=f"Ranks and the rating's history. Players also see their own last games. {COOKIE_NOTE}",
        parameters=(PLAYER, LANGUAGE),
    ),
    Operation("table", "/tables/{watch_id}", "The public view of a table", (PublicTable,), parameters=(TABLE,)),
    Operation(
        "table_stream",
        "/tables/{watch_id}/stream",
        "The states of a table",
        (PublicTable,),
        description=(
            "A line of JSON for the current state, and another after each change; the last comes when the game is "
            "over. A slow reader gets only the latest state. Empty lines keep the connection open: ignore them."
        ),
        parameters=(TABLE,),
        media_type=NDJSON,
    ),
    Operation("me", "/me", "My name and scopes", (Me,), scope="read"),
    Operation("my_tables", "/me/tables", "My tables", (OwnTables,), scope="read"),
    Operation(
        "open_table",
        "/me/tables",
        "Open a table",
        (OwnTable,),
        method="POST",
        description=(
            "With robots the cards are dealt at once. Otherwise the table waits for others to join by its code. "
            "409 if the key has already opened a table that has ended."
        ),
        parameters=(KEY,),
        body=WantedTable,
        scope="play",
    ),
    Operation(
        "my_table",
        "/me/tables/{code}",
        "A table, as my seat can see it",
        (OwnTable,),
        description="For a minute after the game it still answers, with the `phase` `over` and the game in `replay`.",
        parameters=(TABLE_CODE,),
        scope="read",
    ),
    Operation(
        "sit",
        "/me/tables/{code}/seat",
        "Sit down at a table",
        (OwnTable,),
        method="POST",
        parameters=(TABLE_CODE, KEY),
        body=WantedSeat,
        scope="play",
    ),
    Operation(
        "move",
        "/me/tables/{code}/moves",
        "Make a move",
        (OwnTable,),
        method="POST",
        description="409 if the decision at that version was already made: read the table again.",
        parameters=(TABLE_CODE, KEY),
        body=Move,
        scope="play",
    ),
    Operation(
        "cut",
        "/me/tables/{code}/cut",
        "Cut the pack",
        (OwnTable,),
        method="POST",
        description=(
            "Possible if the table's `cutter` is my `seat`. The cards are dealt at once, from the secret and the cut: "
            "see docs/fairness.md. 409 if that pack was already dealt."
        ),
        parameters=(TABLE_CODE, KEY),
        body=Cut,
        scope="play",
    ),
    Operation(
        "my_stream",
        "/me/tables/{code}/stream",
        "The states of a table, as my seat can see them",
        (OwnTable,),
        description=(
            "A line of JSON for the current state, and another after each change; the last comes when the game is "
            "over. Empty lines keep the connection open: ignore them."
        ),
        parameters=(TABLE_CODE,),
        media_type=NDJSON,
        scope="read",
    ),
)
