"""A person's first game of each kind: the letters on cards, and hints against robots."""

import asyncio
import json
from random import Random

import pytest

from bot.features.learn import first_games
from bot.features.learn.feature import LearnFeature
from bot.features.learn.first_games import course_of
from bot.features.learn.step_games import table_snapshot
from bot.features.privacy.feature import PrivacyFeature
from bot.hints import MAX_ATTEMPTS
from bot.identity.pseudonyms import forgetting_marks
from bot.panels.hand import hand_panel
from bot.platform import private_place
from bot.robots.pool import RobotPool
from bot.store import Store
from bot.words.verdicts import ShownHint, shown_hint_text
from bot.words.wording import Wording
from bot.worker import Worker
from engine import GAMES, Game, View
from engine.game import MoveEntry
from engine.robots.verdicts import Hint
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, resign, seat_players
from tests.bot.test_hints import hint_buttons, shown_hint, wait_for_seats_turn, wait_for_turn

TURNS = 5


@pytest.fixture(autouse=True)
def hint_requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[View, list[MoveEntry]]]:
    """Let each hint be the first legal move. Return the views and histories from which hints were computed."""
    requests: list[tuple[View, list[MoveEntry]]] = []

    async def hint(_pool: RobotPool, view: View, history: list[MoveEntry]) -> Hint:
        requests.append((view, history))
        return Hint(view.moves[0], "only")

    monkeypatch.setattr(first_games, "TURNS_WITH_HINT", TURNS)
    monkeypatch.setattr(RobotPool, "hint", hint)
    return requests


async def start_game(worker: Worker, fake: FakePlatform, game: str = "metamazzo", place: str = "") -> Player:
    """Start a game against the easy robot, and wait for the person's turn."""
    anna = Player(worker, fake, "Anna", 1)
    await anna.say(f"/challenge {game}", place or anna.private)
    if place:
        await anna.press("Add robot", place)
    await anna.press("🤖 Easy", place or anna.private)
    await wait_for_turn(worker, anna)
    return anna


async def play_card(worker: Worker, player: Player) -> None:
    _message, button = next(move for move in player.moves() if ":play " in move[1].payload)
    await player.press(button.label)
    await wait_for_turn(worker, player)


async def test_first_turns_show_a_hint_then_only_its_button(worker: Worker, fake: FakePlatform) -> None:
    anna = await start_game(worker, fake)
    for _ in range(TURNS):
        assert shown_hint(anna)
        assert hint_buttons(anna) == ["No more hints"]
        await play_card(worker, anna)
    assert shown_hint(anna) == "💡 From now on, press Hint."
    assert hint_buttons(anna) == ["💡 Hint"]
    await play_card(worker, anna)
    assert not shown_hint(anna)
    assert hint_buttons(anna) == ["💡 Hint"]


@pytest.mark.parametrize("game", ["pizzichino", "spades"])
async def test_choices_before_the_first_trick_show_hints(worker: Worker, fake: FakePlatform, game: str) -> None:
    anna = await start_game(worker, fake, game)
    random, kinds = Random(1), set[str]()
    while ":play " not in str(anna.moves()):
        if hint := shown_hint(anna):
            kinds.add(hint.split(" ")[1])
        await anna.play(random)
        await wait_for_turn(worker, anna)
    assert kinds >= ({"Take"} if game == "pizzichino" else {"Keep", "Bid"})
    assert shown_hint(anna)


async def test_first_hand_announces_its_hint(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    announcement = "First game: I give you hints at first. Later, press 💡 Hint."
    shown_hints = list[str]()

    async def hint(_pool: RobotPool, view: View, _history: list[MoveEntry]) -> Hint:
        async with asyncio.timeout(30):
            while not shown_hints:
                shown_hints.extend(
                    text for text in fake.texts(private_place("paper:1")) if f"{announcement}\n💡 Looking…" in text
                )
                await asyncio.sleep(0.01)
        return Hint(view.moves[0], "only")

    monkeypatch.setattr(RobotPool, "hint", hint)
    anna = await start_game(worker, fake)
    assert shown_hints
    assert f"{announcement}\n💡 Play " in fake.last(anna.private).plain
    await play_card(worker, anna)
    assert shown_hint(anna).startswith("💡 Play ")
    assert announcement not in fake.last(anna.private).plain


async def test_first_hand_tells_the_goal_until_the_first_move(worker: Worker, fake: FakePlatform) -> None:
    anna = await start_game(worker, fake)
    goal = "High to low: 3 2 A R C F 7 6 5 4 · follow suit · 51 points win"
    hand = fake.last(anna.private)
    assert goal in hand.plain
    assert hand.fold is not None
    labels = [button.label for row in hand.rows for button in row]
    assert {"Rules", "Learn in 3 minutes"} <= {*labels}
    sent = len(fake.texts(anna.private))
    await anna.press("Learn in 3 minutes")
    await worker.wait_until_idle()
    assert len(fake.texts(anna.private)) == sent + 1, "the hand must stay"
    await anna.say("/hand")
    await play_card(worker, anna)
    assert goal not in fake.last(anna.private).plain


def test_hint_stays_while_packets_are_chosen() -> None:
    game = Game("pizzichino", dealer=1)
    game.deal(bytes(32))
    snapshot, hint = table_snapshot(game, "en"), ShownHint(Hint("take 1 2 3 4", "packets"), is_unasked=True)
    assert snapshot.is_my_turn
    for choice in ("", "3"):
        panel = hand_panel(snapshot, "en", "italian", choice, hint=hint)
        assert "💡 Take packets 1 2 3 4" in panel.plain
        assert panel.rows[-1][0].label == "No more hints"


def test_no_packets_are_advised_before_any_card_is_seen() -> None:
    words, hint = Wording("en", (), "italian"), Hint("take 1 2 3 4", "unseen")
    assert shown_hint_text(ShownHint(hint, is_unasked=True), words) == ""
    asked = shown_hint_text(ShownHint(hint, is_asked=True), words)
    assert asked == "💡 You can’t see any cards yet, so any choice is as good."


async def test_second_game_of_a_kind_shows_no_hint(worker: Worker, fake: FakePlatform) -> None:
    anna = await start_game(worker, fake)
    await resign(worker, fake, [anna], 0)
    await start_game(worker, fake, "testa")
    assert hint_buttons(anna) == ["💡 Hint"]
    await resign(worker, fake, [anna], 0)
    await start_game(worker, fake, "spades")
    assert shown_hint(anna)


async def test_player_of_earlier_games_sees_no_hint(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    await resign(worker, fake, players, 0)
    anna = await start_game(worker, fake)
    assert not shown_hint(anna)
    assert "F (jack)" not in fake.last(anna.private).plain
    assert await worker.feature(LearnFeature).first_games.export(anna.person.id) == ["tressette"]


async def test_first_game_with_people_explains_letters(worker: Worker, fake: FakePlatform) -> None:
    def explain_letters() -> list[bool]:
        texts = [fake.last(player.private).plain for player in players]
        assert len({"; 3, 2, R, C and F a third each." in text for text in texts}) == 1
        return ["R (king) · C (knight) · F (jack)" in text and "a third each." in text for text in texts]

    players = await seat_players(worker, fake, "tavolo")
    # The line of points names all letters, so also a hand without one of them explains it.
    assert all(explain_letters())
    await resign(worker, fake, players, 0)
    players = await seat_players(worker, fake, "tavolo")
    assert not any(explain_letters())


async def test_one_press_ends_hints_in_all_games(worker: Worker, fake: FakePlatform) -> None:
    anna = await start_game(worker, fake)
    reply = await anna.press("No more hints")
    assert reply.toast == "No more hints, except when you press 💡 Hint."
    assert not shown_hint(anna)
    assert hint_buttons(anna) == ["💡 Hint"]
    await resign(worker, fake, [anna], 0)
    await start_game(worker, fake, "spades")
    assert not shown_hint(anna)


async def test_games_with_people_or_shared_cards_show_no_hint(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    assert not any(shown_hint(player) for player in players)
    await resign(worker, fake, players, 0)
    dino = Player(worker, fake, "Dino", 4)
    await dino.say("/daily", dino.private)
    await dino.press("Play")
    await wait_for_turn(worker, dino)
    assert not shown_hint(dino)
    assert not hint_buttons(dino)
    assert not await worker.store.client.keys("{learn}:*")


async def test_hint_comes_from_the_players_view_and_stays_private(
    worker: Worker, fake: FakePlatform, hint_requests: list[tuple[View, list[MoveEntry]]]
) -> None:
    anna = await start_game(worker, fake, place=GROUP)
    assert shown_hint(anna)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.game
    assert hint_requests[-1] == (table.view(0), table.game.history(0))
    assert not any("💡" in text for text in fake.texts(GROUP))


async def test_shown_hint_and_its_button_agree_on_pages(worker: Worker, fake: FakePlatform) -> None:
    anna = await start_game(worker, fake)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    hand = await anna.dispatcher.live_hands.open_hand(table.code, anna.person.id)
    assert hand
    states = hand.states()
    assert json.loads(await anext(states))["hint"].splitlines()[-1] == shown_hint(anna)
    await anna.press("No more hints")
    assert json.loads(await anext(states))["hint"] == ""
    hand.close()


async def test_mydata_shows_known_games_and_forget_deletes_them(worker: Worker, fake: FakePlatform) -> None:
    anna = await start_game(worker, fake)
    await resign(worker, fake, [anna], 0)
    await start_game(worker, fake)
    reply = await anna.say("/mydata", anna.private)
    assert reply.file
    assert json.loads(reply.file.content)["known_games"] == ["tressette"]
    await anna.say("/forget", anna.private)
    await anna.press("Yes, forget me")
    while not (await forgetting_marks(worker.store.client))[anna.person.id].is_erased:
        await worker.feature(PrivacyFeature).forgetter.work()
    assert not await worker.store.client.keys("{learn}:*")


async def test_busy_robots_show_the_button_instead(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_busy(_pool: RobotPool, _view: View, _history: list[MoveEntry]) -> None:
        return None

    monkeypatch.setattr(RobotPool, "hint", is_busy)
    monkeypatch.setattr("bot.hints.UNASKED_PAUSE_SECONDS", 0.0)
    anna = await start_game(worker, fake)
    assert shown_hint(anna) == "💡 No hint in time: press Hint."
    assert hint_buttons(anna) == ["💡 Hint"]


async def test_unasked_hint_waits_until_robots_are_ready(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    async def starts_slowly(_pool: RobotPool, view: View, _history: list[MoveEntry]) -> Hint | None:
        nonlocal tries
        tries += 1
        return Hint(view.moves[0], "only") if tries > 2 * MAX_ATTEMPTS else None

    monkeypatch.setattr(RobotPool, "hint", starts_slowly)
    monkeypatch.setattr("bot.hints.UNASKED_PAUSE_SECONDS", 0.0)
    anna = await start_game(worker, fake)
    assert shown_hint(anna).startswith("💡 Play ")
    assert not [text for text in fake.texts(anna.private) if "No hint" in text]


async def test_quick_player_gets_the_hint_of_the_next_turn(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, views = asyncio.Event(), list[View]()

    async def hint(_pool: RobotPool, view: View, _history: list[MoveEntry]) -> Hint:
        views.append(view)
        await gate.wait()
        return Hint(view.moves[0], "only")

    monkeypatch.setattr(RobotPool, "hint", hint)
    table = await worker.challenges.open_practice("testa", "paper:1", "Anna", "easy", "practice")
    for turn in range(3):
        table = await wait_for_seats_turn(worker, table.code, 0)
        assert await worker.hints.hint_to_show(table, 0) == ShownHint(is_first=turn == 0, is_unasked=True)
        await asyncio.sleep(0)
        if turn < 2:
            assert table.game
            move = next(move for move in table.game.legal_moves(0) if move.startswith("play "))
            await worker.room.make_move(table.code, "paper:1", table.oldest_panel(0), move, f"move {turn}")
    gate.set()
    await worker.hints.wait_until_idle()
    assert (await worker.hints.hint_to_show(table, 0)).found
    # The bot computes no hint for the second turn, which is over.
    assert len(views) == 2


def test_every_game_has_a_course() -> None:
    assert {id_: course_of(kind) for id_, kind in GAMES.items()} == {
        "pizzichino": "packets",
        "spizzichino": "packets",
        "metamazzo": "tressette",
        "testa": "tressette",
        "tressette": "tressette",
        "tavolo": "tressette",
        "spades": "spades",
    }


async def test_hints_and_turns_continue_after_a_restart(store: Store, fake: FakePlatform) -> None:
    async with open_worker(store, fake) as worker:
        anna = await start_game(worker, fake)
        before = fake.last(anna.private).plain
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await wait_for_turn(worker, anna)
        assert fake.last(anna.private).plain == before
        await play_card(worker, anna)
        assert fake.last(anna.private).plain != before
        assert shown_hint(anna)
