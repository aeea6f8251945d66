"""What may be asked of `/api/v1`: one table, which is served (`server`) and described (`openapi`)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import BaseModel

from bot.finished.replayed import RECORDS, ReplayedAnalysis, ReplayedDeal, ReplayedGame
from bot.texts import LANGUAGES
from bot.watching import PublicTable

BASE = "/api/v1"
GAME_ID, WATCH_ID = "[A-Z0-9]{4,8}-[0-9a-f]{1,64}", "[A-Z0-9]{4,8}-[A-Z0-9]{12}"
SUITS = ("italian", "french")


class Parameter(NamedTuple):
    """Something that a request says. ``pattern`` is of the whole; ``choices`` are the values there are."""

    name: str
    place: Literal["path", "query"]
    about: str
    pattern: str = ""
    choices: tuple[str, ...] = ()
    kind: Literal["string", "integer"] = "string"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A request: its ``name`` is that of the method of `Api` which answers it. ``models`` are what is answered, one of
    them; ``media_type`` is NDJSON where lines of them come one after the other.
    """

    name: str
    path: str
    summary: str
    models: tuple[type[BaseModel], ...]
    method: Literal["GET", "POST"] = "GET"
    parameters: tuple[Parameter, ...] = ()
    about: str = ""
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (404, 429, 503)


GAME = Parameter("game_id", "path", "A finished game, as its result's link has it.", GAME_ID)
DEAL = Parameter("deal", "path", "The deal's number, from 1.", "[1-9][0-9]{0,3}", kind="integer")
TABLE = Parameter("watch_id", "path", "A table, as the link to watch it has it.", WATCH_ID)
LANGUAGE = Parameter("language", "query", "In which language words are; by default the client's.", choices=LANGUAGES)
FACES = Parameter("suits", "query", "With which suits cards in words are; by default Italian.", choices=SUITS)
READER = (LANGUAGE, FACES)

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
        about="The whole game as anybody can check it, `buongioco/1`: docs/records.md says what stands in it.",
        models=RECORDS,
        parameters=(GAME,),
    ),
    Operation(
        name="deal",
        path="/games/{game_id}/deals/{deal}",
        summary="A deal of a finished game, step by step",
        about="Each position as everybody saw it, and as each seat saw it.",
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
        about="Answers with how far it has come. It is made once, and kept for a week.",
        models=(ReplayedAnalysis,),
        parameters=(GAME, *READER),
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
        about=(
            "A line of JSON for the table as it stands, and another whenever it has changed, until its game is over. "
            "Whoever reads slowly gets the latest. Empty lines keep the connection open: pass them over."
        ),
        models=(PublicTable,),
        parameters=(TABLE,),
        media_type="application/x-ndjson",
    ),
)
