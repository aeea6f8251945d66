"""When a table's clock rings next: after half of a move's time, after all of it, and for whom it does not run."""

import pytest

from bot.store.entries import Clock, Close, Entry, Flag, Late, Move, Nudge, Open, Sit, Stop, Wait
from bot.tables import Table
from bot.tables.clock import NEVER, next_alarm
from bot.tables.table import TIME_TO_ACCEPT
from tests.bot.tables.test_table import ADA, BEA, begun, opened, played, plays

PAUSE = 0.25
ROBOT = "robot:easy"


def rings(before: Table, *entries: Entry) -> float | None:
    """In how many seconds the clock rings once a table has these entries."""
    return next_alarm(before, before.after(entries, "u9"), PAUSE)


def moves(table: Table) -> Move:
    """The next card."""
    assert table.game
    assert table.game.turn is not None
    return Move(table.game.turn, plays(table)[0])


def test_challenge_expires_a_day_after_opening() -> None:
    assert rings(Table("CODE"), Open("testa", ADA, "Ada"), Sit(0, ADA, "Ada")) == TIME_TO_ACCEPT == 24 * 60 * 60
    assert rings(opened("tressette"), Sit(1, BEA, "Bea")) is None


def test_clock_stops_without_a_running_game() -> None:
    assert rings(opened("testa"), Close("declined")) == NEVER
    assert rings(begun("testa"), Stop("cancelled")) == NEVER


def test_clock_rings_after_each_half_of_the_time() -> None:
    table = begun("testa", Clock(300, False))
    assert next_alarm(opened("testa"), table, PAUSE) == 150
    assert rings(table, moves(table)) == 150
    assert rings(table, Nudge()) == 150
    nudged = table.after([Nudge()], "u")
    assert rings(nudged, Flag()) == NEVER
    assert rings(nudged, moves(table)) == 150
    assert rings(nudged, Wait()) == 150


def test_waiting_restarts_the_clock() -> None:
    assert rings(begun("testa", Clock(300, False), Nudge(), Flag()), Wait()) == 150


def test_table_without_a_clock_never_rings() -> None:
    table = begun("testa", Clock(0, False))
    assert rings(table, moves(table)) == NEVER


def test_robot_moves_after_its_pause() -> None:
    table = begun("testa", people=(ADA, ROBOT))
    assert table.game
    before, after = (table, played(table)) if table.game.turn == 0 else (opened("testa"), table)
    assert next_alarm(before, after, PAUSE) == PAUSE


@pytest.mark.parametrize(
    ("people", "seconds"), [((ADA, ROBOT, BEA, ROBOT), 150), ((ADA, ROBOT, ROBOT, ROBOT), 30 * 86400)]
)
def test_only_robots_waiting_pauses_the_clock(people: tuple[str, ...], seconds: float) -> None:
    table = begun("tressette", Clock(300, True), people=people)
    while table.to_move and table.to_move.is_robot:
        before, table = table, played(table)
    assert next_alarm(before, table, PAUSE) == seconds


def test_declaration_out_of_turn_keeps_the_clock() -> None:
    for secret in range(200):
        table = played(begun("tressette", Clock(300, False), secret=secret), 4)
        assert table.game
        for seat in range(4):
            said = [move for move in table.game.legal_moves(seat) if move.startswith("declare ")]
            if said and seat != table.game.turn:
                assert rings(table, Move(seat, said[0])) is None
                assert rings(table.after([Nudge()], "u"), Move(seat, said[0])) is None
                return
    pytest.fail("nobody had anything to declare")


def test_late_move_starts_the_next_players_clock() -> None:
    table = begun("testa", Clock(60, False), Nudge(), Flag())
    assert table.game
    assert rings(table, Late(table.game.turn or 0), moves(table)) == 30
