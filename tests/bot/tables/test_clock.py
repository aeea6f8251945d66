"""Alarms of a table's clock: after half of the time, at its end, or never."""

import pytest

from bot.store.entries import Clock, Close, Entry, Flag, Late, Move, Nudge, Open, Sit, Stop, Wait
from bot.tables import Table
from bot.tables.clock import NEVER, next_alarm, seconds_left
from tests.bot.tables.test_table import ADA, BEA, open_table, play_cards, playable_cards, start_game

ROBOT_PAUSE = 0.25
ROBOT = "robot:easy"


def seconds_to_alarm(before: Table, *entries: Entry) -> float | None:
    """Return the seconds to the alarm after these entries."""
    return next_alarm(before.with_entries(entries, "u9"), before, ROBOT_PAUSE)


def next_card(table: Table) -> Move:
    assert table.game
    assert table.game.turn is not None
    return Move(table.game.turn, playable_cards(table)[0])


def test_challenge_expires_a_day_after_opening() -> None:
    assert seconds_to_alarm(Table("CODE"), Open("testa", ADA, "Ada"), Sit(0, ADA, "Ada")) == 24 * 3600
    assert seconds_to_alarm(open_table("tressette"), Sit(1, BEA, "Bea")) is None


def test_clock_stops_without_a_running_game() -> None:
    assert seconds_to_alarm(open_table("testa"), Close("declined")) == NEVER
    assert seconds_to_alarm(start_game("testa"), Stop("cancelled")) == NEVER


def test_clock_rings_after_each_half_of_the_time() -> None:
    table = start_game("testa", Clock(300, False))
    assert next_alarm(table, open_table("testa"), ROBOT_PAUSE) == 150
    assert seconds_to_alarm(table, next_card(table)) == 150
    assert seconds_to_alarm(table, Nudge()) == 150
    nudged = table.with_entries([Nudge()], "u")
    assert seconds_to_alarm(nudged, Flag()) == NEVER
    assert seconds_to_alarm(nudged, next_card(table)) == 150
    assert seconds_to_alarm(nudged, Wait()) == 150


def test_waiting_restarts_the_clock() -> None:
    assert seconds_to_alarm(start_game("testa", Clock(300, False), Nudge(), Flag()), Wait()) == 150


def test_table_without_a_clock_never_rings() -> None:
    table = start_game("testa", Clock(0, False))
    assert seconds_to_alarm(table, next_card(table)) == NEVER


def test_robot_moves_after_its_pause() -> None:
    table = start_game("testa", people=(ADA, ROBOT))
    assert table.game
    before, after = (table, play_cards(table)) if table.game.turn == 0 else (open_table("testa"), table)
    assert next_alarm(after, before, ROBOT_PAUSE) == ROBOT_PAUSE


@pytest.mark.parametrize(
    ("people", "seconds"), [((ADA, ROBOT, BEA, ROBOT), 150), ((ADA, ROBOT, ROBOT, ROBOT), 30 * 86400)]
)
def test_clock_pauses_while_only_robots_wait(people: tuple[str, ...], seconds: float) -> None:
    table = start_game("tressette", Clock(300, True), people=people)
    while table.to_move and table.to_move.is_robot:
        before, table = table, play_cards(table)
    assert next_alarm(table, before, ROBOT_PAUSE) == seconds


def test_declaration_out_of_turn_keeps_the_clock() -> None:
    for secret in range(200):
        table = play_cards(start_game("tressette", Clock(300, False), secret=secret), 4)
        assert table.game
        for seat in range(4):
            declarations = [move for move in table.game.legal_moves(seat) if move.startswith("declare ")]
            if declarations and seat != table.game.turn:
                assert seconds_to_alarm(table, Move(seat, declarations[0])) is None
                assert seconds_to_alarm(table.with_entries([Nudge()], "u"), Move(seat, declarations[0])) is None
                return
    pytest.fail("no player had a declaration out of turn: try more secrets")


def test_late_move_starts_the_next_players_clock() -> None:
    table = start_game("testa", Clock(60, False), Nudge(), Flag())
    assert table.game
    assert seconds_to_alarm(table, Late(table.game.turn or 0), next_card(table)) == 30


def test_time_left_counts_both_halves() -> None:
    table = start_game("testa", Clock(300, False))
    assert seconds_left(table, 100.0) == 250
    assert seconds_left(table.with_entries([Nudge()], "u"), 100.0) == 100
    assert seconds_left(table.with_entries([Nudge(), Flag()], "u"), None) == 0
    assert seconds_left(table, None) is None
    assert seconds_left(start_game("testa", Clock(0, False)), 100.0) is None
