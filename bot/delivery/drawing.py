"""What each surface should show."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.delivery.message_state import MessageState
from bot.delivery.names import Board, ChallengeCard, Hand, Result, SurfaceName
from bot.delivery.surfaces import is_open
from bot.panel import Panel
from bot.panels.board import board_panel, past_panel, result_panel
from bot.panels.challenge import challenge_panel
from bot.panels.hand import hand_panel
from bot.panels.set_aside import set_aside_panel
from bot.panels.snapshot import finished_deal, snapshot
from bot.tables.table import Table


class Viewer(NamedTuple):
    """For whom a panel is drawn: a person's language and suits, or a chat's language."""

    language: str
    suits: str = "italian"


class BoardExtras(NamedTuple):
    """What a board tells beside the deal: people whom the bot cannot write to, with their names, whether somebody's
    hand is ephemeral in a group, and who is to move, if they want to be ``called`` there.
    """

    unreachable: Sequence[tuple[str, str]] = ()
    has_ephemeral: bool = False
    called: tuple[str, str] | None = None


NO_EXTRAS = BoardExtras()


class Outcome(NamedTuple):
    """What came of a finished game: its id in the archive, and people's ratings before and after, by name."""

    game_id: str
    changes: Sequence[tuple[str, int, int]]


def draw(
    table: Table,
    name: SurfaceName,
    known: MessageState,
    viewer: Viewer,
    extras: BoardExtras,
    outcome: Outcome | None,
) -> Panel:
    """The panel that a surface should show: drawn from what its viewer may know, and nothing else."""
    if table.error and is_open(table, name):
        return set_aside_panel(table.code, viewer.language)
    table = table.spoken(viewer.language)
    seen = snapshot(table, name.seat if isinstance(name, Hand) else None)
    match name:
        case Hand():
            return hand_panel(seen, *viewer, chosen=known.draft.choice_at(seen.version))
        case ChallengeCard():
            return challenge_panel(table, seen, *viewer, menu=known.draft.choice_at(0))
        case Result():
            return result_panel(seen, *viewer, *(outcome or Outcome("", ())))
        case Board(deal):
            assert table.game
            if deal < table.game.deal_number or table.phase == "over":
                return past_panel(seen, finished_deal(table, deal), *viewer)
            return board_panel(
                seen,
                *viewer,
                unreachable=extras.unreachable,
                ephemeral=extras.has_ephemeral,
                called=extras.called,
            )
