"""One complete deal of each game, counted by hand."""

from engine import Game
from tests.engine.tables import (
    full_table,
    packets_table,
    play,
    play_any_card,
    play_cards,
    play_out,
    spades_table,
    stock_table,
)

PACKETS = [
    "3D 2D 4D 5D 6D", "3C 4C 5C 6C 7B", "AD 7D FD CD RD", "2C AC FC CC RC",
    "3S 2S 4S 5S 6S", "3B 4B 5B 6B 7C", "AS 7S FS CS RS", "2B AB FB CB RB",
]  # fmt: skip
NORTH = "2D AD RD CD FD 7D 6D 5D 4C 3C"
SOUTH = "3D 4D 2C AC RC CC FC 7C 6C 5C"
FOUR_HANDS = [
    "3D 2D AD RD CD FD 7D 6D 5D 4C", "3C 2C AC RC CC FC 7C 6C 5C 4D",
    "3S 2S AS RS CS FS 7S 6S 5S 4S", "3B 2B AB RB CB FB 7B 6B 5B 4B",
]  # fmt: skip


def read_entries(table: Game) -> dict[str, tuple[object, object]]:
    return table.record().deals[0].entries()  # type: ignore[no-any-return]


def test_pizzichino_deal_scores_as_counted_by_hand() -> None:
    """North takes packets 1 to 4 and holds 1 and 2; South has the other four and holds 5 and 6.

    North picks up AD and has 3D 2D AD; picks up 2C and AC and has 3C 2C AC: two napoletane, 6 points. South does the
    same in bastoni and spade: 6 points.
        1. North 7B, South AB      0 + 3 for South
        2. South 7C, North AC      0 + 3 for North
    North then leads denari and coppe, and South has neither. North takes the other 32 - 6 = 26 thirds and 3 for the last
    trick. North has 3 + 26 + 3 = 32 thirds, 10 points. South has 3 thirds, 1 point.
    """
    table = packets_table("pizzichino", PACKETS)
    play(
        table, "1: pick 3", "1: declare napoletana D", "1: pick 4", "1: pick 4", "1: declare napoletana C", "1: play 7B"
    )
    play(table, "0: pick 8", "0: pick 8", "0: declare napoletana B", "0: pick 7", "0: declare napoletana S")
    play(table, "0: play AB", "0: play 7C", "1: play AC")
    play_out(table)
    assert read_entries(table) == {"thirds": (3, 32), "declared": (6, 6), "points": (7, 16)}


def test_spizzichino_deal_scores_as_counted_by_hand() -> None:
    """North takes packets 5 to 8 and holds 7 and 8; South holds 1 and 3, with packets 2 and 4 on the table.

    North picks up 3S and 2S to its AS, and 3B to its 2B AB: two napoletane, 6 points. South has 3D 2D AD from the
    start, and picks up 3C, 2C and AC at its second turn: 6 points too. North leads bastoni, then spade, and wins
    nineteen tricks. North leads 7C to the twentieth, and South's AC wins: 3 thirds and 3 for the last trick. South has
    6 thirds, 2 points. North has 35 - 6 = 29 thirds, 9 points.
    """
    table = packets_table("spizzichino", PACKETS, are_chosen=False)
    play(table, "1: take 5 6 7 8", "1: hold 7 8", "0: hold 1 3")
    play(
        table, "1: pick 5", "1: pick 5", "1: declare napoletana S", "1: pick 6", "1: declare napoletana B", "1: play RB"
    )
    play(table, "0: declare napoletana D", "0: play 4D", "1: play CB")
    play(table, "0: pick 2", "0: pick 4", "0: pick 4", "0: declare napoletana C", "0: play 5D")
    play_cards(table, "4B 6D 5B 7D 6B FD 3B CD 2B RD AB 3D FB 2D")
    play_cards(table, "3S AD 2S 3C AS 2C RS FC CS CC FS RC 7S 4C 4S 5C 5S 6C 6S 7B 7C AC")
    assert read_entries(table) == {"thirds": (6, 29), "declared": (6, 6), "points": (8, 15)}


def test_metamazzo_deal_scores_as_counted_by_hand() -> None:
    """North leads.
        1. North AD, South 3D      4 for South, who draws 3S, North 3B
        2. South AC, North 3C      4 for North, who draws 2B, South 2S
        3. North 2D, South 4D      1 for North, who draws AB: napoletana in bastoni. South draws AS: in spade
        4. North 4C, South 5C      0 for South
        5. South 2C, North 5D      1 for South
        6. South 7C, North 6D      0
        7. South 6C, North 7D      0
        8. South FC, North FD      2
        9. South CC, North CD      2
       10. South RC, North RD      2       South 4 + 1 + 6 = 11, North 4 + 1 = 5: the 16 of denari and coppe
    South now leads spade only, and North has only bastoni. South takes the other 16 thirds and 3 for the last trick.
    South has 11 + 19 = 30 thirds, 10 points, and 3 declared. North has 5 thirds, 1 point, and 3 declared.
    """
    table = stock_table("metamazzo", NORTH, SOUTH, "3S 3B 2B 2S AB AS RS RB CS CB FS FB 7S 7B 6S 6B 5S 5B 4S 4B")
    play_cards(table, "AD 3D AC 3C 2D 4D")
    play(table, "0: declare napoletana S", "1: declare napoletana B")
    play_cards(table, "4C 5C 2C 5D 7C 6D 6C 7D FC FD CC CD RC RD")
    assert table.current
    assert table.current.taken == [11, 5]
    play_out(table)
    assert read_entries(table) == {"thirds": (30, 5), "declared": (3, 3), "points": (13, 4)}


def test_testa_deal_scores_as_counted_by_hand() -> None:
    """South holds the 4 of denari and leads.
        1. South 4D, North 5D      0 for North, who draws 3S, South 3B
        2. North 3C, South 5C      1 for North, who draws 2S, South 2B
        3. North AD, South 3D      4 for South, who draws AB, North AS
        4. South (napoletana in bastoni) AC, North (in spade) 4C    3 for South
        5. South 2C, North 6D      1        8. South FC, North CD   2
        6. South RC, North 7D      1        9. South 7C, North RD   1
        7. South CC, North FD      2       10. South 6C, North 2D   1      South 4 + 3 + 8 = 15, North 1
       11. South 3B, North 4B      1       12. South 2B, North 5B   1
       13. South AB, North 6B      3       South 20
       14. South 4S, North AS      3       15. North 3S, South 5S   1     16. North 2S, South 6S   1
       17. North RB, South 7S      1       18. North CB, South FS   2     19. North FB, South CS   2
       20. North 7B, South RS      1 and 3 for the last trick: North 1 + 3 + 2 + 5 + 4 = 15
    South has 20 thirds, 6 points, and 3 declared. North has 15 thirds, 5 points, and 3 declared.
    """
    table = stock_table("testa", NORTH, SOUTH, "3S 3B 2S 2B AB AS RS RB CS CB FS FB 7S 7B 6S 6B 5S 5B 4S 4B")
    play_cards(table, "4D 5D 3C 5C AD 3D")
    play(table, "0: declare napoletana B", "0: play AC", "1: declare napoletana S", "1: play 4C")
    play_cards(table, "2C 6D RC 7D CC FD FC CD 7C RD 6C 2D 3B 4B 2B 5B AB 6B 4S AS 3S 5S 2S 6S RB 7S CB FS FB CS 7B RS")
    assert read_entries(table) == {"thirds": (20, 15), "declared": (3, 3), "points": (9, 8)}


def test_tressette_deal_scores_as_counted_by_hand() -> None:
    """East (seat 1) leads 4D with volo. South must follow and wins with the ace: 3 thirds.

    After the trick South declares the napoletana in denari; its ace is already played. North declares the one in spade,
    East the one in coppe. West does not declare. South leads 4C, and East wins with FC: 1 third. East's eight coppe
    take the other 32 - 3 - 1 = 28 thirds and 3 for the last trick. East and West have 1 + 28 + 3 = 32 thirds, 10 points,
    and 3 declared. South and North have 3 thirds, 1 point, and 6 declared.
    """
    table = full_table("tressette", FOUR_HANDS)
    play(table, "1: play 4D volo", "2: play 4S", "3: play 4B", "0: play AD")
    play(table, "2: declare napoletana S", "0: declare napoletana D", "1: declare napoletana C")
    play_cards(table, "4C FC 5S 5B")
    assert table.current
    assert table.current.taken == [3, 1]
    play_out(table)
    assert read_entries(table) == {"thirds": (3, 32), "declared": (6, 3), "points": (7, 13)}


def test_tavolo_deal_scores_as_counted_by_hand() -> None:
    """East declares the napoletana in coppe and leads 4D. North declares the one in spade. West waits.

    South declares the napoletana in denari and wins with 3D: 1 third. South leads 4C, East plays 5C, and West declares
    the napoletana in bastoni. East takes the other 32 - 1 = 31 thirds and 3 for the last trick. East and West have 34
    thirds, 11 points, and 6 declared. South and North have 1 third, no point, and 6 declared.
    """
    table = full_table("tavolo", FOUR_HANDS)
    play(table, "1: declare napoletana C", "1: play 4D", "2: declare napoletana S", "2: play 4S", "3: play 4B")
    play(table, "0: declare napoletana D", "0: play 3D", "0: play 4C", "1: play 5C", "2: play 5S")
    play(table, "3: declare napoletana B", "3: play 5B")
    play_out(table)
    assert read_entries(table) == {"thirds": (1, 34), "declared": (6, 6), "points": (6, 17)}


def test_spades_deal_scores_as_counted_by_hand() -> None:
    """South drafts first; North bids 6 first and South 5; North leads.

    North wins with AC, KC and QC. South wins with AH and KH. North trumps 5C with QS, which breaks spades, and wins
    five tricks with diamonds. South trumps 4H with KS and wins with AS. North has 3 + 1 + 5 = 9 tricks: 60 points and 3
    bags. South has 4 tricks of 5: -50 points.
    """
    table = spades_table("AS KS 2C 3C 4C 5C AH KH 2D 3D 4D 5D 6D", "QS JS AC KC QC 2H 3H 4H AD KD QD JD TD")
    play(table, "1: bid 6", "0: bid 5")
    play_cards(table, "AC 2C KC 3C QC 4C 2H AH KH 3H 5C QS AD 2D KD 3D QD 4D JD 5D TD 6D 4H KS AS JS")
    assert read_entries(table) == {"bids": (5, 6), "tricks": (4, 9), "bags": (0, 3), "points": (-50, 63)}


def test_thirds_of_these_deals_add_up_to_35() -> None:
    for game in ("tressette", "tavolo"):
        table = full_table(game, FOUR_HANDS)
        while table.turn is not None:
            play_any_card(table)
        thirds = read_entries(table)["thirds"]
        assert thirds[0] + thirds[1] == 35  # type: ignore[operator]
