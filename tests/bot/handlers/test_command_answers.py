"""Answers to commands, including refusals."""

import pytest

from bot.features.tournaments.feature import TournamentsFeature
from bot.platform import Person
from bot.worker import Worker
from engine.cards import ITALIAN
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, create_players, seat_players


async def test_suits_have_one_name(worker: Worker, fake: FakePlatform) -> None:
    anna = create_players(worker, fake)[0]
    await anna.say("/rules")
    rules = fake.last(GROUP).plain
    assert all(name in rules for name in ITALIAN.suit_names)
    assert "clubs" not in rules


async def test_tables_lists_own_tables_and_turns(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    mover, other = sorted(players, key=lambda player: not player.moves())
    assert not other.moves()
    await mover.say("/challenge spades")
    await mover.say("/tables", mover.private)
    page = fake.last(mover.private).plain
    assert ": Spades, waiting for players" in page
    assert "your turn" in page
    assert "’s turn" not in page
    assert other.person.name in page
    await other.say("/tables", other.private)
    page = fake.last(other.private).plain
    assert "waiting for players" not in page
    assert f"{mover.person.name}\u2069’s turn" in page
    assert "your turn" not in page


@pytest.mark.parametrize(
    "topic",
    ["", "fair", "onesto", "pizzichino", "spizzichino", "metamazzo", "testa", "tressette", "tavolo", "spades", "metà"],
)
async def test_rules_of_every_game_are_long_enough(worker: Worker, fake: FakePlatform, topic: str) -> None:
    anna = Player(worker, fake, "Anna", 1)
    reply = await anna.say(f"/rules {topic}")
    assert not reply.toast
    assert len(fake.last(GROUP).plain) > 300, f"bot/words/rules.py explains {topic!r} too briefly"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("/nonsense", "I don’t know /nonsense: see all I can do with /help."),
        ("/resing", "I don’t know /resing: did you mean /resign?"),
        ("/mi arrendo", "no game running"),
        ("/report", "🚩 Report below your hand"),
        ("/segnala @bea", "🚩 Report below your hand"),
        ("/phrases", "💬 Say below your hand"),
        ("/frasi", "💬 Say below your hand"),
        ("/join", "Add the table’s code"),
        ("/join ZZZZ", "There’s no table ZZZZ"),
        ("/hand", "no game running"),
        ("/hand QQQQ", "You have no seat at table QQQQ"),
        ("/resign", "no game running"),
        ("/resign QQQQ", "You have no seat at table QQQQ"),
        ("/challenge scopa", "I don’t know the game scopa"),
        ("/challenge testa 32", "You can’t play Testa a Testa to 32: choose one of 11, 21, 31."),
        ("/challenge testa -5", "to −5: choose"),
        ("/challenge 0 testa", "to 0: choose"),
        ("/challenge spades 1000000", "to 1000000: choose"),
        (f"/challenge spades {'9' * 200}", "to 999999999999…: choose"),
        ("/challenge mezzo mazzo 21", "I don’t know the game mezzo mazzo:"),
        ("/leaderboard tressette al bar", "I don’t know the game tressette al bar:"),
        ("/stats @nobody", "I don’t know @nobody yet"),
        ("/rules briscola", "I don’t know the game briscola"),
    ],
)
async def test_impossible_command_says_why(worker: Worker, fake: FakePlatform, command: str, answer: str) -> None:
    assert answer in (await Player(worker, fake, "Anna", 1).say(command)).toast


async def test_rules_in_a_game_are_those_of_the_game(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno = (await seat_players(worker, fake, "spades"))[:2]
    await anna.say("/rules", anna.private)
    assert fake.last(anna.private).plain.startswith("Spades")
    await bruno.say("/regole")
    assert fake.last(GROUP).plain.startswith("Spades")
    await anna.say("/rules", "paper:another-group")
    assert not fake.last("paper:another-group").plain.startswith("Spades")
    await anna.say("/rules testa", anna.private)
    assert fake.last(anna.private).plain.startswith("Testa a Testa")
    # With several games it is unclear which one is meant.
    await worker.challenges.open_practice("metamazzo", anna.person.id, "Anna", "easy", "game")
    await worker.wait_until_idle()
    await anna.say("/rules", anna.private)
    assert fake.last(anna.private).plain.startswith("Common to all")


async def test_commands_understand_names_of_several_words(worker: Worker, fake: FakePlatform) -> None:
    anna = Player(worker, fake, "Anna", 1)
    await anna.say("/sfida @bea Tressette al Tavolo 21")
    assert "Tressette al Tavolo, to 21." in fake.last(GROUP).plain
    assert not (await anna.say("/tournament swiss testa a testa")).toast
    [tournament] = await worker.feature(TournamentsFeature).director.tournaments.of_person(anna.person.id)
    assert (tournament.form, tournament.choice.game) == ("swiss", "testa")
    await anna.say("/leaderboard tressette al tavolo")
    assert "Tressette al Tavolo" in fake.last(GROUP).plain


@pytest.mark.parametrize("command", ["/hand", "/resign"])
async def test_hand_does_not_claim_to_reach_a_closed_chat(worker: Worker, fake: FakePlatform, command: str) -> None:
    players = await seat_players(worker, fake, "testa")
    anna = players[0]
    fake.closed.add(anna.private)
    first = await anna.say(command)
    assert first.toast.startswith("Your cards are on their way to our private chat: if they don’t come")
    second = await anna.say(command)
    assert second.toast == "I can’t write to you: open our private chat and write /hand there."
    fake.closed.clear()
    await anna.say("/hand", anna.private)
    assert (await anna.say(command)).toast == first.toast


async def test_blocking_an_unknown_person_shows_the_name(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    reply = await anna.say("/block", anna.private, about=(Person("paper:77", "Zeno"),))
    assert reply.panel
    assert "Zeno" in reply.panel.plain


async def test_hand_before_the_deal_says_no_cards_yet(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge testa")
    code = await code_of(worker, anna)
    for command in (f"/hand {code}", f"/resign {code}"):
        toast = (await anna.say(command)).toast
        assert toast == f"The game at table {code} hasn’t started yet: your cards come when it does."
    assert (await anna.say("/hand K7QF2M")).toast == "You have no seat at table K7QF2M: /tables shows your tables."


@pytest.mark.parametrize(("language", "word", "label"), [("en", "puzle", "/puzzle"), ("it", "problma", "/problema")])
async def test_misspelt_command_stays_with_a_button(
    worker: Worker, fake: FakePlatform, language: str, word: str, label: str
) -> None:
    anna = Player(worker, fake, "Anna", 1, language)
    reply = await anna.say(f"/{word}", anna.private)
    assert reply.panel
    assert f"/{word}" in reply.panel.plain
    assert [button.label for row in reply.panel.rows for button in row] == [label]
    await anna.press(label)
    assert "🧩" in fake.last(anna.private).plain
    assert (await anna.say(f"/{word}")).toast, "a group's answer is not for all members"


@pytest.mark.parametrize(("language", "word", "label"), [("en", "scor", "/score"), ("it", "puntegio", "/punteggio")])
async def test_misspelt_score_in_a_game_gets_a_button(
    worker: Worker, fake: FakePlatform, language: str, word: str, label: str
) -> None:
    anna = Player(worker, fake, "Anna", 1, language)
    await anna.say("/start", anna.private)
    await worker.challenges.open_practice("metamazzo", anna.person.id, "Anna", "easy", "game")
    await worker.wait_until_idle()
    await anna.say(f"/{word}", anna.private)
    answer = fake.last(anna.private)
    assert label in answer.plain
    assert [button.label for row in answer.rows for button in row] == [label]
    await anna.press(label)
    assert "Metà Mazzo: " in fake.last(anna.private).plain
    assert label not in (await anna.say(f"/{word}")).toast, "groups have no such command"


@pytest.mark.parametrize(
    ("word", "text"), [("matchh", "did you mean /match?"), ("mydatta", "did you mean /mydata?"), ("xyzzy", "/xyzzy")]
)
async def test_unknown_command_without_a_button_offers_help(
    worker: Worker, fake: FakePlatform, word: str, text: str
) -> None:
    anna = Player(worker, fake, "Anna", 1)
    await anna.say(f"/{word}", anna.private)
    assert text in fake.last(anna.private).plain
    await anna.press("Help")
    assert "/challenge" in fake.last(anna.private).plain
