"""What may be asked of `/api/v1`: one table, which is served (`server`) and described (`openapi`)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from bot.commands import ArgumentKind, choices_of
from bot.features.ratings.players import ALL, PERIODS, Leaderboard, Player
from bot.programs import Scope
from bot.site.replayed import RECORD_TYPES, ReplayedAnalysis, ReplayedDeal, ReplayedGame
from bot.site.seated import OwnTable
from bot.site.watching import PublicTable
from bot.texts import LANGUAGES

BASE = "/api/v1"
CODE, GAME_ID, WATCH_ID = "[A-Z0-9]{4,8}", "[A-Z0-9]{4,8}-[0-9a-f]{1,64}", "[A-Z0-9]{4,8}-[A-Z0-9]{12}"
SUITS = ("italian", "french")
NDJSON = "application/x-ndjson"


class RequestBody(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class WantedTable(RequestBody):
    """A table that is to be opened."""

    game: str = Field(description="Its id.", max_length=16)
    rules: dict[str, int | str | bool] = Field(
        default_factory=dict, description="Options that are not the usual ones, as records name them.", max_length=32
    )
    robots: Literal["easy", "medium", "strong"] | None = Field(
        None, description="How well the robots play that have all other chairs; null for free chairs."
    )


class WantedSeat(RequestBody):
    """A chair that is wanted."""

    seat: int | None = Field(None, ge=0, le=3, description="Which one; null for the first that is free.")


class Move(RequestBody):
    """A move."""

    version: int = Field(ge=0, description="Of the table that it was chosen by.")
    move: str = Field(description="In a record's notation, one of the table's `moves`.", max_length=40)


class Me(BaseModel):
    """The program that a token belongs to."""

    name: str = Field(description="What the others at a table read.")
    scopes: list[Scope] = Field(description="What it may do.")


class OwnTables(BaseModel):
    """The tables where a program sits, or asks for a chair."""

    tables: list[OwnTable]


class Parameter(NamedTuple):
    """Something that a request says. ``pattern`` is of the whole; ``choices`` are the values there are."""

    name: str
    place: Literal["path", "query", "header"]
    description: str
    pattern: str = ""
    choices: tuple[str, ...] = ()
    kind: Literal["string", "integer"] = "string"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A request: its ``name`` is that of the method of `Api` which answers it. ``models`` are what is answered, one of
    them; ``media_type`` is NDJSON where lines of them come one after the other. ``body`` is what a request says,
    ``scope`` what its token must allow; without one no token is wanted.
    """

    name: str
    path: str
    summary: str
    models: tuple[type[BaseModel], ...]
    method: Literal["GET", "POST"] = "GET"
    parameters: tuple[Parameter, ...] = ()
    description: str = ""
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (404, 429, 503)
    body: type[RequestBody] | None = None
    scope: Scope | None = None

    @property
    def is_stream(self) -> bool:
        """Whether lines are answered, one after the other."""
        return self.media_type == NDJSON


GAME = Parameter("game_id", "path", "A finished game, as its result's link has it.", GAME_ID)
DEAL = Parameter("deal", "path", "The deal's number, from 1.", "[1-9][0-9]{0,3}", kind="integer")
TABLE = Parameter("watch_id", "path", "A table, as the link to watch it has it.", WATCH_ID)
LANGUAGE = Parameter("language", "query", "In which language words are; by default the client's.", choices=LANGUAGES)
FACES = Parameter("suits", "query", "With which suits cards in words are; by default Italian.", choices=SUITS)
READER = (LANGUAGE, FACES)
PLAYER_ID = "[A-Za-z0-9_-]{60,400}"
PLAYER = Parameter("player_id", "path", "A player, as a leaderboard has them.", PLAYER_ID)
KIND = Parameter(
    "game", "query", "Of which game; by default of all together.", choices=(ALL, *choices_of(ArgumentKind.GAME))
)
PERIOD = Parameter("period", "query", "Of this month, in UTC, or of all time, as by default.", choices=PERIODS)
TABLE_CODE = Parameter("code", "path", "A table's code.", CODE)
KEY = Parameter(
    "Idempotency-Key",
    "header",
    (
        "A new one for each request. The same request with the same key is done once and answered again; another "
        "request with it gets 422."
    ),
    "[A-Za-z0-9_-]{8,64}",
)
READ_STATUSES = (401, 403, 404, 429, 503)
WRITE_STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 503)
COOKIE_NOTE = "Who asks is known by the cookie of the pages; nobody need be."

OPERATIONS = (
    Operation(
        name="game",
        path="/games/{game_id}",
        summary="A finished game",
        models=(ReplayedGame,),
        parameters=(GAME, *READER),
    ),
    Operation(
        name="record",
        path="/games/{game_id}/record",
        summary="A finished game's record",
        description="The whole game as anybody can check it, `buongioco/1`: docs/records.md says what stands in it.",
        models=RECORD_TYPES,
        parameters=(GAME,),
    ),
    Operation(
        name="deal",
        path="/games/{game_id}/deals/{deal}",
        summary="A deal of a finished game, step by step",
        description="Each position as everybody saw it, and as each seat saw it.",
        models=(ReplayedDeal,),
        parameters=(GAME, DEAL, *READER),
    ),
    Operation(
        name="analysis",
        path="/games/{game_id}/analysis",
        summary="What is known of how well a finished game was played",
        models=(ReplayedAnalysis,),
        parameters=(GAME, *READER),
    ),
    Operation(
        name="begin_analysis",
        path="/games/{game_id}/analysis",
        method="POST",
        summary="Have a finished game analysed",
        description="Answers with how far it has come. It is made once, and kept for a week.",
        models=(ReplayedAnalysis,),
        parameters=(GAME, *READER),
    ),
    Operation(
        name="leaderboard",
        path="/leaderboard",
        summary="Who is best",
        description=f"Everywhere; groups' own leaderboards are shown there alone. {COOKIE_NOTE}",
        models=(Leaderboard,),
        parameters=(KIND, PERIOD, LANGUAGE),
        statuses=(400, 429, 503),
    ),
    Operation(
        name="player",
        path="/players/{player_id}",
        summary="A player",
        description=f"How they stand, how their rating went, and to themselves their last games. {COOKIE_NOTE}",
        models=(Player,),
        parameters=(PLAYER, LANGUAGE),
    ),
    Operation(
        name="table",
        path="/tables/{watch_id}",
        summary="A table, as everybody may see it",
        models=(PublicTable,),
        parameters=(TABLE,),
    ),
    Operation(
        name="table_stream",
        path="/tables/{watch_id}/stream",
        summary="A table, as it comes to be",
        description=(
            "A line of JSON for the table as it stands, and another whenever it has changed; the last when its game is "
            "over. Whoever reads slowly gets the latest. Empty lines keep the connection open: pass them over."
        ),
        models=(PublicTable,),
        parameters=(TABLE,),
        media_type=NDJSON,
    ),
    Operation(name="me", path="/me", summary="Who I am", models=(Me,), statuses=READ_STATUSES, scope="read"),
    Operation(
        name="my_tables",
        path="/me/tables",
        summary="My tables",
        models=(OwnTables,),
        statuses=READ_STATUSES,
        scope="read",
    ),
    Operation(
        name="open_table",
        path="/me/tables",
        method="POST",
        summary="Open a table",
        description=(
            "With robots the cards are dealt at once; else it waits for others to sit down by its code. "
            "409 where the key has opened a table already that is no more."
        ),
        models=(OwnTable,),
        parameters=(KEY,),
        statuses=WRITE_STATUSES,
        body=WantedTable,
        scope="play",
    ),
    Operation(
        name="my_table",
        path="/me/tables/{code}",
        summary="A table, as my seat may see it",
        description="Still answered for a minute after the game: `phase` is then over, and `replay` leads to the game.",
        models=(OwnTable,),
        parameters=(TABLE_CODE,),
        statuses=READ_STATUSES,
        scope="read",
    ),
    Operation(
        name="sit",
        path="/me/tables/{code}/seat",
        method="POST",
        summary="Sit down at a table",
        models=(OwnTable,),
        parameters=(TABLE_CODE, KEY),
        statuses=WRITE_STATUSES,
        body=WantedSeat,
        scope="play",
    ),
    Operation(
        name="move",
        path="/me/tables/{code}/moves",
        method="POST",
        summary="Make a move",
        description="409 where something else is to be decided since that version of the table: look again.",
        models=(OwnTable,),
        parameters=(TABLE_CODE, KEY),
        statuses=WRITE_STATUSES,
        body=Move,
        scope="play",
    ),
    Operation(
        name="my_stream",
        path="/me/tables/{code}/stream",
        summary="A table, as my seat sees it come to be",
        description=(
            "A line of JSON for the table as it stands, and another whenever it has changed; the last when its game is "
            "over. Empty lines keep the connection open: pass them over."
        ),
        models=(OwnTable,),
        parameters=(TABLE_CODE,),
        media_type=NDJSON,
        statuses=READ_STATUSES,
        scope="read",
    ),
)
