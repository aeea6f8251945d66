"""Scores, moves and rules in words."""

import re
from datetime import date
from random import Random

import pytest

from bot.actions import BACK, PageAction, parse_payload
from bot.features.analysis.pages import analysis_page
from bot.features.daily.pages import day_result_panel, shareable_text
from bot.handlers.lobby import Lobby
from bot.panel import utf16_length
from bot.panels.challenge import game_lines
from bot.panels.help import rules_page
from bot.solo_deals.results import SoloResult
from bot.store import Store
from bot.tables.snapshot import isolate_name, take_snapshot
from bot.texts import LANGUAGES
from bot.words.deal_results import deal_lines, last_taker
from bot.words.game_results import course_line
from bot.words.spoken import refusal_text
from bot.words.table_lines import TableLines, game_names, option_names, table_words, value_name
from bot.words.transcript import ending_of, story
from bot.words.verdicts import advice_text, hint_reason
from bot.words.wording import JOINER, SUIT_SIGNS, Wording, signed_text, thirds_text
from engine import GAMES
from engine.cards import FRENCH, ITALIAN
from engine.errors import MustFollow, NotInHand
from engine.replay import load
from engine.robots.verdicts import Hint, Verdict
from tests.bot.fake_platform import FakePlatform, open_worker, play_until, seat_players
from tests.bot.finished.games import finished_game, simulate_record
from tests.bot.site.test_deal_count import parse_figure
from tests.bot.tables.test_table import start_game
from tests.engine.tables import play, play_cards, playable_cards, spades_table
from tests.paths import DOCS
from tests.tricks import tricks_played

FOUR = ("A", "B", "C", "D")


def test_bids_are_in_words_and_a_missing_one_is_a_dash() -> None:
    words = Wording("it", ("A", "B"))
    assert list(words.score({"bids": ("double nil", None)}, (0, -200), {})) == [
        "dichiarazioni: A doppio zero, B –",
        "totali: A 0, B −200",
    ]


@pytest.mark.parametrize(
    ("reason", "thirds", "cards", "text"),
    [
        ("likely", 0, ("3C",), "lo supera solo il 3 di coppe"),
        ("likely", 0, ("3C", "2C"), "lo superano solo il 3 di coppe e il 2 di coppe"),
        ("takes_points", 4, (), "prendi, e la presa vale 1⅓ punti."),
        ("gives_little", 1, (), "non puoi prendere, e così regali solo ⅓ di punto."),
        ("gives_little", 0, (), "non puoi prendere, e così non regali niente."),
        ("spares", 2, ("AC",), "prendendo fai solo ⅔ di punto: tieni l’asso di coppe"),
    ],
)
def test_hint_names_points_and_cards(reason: str, thirds: int, cards: tuple[str, ...], text: str) -> None:
    assert hint_reason(Wording("it", ("A", "B")), Hint("play 4C", reason, thirds, cards)).startswith(text)


def test_negative_numbers_have_a_true_minus() -> None:
    game = course_line(Wording("en", ("A", "B")), simulate_record("spades", 1))
    assert re.search(r"−\d", game)
    result, par = SoloResult((-100, 20), "01"), SoloResult((-50, 30), "10")
    assert "−100 : 20 (robot −50 : 30)" in shareable_text(date(2026, 11, 24), "spades", result, par, "en")
    day = day_result_panel("en", date(2026, 11, 24), "spades", result, par).plain
    assert "You lose −100 : 20 (−120).\nThe robot with your cards: −50 : 30 (−80)\n" in day
    assert "You’re 40 behind the robot." in day
    state = take_snapshot(start_game("spades"), None)
    assert "−100" in TableLines(state, table_words(state, "en", "italian")).totals((-100, 20))
    for text in (game, day, *map(signed_text, (-5, 5))):
        assert not re.search(r"-\d", text)


def test_points_of_a_deal_add_up_line_by_line() -> None:
    record = simulate_record("metamazzo", 2)
    words = Wording("en", ["Anna", "Bruno"])
    for number, deal in enumerate(record.deals, 1):
        headline, *side_lines = deal_lines(words, record, number)
        first_points, second_points = deal.entries()["points"]
        assert headline == f"Deal {number}: Anna {first_points}, Bruno {second_points}"
        for name, points, line in zip(words.names, (first_points, second_points), side_lines, strict=True):
            text, _minus, left_over = line.removesuffix(" left over").partition(" − ")
            reckoning = text.removeprefix(f"{name}: ").split(" + ")
            parts = [parse_figure(part.split(" ")[-1]) for part in reckoning]
            assert round(sum(parts) - parse_figure(left_over or "0"), 3) == points
        assert "".join(side_lines).count("last trick 1") == 1


def test_combinations_are_named_in_the_points_of_a_deal() -> None:
    record = simulate_record("metamazzo", 2)
    number, move = next(
        (number, move)
        for number, deal in enumerate(record.deals, 1)
        for _seat, move, *_legal in deal.moves
        if move.startswith("declare ")
    )
    for language in ("en", "it"):
        words = Wording(language, ["Anna", "Bruno"])
        assert f"{words.combination_name(move)} 3" in "".join(deal_lines(words, record, number))


@pytest.mark.parametrize("game", ["metamazzo", "pizzichino", "tressette"])
def test_last_trick_of_a_record_has_its_taker(game: str) -> None:
    record = simulate_record(game, 1)
    for number in range(1, len(record.deals) + 1):
        deal = load(record, number).view(None).deal
        assert deal
        assert deal.last_trick
        if deal.phase == "over":
            assert last_taker(record, number) == deal.last_trick.winner
        else:
            assert last_taker(record, number) is None


def test_thirds_are_written_as_fractions() -> None:
    assert [thirds_text(value) for value in (0, 1, 2, 3, 4, 35)] == ["0", "⅓", "⅔", "1", "1⅓", "11⅔"]


def test_classic_tressette_triples_points_but_not_thirds() -> None:
    words = Wording("en", FOUR)
    entries = {"thirds": (17, 18), "declared": (3, 4), "points": (8, 10)}
    assert list(words.score(entries, (20, 21), {"score_unit": 3})) == [
        "thirds: A and C 17, B and D 18",
        "declared: A and C 9, B and D 12",
        "points with declarations: A and C 24, B and D 30",
        "totals: A and C 60, B and D 63",
    ]
    assert list(words.score(entries, (20, 21), {"score_unit": 1}))[-1] == "totals: A and C 20, B and D 21"
    assert list(words.score({"bids": ("nil", 4)}, (0, 0), {})) == [
        "bids: A and C nil, B and D 4",
        "totals: A and C 0, B and D 0",
    ]


def test_spades_score_shows_bags_and_points() -> None:
    entries = {"bags": (3, 0), "points": (50, 43)}
    assert list(Wording("en", ("A", "B")).score(entries, None, {})) == ["bags so far: A 3, B 0", "points: A 50, B 43"]


@pytest.mark.parametrize(("game", "phrase"), [("spades", "draws first"), ("testa", "deals")])
def test_story_names_the_dealer_or_first_to_draw(game: str, phrase: str) -> None:
    game_record = simulate_record(game, 1)
    first = game_record.seats[game_record.deals[0].dealer]
    assert f"Deal 1: {first} {phrase}" in [line for line, _ends in story(game_record, 1, "en")]


def test_classic_tressette_analysis_triples_points() -> None:
    game = finished_game(1, "tressette")
    index, (seat, move, *_legal) = next(
        (index, entry) for index, entry in enumerate(game.record.deals[0].moves) if entry[1].startswith("play ")
    )
    verdicts = [Verdict(1, index, seat, move, "play 3D", 2.0, exact=True)]
    page = analysis_page(game, verdicts, len(game.record.deals), "en", "codes").plain
    assert "Points given away: 6" in page
    assert "instead of 3D (−6 points)" in page
    assert ending_of(game.record, Wording("en", game.record.seats, "codes")) in page, (
        "the page must have the same last line as the picture"
    )
    tricks = [line for line, ends in story(game.record, 1, "en") if ends]
    assert sum(int(line.rpartition(" +")[2]) for line in tricks) == 35


def test_player_without_decisions_is_not_judged() -> None:
    game = finished_game(1, "testa")
    verdicts = [Verdict(1, 0, 0, "play 4D", "play 4D", 0.0, exact=False)]
    page = analysis_page(game, verdicts, len(game.record.deals), "en", "codes").plain
    first, second = (isolate_name(name) for name in game.record.seats)
    assert f"{first}: 100 % of 1 decision good" in page
    assert f"{second}: no decisions to judge" in page
    assert page.count("%") == 1


def test_moves_are_written_as_sentences() -> None:
    words = Wording("en", FOUR)
    assert words.move(0, "declare three 2 missing C") == "A declares three twos, all but cups"
    assert words.move(1, "declare napoletana D") == "B declares napoletana in coins (3 2 A)"
    assert words.move(2, "play 3D busso") == "C plays 3D and says busso"
    assert words.move(0, "bid 0") == "A bids nil"
    assert words.move(0, "exchange") == "A exchanges nothing"
    assert words.move(0, "exchange ? ?") == "A exchanges 2 cards"
    assert words.move(None, "gives ?") == "The discards give 1 card"
    assert words.move(None, "gives 2C AS") == "The discards give 2C AS"
    assert Wording("it", FOUR).move(3, "declare four A") == "D accusa quattro assi"


def test_suits_are_named_as_the_cards_show_them() -> None:
    words = Wording("en", FOUR, "french")
    assert words.combination("declare three 2 missing C") == "three twos, all but hearts"
    assert words.combination("declare napoletana D") == "napoletana in diamonds (3 2 A)"
    assert Wording("it", FOUR, "french").combination("declare napoletana S") == "napoletana a picche (3 2 A)"
    for topic in ("", "testa", "tavolo", "tressette"):
        text = rules_page("en", topic, "french").plain
        assert "3 2 A K Q J 7 6 5 4" in text
        assert not {"coins", "cups", "cavallo"} & set(text.replace(",", " ").split())
    assert "the 4 of diamonds" in rules_page("en", "testa", "french").plain


def test_rules_of_each_four_player_game_use_its_unit() -> None:
    assert "An ace is worth 3 points" in rules_page("en", "tressette").plain
    assert "An ace is worth 1 point" in rules_page("en", "tavolo").plain


@pytest.mark.parametrize(
    ("game", "numbers"), [("tressette", ("3 points", "33 points")), ("metamazzo", ("1 point", "11 points"))]
)
@pytest.mark.parametrize("back", [(), ("daily", "today")])
def test_common_rules_use_the_unit_of_the_page_they_open_from(
    game: str, numbers: tuple[str, str], back: tuple[str, ...]
) -> None:
    ace, deal = numbers
    button = rules_page("en", game, back=back).rows[-1][-1]
    assert button.label == "Common rules"
    action = parse_payload(button.payload)
    assert isinstance(action, PageAction)
    end = action.words.index(BACK) if back else len(action.words)
    common = rules_page("en", " ".join(action.words[:end]), back=action.words[end + 1 :])
    assert f"An ace counts {ace};" in common.plain
    assert f"A deal is worth {deal}" in common.plain
    assert [button.label for button in common.rows[0]] == (["◀ Back"] if back else ["Pizzichino", "Spizzichino"])


@pytest.mark.parametrize(
    ("topic", "sentence"),
    [
        ("", "Declare in time, or the points are lost"),
        ("", "the higher total wins"),
        ("pizzichino", "only those completed by a card just picked up"),
        ("spizzichino", "only those completed by a card just picked up"),
        ("metamazzo", "until you next play"),
        ("metamazzo", "If you have played an ace by then, declare three aces again"),
        ("testa", "If it’s in the stock"),
        ("testa", "each rank and suit counts once"),
        ("tressette", "even out of turn"),
        ("tressette", "In a deal that breaks a tie you must also be ahead"),
        ("tavolo", "you can’t claim the game"),
        ("spades", "The first player draws a card"),
        ("spades", "before your first draw"),
        ("spades", "unless you have only spades"),
        ("spades", "Nil: ±100"),
        ("spades", "after a failed nil too (unless set otherwise)"),
        ("spades", "the higher total wins; equal totals play on"),
    ],
)
def test_rules_mention_details_that_cost_points(topic: str, sentence: str) -> None:
    assert sentence in rules_page("en", topic).plain


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "You can’t lead a spade until one has been played, unless you have only spades."),
        ("it", "Si esce a picche solo se ne è già caduta una, o se si hanno solo picche."),
    ],
)
def test_forced_spade_lead_breaks_spades_as_the_rules_say(language: str, sentence: str) -> None:
    assert sentence in rules_page(language, "spades").plain
    page = (DOCS / "rules.md").read_text(encoding="utf-8")
    assert "The first spade played breaks them: either a spade on another suit, or that forced lead." in " ".join(
        page.split()
    )

    # North holds only spades after two tricks. South wins the forced lead and holds hearts.
    table = spades_table("AS KS 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH", "2C 3C 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS")
    play(table, "1: bid 5", "0: bid 5")
    play_cards(table, "2C 2H 3C 3H")
    assert playable_cards(table, 1) == set("2S 3S 4S 5S 6S 7S 8S 9S TS JS QS".split())
    play_cards(table, "2S AS")
    assert table.turn == 0
    assert "KS" in playable_cards(table, 0)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", GAMES)
def test_rules_fit_a_picture_caption(game: str, language: str) -> None:
    """Telegram's captions are limited to 1,024 units. A longer text has no picture."""
    assert utf16_length(rules_page(language, game).plain) <= 1024, "shorten the rules or their translation"


@pytest.mark.parametrize("game", GAMES)
def test_rules_name_the_games_options(game: str) -> None:
    choices = {name for name, values in GAMES[game].rules.choices().items() if len(values) > 1}
    text = rules_page("en", game).plain
    assert ("you open a table" in text or "unless set otherwise" in text) == bool(choices - {"target"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_name_the_signs_on_the_cards(language: str) -> None:
    text = rules_page(language).plain
    for sign in (*SUIT_SIGNS["italian"].values(), "R", "C", "F", "K, Q", "J"):
        assert sign in text
    figures = {"en": ("king (re)", "knight (cavallo)", "jack (fante)"), "it": ("il re", "il cavallo", "il fante")}
    assert all(figure in text for figure in figures[language])


async def test_rank_and_suit_are_not_separated_by_a_line_break(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "pizzichino")
        texts: set[str] = set()

        def has_six_tricks() -> bool:
            for index in ("paper:100", players[0].private):
                texts.update(fake.texts(index))
                for panel in fake.messages[index].values():
                    assert not any(JOINER in button.label for row in panel.rows for button in row)
            return any(tricks_played(text) >= 6 for text in texts)

        await play_until(worker, players, Random(3), has_six_tricks)
        signs = SUIT_SIGNS["italian"].values()
        signs_found = [
            (text, position)
            for text in texts
            for sign in signs
            for position in range(1, len(text))
            if text.startswith(sign, position)
        ]
        preceding = [text[position - 1] for text, position in signs_found if text[position - 1] not in " \n"]
        assert len(preceding) > 50
        assert set(preceding) == {JOINER}


@pytest.mark.parametrize("game", GAMES)
def test_every_option_with_a_choice_has_names(game: str) -> None:
    words = Wording("it", ())
    for name, values in GAMES[game].rules.choices().items():
        if len(values) > 1:
            assert name in option_names(words), f"add {name} to option_names()"
            unnamed = [value for value in values if isinstance(value, str) and value_name(words, value) == value]
            assert not unnamed, f"add the values of {name} to value_name(): {unnamed}"


def test_options_have_clear_names() -> None:
    words = Wording("en", ())
    assert option_names(words)["reuse"] == "a rank counts again with a new card"
    assert value_name(words, "three_tricks") == "in the first four tricks"


def test_refusal_uses_the_readers_cards_and_suits() -> None:
    """In records, the jack of diamonds is FD, even for readers with French suits."""
    italian_pack, french_pack = {"suits": ITALIAN.suits}, {"suits": FRENCH.suits}
    assert refusal_text(MustFollow(suit="coins"), "it", "italian") == "Devi rispondere al seme: gioca denari."
    assert refusal_text(MustFollow(suit="coins"), "it", "french") == "Devi rispondere al seme: gioca quadri."
    assert refusal_text(MustFollow(suit="hearts"), "en", "italian") == "You must follow suit: play hearts."
    refusals = [
        refusal_text(NotInHand(card=card, **pack), "en", suits).replace(JOINER, "")
        for card, pack, suits in (
            ("FD", italian_pack, "italian"),
            ("FD", italian_pack, "french"),
            ("TC", french_pack, "italian"),
        )
    ]
    assert refusals == [
        "You don’t have the jack of coins: choose another card.",
        "You don’t have the jack of diamonds: choose another card.",
        "You don’t have the 10 of clubs: choose another card.",
    ]


def test_every_move_has_advice() -> None:
    words = Wording("en", FOUR, "french")
    for move in ("draw", "blind", "keep", "pass", "exchange", "exchange 2C", "bid 0", "bid 5", "play 2C", "claim"):
        assert advice_text(words, move)
    assert advice_text(words, "blind") == "Double nil, blind"


def test_hint_and_button_have_different_wording() -> None:
    words = Wording("it", FOUR)
    advice = {move: advice_text(words, move) for move in ("keep", "pass", "claim")}
    assert advice == {"keep": "Tienila", "pass": "Scartala", "claim": "Chiamati fuori"}
    assert words.text("Keep it") == "La tengo"


def test_italians_see_the_games_first_that_they_know_best() -> None:
    assert list(game_names("en")) == list(GAMES)
    italian = list(game_names("it"))
    assert (italian[0], italian[-1]) == ("tressette", "spades")
    assert sorted(italian) == sorted(GAMES)
    names = [line.split(":")[0] for line in game_lines("it")]
    assert names == ["Tressette in Quattro", "Metà Mazzo", "Spades"]
    assert [*Lobby.games("it")] == italian
