"""Scores and moves in words."""

from bot.wording import Wording, thirds

FOUR = ("A", "B", "C", "D")


def test_thirds_of_a_point() -> None:
    assert [thirds(value) for value in (0, 1, 2, 3, 4, 35)] == ["0", "⅓", "⅔", "1", "1⅓", "11⅔"]


def test_classic_tressette_shows_points_three_times_as_large_and_thirds_as_they_are() -> None:
    words = Wording("en", FOUR)
    entries = {"thirds": (17, 18), "declared": (3, 4), "points": (8, 10)}
    assert list(words.score(entries, (20, 21), {"score_unit": 3})) == [
        "thirds: A and C 17 · B and D 18",
        "declared: A and C 9 · B and D 12",
        "points: A and C 24 · B and D 30",
        "totals: A and C 60 · B and D 63",
    ]
    assert list(words.score(entries, (20, 21), {"score_unit": 1}))[-1] == "totals: A and C 20 · B and D 21"
    assert list(words.score({"bids": ("nil", 4)}, (0, 0), {})) == [
        "bids: A and C nil · B and D 4",
        "totals: A and C 0 · B and D 0",
    ]


def test_moves_as_sentences() -> None:
    words = Wording("en", FOUR)
    assert words.move(0, "declare three 2 missing C") == "A declares three twos, missing cups"
    assert words.move(1, "declare napoletana D") == "B declares napoletana in coins"
    assert words.move(2, "play 3D busso") == "C plays 3D and says busso"
    assert words.move(0, "bid 0") == "A bids nil"
    assert words.move(0, "exchange") == "A exchanges nothing"
    assert words.move(None, "gives 2C AS") == "The discards give 2C AS"
    assert Wording("it", FOUR).move(3, "declare four A") == "D accusa quattro assi"
