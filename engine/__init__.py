"""Italian trick-taking cards: the rules of seven games, without any input or output.

>>> game = Game("spizzichino", dealer=0)
>>> game.deal(bytes(32))
>>> game.legal_moves(1)[0]
'take 1 2 3 4'
>>> game.play(1, "take 1 3 5 8")
>>> game.play(1, "hold 1 5")
>>> game.play(0, "hold 2 4")
>>> game.play(0, "play 3D")
Traceback (most recent call last):
    ...
engine.errors.NotYourTurn: It’s not your turn yet.

Moves are text in the notation of docs/records.md. `read` parses a record, `load` replays it and `verify`
checks it.

All imports inside the package are relative, because the distribution `buongioco-engine` names the package
`buongioco_engine` (docs/releasing.md).
"""

from importlib.metadata import version

from . import errors
from .game import Game
from .games import GAMES, GameKind, game_kind
from .records import Record, read
from .replay import legal_moves_for_record, load, replay, verify
from .views import DealView, View

__version__ = version("buongioco" if __name__ == "engine" else "buongioco-engine")

__all__ = [
    "GAMES",
    "DealView",
    "Game",
    "GameKind",
    "Record",
    "View",
    "__version__",
    "errors",
    "game_kind",
    "legal_moves_for_record",
    "load",
    "read",
    "replay",
    "verify",
]
