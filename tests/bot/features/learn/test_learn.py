"""Courses of /learn: their steps follow the rules, and taps in the chat finish them."""

import json
import time
from random import Random

import pytest

from bot.actions import BadPayload
from bot.features.learn import step_games
from bot.features.learn.courses import COUNTS, COURSES, Course, Step
from bot.features.learn.feature import LearnFeature
from bot.features.learn.lesson import LAST, STEPS, Lesson, Spot, tap
from bot.features.learn.pages import lesson_page
from bot.features.learn.pictures import lesson_scene
from bot.features.learn.step_games import ending_table, step_moves, step_table
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.forgetting import SECOND_PASS_SECONDS
from bot.identity.pseudonyms import forgetting_marks
from bot.panel import LONGEST_PAYLOAD, Panel, Span, utf16_length
from bot.pictures.painter import paint
from bot.store import Store
from bot.texts import LANGUAGES
from bot.worker import Worker
from engine.errors import IllegalMove
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.learn.answers import right_indexes, robot_taps
from tests.long import long, mostly_long

ALL_STEPS = [
    pytest.param(course, step, id=f"{name} {number}")
    for name, course in COURSES.items()
    for number, step in enumerate(course.steps, 1)
]
TRICK_STEPS = [
    pytest.param(course, step, id=f"{name} {number}")
    for name, course in COURSES.items()
    for number, step in enumerate(course.steps, 1)
    if step.text.endswith("Take it!")
]
LONGEST_CAPTION = 1024


@pytest.mark.parametrize(("course", "step"), ALL_STEPS)
def test_right_move_is_legal_and_each_wrong_one_is_explained(course: Course, step: Step) -> None:
    game = step_table(course.game, step)
    moves = step_moves(game, step)
    assert step.right in game.legal_moves(0)
    assert step.right in moves
    assert len(moves) > 1
    for move in moves:
        if move == step.right:
            continue
        try:
            game.copy().play(0, move)
        except IllegalMove:
            continue
        assert step.wrong.get(move) or step.wrong[""]


@pytest.mark.parametrize(("course", "step"), TRICK_STEPS)
def test_only_the_right_card_wins_the_trick(course: Course, step: Step) -> None:
    game = step_table(course.game, step)
    plays = [move for move in game.legal_moves(0) if move.startswith("play ")]
    winners = []
    for move in plays:
        after = game.copy()
        after.play(0, move)
        assert after.current
        assert after.current.last_trick
        winners += [move] if after.current.last_trick.winner == 0 else []
    assert winners == [step.right]


def test_step_about_points_has_one_worthless_card() -> None:
    for name in ("tressette", "packets"):
        [step] = [step for step in COURSES[name].steps if step.text == COUNTS]
        game = step_table(COURSES[name].game, step)
        worthless = []
        for move in game.legal_moves(0):
            if move.startswith("play "):
                after = game.copy()
                after.play(0, move)
                assert after.current
                worthless += [move] if after.current.taken == [0, 1] else []
        assert worthless == [step.right]


def test_kept_three_takes_the_last_trick() -> None:
    for name in ("tressette", "packets"):
        step = COURSES[name].steps[-1]
        game = step_table(COURSES[name].game, step)
        for move in (step.right, "play RB", "play 3B"):
            game.play(game.turn, move)
        assert game.current
        assert game.current.is_over
        assert game.current.taken == [5, 0] if name == "tressette" else game.current.taken[0] == 5


def test_only_the_right_ace_is_safe_from_the_open_packets() -> None:
    step = COURSES["packets"].steps[6]
    for lead, winner in ((step.right, 0), ("play AD", 1)):
        game = step_table("pizzichino", step)
        game.play(0, lead)
        game.play(1, next(move for move in game.legal_moves(1) if move.startswith("play ")))
        assert game.current
        assert game.current.last_trick
        assert game.current.last_trick.winner == winner


def test_passed_draft_card_is_replaced_by_the_next_one() -> None:
    step = COURSES["spades"].steps[1]
    game = step_table("spades", step)
    game.play(0, step.right)
    view = game.view(0).deal
    assert view
    assert view.hand
    assert "JD" in view.hand
    assert "2D" not in view.hand


@pytest.mark.parametrize("course", COURSES.values(), ids=list(COURSES))
def test_last_step_has_five_tricks_and_can_be_won(course: Course) -> None:
    start = ending_table(course, "")
    assert start.turn == 0
    assert start.current
    assert start.current.LENGTH - start.current.tricks_done == 5
    assert start.current.trick == ()
    end = ending_table(course, robot_taps(course))
    assert end.current
    assert end.current.is_over
    our_points, their_points = end.current.score().points
    assert our_points > their_points


@pytest.mark.parametrize("language", LANGUAGES)
def test_first_step_names_the_suits_and_the_hand(language: str) -> None:
    for course in ("tressette", "packets"):
        lesson = Lesson(Spot(course), language, "italian")
        page_text = lesson_page(lesson, "").plain
        assert all(name in lesson.text() for name in lesson.words.suits.values())
        assert lesson.words.text("Your hand") in page_text


def test_last_step_shows_its_points_and_whose_cards_are_open() -> None:
    lesson = Lesson(Spot("tressette", LAST), "en", "italian")
    assert lesson.score == ("4⅓", "4")
    assert "You have 4⅓ points, I have 4." in lesson.text()
    assert "The open cards at the top are mine" in lesson.text()
    assert Lesson(Spot("spades", LAST), "en", "italian").score == ("", "")
    won = Lesson(Spot("spades", LAST, robot_taps(COURSES["spades"])), "en", "italian")
    assert won.is_over
    assert won.score == tuple(map(won.words.figure, won.points))


@pytest.mark.parametrize("course", COURSES, ids=list(COURSES))
def test_last_step_can_be_lost(course: str) -> None:
    random = Random(1)
    outcomes = set()
    for _ in range(20):
        lesson = Lesson(Spot(course, LAST), "en", "italian")
        while lesson.moves:
            lesson = Lesson(lesson.with_tap(random.randrange(len(lesson.moves))), "en", "italian")
        outcomes.add(lesson.is_won)
    assert outcomes == {True, False}


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "it"))
@pytest.mark.parametrize("suits", ["italian", long("french")])
def test_every_message_fits_its_limits_in_both_languages(language: str, suits: str) -> None:
    for course in COURSES:
        for number in STEPS:
            lesson = Lesson(Spot(course, number), language, suits)
            tapped = [tap(lesson.with_tap(move), language, suits) for move in range(len(lesson.moves))]
            for shown_lesson, answer in [(lesson, ""), *tapped]:
                panel = lesson_page(shown_lesson, answer)
                assert utf16_length(panel.plain) < LONGEST_CAPTION
                assert "{" not in panel.plain
                for button in (button for row in panel.rows for button in row):
                    assert len(button.payload) <= LONGEST_PAYLOAD
                    assert "{" not in button.label
            scene = lesson_scene(lesson, "classic")
            assert scene
            assert not scene.hand or scene.line == lesson.words.text("Your hand")
            assert [side.points for side in scene.sides] == [*lesson.score]
            assert paint(scene)


@pytest.mark.parametrize(
    "spot",
    [
        Spot("chess"),
        Spot("spades", "0"),
        Spot("spades", "10"),
        Spot("spades", "x"),
        Spot("spades", "1", "9"),
        Spot("spades", "1", "x"),
        Spot("spades", "1", "²"),
        Spot("spades", "1", "1" * 5000),
        Spot("spades", LAST, "x"),
        Spot("spades", LAST, "9"),
        Spot("spades", LAST, "0" * 30),
    ],
)
def test_payload_of_an_unknown_step_is_refused(spot: Spot) -> None:
    with pytest.raises(BadPayload):
        tap(spot, "en", "italian")


# In the chat


async def tap_move(player: Player, index: int) -> None:
    """Tap the move with this index in the last message."""
    [*moves, _navigation] = player.fake.last(player.private).rows
    [button] = [button for row in moves for button in row if button.payload.endswith(f"{index}")]
    await player.press(button.label)


async def finish(player: Player, name: str) -> None:
    """Finish a whole course with right taps."""
    course = COURSES[name]
    for step, index in enumerate(right_indexes(course), 1):
        assert f"{course.title} · {step} " in player.fake.last(player.private).plain
        await tap_move(player, index)
        assert "✅" in player.fake.last(player.private).plain
    for move in robot_taps(course):
        await tap_move(player, int(move))


def create_anna(worker: Worker, fake: FakePlatform, language: str = "en") -> Player:
    return Player(worker, fake, "Anna", 1, language)


@pytest.mark.parametrize("name", COURSES)
async def test_course_is_finished_by_taps_and_stores_no_game(store: Store, name: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        await player.say("/learn", player.private)
        await player.press(COURSES[name].title)
        await finish(player, name)
        assert "🏆 You win" in fake.last(player.private).plain
        assert not await store.client.keys("game:*")
        assert not await store.client.keys("{games}:*")
        await player.press("Courses")
        assert player.button(f"✓ {COURSES[name].title}")
        # A finished course can be taken again, and stays finished.
        await player.press(f"✓ {COURSES[name].title}")
        assert f"{COURSES[name].title} · 1 of 9" in fake.last(player.private).plain
        await player.press("Courses")
        assert player.button(f"✓ {COURSES[name].title} · 1/9")


async def test_won_course_offers_a_robot_for_its_game(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        await player.say("/learn", player.private)
        await player.press("Spades")
        await finish(player, "spades")
        await player.press("Play a robot")
        [table] = await worker.room.lists.tables_of(player.person.id)
        assert table.game_id == "spades"


async def test_wrong_tap_says_why_and_asks_again(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake, "it")
        await player.say("/impara", player.private)
        await player.press("Tressette")
        await player.press("A🏆")
        text = fake.last(player.private).plain
        assert text.startswith("❌ Il mio 2 è più alto. Lo prende solo il 3.")
        assert "Tressette · 1 di 9" in text
        await player.press("R🪵")
        assert fake.last(player.private).plain.startswith("❌ Devi rispondere al seme: gioca coppe.")
        await player.press("3🏆")
        text = fake.last(player.private).plain
        assert text.startswith("✅ Il 3 è la carta più alta.")
        assert "Tressette · 2 di 9" in text


async def test_course_continues_where_the_person_stopped(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        await player.say("/learn", player.private)
        await player.press("Tressette")
        for _ in range(8):
            await player.press("Skip")
        assert "Tressette · 9 of 9" in fake.last(player.private).plain
        await tap_move(player, 0)
        page = fake.last(player.private)
        await player.say("/learn", player.private)
        await player.press("Tressette · 9/9")
        assert fake.last(player.private) == page
        await player.press("Try again")
        assert "down to the last five tricks" in fake.last(player.private).plain


async def test_greeting_leads_to_the_courses(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        await player.say("/start", player.private)
        await player.press("Learn in 3 minutes")
        assert "🎓 Learn in three minutes" in fake.last(player.private).plain
        await player.press("Spades")
        assert "Spades · 1 of 9" in fake.last(player.private).plain


async def test_group_message_stays_when_learning_is_pressed(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        greeting = Panel((Span("Hi!"),), (tuple(worker.feature(LearnFeature).first_contact_buttons("en")),))
        await fake.send(GROUP, greeting, "greeting")
        reply = await player.press("Learn in 3 minutes", GROUP)
        assert reply.private
        assert fake.last(GROUP) == greeting
        assert "🎓 Learn in three minutes" in fake.last(player.private).plain


async def test_person_in_a_group_gets_courses_in_private(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        reply = await player.say("/learn")
        assert reply.private
        assert not fake.messages[GROUP]
        assert "Learn in three minutes" in fake.last(player.private).plain


async def test_mydata_shows_progress_and_forget_deletes_it(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player = create_anna(worker, fake)
        await player.say("/learn", player.private)
        await player.press("Spades")
        await player.press("Skip")
        reply = await player.say("/mydata", player.private)
        assert reply.file
        assert json.loads(reply.file.content)["courses"] == {"spades": {"step": "2", "is_done": False}}
        await player.say("/forget", player.private)
        await player.press("Yes, forget me")
        while not (await forgetting_marks(store.client))[player.person.id].is_erased:
            await worker.feature(PrivacyFeature).forgetter.work()
        assert await worker.feature(LearnFeature).progress.courses_of(player.person.id) == {}


async def test_tap_stored_after_forgetting_is_deleted(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        player, learn = create_anna(worker, fake), worker.feature(LearnFeature)
        await player.say("/learn", player.private)
        await player.press("Spades")
        await finish(player, "spades")
        await player.say("/forget", player.private)
        await player.press("Yes, forget me")
        forgetter = worker.feature(PrivacyFeature).forgetter
        while not (await forgetting_marks(store.client))[player.person.id].is_erased:
            await forgetter.work()
        # A tap made before the first pass can be stored after it.
        for taps in ("", robot_taps(COURSES["spades"])):
            await learn.progress.note(player.person.id, Lesson(Spot("spades", LAST, taps), "en", "italian"))
        forgetter.now = lambda: time.time() + SECOND_PASS_SECONDS
        await forgetter.work()
        assert not await forgetting_marks(store.client)
        assert not await store.client.keys("{learn}:*")


@pytest.mark.parametrize("course", COURSES.values(), ids=COURSES)
def test_each_ending_is_computed_once(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    taps = robot_taps(course)
    history = ending_table(course, taps).history(0)
    monkeypatch.setattr(step_games, "act", None)
    assert ending_table(course, taps).history(0) == history
    start = ending_table(course, "").history(0)
    assert start == history[: len(start)]
