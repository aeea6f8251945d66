"""Tournament panels in every form, phase and language, with few and many teams."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, pairwise, product

import pytest

from bot.features.tournaments.card_panel import MAX_PLACES, card_panel, winner_panel
from bot.features.tournaments.duplicate import deal_scores
from bot.features.tournaments.log_entries import Cancel, Enter, Leave, Open, Play, Result, Start
from bot.features.tournaments.options_page import done_panel, options_panel
from bot.features.tournaments.pages import (
    confirm_panel,
    existing_panel,
    own_page,
    own_panel,
    partners_panel,
    player_panel,
    result_pages,
    results_panel,
    table_panel,
)
from bot.features.tournaments.pictures import standings_sheet
from bot.features.tournaments.reminders import reminder_panel
from bot.features.tournaments.rules_page import rules_panel
from bot.features.tournaments.standings import standings
from bot.features.tournaments.texts import time_left
from bot.features.tournaments.tournament import DAY, FORMS, HOUR, MAX_TEAMS, MIN_TEAMS, OPTIONS, Form, Tournament
from bot.panel import LONGEST_PAYLOAD, Panel, utf16_length
from bot.pictures.sheet import Rows, Sheet, Words
from bot.tables.game_choice import Choice
from bot.tables.snapshot import FIRST_STRONG_ISOLATE, POP_ISOLATE
from bot.texts import LANGUAGES
from bot.words.wording import NO_BREAK, decimal_text
from engine import GAMES
from tests.bot.features.tournaments.builder import NAMES, ROOT, Builder, finished_tournament, running_tournament
from tests.long import mostly_long

LONGEST = 4096  # UTF-16 units that every platform shows in one message

MAX_BUTTONS = 100

SIZES: dict[str, Callable[[Form], int]] = {
    "least": MIN_TEAMS.__getitem__,
    "odd": lambda _form: 7,
    "even": lambda _form: 8,
    "most": MAX_TEAMS.__getitem__,
}


def list_panels(language: str, tournament: Tournament) -> Iterator[Panel]:
    """Yield every panel of a tournament."""
    yield card_panel(language, tournament, None)
    yield rules_panel(language, tournament)
    yield results_panel(language, tournament, 0, {}, "")
    yield player_panel(language, "paper:2", tournament, HOUR)
    yield player_panel(language, "paper:404", tournament, None)
    yield own_panel(language, "paper:1", own_page([tournament] * 25, 2), [HOUR] * 10)
    yield own_panel(language, "paper:1", own_page([], 1), [])
    yield existing_panel(language, tournament.form, [tournament])
    yield existing_panel(language, tournament.form, [tournament, tournament])
    yield confirm_panel(language, tournament, "off")
    yield confirm_panel(language, tournament, "withdraw")
    yield partners_panel(language, "paper:404", tournament, 1)
    for topic in ("", "game", "clock", *OPTIONS, *tournament.choice.rules):
        yield options_panel(language, tournament, topic)
    yield done_panel(language, tournament)
    if not tournament.teams:
        return
    yield winner_panel(language, tournament)
    yield from (table_panel(language, tournament, number) for number in range(1, 5))
    replays = {
        (match.round, match.number, deal): "K7QF2M-012345" for match in tournament.matches for deal in match.results
    }
    yield from (
        results_panel(language, tournament, number, replays, "https://x.example")
        for number in range(1, len(result_pages(tournament)) + 1)[:3]
    )
    for match in list(tournament.matches)[-2:]:
        if not match.is_bye:
            yield reminder_panel(language, tournament, match, tournament.teams[match.first][0], HOUR)


def check_panel(panel: Panel) -> None:
    """Check that every platform can show a panel."""
    assert panel.plain.strip()
    assert utf16_length(panel.plain) <= LONGEST, f"shorten this panel: {panel.plain[:80]!r}…"
    buttons = list(chain.from_iterable(panel.rows))
    assert len(buttons) <= MAX_BUTTONS
    for button in buttons:
        assert 0 < len(button.payload.encode()) <= LONGEST_PAYLOAD
        assert button.label
        assert "{" not in button.label
    assert "{" not in panel.plain
    assert panel.plain.count(FIRST_STRONG_ISOLATE) == panel.plain.count(POP_ISOLATE)


def read_labels(panel: Panel) -> list[str]:
    return [button.label for button in chain.from_iterable(panel.rows)]


def strip_marks(text: str) -> str:
    """Return a text without isolates and no-break spaces."""
    return text.replace(FIRST_STRONG_ISOLATE, "").replace(POP_ISOLATE, "").replace(NO_BREAK, " ")


def read_lines(panel: Panel) -> list[str]:
    return strip_marks(panel.plain).splitlines()


@pytest.mark.parametrize("size", mostly_long(SIZES, "least", "odd"))
@pytest.mark.parametrize("form", FORMS)
def test_panels_of_every_phase_fit_all_platforms(form: Form, size: str) -> None:
    teams = SIZES[size](form)
    phases = [
        Builder(form).tournament,
        Builder(form).enter(teams).tournament,
        running_tournament(form, teams),
        finished_tournament(form, teams),
    ]
    phases += [Builder(form).enter(teams).add(Cancel()).tournament, Builder(form).start(teams).tournament]
    for tournament, language in product(phases, LANGUAGES):
        for panel in list_panels(language, tournament):
            check_panel(panel)


@pytest.mark.long
@pytest.mark.parametrize("form", ["swiss", "duplicate", "knockout"])
def test_panels_of_pairs_fit_all_platforms(form: Form) -> None:
    tournaments = (
        Builder(form, "tressette").enter(60, teams_alone=8).tournament,
        Builder(form, "tressette").enter(0, teams_alone=128).tournament,
        running_tournament(form, 64, "tressette", deals="8", scoring="steps"),
        finished_tournament(form, 16, "tressette", deals="4"),
    )
    for tournament, language in product(tournaments, LANGUAGES):
        for panel in list_panels(language, tournament):
            check_panel(panel)


# Before the start


def test_open_card_shows_options_and_entrants() -> None:
    card = card_panel("en", Builder("swiss", rounds="5", time=str(3 * DAY)).enter(3).tournament, None)
    assert read_lines(card) == [
        "🏆 Swiss · Metà Mazzo",
        "Organised by Anna",
        "To 51 points · 5 minutes a move",
        "One round every 3 days · 5 rounds",
        "",
        "Anna, Bruno and Carla are in. One more player and it can start.",
    ]
    assert read_labels(card) == ["Sign up"]


@pytest.mark.parametrize(
    ("tournament", "line"),
    [
        (Builder("knockout").tournament, "No players yet. 2 more players and it can start."),
        (Builder("knockout").enter(1).tournament, "Anna is in. One more player and it can start."),
        (Builder("league").enter(1).tournament, "Anna is in. 2 more players and it can start."),
        (Builder("knockout", "tressette").enter(1).tournament, "Anna + Bruno are in. One more pair and it can start."),
    ],
)
def test_open_card_counts_the_missing_players(tournament: Tournament, line: str) -> None:
    assert read_lines(card_panel("en", tournament, None))[-1] == line


def test_time_of_one_day_a_round_is_written_in_words() -> None:
    card = card_panel("en", Builder("knockout", time=str(DAY)).enter(2).tournament, None)
    assert "One round a day" in read_lines(card)
    assert read_lines(card)[-2:] == ["2 players:", "Anna, Bruno"]


def test_player_without_a_partner_has_a_button() -> None:
    tournament = Builder("duplicate", "tressette").enter(1, teams_alone=2).tournament
    card = card_panel("en", tournament, None)
    assert "Anna + Bruno" in read_lines(card)
    assert read_lines(card)[-3].startswith("Looking for a partner: Carla, Hans-Peter")
    assert read_lines(card)[-2] == "Players without a partner are paired at the start."
    page = player_panel("en", "paper:404", tournament, None)
    assert [button.payload for button in chain.from_iterable(page.rows)][:2] == [
        "1ptournament K7QF2M with 2",
        "1ptournament K7QF2M with 3",
    ]
    assert strip_marks(read_labels(page)[0]) == "With Carla"
    assert "All without a partner" not in read_labels(page)
    assert [label for label in read_labels(player_panel("en", "paper:3", tournament, None)) if "With" in label] == [
        read_labels(page)[1]
    ]


def test_many_players_without_a_partner_are_paged() -> None:
    tournament = Builder("swiss", "tavolo").enter(0, teams_alone=50).tournament
    assert "All without a partner" in read_labels(player_panel("en", "paper:404", tournament, None))
    names = [
        label
        for page in (1, 2, 3)
        for label in read_labels(partners_panel("en", "paper:404", tournament, page))
        if label.startswith("With ")
    ]
    assert len(names) == 50


def test_player_who_left_before_start_is_not_listed() -> None:
    card = card_panel("en", Builder("knockout").enter(3).add(Leave(1)).tournament, None)
    assert "Anna, Carla" in read_lines(card)


def test_names_are_isolated_and_cut() -> None:
    card = card_panel("en", Builder("knockout").enter(5).tournament, None)
    assert f"{FIRST_STRONG_ISOLATE}محمد{POP_ISOLATE}" in card.plain
    assert "Hohenlohe" not in card.plain
    assert "Hans-Peter Bartolomeo v…" in card.plain


def test_forgotten_name_is_translated() -> None:
    tournament = Builder("knockout").enter(7).tournament
    assert "somebody" in card_panel("en", tournament, None).plain
    assert "qualcuno" in card_panel("it", tournament, None).plain


@pytest.mark.parametrize("form", FORMS)
def test_each_option_has_a_button_and_marks_its_value(form: Form) -> None:
    for game in GAMES:
        tournament = Builder(form, game).tournament
        topics = [
            button.payload.split(" ")[-1] for button in chain.from_iterable(options_panel("en", tournament).rows)
        ][:-1]
        expected = {"form", "game", "time", "clock", "web"}
        expected |= {"rounds"} if form in ("swiss", "duplicate") else set()
        expected |= {"deals", "scoring"} if form == "duplicate" else set()
        rules = {name for name in tournament.choice.rules if not (name == "target" and form == "duplicate")}
        assert set(topics) == expected | rules
        for topic in topics:
            marked = [label for label in read_labels(options_panel("en", tournament, topic)) if label.startswith("• ")]
            assert len(marked) == 1


def test_duplicate_shows_no_target() -> None:
    card = card_panel("en", Builder("duplicate", deals="4", scoring="steps").tournament, None)
    assert "4 deals a match, in steps · 5 minutes a move" in read_lines(card)
    assert "51" not in card.plain


def test_target_is_shown_in_the_tables_points() -> None:
    assert "To 63 (21 × 3) points" in card_panel("en", Builder("swiss", "tressette").tournament, None).plain


# During the tournament


def test_running_card_shows_round_standings_and_matches() -> None:
    builder = Builder("swiss").start(4).begin_round()
    first, second = builder.tournament.rounds[0]
    builder.play(first, 0, 0, points=(51, 20)).seat(second, 0)
    card = card_panel("en", builder.tournament, 5 * HOUR)
    name = dict(enumerate(("Anna", "Bruno", "Carla", "Hans-Peter Bartolomeo v…")))
    table = [f"{line.rank}. {name[line.team]} · {line.score.value}" for line in standings(builder.tournament)]
    assert read_lines(card) == [
        "🏆 Swiss · Metà Mazzo",
        "Round 1 of 3 · 5 h left",
        "",
        "Standings (wins):",
        *table,
        "",
        "Matches over: 1 of 2",
        f"{name[second.first]} – {name[second.second or 0]} ⏳",
        f"{name[first.first]} – {name[first.second or 0]} 51 : 20",
        "",
        "Ties are broken by: Buchholz, Sonneborn-Berger, card points.",
    ]
    assert read_labels(card) == ["My match", "All results", "How it works"]


def test_card_says_how_an_unfinished_game_ended() -> None:
    builder = Builder("knockout").start(8).begin_round()
    for match, (winner, ending) in zip(
        builder.tournament.rounds[0], ((0, "resign"), (1, "timeout"), (0, "forfeit")), strict=False
    ):
        builder.play(match, 0, winner, ending, points=(3, 4))  # type: ignore[arg-type]
    text = strip_marks(card_panel("en", builder.tournament, HOUR).plain)
    assert re.search(r"3 : 4, .* gave up", text)
    assert re.search(r"3 : 4, .* lost on time", text)
    assert re.search(r"3 : 4, .* withdrew", text)


def test_long_standings_are_cut_on_the_card_and_paged() -> None:
    tournament = running_tournament("swiss", 64)
    card = card_panel("en", tournament, HOUR)
    assert "… and 48 more" in read_lines(card)
    assert "Whole table" in read_labels(card)
    places = [
        line
        for page in range(1, 5)
        for line in read_lines(table_panel("en", tournament, page))
        if re.match(r"\d+\. ", line)
    ]
    assert len(places) == 64
    assert "Whole table" not in read_labels(card_panel("en", running_tournament("swiss", 8), HOUR))


def test_last_knock_out_round_is_the_final() -> None:
    builder = Builder("knockout").start(4).play_round().begin_round()
    assert "Final · 1 h left" in read_lines(card_panel("en", builder.tournament, HOUR))


def test_last_possible_match_is_the_final() -> None:
    builder = Builder("knockout").start(8).begin_round()
    for match in builder.tournament.rounds[0][:2]:
        builder.add(Result(match.round, match.number, 0, None, 0, 0, "void"))
    for match in builder.tournament.rounds[0][2:]:
        builder.play(match, 0, 0)
    assert "Final · 1 h left" in read_lines(card_panel("en", builder.begin_round().tournament, HOUR))
    three_teams = Builder("knockout").start(3).begin_round()
    assert "Round 1 of 2 · 1 h left" in read_lines(card_panel("en", three_teams.tournament, HOUR)), (
        "with three teams, one has a bye"
    )


def test_round_count_is_corrected_after_the_start() -> None:
    builder = Builder("swiss", rounds="7").enter(5)
    assert "One round a day · 7 rounds" in read_lines(rules_panel("en", builder.tournament))
    builder = Builder("swiss", rounds="7").start(5)
    assert "One round a day · 5 rounds" in read_lines(rules_panel("en", builder.tournament))


@pytest.mark.parametrize("language", LANGUAGES)
def test_abandoned_knock_out_has_no_winner(language: str) -> None:
    tournament = Builder("knockout").start(2).add(Leave(0), Leave(1)).begin_round().tournament
    assert tournament.phase == "over"
    expected = {"en": "Nobody has won.", "it": "Non ha vinto nessuno."}[language]
    assert read_lines(card_panel(language, tournament, None))[1] == f"🥇 {expected}"
    assert read_lines(winner_panel(language, tournament))[0] == f"🥇 {expected}"
    sheet = standings_sheet(language, tournament, "", 1_795_568_400)
    assert isinstance(sheet, Sheet)
    assert expected in [part.text for part in sheet.parts if isinstance(part, Words)]


@pytest.mark.parametrize(("game", "is_shown"), [("tressette", True), ("tavolo", False)])
def test_card_explains_a_scale_unlike_the_table(game: str, is_shown: bool) -> None:
    note = "Results are in whole points: 21 here are 63 at the table."
    assert (note in read_lines(card_panel("en", Builder("knockout", game).enter(4).tournament, HOUR))) == is_shown


def test_duplicate_results_stay_hidden_until_the_round_ends() -> None:
    builder = Builder("duplicate").start(4).begin_round()
    first, second = builder.tournament.rounds[0]
    for deal in first.deals:
        builder.play(first, deal, 0, points=(987, 654))
    builder.play(second, 1, 0, points=(876, 543))
    tournament = builder.tournament
    panels = [
        card_panel("en", tournament, HOUR),
        results_panel("en", tournament, 0, {}, ""),
        table_panel("en", tournament, 1),
    ]
    panels += [player_panel("en", f"paper:{number}", tournament, HOUR) for number in range(1, 5)]
    for panel in panels:
        assert not re.search("987|654|876|543|333", panel.plain)
        assert ROOT.hex() not in panel.plain
    assert any(line.endswith(" over") for line in read_lines(panels[0]))
    assert any(line.endswith(" 1 of 2 deals") for line in read_lines(panels[0]))
    assert any(line.endswith(" 1 smazzata su 2") for line in read_lines(card_panel("it", tournament, HOUR)))
    builder.play(second, 2, 0, points=(876, 543))
    pages = [read_lines(results_panel("en", builder.tournament, number, {}, "")) for number in (1, 2)]
    assert [page[1] for page in pages] == ["Round 1 of 3 · deal 1", "Round 1 of 3 · deal 2"]
    assert sum("987 : 654" in line for line in pages[0]) == 1
    assert sum("654 : 987" in line for line in pages[1]) == 1, "the seats are swapped in the second deal"
    assert all(line.endswith("(+0.0)") for page in pages for line in page if " : " in line)


def test_duplicate_shows_the_seal_first_and_the_secret_last() -> None:
    playing, done = running_tournament("duplicate", 4), finished_tournament("duplicate", 4)
    card = card_panel("en", playing, HOUR)
    assert playing.seal[:12] not in card.plain
    assert playing.seal in rules_panel("en", playing).plain
    assert ROOT.hex() not in rules_panel("en", playing).plain
    assert ROOT.hex() in rules_panel("en", done).plain
    for form in FORMS:
        if form != "duplicate":
            assert ROOT.hex() not in rules_panel("en", finished_tournament(form, 4)).plain


@pytest.mark.parametrize("form", FORMS)
def test_rules_page_explains_every_form(form: Form) -> None:
    *buttons, _back = chain.from_iterable(rules_panel("en", Builder(form).tournament).rows)
    assert [label for label, *_ in buttons] == [
        "Pairings",
        "A match",
        "Time and no-shows",
        "If you withdraw",
        "Ties",
    ]
    for label, payload, *_ in buttons:
        page = rules_panel("en", Builder(form).tournament, payload.split()[-1])
        assert read_lines(page)[1] == label
        assert len(read_lines(page)) > 2


def test_result_button_opens_a_page_or_a_message() -> None:
    tournament = finished_tournament("swiss", 4)
    replays = {(1, 0, 0): "T01000-012345"}
    [button] = results_panel("en", tournament, 1, replays, "https://x.example").rows[0]
    assert (button.kind, button.payload) == ("link", "https://x.example/g/T01000-012345")
    [button] = results_panel("en", tournament, 1, replays, "").rows[0]
    assert (button.kind, button.payload) == ("press", "1preplay T01000-012345 1")


# After the end


def test_winner_comes_first_without_unused_tie_breaks() -> None:
    builder = Builder("roundrobin").start(3)
    for _round in range(3):
        builder.begin_round()
        [match] = [match for match in builder.tournament.rounds[-1] if not match.is_bye]
        # The higher seed wins, except in the match of the last two.
        winner = int(match.first > (match.second or 0))
        builder.play(match, 0, winner, points=(51, 10) if winner == 0 else (10, 51))
    tournament = builder.begin_round().tournament
    card = read_lines(card_panel("en", tournament, None))
    assert card[:6] == [
        "🏆 Round robin · Metà Mazzo",
        "🥇 Anna has won!",
        "",
        "Standings (wins):",
        "🥇 Anna · 2",
        "🥈 Bruno · 1",
    ]
    assert "direct encounter" not in "".join(card[4:7])


def test_level_teams_show_the_deciding_tie_break() -> None:
    level_pairs = 0
    for seed in range(8):
        tournament = finished_tournament("swiss", 8, seed=seed)
        table, card = standings(tournament), card_panel("en", tournament, None).plain
        for higher, lower in pairwise(table):
            if higher.score == lower.score and higher.tie_breaks[0].value != lower.tie_breaks[0].value:
                level_pairs += 1
                assert f"· {higher.score.value}, Buchholz {higher.tie_breaks[0].value}" in card
                assert f"· {lower.score.value}, Buchholz {lower.tie_breaks[0].value}" in card
    assert level_pairs


def test_level_winners_share_first_place() -> None:
    assert "have won!" in winner_panel("en", finished_tournament("knockout", 2, "tressette")).plain
    builder = Builder("roundrobin").start(3)
    for _round in range(3):
        builder.begin_round()
        [match] = [match for match in builder.tournament.rounds[-1] if not match.is_bye]
        # Each team wins one match and loses one.
        winner = 0 if (match.first, match.second) in ((0, 1), (1, 2), (2, 0)) else 1
        builder.play(match, 0, winner, points=(51, 10) if winner == 0 else (10, 51))
    won = read_lines(winner_panel("en", builder.begin_round().tournament))
    assert won[0] == "🥇 Anna and Bruno and Carla share the first place!"
    tied = "1, direct encounter 1, Sonneborn-Berger 1, card points 0"
    assert won[3:] == [f"🥇 {name} · {tied}" for name in ("Anna", "Bruno", "Carla")]


def test_called_off_card_has_no_buttons() -> None:
    card = card_panel("en", Builder("swiss").enter(5).add(Cancel()).tournament, None)
    assert read_lines(card)[-1] == "Anna’s tournament was called off."
    assert not card.rows


# The reader's own pages


def test_own_page_shows_matches_and_links_to_the_hand() -> None:
    builder = Builder("swiss").start(4).play_round().begin_round()
    own_match = next(match for match in builder.tournament.rounds[-1] if 0 in match.teams)
    builder.seat(own_match, 0)
    panel = player_panel("en", "paper:1", builder.tournament, 3 * DAY)
    other = next(team for team in own_match.teams if team)
    name = ("", "Bruno", "Carla", "Hans-Peter Bartolomeo v…")[other]
    assert read_lines(panel)[1:3] == ["Organised by Anna", "Round 2 of 3 · 3 days left"]
    assert read_lines(panel)[-1] == f"Against {name}: ⏳"
    assert panel.rows[0][0].payload == f"1phand {builder.tournament.match(2, own_match.number).seats[0]}"
    assert "Withdraw" in read_labels(panel)
    first = next(match for match in builder.tournament.rounds[0] if 0 in match.teams)
    assert ("✅" if first.winner == 0 else "❌") in panel.plain


def list_own_pages(language: str, person: str, all_own: list[Tournament]) -> list[Panel]:
    """Return all pages of a person's tournaments."""
    pages = [own_page(all_own, number) for number in range(1, own_page(all_own, 1).pages + 1)]
    return [own_panel(language, person, page, [HOUR] * len(page.tournaments)) for page in pages]


def test_own_tournaments_are_paged_with_live_ones_first() -> None:
    swiss, league, knockout = (
        finished_tournament("swiss", 4),
        running_tournament("league", 3),
        Builder("knockout").enter(2).tournament,
    )
    pages = list_own_pages("en", "paper:1", [*[swiss] * 11, league, *[swiss] * 88, knockout, *[swiss] * 99])
    assert len(pages) == 20
    titles = [line.split(" · ")[0] for panel in pages for line in read_lines(panel) if line.startswith("🏆")]
    forms = ["League", "Knock-out", *["Swiss"] * 198]
    assert titles == [f"🏆 {number}. {form}" for number, form in enumerate(forms, 1)]
    page_buttons = [
        [button for button in chain.from_iterable(panel.rows) if button.label in ("◀", "▶")] for panel in pages
    ]
    assert [button.payload for button in page_buttons[0]] == ["1ptournament own 2"]
    assert [button.payload for button in page_buttons[1]] == ["1ptournament own 1", "1ptournament own 3"]
    assert [button.payload for button in page_buttons[19]] == ["1ptournament own 19"]
    # A single tournament is shown in full, but not if it is the last of many.
    assert read_labels(list_own_pages("en", "paper:1", [league])[0])[-2:] == ["Withdraw", "Call off"]
    assert read_lines(list_own_pages("en", "paper:1", [swiss] * 11)[1])[0] == "Your tournaments"


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_full_page_of_pair_leagues_fits(language: str) -> None:
    builder = Builder("league", "tressette").add(Open("paper:1", NAMES[3]))
    builder.add(*(Enter(f"paper:{number}", NAMES[3]) for number in range(64)))
    builder.add(Start(ROOT, tuple((team, team + 32) for team in range(32)))).begin_round()
    # A person can sit at twenty tables at most.
    for match in [match for match in builder.tournament.rounds[0] if 0 in match.teams][:2]:
        builder.seat(match, 0)
    [panel] = list_own_pages(language, "paper:0", [builder.tournament] * 10)
    check_panel(panel)
    # Each tournament names its organiser and the two pairs of two matches. Namesakes have numbers.
    assert panel.plain.count("Hans-Peter") == 10 + 40
    # On Discord each row, the text and the container are components too.
    buttons = sum(map(len, panel.rows))
    assert buttons + -(-buttons // 5) + 2 <= 40
    assert utf16_length(panel.plain) + sum(utf16_length(label) for label in read_labels(panel)) <= 4000


def test_own_match_shows_own_points_first() -> None:
    builder = Builder("swiss").start(4).begin_round()
    match = builder.tournament.rounds[0][0]
    builder.play(match, 0, 0, points=(51, 7))
    assert match.second is not None
    winner, loser = (f"paper:{number + 1}" for number in match.teams)
    assert "✅ 51 : 7" in strip_marks(player_panel("en", winner, builder.tournament, HOUR).plain)
    assert "❌ 7 : 51" in strip_marks(player_panel("en", loser, builder.tournament, HOUR).plain)


def test_reminder_names_opponent_and_time_left() -> None:
    builder = Builder("league").start(3).begin_round()
    match = builder.tournament.rounds[0][0]
    builder.seat(match, 0)
    panel = reminder_panel("en", builder.tournament, builder.tournament.rounds[0][0], match.first, 5 * HOUR)
    names = ("Anna", "Bruno", "Carla")
    assert read_lines(panel) == [f"⏰ Your match against {names[match.second or 0]} in Anna’s tournament: 5 h left"]
    assert read_labels(panel) == ["▶ My hand", "My tournament"]


@pytest.mark.parametrize(
    ("seconds", "english", "italian"),
    [
        (14 * DAY, "14 days left", "mancano 14 giorni"),
        (2 * DAY, "2 days left", "mancano 2 giorni"),
        (DAY - 2, "24 h left", "mancano 24 h"),
        (HOUR, "1 h left", "manca 1 h"),
        (HOUR // 2, "less than an hour left", "meno di un’ora"),
        (0, "time is up", "tempo scaduto"),
        (-5, "time is up", "tempo scaduto"),
    ],
)
def test_time_left_is_rounded(seconds: int, english: str, italian: str) -> None:
    assert (time_left("en", seconds), time_left("it", seconds)) == (english, italian)


# The picture


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("form", "teams", "game"), [("swiss", 8, "metamazzo"), ("knockout", 64, "spades"), ("duplicate", 20, "tressette")]
)
def test_standings_picture_matches_the_text(form: Form, teams: int, game: str, language: str) -> None:
    tournament = finished_tournament(form, teams, game)
    sheet = standings_sheet(language, tournament, "Bar Centrale", 1_795_568_400)
    assert isinstance(sheet, Sheet)
    assert sheet.small == "Buongioco · Bar Centrale · 25/11/2026"
    [rows] = [part for part in sheet.parts if isinstance(part, Rows)]
    table = standings(tournament)
    assert [row.figure for row in rows.rows] == [
        decimal_text(line.score.value, language) for line in table[:MAX_PLACES]
    ]
    assert [row.is_own for row in rows.rows] == [line.rank == 1 for line in table[:MAX_PLACES]]
    texts = [part.text for part in sheet.parts if isinstance(part, Words)]
    assert (len(texts) == 2) == (teams > MAX_PLACES)


def test_empty_standings_have_no_picture() -> None:
    assert standings_sheet("en", Builder("swiss").enter(3).add(Cancel()).tournament, "", 0) is None


# Questions, warnings and details


def test_called_off_page_shows_no_open_match() -> None:
    builder = Builder("duplicate").start(4).begin_round()
    match = builder.tournament.rounds[0][0]
    builder.play(match, 1, 0, points=(9, 2)).seat(match, 2).add(Cancel())
    panel = player_panel("en", f"paper:{match.first + 1}", builder.tournament, None)
    assert "It was called off." in read_lines(panel)
    assert "Against" not in panel.plain
    assert read_labels(panel) == ["All results", "Whole table", "How it works"]
    [listed] = list_own_pages("en", f"paper:{match.first + 1}", [builder.tournament, builder.tournament])
    assert "Against" not in listed.plain
    assert "▶ My hand" not in read_labels(listed)


def test_called_off_duplicate_shows_seal_and_secret() -> None:
    builder = Builder("duplicate").start(4).begin_round().add(Cancel())
    assert read_labels(card_panel("en", builder.tournament, None)) == ["How it works"]
    rules = rules_panel("en", builder.tournament).plain
    assert builder.tournament.seal in rules
    assert ROOT.hex() in rules
    assert not read_labels(card_panel("en", Builder("duplicate").enter(4).add(Cancel()).tournament, None))


@pytest.mark.parametrize(
    ("tournament", "note"),
    [
        (Builder("swiss").enter(4).tournament, []),
        (
            Builder("swiss").start(4).begin_round().tournament,
            ["Games in progress go on, but don’t count here."],
        ),
        (
            Builder("duplicate").start(4).begin_round().tournament,
            ["Deals in progress stop at once, and nothing counts."],
        ),
    ],
)
def test_call_off_question_says_what_happens_to_games(tournament: Tournament, note: list[str]) -> None:
    assert read_lines(confirm_panel("en", tournament, "off"))[2:] == ["Call off this tournament?", *note]


def test_withdraw_question_names_the_cost() -> None:
    assert read_lines(confirm_panel("en", running_tournament("league", 4), "withdraw"))[2:] == [
        "Withdraw from this tournament?",
        "You lose all matches that aren’t over, including those to come.",
    ]
    assert read_lines(confirm_panel("en", running_tournament("swiss", 4, "tressette"), "withdraw"))[3:] == [
        "You lose the match in progress, and play no further ones.",
        "Your partner is out too.",
    ]
    tournament = Builder("swiss", "tressette").start(4).begin_round().add(Leave(0)).tournament
    assert "You’ve withdrawn." in read_lines(player_panel("en", "paper:1", tournament, HOUR))
    partners = player_panel("en", "paper:2", tournament, HOUR)
    assert "Your partner has withdrawn, so you’re out." in read_lines(partners)
    assert "Withdraw" not in read_labels(partners)


def test_clock_unfit_for_the_round_time_is_warned_about() -> None:
    def warnings(form: Form, clock: int, time: int) -> list[str]:
        choice = replace(Choice.default("testa"), clock=clock)
        tournament = Builder(form, time=str(time)).add(Play("testa", choice.text)).tournament
        return [line for line in read_lines(options_panel("en", tournament)) if line.startswith("⚠️")]

    assert warnings("league", 300, 14 * DAY) == [
        "⚠️ Once a game has begun, it’s 5 minutes a move, however long the round is."
    ]
    assert warnings("swiss", DAY, DAY) == ["⚠️ One move can take a whole round. The player to move when it ends loses."]
    assert warnings("league", DAY, 14 * DAY) == warnings("knockout", 300, DAY) == warnings("swiss", 0, 7 * DAY) == []


def test_duplicate_round_with_one_table_explains_scoring() -> None:
    builder = Builder("duplicate").start(4)
    note = "Only one table, so there’s nothing to compare. Only deals given up or lost on time count."
    tournament = builder.begin_round().tournament
    assert note not in read_lines(card_panel("en", tournament, HOUR))
    for match in tournament.rounds[0]:
        for deal in match.deals:
            builder.play(match, deal, 0)
    builder.add(Leave(0)).add(Leave(1)).begin_round()
    assert sum(not match.is_bye for match in builder.tournament.rounds[-1]) == 1
    assert note in read_lines(card_panel("en", builder.tournament, HOUR))
    assert note in read_lines(player_panel("en", "paper:3", builder.tournament, HOUR))
    [match] = [match for match in builder.tournament.rounds[-1] if not match.is_bye]
    builder.play(match, 1, 0, "resign").play(match, 2, 0, points=(40, 2))
    assert [score.scores[0] for score in deal_scores(builder.tournament, len(builder.tournament.rounds))] == [5, 0]


def test_own_page_buttons_depend_on_the_reader() -> None:
    tournament = Builder("swiss").enter(3).tournament
    assert read_labels(player_panel("en", "paper:1", tournament, None)) == [
        "How it works",
        "Leave",
        "Start",
        "Options",
        "Call off",
    ]
    assert read_labels(player_panel("en", "paper:2", tournament, None)) == ["How it works", "Leave"]
    assert read_labels(player_panel("en", "paper:404", tournament, None)) == ["How it works", "Sign up"]
    assert read_labels(player_panel("en", "paper:1", running_tournament("swiss", 4), None))[-1] == "Call off"
    assert "Call off" not in read_labels(player_panel("en", "paper:1", finished_tournament("swiss", 4), None))


def test_place_appears_once_a_round_counts() -> None:
    builder = Builder("duplicate").start(4).begin_round()
    first, second = builder.tournament.rounds[0]
    builder.play(first, 1, 0, points=(9, 2)).play(first, 2, 0, points=(9, 2)).play(second, 1, 0)
    for panel in (player_panel("en", "paper:1", builder.tournament, HOUR), card_panel("en", builder.tournament, HOUR)):
        assert "Your place" not in panel.plain
        assert "Standings" not in panel.plain
    builder.play(second, 2, 0)
    assert "Your place" in player_panel("en", "paper:1", builder.tournament, HOUR).plain


def test_hand_buttons_name_the_opponent() -> None:
    builder = Builder("league").start(3).begin_round()
    own_matches = [match for match in builder.tournament.rounds[0] if 0 in match.teams]
    for match in own_matches:
        builder.seat(match, 0)
    panel = player_panel("en", "paper:1", builder.tournament, HOUR)
    assert {strip_marks(label) for label in read_labels(panel)[:2]} == {"▶ Bruno", "▶ Carla"}


def test_own_list_shows_chat_and_place() -> None:
    tournament = finished_tournament("swiss", 4)
    page = own_page([tournament, tournament], 1)._replace(groups={tournament.code: "Bar Centrale"})
    panel = own_panel("en", "paper:1", page, [None, None])
    [standing] = [line for line in standings(tournament) if line.team == 0]
    assert read_lines(panel)[3] == "Bar Centrale · organised by Anna"
    assert read_lines(panel)[5] == f"Your place: {standing.rank} of 4 (wins: {standing.score.value})"
    assert read_labels(panel) == ["🏆 1. Swiss · Metà Mazzo", "🏆 2. Swiss · Metà Mazzo"]


def test_whole_table_shows_tie_break_values() -> None:
    tournament = running_tournament("swiss", 8)
    panel_lines = read_lines(table_panel("en", tournament, 1))
    for team_line in standings(tournament):
        values = ", ".join(f"{tie_break.name} {tie_break.value}" for tie_break in team_line.tie_breaks)
        assert sum(line.endswith(f"· {team_line.score.value}, {values}") for line in panel_lines) >= 1


def test_knock_out_picture_shows_only_rounds_won() -> None:
    for form, is_shown in (("knockout", False), ("swiss", True)):
        sheet = standings_sheet("en", finished_tournament(form, 5), "", 0)
        assert sheet
        [rows] = [part for part in sheet.parts if isinstance(part, Rows)]
        assert any(" won" in row.note for row in rows.rows) == is_shown
