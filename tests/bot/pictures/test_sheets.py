"""Sheets of results, ratings and rules are correct, agree with their texts and fit into the picture."""

from fractions import Fraction
from functools import cache
from itertools import chain

import pytest

from bot.features.ratings.pages import LeaderboardLine, leaderboard_page, leaderboard_title, stats_page
from bot.features.ratings.pictures import leaderboard_sheet, stats_sheet
from bot.features.tournaments.pictures import standings_sheet
from bot.features.tournaments.tournament import Form as TournamentForm
from bot.finished.history import RatedGame
from bot.finished.rating_formula import Standing
from bot.finished.ratings import EVERYTHING, GameStanding
from bot.panels.help import rules_page
from bot.pictures.canvas import WIDTH, Box, CardAt, TextAt, height_of
from bot.pictures.cards import PACKS
from bot.pictures.painter import paint
from bot.pictures.results import deal_sheet, game_sheet
from bot.pictures.rules import rules_sheet
from bot.pictures.sheet import Diagram, Form, Plot, Ranking, Rows, Sheet, Tally, Words
from bot.pictures.sheet_layout import lay_out_sheet
from bot.robots.simulation import simulate
from bot.texts import LANGUAGES
from bot.words.game_results import decisive_deal, totals_by_deal
from engine import GAMES, Record
from engine.robots.verdicts import Summary
from tests.bot.features.tournaments.builder import finished_tournament
from tests.long import long, mostly_long

NAMES = ("Anna", "Bruno Bartolomeo della Rovere-Hohenstaufen 🎴", "李", "Δημήτρης")
MAX_BYTES = 80_000  # limit for a picture in a message


@cache
def simulate_record(game: str, seed: int = 0) -> Record:
    return simulate(game, {}, ["random"] * GAMES[game].seats, f"sheet {seed}")


def draw_all_sheets(language: str) -> list[Sheet]:
    sheets = []
    for game in GAMES:
        names = NAMES[: GAMES[game].seats]
        summaries = [Summary(10, 5 + seat, 1.0, 0.0, ()) for seat in range(len(names))]
        record = simulate_record(game)
        sheets.append(game_sheet(record, "ABCD", names, language, ended=1_770_000_000, summaries=summaries))
        sheets += [deal_sheet(record, number, "ABCD", names, language) for number in range(1, len(record.deals) + 1)]
        for suits in ("italian", "french"):
            sheets += [rules_sheet(game, language, suits, "classic"), rules_sheet(game, language, suits, "easy")]
    stats = stats_sheet(language, NAMES[1], LINES, HISTORY)
    leaders = leaderboard_sheet(language, leaderboard_title(language, "chat", "all", "all"), RANKED)
    assert stats
    assert leaders
    tables = [
        standings_sheet(language, finished_tournament(form, teams, game), "Bar Centrale", 1_770_000_000)
        for form, teams, game in TABLES
    ]
    assert all(tables)
    return [*sheets, stats, leaders, *(table for table in tables if table)]


HISTORY = [RatedGame(20_400 + number, number % 3 > 0, 1000 + 17 * (number % 5)) for number in range(30)]
STANDING = Standing(27.0, 1.0, 30, 20)
LINES = [
    GameStanding(EVERYTHING, STANDING, 2, 12),
    GameStanding("testa", STANDING, None, 3),
    GameStanding("spades", Standing(), None, 0),
]
TABLES: tuple[tuple[TournamentForm, int, str], ...] = (
    ("swiss", 8, "testa"),
    ("duplicate", 5, "spades"),
    ("knockout", 64, "tressette"),
)
RANKED = [LeaderboardLine(rank, name, STANDING, rank == 3, HISTORY[:rank]) for rank, name in enumerate(3 * NAMES, 1)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_sheets_are_inside_the_picture(language: str) -> None:
    for sheet in draw_all_sheets(language):
        layout = lay_out_sheet(sheet)
        for item in layout.items:
            match item:
                case Box():
                    places = [(item.x, item.y), (item.x + item.width, item.y + item.height)]
                case CardAt():
                    assert item.visible <= height_of(item.width)
                    places = [(item.x, item.y), (item.x + item.width, item.y + item.visible)]
                case TextAt():
                    left = item.x - {"left": 0, "middle": item.max_width // 2, "right": item.max_width}[item.anchor]
                    places = [(left, item.y - item.size // 2), (left + item.max_width, item.y + item.size // 2)]
            assert all(0 <= x <= WIDTH and 0 <= y <= layout.height for x, y in places), (sheet.title, item)
        for x, y in chain(*(curve.points for curve in layout.curves)):
            assert 0 <= x <= WIDTH
            assert 0 <= y <= layout.height


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "it"))
@pytest.mark.parametrize("step", [20, long(4)])
def test_every_sheet_can_be_painted(language: str, step: int) -> None:
    for sheet in draw_all_sheets(language)[::step]:
        png = paint(sheet)
        assert png == paint(sheet)
        assert len(png) < MAX_BYTES, f"the picture of {sheet.title!r} is too large for a message"


def test_different_sheets_have_different_digests() -> None:
    sheets = list(chain(*map(draw_all_sheets, LANGUAGES)))
    assert len({sheet.digest for sheet in sheets}) == len(set(sheets)) > len(sheets) // 2


def test_player_without_decisions_has_no_share() -> None:
    def list_labels(*decisions: int) -> list[list[str]]:
        summaries = [Summary(count, count, 0.0, 0.0, ()) for count in decisions]
        parts = game_sheet(simulate_record("testa"), "ABCD", ("Anna", "Bruno"), "en", summaries=summaries).parts
        return [[row.label for row in part.rows] for part in parts if isinstance(part, Rows)]

    assert list_labels(3, 4) == [["Anna", "Bruno"]]
    assert list_labels(0, 4) == [["Bruno"]]
    assert list_labels(0, 0) == list_labels() == []


@pytest.mark.parametrize("game", GAMES)
def test_plot_ends_with_the_records_totals(game: str) -> None:
    record = simulate_record(game)
    sheet = game_sheet(record, "ABCD", NAMES[: GAMES[game].seats], "en")
    plots = [part for part in sheet.parts if isinstance(part, Plot)]
    assert len(plots) == (len(record.deals) > 1)
    for plot in plots:
        unit = 3 if game == "tressette" else 1
        ends = tuple(curve.values[-1] for curve in plot.curves)
        assert ends == tuple(unit * total for total in record.deals[-1].totals) == totals_by_deal(record)[-1]
        assert all(len(curve.values) == len(record.deals) + 1 == len(curve.marks) for curve in plot.curves)


def test_winners_stay_ahead_after_the_decisive_deal() -> None:
    was_first_deal = set()
    for seed in range(12):
        record = simulate_record("testa", seed)
        deal, side = decisive_deal(record), (record.winner or [0])[0] & 1
        assert deal
        totals = totals_by_deal(record)
        assert all(after[side] > after[1 - side] for after in totals[deal - 1 :])
        assert deal == 1 or totals[deal - 2][side] <= totals[deal - 2][1 - side]
        was_first_deal.add(deal == 1)
    assert was_first_deal == {True, False}


@pytest.mark.parametrize("ending", ["resign", "timeout", "cancelled"])
def test_game_not_won_by_points_has_no_decisive_deal(ending: str) -> None:
    record = simulate_record("testa").model_copy(update={"ending": ending})
    assert decisive_deal(record) is None


def test_counts_of_one_are_singular() -> None:
    leaderboard_lines = [LeaderboardLine(1, "Anna", Standing(games=1, wins=1), False)]
    assert "(1 partita, 1 vinta)" in leaderboard_page("it", "all", "all", "testa", leaderboard_lines, 1).plain
    sheet = leaderboard_sheet("it", [], leaderboard_lines)
    assert sheet
    assert [row.note for part in sheet.parts if isinstance(part, Rows) for row in part.rows] == ["1 partita, 1 vinta"]


def test_deal_sheet_shows_declarations() -> None:
    record = simulate_record("tressette")
    numbers = [
        number
        for number, deal in enumerate(record.deals, 1)
        if any(move[1].startswith("declare") for move in deal.moves)
    ]
    assert numbers
    for number in numbers:
        sheet = deal_sheet(record, number, "ABCD", ("Anna", "Bruno", "Carla", "Dino"), "en")
        words = [part.text for part in sheet.parts if isinstance(part, Words)]
        assert words
        assert all(text.partition(":")[0] in ("Anna", "Bruno", "Carla", "Dino") for text in words)
        [tally] = [part for part in sheet.parts if isinstance(part, Tally)]
        labels = [line.label for line in tally.lines if line.label != "left over"]
        assert labels == ["points in tricks", "the last trick", "declared", "points"]


def test_undrawable_name_becomes_the_seat_on_a_sheet() -> None:
    sheet = game_sheet(simulate_record("pizzichino"), "ABCD", ("Anna", "李"), "en")
    assert any("seat 2" in str(part) for part in sheet.parts)
    assert "李" not in str(sheet)


def test_stats_picture_agrees_with_its_text() -> None:
    text = stats_page("en", "Anna", LINES, HISTORY).plain
    sheet = stats_sheet("en", "Anna", LINES, HISTORY)
    assert sheet
    [plot] = [part for part in sheet.parts if isinstance(part, Plot)]
    values, marks = plot.curves[0].values, plot.curves[0].marks
    assert f"{values[0]} → {values[-1]} (lowest {min(values)}, highest {max(values)})" in text
    assert marks == tuple(game.won for game in HISTORY)
    [form] = [part for part in sheet.parts if isinstance(part, Form)]
    assert f"Last games: {' '.join('W' if won else 'L' for won in form.won)} " in text
    [rows] = [part for part in sheet.parts if isinstance(part, Rows)]
    assert [row.label for row in rows.rows] == ["all games", "Testa a Testa"]
    assert all(row.figure in text for row in rows.rows)


def test_single_game_has_no_plot() -> None:
    text, sheet = stats_page("en", "Anna", LINES, HISTORY[:1]).plain, stats_sheet("en", "Anna", LINES, HISTORY[:1])
    assert sheet
    assert not any(isinstance(part, Plot) for part in sheet.parts)
    assert "lowest" not in text


def test_ratings_have_no_picture_without_a_rated_game() -> None:
    assert stats_sheet("en", "Anna", [GameStanding(EVERYTHING, Standing(), None, 0)], []) is None
    assert leaderboard_sheet("en", [], [LeaderboardLine(None, "Anna", Standing(), True)]) is None


def test_leaderboard_picture_agrees_with_its_text() -> None:
    text = leaderboard_page("en", "chat", "all", "all", RANKED, 12).plain
    sheet = leaderboard_sheet("en", [], RANKED)
    assert sheet
    [rows] = [part for part in sheet.parts if isinstance(part, Rows)]
    assert len(rows.rows) == len(RANKED)
    assert [row.is_own for row in rows.rows].index(True) == 2
    assert all(row.figure in text and row.note in text for row in rows.rows)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("suits", ["italian", "french"])
def test_rules_show_cards_of_the_viewers_pack(game: str, suits: str) -> None:
    sheet = rules_sheet(game, "en", suits, "classic")
    assert sheet.deck.suits == ("french" if "french" in (suits, "french" if game == "spades" else "") else "italian")
    [ranking] = [part for part in sheet.parts if isinstance(part, Ranking)]
    [table] = [part for part in sheet.parts if isinstance(part, Diagram)]
    cards = [*ranking.cards, *chain(*(spot.cards for spot in chain(*table.rows)))]
    assert all(not card.code or card.code in PACKS[sheet.deck.suits].index for card in cards)
    hands = [len(spot.cards) for spot in chain(*table.rows) if "hand" in spot.label and "their" not in spot.label]

    # Each player has played a card to the trick shown, in games with packets from a packet. At Spades there was a trick
    # before it.
    assert set(hands) == {{"spades": 11, "pizzichino": 10, "spizzichino": 10}.get(game, 9)}
    if GAMES[game].seats == 4:
        assert sum(len(spot.cards) for spot in chain(*table.rows)) == 40
    codes = [card.code for card in cards[len(ranking.cards) :] if card.code]

    # The viewer's last drawn card is also in the hand.
    assert len(codes) - len(set(codes)) == (game in ("metamazzo", "testa"))
    pack = GAMES[game].pack
    assert len(ranking.cards) == pack.size // 4
    if suits == "italian" and game != "spades":
        assert sorted(ranking.cards, key=lambda card: -pack.index[card.code]) == list(ranking.cards)
        # A suit has eight thirds, which are points if the table counts three for one.
        unit = Fraction(3, GAMES[game].rules.model_fields["score_unit"].default)
        assert sum(map(Fraction, ranking.worth)) * unit == 8
    assert "High to low" in rules_page("en", game).plain


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_lines_do_not_cut_each_other_off(language: str) -> None:
    """A text is painted on a box one and a half times as high as its size. The box must not cover other texts."""
    for sheet in draw_all_sheets(language):
        texts = [item for item in lay_out_sheet(sheet).items if isinstance(item, TextAt)]
        for number, above in enumerate(texts):
            for below in texts[number + 1 :]:
                if below.anchor != above.anchor or abs(below.x - above.x) > 20:
                    continue
                # Letters can reach below the baseline, and digits cannot.
                reach = 0.37 if above.text.lstrip("−").isdecimal() else 0.55
                background_height = (below.size + below.size // 2) // 2
                assert abs(below.y - above.y) >= reach * above.size + background_height, (above.text, below.text)


def test_win_has_the_winners_colour() -> None:
    colours = set()
    for seed in range(12):
        record = simulate_record("testa", seed)
        assert record.winner
        parts = game_sheet(record, "ABCD", NAMES[:2], "en").parts
        [plot] = [part for part in parts if isinstance(part, Plot)]
        words = parts[0]
        assert isinstance(words, Words)
        assert words.ink == plot.curves[record.winner[0]].ink
        colours.add(words.ink)
    assert colours == {"gold", "sky"}
    cancelled = simulate_record("testa").model_copy(update={"winner": [], "ending": "cancelled"})
    assert Words("The game was cancelled.") in game_sheet(cancelled, "ABCD", NAMES[:2], "en").parts


def test_small_print_shortens_the_groups_name() -> None:
    record = simulate_record("pizzichino")

    def small_print(group: str) -> str:
        return game_sheet(record, "ABCD", NAMES[:2], "en", ended=1_770_000_000, group=group).small

    assert small_print("Bar Sport") == "Buongioco · Bar Sport · 02/02/2026 · ABCD"
    assert small_print("") == small_print("🎲") == "Buongioco · 02/02/2026 · ABCD"
    assert (
        small_print("A very long name of a group of friends")
        == "Buongioco · A very long name of a g… · 02/02/2026 · ABCD"
    )
    assert deal_sheet(record, 1, "ABCD", NAMES[:2], "en", group="Bar Sport").small == "Buongioco · Bar Sport · ABCD"
