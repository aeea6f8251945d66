"""Where surfaces belong."""

from bot.delivery.names import Board, Hand
from bot.delivery.surfaces import home_of
from bot.platform import private_place
from bot.store.entries import Host, Open, OtherGame, Sit
from bot.tables.table import Table


def test_a_hand_belongs_to_whoever_sits_there_and_nowhere_if_its_chair_is_empty_or_is_no_more() -> None:
    four = Table("ABCD").after([Open("tavolo", "p:1", "Anna"), Host("p:100"), Sit(0, "p:1", "Anna")], "u1")
    assert home_of(four, Board(1, 0)) == "p:100"
    assert home_of(four, Hand(0)) == private_place("p:1")
    assert home_of(four, Hand(2)) == ""
    two = four.after([OtherGame("testa")], "u2")
    assert len(two.chairs) == 2
    assert home_of(two, Hand(2)) == ""
