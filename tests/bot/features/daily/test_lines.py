"""A finished day: all lines side by side, their forks, and the points that each lost."""

from datetime import timedelta

import pytest

from bot.actions import page
from bot.features.daily import keys
from bot.features.daily.comparison import (
    LINES_PER_PAGE,
    ComparedLine,
    Comparison,
    day_table,
    side_by_side_panel,
)
from bot.features.daily.days import Days
from bot.features.daily.feature import DailyFeature
from bot.features.daily.loop import DayAnalyses
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import forgetting_marks
from bot.solo_deals.lines import Decision, SoloLine, best_line, first_fork
from bot.solo_deals.results import SoloResult
from bot.solo_deals.words import rows_of_squares
from bot.store import Store
from bot.worker import Worker
from engine.records import Record
from engine.robots.verdicts import Verdict
from tests.bot.fake_platform import GROUP, Player
from tests.bot.features.daily.conftest import TODAY, TOMORROW
from tests.bot.features.daily.test_days import begin_deal, find_table_code, open_players, play_deal

CARDS = ("3D", "2D", "AD", "RD", "CD")


def make_line(game: str, margin: int | None, *cards: str, tricks: str = "") -> SoloLine:
    """Return a line of a two-player game in which each card leads its trick."""
    decisions = tuple(Decision(2 * index, index + 1, f"play {card}") for index, card in enumerate(cards))
    points = None if margin is None else (margin, 0)
    return SoloLine(game, SoloResult(points, tricks or "1" * len(cards)), decisions)


BEST = make_line("B-1", 7, "3D", "2D", "AD", tricks="101")
OTHER = make_line("A-1", 5, "3D", "RD", "AD", tricks="110")


def make_comparison(*lines: ComparedLine, best: SoloLine = BEST, analyses_games: bool = True) -> Comparison:
    return Comparison(TODAY, "testa", best, lines, analyses_games=analyses_games)


def test_fork_is_the_first_different_move() -> None:
    fork = OTHER.fork_from(BEST)
    assert fork
    assert (fork.decision.trick, fork.decision.move, fork.other.move) == (2, "play RD", "play 2D")
    assert BEST.fork_from(BEST) is None
    assert make_line("C-1", None, "3D").fork_from(BEST) is None, "a player who gave up has no fork"


def test_first_fork_is_where_any_two_lines_part() -> None:
    lines = [BEST, OTHER, make_line("C-1", 3, "3D", "2D", "CD"), make_line("D-1", None, "3D")]
    fork = first_fork(lines)
    assert fork
    assert (fork.decision.trick, fork.branches) == (2, (("play 2D", False, 2), ("play RD", False, 1)))
    assert first_fork([BEST, make_line("D-1", None, "3D")]) is None
    assert first_fork([]) is None


def test_best_line_is_the_same_for_everyone() -> None:
    as_good = make_line("A-2", 7, "2D")
    assert best_line([OTHER, BEST, as_good]) == as_good == best_line([as_good, BEST, OTHER])
    assert best_line([make_line("A-1", None)]) is None


def test_bids_are_placed_before_their_trick() -> None:
    high, low = (
        SoloLine(f"{bid}-1", SoloResult((bid, 0), "1"), (Decision(0, 1, f"bid {bid}"), Decision(1, 1, "play AS")))
        for bid in (5, 4)
    )
    verdicts = [Verdict(1, 0, 0, "bid 4", "bid 5", 2.0, exact=False)]
    lines = Comparison(TODAY, "spades", high, [ComparedLine("Anna", 1, low, verdicts), ComparedLine("Bruno", 2, high)])
    text = side_by_side_panel("en", "codes", lines, 1).plain
    assert "First difference, before trick 1: a bid of 4 ×1 · a bid of 5 ×1" in text
    assert "Differs from the best play before trick 1: a bid of 4, not a bid of 5." in text
    assert "Costliest move, before trick 1: a bid of 4. Better: a bid of 5 (≈ −2 points)" in text
    # No card is marked for a decision before its trick.
    assert not [
        cell for row in day_table("en", "codes", lines).rows for cell in row.cells if cell.is_fork or cell.is_costliest
    ]


def test_fork_can_be_a_double_nil() -> None:
    drawn, blind = (
        SoloLine(f"{move}-1", SoloResult((points, 0), "1"), (Decision(0, 1, move), Decision(1, 1, "play AS")))
        for move, points in (("draw", 5), ("blind", -200))
    )
    lines = Comparison(TODAY, "spades", drawn, [ComparedLine("Anna", 2, blind), ComparedLine("Bruno", 1, drawn)])
    text = side_by_side_panel("en", "codes", lines, 1).plain
    assert "First difference, before trick 1: “Double nil, blind” ×1 · “Draw a card” ×1" in text
    assert "Differs from the best play before trick 1: “Double nil, blind”, not “Draw a card”." in text


def test_declaring_later_is_a_fork() -> None:
    declare = "declare napoletana D"
    soon, later, silent = (
        SoloLine(f"{name}-1", SoloResult((points, 0), "1"), (Decision(0, 1, "play 4B"), *decisions))
        for name, points, decisions in (
            ("A", 5, (Decision(2, 2, declare), Decision(4, 2, "play 5B"))),
            ("B", 7, (Decision(3, 2, declare), Decision(4, 2, "play 5B"))),
            ("C", 1, (Decision(3, 2, "play 5B"),)),
        )
    )
    players = [ComparedLine("Anna", 2, soon), ComparedLine("Bruno", 1, later)]
    text = side_by_side_panel("en", "codes", Comparison(TODAY, "metamazzo", later, players), 1).plain
    assert (
        "First difference, before trick 2: napoletana in coins (3 2 A) ×1 · napoletana in coins (3 2 A), later ×1"
        in text
    )
    assert "Differs from the best play before trick 2: napoletana in coins (3 2 A), not later." in text
    text = side_by_side_panel("en", "codes", Comparison(TODAY, "metamazzo", soon, players), 1).plain
    assert "Differs from the best play before trick 2: napoletana in coins (3 2 A), not sooner." in text
    fork = first_fork([soon, later, later, silent])
    assert fork
    assert fork.branches == ((declare, True, 2), (declare, False, 1), ("play 5B", False, 1))


def test_line_survives_a_round_trip_as_text() -> None:
    for day_line in (BEST, make_line("C-1", None, "3D")):
        assert SoloLine.parse(day_line.to_text()) == day_line


@pytest.mark.parametrize(("tricks", "rows"), [(20, [10, 10]), (13, [7, 6]), (10, [10]), (0, [])])
def test_rows_of_squares_fit_a_phone(tricks: int, rows: list[int]) -> None:
    assert [len(row) for row in rows_of_squares(make_line("A-1", 1, tricks="1" * tricks).result)] == rows


def test_lines_are_split_into_pages() -> None:
    lines = [ComparedLine(f"P{n}", n, make_line(f"G-{n}", 20 - n, *CARDS)) for n in range(1, 2 * LINES_PER_PAGE + 2)]
    best = lines[0].line
    first = side_by_side_panel("en", "italian", make_comparison(*lines, best=best), 1, "paper:100")
    assert [f"P{n}\u2069" in first.plain for n in (1, LINES_PER_PAGE, LINES_PER_PAGE + 1)] == [True, True, False]
    assert [button.payload for button in first.rows[0]] == [page("daily", "lines", n, "paper:100") for n in (1, 2)]
    last = side_by_side_panel("en", "italian", make_comparison(*lines, best=best), 99)
    assert f"P{2 * LINES_PER_PAGE + 1}\u2069" in last.plain
    assert [button.label for button in last.rows[0]] == ["◀ 2", "3/3"]


def test_each_line_shows_its_fork_and_lost_points() -> None:
    verdicts = [
        Verdict(1, 2, 0, "play RD", "play 2D", 2.0, exact=True),
        Verdict(1, 3, 1, "play 4B", "play 5B", 9.0, exact=True),
    ]
    good_verdicts = [Verdict(1, 2, 0, "play 2D", "play 2D", 0.0, exact=True)]
    lines = make_comparison(ComparedLine("Anna", 1, BEST, good_verdicts), ComparedLine("Bruno", 2, OTHER, verdicts))
    text = side_by_side_panel("en", "codes", lines, 1).plain
    assert "First difference, at trick 2: 2D ×1 · RD ×1" in text
    anna, bruno = text.split("2. ")
    assert "The best play of the day." in anna
    assert "Nothing given away." in anna
    assert "🟩🟩⬜" in bruno
    assert "Differs from the best play at trick 2: RD, not 2D." in bruno
    assert "Points given away: 2" in bruno
    assert "Costliest move, at trick 2: RD. Better: 2D (−2 points)" in bruno
    assert "The analysis is on its way" not in text


def test_line_without_decisions_is_not_judged() -> None:
    robot_verdicts = [Verdict(1, 3, 1, "play 4B", "play 4B", 0.0, exact=True)]
    lines = make_comparison(ComparedLine("Anna", 1, BEST, []), ComparedLine("Bruno", 2, OTHER, robot_verdicts))
    text = side_by_side_panel("en", "codes", lines, 1).plain
    assert text.count("No decisions to judge.") == 2
    assert "given away" not in text
    assert [row.notes[-1] for row in day_table("en", "codes", lines).rows] == ["No decisions to judge."] * 2


def test_costliest_move_shows_all_its_losses() -> None:
    betters = {"play 2D": 1.0, "declare napoletana D": 3.0}
    verdicts = [Verdict(1, 2, 0, "play RD", better, lost, exact=True) for better, lost in betters.items()]
    verdicts.append(Verdict(1, 0, 0, "play 3D", "play 4D", 3.5, exact=True))
    lines = make_comparison(ComparedLine("Anna", 1, BEST), ComparedLine("Bruno", 2, OTHER, verdicts))
    lines_shown = side_by_side_panel("en", "codes", lines, 1).plain.splitlines()
    assert [line for line in lines_shown if line.startswith("Costliest")] == [
        "Costliest move, at trick 2: RD. Better: napoletana in coins (3 2 A) (−3 points)",
        "Costliest move, at trick 2: RD. Better: 2D (−1 point)",
    ]
    assert [cell.is_costliest for cell in day_table("en", "codes", lines).rows[1].cells] == [False, True, False]


def test_lost_points_use_the_games_unit() -> None:
    verdicts = [Verdict(1, 2, 0, "play RD", "play 2D", 2.0, exact=True)]
    lines = Comparison(TODAY, "tressette", BEST, [ComparedLine("Bruno", 2, OTHER, verdicts)], analyses_games=True)
    text = side_by_side_panel("en", "codes", lines, 1).plain
    assert "Points given away: 6" in text
    assert "Better: 2D (−6 points)" in text


def test_pending_analysis_is_announced() -> None:
    lines = (ComparedLine("Anna", 1, BEST), ComparedLine("Bruno", 2, OTHER))
    pending, disabled = make_comparison(*lines), make_comparison(*lines, analyses_games=False)
    assert "The analysis is on its way" in side_by_side_panel("en", "codes", pending, 1).plain
    assert "given away" not in side_by_side_panel("en", "codes", pending, 1).plain
    assert "The analysis is on its way" not in side_by_side_panel("en", "codes", disabled, 1).plain
    assert day_table("en", "codes", pending).is_analysis_pending
    assert not day_table("en", "codes", disabled).is_analysis_pending


def test_table_links_only_readable_replays() -> None:
    verdicts = [Verdict(1, 4, 0, "play AD", "play RD", 1.0, exact=False, why="takes")]
    lines = make_comparison(
        ComparedLine("Anna", 1, BEST),
        ComparedLine("somebody", 2, OTHER),
        ComparedLine("B", 3, OTHER, verdicts, is_readable=True),
    )
    anna, somebody, bruno = day_table("en", "codes", lines).rows
    assert [cell.href for row in (anna, somebody) for cell in row.cells] == [""] * 6
    assert [cell.href for cell in bruno.cells] == [f"/g/A-1#d1m{index + 1}" for index in (0, 2, 4)]
    assert [(cell.card, cell.is_taken, cell.is_fork, cell.is_costliest) for cell in bruno.cells] == [
        ("3D", True, False, False),
        ("RD", True, True, False),
        ("AD", False, False, True),
    ]
    assert bruno.cells[1].label == "Trick 2: RD, taken, differs from the best play"
    assert "(it takes the trick, and the lead)" in bruno.notes[-1]


# Tests with a store


async def play_all(worker: Worker, *players: Player) -> None:
    for seed, player in enumerate(players):
        await play_deal(player, await begin_deal(player), seed)
    await worker.wait_until_idle()


async def judge_first_card(record: Record, deal: int) -> list[Verdict]:
    """Judge that the first card lost two points. A real analysis takes half a minute and has its own tests."""
    (index, move), (_, better), *_ = (
        (index, move)
        for index, (seat, move, *_) in enumerate(record.deals[deal - 1].moves)
        if seat == 0 and move.startswith("play")
    )
    return [Verdict(deal, index, 0, move, better, 2.0, exact=True)]


async def test_friends_see_each_others_lines_and_analyses(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna", "Bruno", "Carla") as (worker, (anna, bruno, carla)):
        monkeypatch.setattr(worker.robot_pool, "verdicts", judge_first_card)
        for player in (anna, bruno):
            await player.say("/daily", GROUP)
        await play_all(worker, anna, bruno, carla)
        assert await worker.feature(DailyFeature).days.results.lines_of_play(TODAY) == {}, (
            "lines are hidden until the day is over"
        )
        await anna.say("/daily", anna.private)
        await anna.press("Yesterday", anna.private)
        assert not [
            button for row in anna.fake.last(anna.private).rows for button in row if button.label == "Side by side"
        ]

        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        monkeypatch.setattr(worker.feature(DailyFeature).daily._past_days, "_analyses_games", True)
        lines = await worker.feature(DailyFeature).days.results.lines_of_play(TODAY)
        assert sorted(lines) == ["paper:1", "paper:2", "paper:3"]
        # The private page shows the reader's line. The group's page shows the players who asked there,
        # also when it is read in private.
        await anna.say("/daily", anna.private)
        await anna.press("Yesterday", anna.private)
        await anna.press("Side by side", anna.private)
        assert [name in anna.fake.last(anna.private).plain for name in ("Anna", "Bruno", "Carla")] == [
            True,
            False,
            False,
        ]
        await anna.say("/daily", GROUP)
        await anna.press("Yesterday", GROUP)
        await anna.press("Side by side", anna.private)
        text = anna.fake.last(anna.private).plain
        assert [name in text for name in ("Anna", "Bruno", "Carla")] == [True, True, False]
        assert "The analysis is on its way" in text

        analyses = DayAnalyses(worker.feature(DailyFeature).days, worker.archive, worker.analysis_pool)
        await analyses.work()
        await anna.press("Yesterday", anna.private)
        await anna.press("Side by side", anna.private)
        text = anna.fake.last(anna.private).plain
        assert "The analysis is on its way" not in text
        verdicts = await worker.analysis_pool.stored_verdicts([line.game for line in lines.values()])
        assert len(verdicts) == 3
        assert text.count("Points given away: 2") == 2


async def test_page_hides_names_of_strangers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Annamaria", "Brunello") as (worker, (anna, bruno)):
        await play_all(worker, anna, bruno)
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        site = worker.feature(DailyFeature).site
        own_lines = (await site.page("paper:1", "en", yesterday=True)).lines
        stranger = (await site.page("", "it", yesterday=True)).lines
        assert own_lines
        assert stranger
        assert sorted("Annamaria" in row.name for row in own_lines.rows) == [False, True]
        assert all(bool(cell.href) == ("Annamaria" in row.name) for row in own_lines.rows for cell in row.cells)
        assert "Brunello" not in str(own_lines)
        assert "Annamaria" not in str(stranger)
        assert "Brunello" not in str(stranger)
        assert all("qualcuno" in row.name for row in stranger.rows)
        assert not [cell for row in stranger.rows for cell in row.cells if cell.href]
        # Today's lines are hidden, also from a player who has begun.
        await begin_deal(anna)
        own_later = (await site.page("paper:1", "en", yesterday=True)).lines
        assert own_later == own_lines
        assert (await site.page("paper:1", "en")).lines is None


async def test_forgotten_player_has_no_name_among_the_lines(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Annamaria", "Bruno") as (worker, (anna, bruno)):
        for player in (anna, bruno):
            await player.say("/daily", GROUP)
        await play_all(worker, anna, bruno)
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        assert await store.client.scard(keys.requests(TODAY, GROUP)) == 2
        mydata = worker.feature(PrivacyFeature).own_data
        expected = f'"days_asked_for": [{{"day": "{TODAY}", "chat": "{GROUP}"}}]'
        assert expected.encode() in (await mydata.file("paper:1", [], 0.0)).content
        mark = await worker.feature(PrivacyFeature).forgetter.begin("paper:1")
        while not (await forgetting_marks(store.client))["paper:1"].is_erased:
            await worker.feature(PrivacyFeature).forgetter.work()
        lines = await worker.feature(DailyFeature).days.results.lines_of_play(TODAY)
        assert sorted(lines) == sorted(["paper:2", mark.pseudonym])
        assert await store.client.smembers(keys.requests(TODAY, GROUP)) == {b"paper:2"}
        await bruno.say("/daily", GROUP)
        await bruno.press("Yesterday", GROUP)
        await bruno.press("Side by side", bruno.private)
        assert "Annamaria" not in bruno.fake.last(bruno.private).plain
        assert b"Annamaria" not in (await mydata.file("paper:1", [], 0.0)).content
        assert not [key async for key in store.client.scan_iter("daily:*paper:1")]


async def test_late_deal_is_not_among_the_lines(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await begin_deal(anna)
        code = await find_table_code(anna)
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await play_deal(anna, code, 1)
        assert await worker.feature(DailyFeature).days.results.lines_of_play(TODAY) == {}
        assert await worker.feature(DailyFeature).days.results.lines_of_play(TOMORROW + timedelta(days=1)) == {}
