"""The surfaces of a table, their places, and when they are final."""

import pytest

from bot.delivery.surface_names import Board, ChallengeCard, Hand, OnlyMessage, Result, SurfaceName
from bot.delivery.surfaces import (
    board_at,
    content_of,
    home_of,
    is_final,
    is_open,
    is_player_hand,
    required_surfaces,
    tag_of,
)
from bot.platform import private_place
from bot.store.entries import Ask, ChangeGame, Close, Host, Open, Refuse, Sit, Stop
from bot.tables.table import Table
from tests.bot.tables.test_table import ADA, BEA, CLEO, open_table, play_cards, start_game

CHAT, OTHER_CHAT = Host("paper:100"), Host("paper:200")
PRIVATE = Host(private_place(ADA))
INLINE = Host("paper:~7")


def play_to_deal(table: Table, number: int) -> Table:
    """Play cards until a deal begins."""
    while table.game and table.game.deal_number < number:
        table = play_cards(table)
    return table


def test_hand_belongs_to_the_player_in_its_chair() -> None:
    table_of_four = Table("ABCD").with_entries(
        [Open("tavolo", "p:1", "Anna"), Host("p:100"), Sit(0, "p:1", "Anna")], "u1"
    )
    assert home_of(table_of_four, Board(1, 0)) == "p:100"
    assert home_of(table_of_four, Hand(0)) == private_place("p:1")
    assert home_of(table_of_four, Hand(2)) == ""
    table_of_two = table_of_four.with_entries([ChangeGame("testa")], "u2")
    assert len(table_of_two.chairs) == 2
    assert home_of(table_of_two, Hand(2)) == ""


def test_challenge_has_cards_and_the_hand_of_an_asked_player() -> None:
    table = open_table("tavolo", CHAT, OTHER_CHAT, Sit(1, BEA, "Bea"))
    cards = [ChallengeCard(0), ChallengeCard(1)]
    assert list(required_surfaces(table)) == cards
    table_with_request = table.with_entries([Ask(3, CLEO, "Cleo")], "u2")
    assert list(required_surfaces(table_with_request)) == [Hand(1), *cards]
    assert list(required_surfaces(table_with_request.with_entries([Refuse(3)], "u3"))) == cards


def test_hand_to_move_comes_first_and_robots_have_none() -> None:
    table = start_game("tavolo", CHAT, people=(ADA, BEA, "robot:easy", CLEO))
    assert table.game
    turn = table.game.turn
    assert turn in (0, 1, 3), "the secret must give the turn to a person, not the robot"
    other_hands = [Hand(seat) for seat in (0, 1, 3) if seat != turn]
    assert list(required_surfaces(table)) == [Hand(turn), *other_hands, ChallengeCard(0), Board(1, 0)]


def boards_of(table: Table, host: int) -> list[SurfaceName]:
    """Return the boards, cards and results of a chat, in their order."""
    return [name for name in required_surfaces(table) if not isinstance(name, Hand) and name.host == host]


def test_private_chat_has_no_boards() -> None:
    table = start_game("testa", CHAT, PRIVATE)
    assert boards_of(table, 0) == [ChallengeCard(0), Board(1, 0)]
    assert boards_of(table, 1) == [ChallengeCard(1)]
    for number in (2, 3):
        table = play_to_deal(table, number)
        all_deals = range(1, number + 1)
        assert boards_of(table, 0) == [ChallengeCard(0), *(Board(deal, 0) for deal in all_deals)]
        assert boards_of(table, 1) == [ChallengeCard(1)]
    ended = table.with_entries([Stop("cancelled")], "u2")
    # The board of the unfinished deal becomes the result.
    assert boards_of(ended, 0) == [ChallengeCard(0), *(Board(deal, 0) for deal in (1, 2, 3))]
    assert [content_of(ended, Board(deal, 0)) for deal in (2, 3)] == [Board(2, 0), Result(0)]
    assert boards_of(ended, 1) == [ChallengeCard(1), Result(1)]


def test_player_hand_needs_an_occupied_chair() -> None:
    table = open_table("tavolo", CHAT)
    assert [is_player_hand(table, Hand(seat)) for seat in (0, 1, 3, 4)] == [True, False, False, False]
    assert not is_player_hand(table, Board(1, 0))


@pytest.mark.parametrize("name", [Hand(0), Board(1, 0), Board(2, 0), ChallengeCard(0), Result(0)])
def test_surfaces_are_final_once_their_phase_is_over(name: SurfaceName) -> None:
    challenge, game = open_table("testa", CHAT), play_to_deal(start_game("testa", CHAT), 2)
    stays_open = (isinstance(name, Hand | ChallengeCard), name in (Hand(0), Board(2, 0)))
    assert (is_open(challenge, name), is_open(game, name)) == stays_open
    assert (not is_final(challenge, name), not is_final(game, name)) == stays_open
    closed, ended = challenge.with_entries([Close("declined")], "u2"), game.with_entries([Stop("cancelled")], "u2")
    assert is_final(closed, name)
    assert is_final(ended, name)
    assert not is_open(closed, ChallengeCard(0))


def test_inline_chat_has_one_message_with_the_newest_surface() -> None:
    challenge = open_table("testa", CHAT, INLINE)
    game = play_to_deal(start_game("testa", CHAT, INLINE), 2)
    ended = game.with_entries([Stop("cancelled")], "u2")
    newest_names = (ChallengeCard(1), Board(2, 1), Result(1))
    for table, name in zip((challenge, game, ended), newest_names, strict=True):
        assert boards_of(table, 1) == [OnlyMessage(1)]
        assert content_of(table, OnlyMessage(1)) == name
        assert board_at(table, 1) == OnlyMessage(1)
    assert [board_at(table, 0) for table in (challenge, game)] == [ChallengeCard(0), Board(2, 0)]
    closed = challenge.with_entries([Close("declined")], "u2")
    assert [is_open(table, OnlyMessage(1)) for table in (challenge, game, ended, closed)] == [True, True, False, False]


def test_place_tags_never_change() -> None:
    """Tags are stored. With another tag, a message would count as another player's and be sent again."""
    tags = [tag_of(place) for place in ("paper:100", "telegram:@1", "discord:@3~5!1,2")]
    assert tags == ["1b0e", "33d", "556d"], "restore tag_of: stores of earlier releases have these tags"
