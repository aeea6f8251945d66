"""What each surface should show."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.delivery.surfaces import Surface, deal_of, is_open, seat_of
from bot.panel import Panel
from bot.panels.board import board_panel, past_panel, result_panel
from bot.panels.challenge import challenge_panel
from bot.panels.hand import hand_panel
from bot.panels.look import look, past_deal
from bot.panels.set_aside import set_aside_panel
from bot.tables.table import Table


class Viewer(NamedTuple):
    """For whom a panel is drawn: a person's language and suits, or a chat's language."""

    language: str
    suits: str = "italian"


class Away(NamedTuple):
    """Whose hand does not stand in the private chat: people whom the bot cannot write to, with their names, and whether
    somebody's hand is shown aside. ``called`` is who is to move, if they want to be called in the group.
    """

    unreachable: Sequence[tuple[str, str]] = ()
    aside: bool = False
    called: tuple[str, str] | None = None


NOBODY_AWAY = Away()


class Outcome(NamedTuple):
    """What came of a finished game: its id in the archive, and people's ratings before and after, by name."""

    game_id: str
    changes: Sequence[tuple[str, int, int]]


def draw(
    table: Table,
    name: str,
    surface: Surface,
    viewer: Viewer,
    away: Away,
    outcome: Outcome | None,
) -> Panel:
    """The panel that a surface should show: drawn from what its viewer may know, and nothing else."""
    seat = seat_of(name)
    if table.fault and is_open(table, name):
        return set_aside_panel(table.code, viewer.language)
    table = table.spoken(viewer.language)
    seen = look(table, seat)
    if seat is not None:
        return hand_panel(seen, *viewer, draft=surface.draft_for(seen.version))
    if name[0] == "c":
        return challenge_panel(table, seen, *viewer, draft=surface.draft_for(0))
    if name[0] == "r":
        return result_panel(seen, *viewer, *(outcome or Outcome("", ())))
    deal = deal_of(name)
    assert table.game
    if deal < table.game.deal_number or table.phase == "over":
        return past_panel(seen, past_deal(table, deal), *viewer)
    return board_panel(seen, *viewer, unreachable=away.unreachable, aside=away.aside, called=away.called)


def calls(table: Table, seat: int | None) -> int:
    """How loudly something at the table calls for this seat: 0 not at all, 1 there is something to do, 2 and 3 as time
    runs out.
    """
    if seat is None:
        return 0
    if table.game is None or table.fault:
        return 1
    turn = table.game.turn
    if turn == seat:
        return {"": 1, "nudged": 2, "flagged": 3}[table.alarm]
    # The others decide what becomes of a player whose time is up; partners do not.
    return int(table.alarm == "flagged" and turn is not None and (turn - seat) & 1)
