"""Packets in Pizzichino and Spizzichino."""

import pytest

from engine.errors import NotAnHonour, NotNow, NotYourPacket, NotYourTurn, PacketEmpty, UnknownMove
from engine.views import PacketsView
from tests.engine.tables import packets_table, play, play_cards, play_out, playable_cards

PACKETS = [
    "3D 4D 5D 6D 7D", "FD CD RD AD 2D", "3C AC 4C 5C 6C", "7C FC CC RC 2C",
    "4S 5S 6S 7S FS", "CS RS AS 2S 3S", "4B 5B 6B 7B FB", "2B CB RB AB 3B",
]  # fmt: skip


def tops(table_view: object) -> dict[int, str | None]:
    assert isinstance(table_view, PacketsView)
    return {packet.number: packet.top for packet in table_view.packets}


def test_eldest_takes_four_packets_then_holds_two() -> None:
    table = packets_table("pizzichino", PACKETS, are_chosen=False)
    assert table.turn == 1
    assert len(table.legal_moves(1)) == 70 + 1
    table.play(1, "take 2 3 5 8")
    assert table.legal_moves(1) == ["hold 2 3", "hold 2 5", "hold 2 8", "hold 3 5", "hold 3 8", "hold 5 8", "resign"]
    with pytest.raises(NotYourPacket, match="Packet 4"):
        table.play(1, "hold 3 4")


def test_dealer_gets_the_other_four_and_chooses_last() -> None:
    table = packets_table("pizzichino", PACKETS, are_chosen=False)
    table.play(1, "take 2 3 5 8")
    with pytest.raises(NotYourTurn):
        table.play(0, "hold 1 4")
    table.play(1, "hold 2 3")
    assert table.legal_moves(0)[0] == "hold 1 4"
    table.play(0, "hold 4 7")
    view = table.view(0).deal
    assert view
    assert view.hand == ("2C", "RC", "CC", "FC", "7C", "FB", "7B", "6B", "5B", "4B")


def test_only_packet_tops_are_visible() -> None:
    table = packets_table("pizzichino", PACKETS)
    for viewer in (None, 0, 1):
        assert tops(table.view(viewer).deal) == {
            1: None, 2: None, 3: "3C", 4: "7C", 5: None, 6: None, 7: "4B", 8: "2B",
        }  # fmt: skip


def test_blind_hides_tops_before_choosing() -> None:
    table = packets_table("pizzichino", PACKETS, are_chosen=False)
    table.play(1, "take 1 2 3 4")
    assert set(tops(table.view(1).deal).values()) == {None}


def test_peek_shows_own_tops_before_choosing() -> None:
    table = packets_table("pizzichino", PACKETS, {"packets": "peek"}, are_chosen=False)
    assert set(tops(table.view(1).deal).values()) == {None}
    table.play(1, "take 1 2 3 4")
    assert tops(table.view(1).deal) == {1: "3D", 2: "FD", 3: "3C", 4: "7C", 5: None, 6: None, 7: None, 8: None}
    assert tops(table.view(0).deal)[5] == "4S"
    assert set(tops(table.view(None).deal).values()) == {None}


def test_eldest_leads_and_there_are_twenty_tricks() -> None:
    table = packets_table("pizzichino", PACKETS)
    assert table.turn == 1
    play_out(table)
    assert table.current
    assert table.current.tricks_done == 20


def test_playing_from_a_packet_reveals_the_next_card() -> None:
    table = packets_table("pizzichino", PACKETS)
    table.play(1, "play 7C")
    view = table.view(None).deal
    assert tops(view)[4] == "FC"
    assert view
    assert view.counts == (10, 10)
    assert view.trick[0].card == "7C"


def test_honours_on_top_can_be_picked_up_in_a_row() -> None:
    table = packets_table("pizzichino", PACKETS)
    play(table, "1: pick 3", "1: pick 3")
    view = table.view(0).deal
    assert view
    assert view.counts == (10, 12)
    assert view.known[1] == ("3C", "AC")
    assert tops(view)[3] == "4C"
    with pytest.raises(NotAnHonour, match="4C"):
        table.play(1, "pick 3")
    assert table.turn == 1


def test_picking_up_needs_the_turn_and_the_seats_packet() -> None:
    table = packets_table("pizzichino", PACKETS)
    with pytest.raises(NotYourTurn):
        table.play(0, "pick 8")
    with pytest.raises(NotYourPacket):
        table.play(1, "pick 8")
    with pytest.raises(NotYourPacket):
        table.play(1, "pick 1")
    table.play(1, "play 7C")
    play(table, "0: pick 8", "0: play 4S")


def test_honour_can_be_played_from_its_packet() -> None:
    table = packets_table("pizzichino", PACKETS)
    table.play(1, "play 3C")
    assert tops(table.view(None).deal)[3] == "AC"


def test_empty_packet_has_nothing_to_pick() -> None:
    table = packets_table("pizzichino", PACKETS)
    play_cards(table, "7C 4S FC 5S CC 6S RC 7S 2C FS")
    with pytest.raises(PacketEmpty):
        table.play(1, "pick 4")


def test_hand_and_tops_both_follow_suit() -> None:
    table = packets_table("pizzichino", PACKETS)
    play_cards(table, "7C 4B 3D")
    assert playable_cards(table, 0) == {"4S", "5S", "6S", "7S", "FS", "CS", "RS", "AS", "2S", "3S", "5B", "2B"}


def test_packets_are_chosen_once_and_before_play() -> None:
    table = packets_table("pizzichino", PACKETS)
    with pytest.raises(NotNow):
        table.play(1, "take 1 2 3 4")
    with pytest.raises(NotNow):
        table.play(1, "hold 1 2")
    early = packets_table("pizzichino", PACKETS, are_chosen=False)
    with pytest.raises(NotNow):
        early.play(1, "play 3D")
    with pytest.raises(NotNow):
        early.play(1, "pick 3")


@pytest.mark.parametrize(
    "move", ["take 1 2 3", "take 2 1 3 4", "take 1 1 2 3", "take 1 2 3 9", "hold 2 1", "pick 9", "pick"]
)
def test_packets_are_named_in_order_and_once(move: str) -> None:
    with pytest.raises(UnknownMove):
        packets_table("pizzichino", PACKETS, are_chosen=False).play(1, move)
