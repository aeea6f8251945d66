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


def test_a_challenge_stands_for_a_day_from_when_it_was_opened() -> None:
    assert rings(Table("CODE"), Open("testa", ADA, "Ada"), Sit(0, ADA, "Ada")) == TIME_TO_ACCEPT == 24 * 60 * 60
    assert rings(opened("tressette"), Sit(1, BEA, "Bea")) is None


def test_where_no_game_is_no_clock_runs() -> None:
    assert rings(opened("testa"), Close("declined")) == NEVER
    assert rings(begun("testa"), Stop("cancelled")) == NEVER


def test_half_of_a_moves_time_and_then_the_other() -> None:
    table = begun("testa", Clock(300, False))
    assert next_alarm(opened("testa"), table, PAUSE) == 150
    assert rings(table, moves(table)) == 150
    assert rings(table, Nudge()) == 150
    nudged = table.after([Nudge()], "u")
    assert rings(nudged, Flag()) == NEVER
    assert rings(nudged, moves(table)) == 150
    assert rings(nudged, Wait()) == 150


def test_who_is_given_time_has_all_of_it_again() -> None:
    assert rings(begun("testa", Clock(300, False), Nudge(), Flag()), Wait()) == 150


def test_a_table_without_a_clock() -> None:
    table = begun("testa", Clock(0, False))
    assert rings(table, moves(table)) == NEVER


def test_a_robot_moves_after_its_pause() -> None:
    table = begun("testa", people=(ADA, ROBOT))
    assert table.game
    before, after = (table, played(table)) if table.game.turn == 0 else (opened("testa"), table)
    assert next_alarm(before, after, PAUSE) == PAUSE


@pytest.mark.parametrize(
    ("people", "seconds"), [((ADA, ROBOT, BEA, ROBOT), 150), ((ADA, ROBOT, ROBOT, ROBOT), 30 * 86400)]
)
def test_robots_alone_do_not_hurry_one_person(people: tuple[str, ...], seconds: float) -> None:
    table = begun("tressette", Clock(300, True), people=people)
    while table.to_move and table.to_move.is_robot:
        before, table = table, played(table)
    assert next_alarm(before, table, PAUSE) == seconds


def test_what_others_say_out_of_turn_does_not_wind_the_clock() -> None:
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


def test_a_move_made_for_a_player_winds_the_clock_for_the_next() -> None:
    table = begun("testa", Clock(60, False), Nudge(), Flag())
    assert table.game
    assert rings(table, Late(table.game.turn or 0), moves(table)) == 30
