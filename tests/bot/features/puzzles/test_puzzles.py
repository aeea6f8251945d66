"""Puzzles in chats: personal ones and a group's puzzle of the day."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from bot.cluster.host_time import HostTime
from bot.core import Core
from bot.features.privacy.feature import PrivacyFeature
from bot.features.puzzles import keys
from bot.features.puzzles.collection import Collection, all_puzzles
from bot.features.puzzles.feature import PuzzlesFeature
from bot.features.puzzles.group_puzzles import choose_puzzle
from bot.features.puzzles.next_puzzle import EASY_ANSWERS, choose_next
from bot.features.puzzles.pages import lines_panel, solution_panel, standing_lines
from bot.features.puzzles.pictures import puzzle_scene
from bot.features.puzzles.puzzle_ratings import (
    AnswerCounts,
    PuzzleRatings,
    PuzzleStanding,
    StandingChange,
    initial_mu,
)
from bot.features.puzzles.stars import count_stars
from bot.features.puzzles.texts import PuzzleText
from bot.identity.pseudonyms import forgetting_marks
from bot.panel import utf16_length
from bot.pictures.painter import paint
from bot.platform import (
    ChatGone,
    DeliveryError,
    MessageRefused,
    NotDelivered,
    PlatformFailure,
    Reply,
    SentMessage,
    SlowDown,
)
from bot.store import Store
from bot.texts import LANGUAGES
from bot.words.wording import card_faces, score_unit_of
from bot.worker import Worker
from engine import GAMES
from engine.puzzles.puzzle import Puzzle
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.long import mostly_long

NOON = datetime(2026, 11, 24, 13, 5, tzinfo=ZoneInfo("Europe/Rome"))
TODAY = NOON.date()


@pytest.fixture(autouse=True)
def no_automatic_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the worker's own rounds, which could start during a test."""

    make = PuzzlesFeature.__init__

    def make_without_rounds(feature: PuzzlesFeature, core: Core) -> None:
        make(feature, core)
        feature.loops = {}

    monkeypatch.setattr(PuzzlesFeature, "__init__", make_without_rounds)


class StoppedClock(HostTime):
    def __init__(self, time: datetime) -> None:
        self._time = time

    def now(self) -> datetime:
        return self._time


def set_clock(worker: Worker, time: datetime) -> None:
    """Set the time for group puzzles."""
    worker.feature(PuzzlesFeature).groups._host_time = StoppedClock(time)


@asynccontextmanager
async def open_players(store: Store, *names: str) -> AsyncIterator[tuple[Worker, list[Player]]]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        set_clock(worker, NOON)
        yield worker, [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]


def find_shown_puzzle(player: Player, place: str = "") -> Puzzle:
    """Return the puzzle of the last message."""
    panel = player.fake.last(place or player.private)
    return all_puzzles()[panel.rows[0][0].payload.split()[2]]


async def give_answer(player: Player, *, is_right: bool, place: str = "") -> tuple[Puzzle, Reply]:
    puzzle = find_shown_puzzle(player, place)
    line = puzzle.lines[0 if is_right else -1]
    verb = "group" if place else "play"
    payload = f"1ppuzzle {verb} {puzzle.id} {puzzle.pack.codes[line.cards[0]]}"
    message = next(
        name
        for name, panel in player.fake.messages[place or player.private].items()
        if any(button.payload == payload for row in panel.rows for button in row)
    )
    reply = await player.send(payload, place, message)
    if reply.panel:
        player.fake.messages[place or player.private][message] = reply.panel
    return puzzle, reply


@pytest.mark.parametrize("language", LANGUAGES)
def test_rating_is_told_from_the_fifth_answer(language: str) -> None:
    told = [standing_lines(language, None, PuzzleStanding(answered=count, solved=count)) for count in range(7)]
    assert [len(lines) for lines in told] == [0, 0, 0, 0, 0, 2, 2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_name_players_by_words(language: str) -> None:
    puzzle = next(puzzle for puzzle in all_puzzles().values() if len(puzzle.hands) == 4)
    names = PuzzleText(language, "italian", puzzle).names
    assert (
        names == {"en": ["you", "right", "partner", "left"], "it": ["tu", "destra", "compagno", "sinistra"]}[language]
    )
    lines = lines_panel(language, "italian", puzzle, puzzle.pack.codes[puzzle.best]).plain
    assert all(f"{name}\xa0" in lines for name in names)


async def test_right_answer_is_explained_and_rated(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", anna.private)
        assert "Which card earns most by the end?" in anna.fake.last(anna.private).plain
        puzzle, _reply = await give_answer(anna, is_right=True)
        text = anna.fake.last(anna.private).plain
        assert "✅ Right" in text
        assert "Right answers" not in text
        await anna.press("💡 Best play")
        page_text = anna.fake.last(anna.private).plain
        assert "Best play from here:" in page_text
        assert "After" not in page_text
        solver = await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:1")
        assert solver.rating > PuzzleStanding().rating
        await anna.press("Next puzzle")
        assert find_shown_puzzle(anna).id != puzzle.id


def test_four_player_puzzle_counts_points_as_its_table_does() -> None:
    puzzle = next(puzzle for puzzle in all_puzzles().values() if puzzle.game == "tressette")
    worst = puzzle.lines[-1]
    card = puzzle.pack.codes[worst.cards[0]]
    text = solution_panel("en", "codes", puzzle, card, None, PuzzleStanding()).plain
    assert f"{3 * (puzzle.lines[0].points - worst.points)} points more than your jack of swords ({card})\n" in text
    assert f"{card}:\u00a0{3 * worst.points} points (your card)" in text
    assert "The last trick is worth 3. Leftovers of three are lost." in PuzzleText("en", "codes", puzzle).scoring()
    assert f"Points so far: you {puzzle.taken[0]}, they {puzzle.taken[1]}" in text


async def test_wrong_answer_shows_the_best_card_and_line(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", anna.private)
        puzzle, _reply = await give_answer(anna, is_right=False)
        text = anna.fake.last(anna.private).plain
        assert "❌" in text
        face = card_faces("french_pack" if puzzle.bids else "italian")
        codes = puzzle.pack.codes
        unit = score_unit_of(puzzle.game)
        lost_points = (puzzle.lines[0].points - puzzle.lines[-1].points) * unit
        first, second = text.splitlines()[1:3]
        assert first.startswith("❌ Best: ")
        assert first.endswith(f" ({face.card(codes[puzzle.best])}),")
        assert second.startswith(f"{lost_points} point{'s' * (lost_points > 1)} more than your ")
        assert second.endswith(f" ({face.card(codes[puzzle.lines[-1].cards[0]])})")
        for line in puzzle.lines:
            assert f"{face.card(codes[line.cards[0]])}:\u00a0{puzzle.format_points(line.points * unit)} point" in text
        figures = [line for line in text.splitlines() if line.startswith(("✅", "▫️", "❌ "))][1:]
        assert [line[0] for line in figures if "your card" in line] == ["❌"]
        assert figures[0].startswith("✅")
        assert text.splitlines()[3].startswith("With ")
        assert "Best play" not in text
        await anna.press("💡 Best play")
        text = anna.fake.last(anna.private).plain
        assert "Best play from here:" in text
        assert "After " in text
        position = PuzzleText("en", "italian", puzzle)
        totals = [position.points_text(line) for line in (puzzle.lines[0], puzzle.lines[-1])]
        assert [line.rpartition(": ")[2] for line in text.splitlines() if "at the end: " in line] == totals
        # Both lines show all remaining tricks.
        assert text.count("→") == 2 * -(-sum(map(len, puzzle.hands)) // len(puzzle.hands))
        solver = await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:1")
        assert (solver.answered, solver.solved, solver.run) == (1, 0, 0)
        assert solver.mu < PuzzleStanding().mu


async def test_only_the_first_answer_counts(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", anna.private)
        # The command shows the same puzzle until it is answered.
        await anna.say("/puzzle", anna.private)
        puzzles = [panel.rows[0][0].payload.split()[2] for panel in anna.fake.messages[anna.private].values()]
        assert puzzles[0] == puzzles[1]
        await give_answer(anna, is_right=False)
        before = await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:1")
        # The other message still has its buttons.
        await give_answer(anna, is_right=True)
        assert await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:1") == before
        for panel in anna.fake.messages[anna.private].values():
            assert "❌" in panel.plain


async def test_one_of_several_concurrent_answers_counts(store: Store) -> None:
    puzzle = next(iter(all_puzzles().values()))
    best = puzzle.pack.codes[puzzle.best]
    changes = await asyncio.gather(
        *(PuzzleRatings(store.client).take_answer("paper:1", puzzle, best) for _ in range(8))
    )
    assert sum(change is not None for change in changes) == 1
    assert (await PuzzleRatings(store.client).standing("paper:1")).answered == 1


async def test_concurrent_answers_of_many_people_all_count(store: Store) -> None:
    puzzle = next(iter(all_puzzles().values()))
    best = puzzle.pack.codes[puzzle.best]
    changes = await asyncio.gather(
        *(PuzzleRatings(store.client).take_answer(f"paper:{n}", puzzle, best) for n in range(12))
    )
    assert all(changes)
    rating = await store.client.hget("{puzzles}:ratings", puzzle.id)
    assert float(rating.split()[0]) < initial_mu(puzzle.missed), "a puzzle that everybody solves is easy"


async def test_puzzles_fit_the_solvers_strength(store: Store) -> None:
    ratings = PuzzleRatings(store.client)
    for _ in range(12):
        easy = await choose_next(ratings, "paper:1", all_puzzles())
        assert easy
        await ratings.take_answer("paper:1", easy, easy.pack.codes[easy.lines[-1].cards[0]])
        hard = await choose_next(ratings, "paper:2", all_puzzles())
        assert hard
        await ratings.take_answer("paper:2", hard, hard.pack.codes[hard.best])
    easy, hard = (
        await choose_next(ratings, "paper:1", all_puzzles()),
        await choose_next(ratings, "paper:2", all_puzzles()),
    )
    assert easy
    assert hard
    assert initial_mu(easy.missed) + 5 < initial_mu(hard.missed)


async def test_solver_of_all_puzzles_reads_that_none_is_left(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = next(iter(all_puzzles().values()))
    for module in ("commands", "next_puzzle"):
        monkeypatch.setattr(f"bot.features.puzzles.{module}.all_puzzles", lambda: Collection([puzzle.to_line()]))
    async with open_players(store, "Anna") as (_worker, [anna]):
        await anna.say("/puzzle", anna.private)
        await give_answer(anna, is_right=True)
        await anna.press("Next puzzle")
        assert "You’ve answered all my puzzles" in anna.fake.last(anna.private).plain


@pytest.mark.parametrize(
    "payload",
    [
        "1ppuzzle",
        "1ppuzzle play",
        "1ppuzzle play {id}",
        "1ppuzzle play {id} 9Z",
        "1ppuzzle play {id} {unplayable}",
        "1ppuzzle play 00000000 3D",
        "1ppuzzle group {id} {best}",
        "1ppuzzle hour 8",
        "1ppuzzle hour 8 {id}",
        "1ppuzzle why {id}",
    ],
)
async def test_invalid_payloads_are_refused(store: Store, payload: str) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", anna.private)
        puzzle = find_shown_puzzle(anna)
        codes = puzzle.pack.codes
        text = payload.format(
            id=puzzle.id,
            best=codes[puzzle.best],
            unplayable=next(code for code in codes if puzzle.line(puzzle.pack.index[code]) is None),
        )
        reply = await anna.send(text, anna.private, "1")
        assert reply.toast
        assert reply.panel is None
        assert await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:1") == PuzzleStanding()


# In groups


async def test_group_puzzle_shows_each_result_privately(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno", "Carla") as (worker, [anna, bruno, carla]):
        await anna.say("/puzzle")
        assert find_shown_puzzle(anna, GROUP) == await worker.feature(PuzzlesFeature).groups.puzzle(TODAY)
        _puzzle, reply = await give_answer(anna, is_right=True, place=GROUP)
        assert "✅" in reply.toast
        assert "1 of 1 answer was right." in anna.fake.last(GROUP).plain
        _puzzle, reply = await give_answer(bruno, is_right=False, place=GROUP)
        assert "❌" in reply.toast
        assert "1 of 2 answers were right." in anna.fake.last(GROUP).plain
        # The group's panel does not reveal the card.
        assert not [text for text in ("✅", "❌", "Best play", "more than") if text in anna.fake.last(GROUP).plain]
        _puzzle, reply = await give_answer(bruno, is_right=True, place=GROUP)
        assert reply.toast.startswith("You’ve already answered. ❌")
        assert await worker.feature(PuzzlesFeature).groups.ratings.count_answers(GROUP, TODAY) == AnswerCounts(1, 1)
        # Each group counts separately, and a person's answer counts only in the first group.
        other = "paper:200"
        await carla.say("/puzzle", other)
        assert "answer" not in anna.fake.last(other).plain
        await give_answer(bruno, is_right=True, place=other)
        assert "answer" not in anna.fake.last(other).plain
        assert (await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:2")).answered == 1


async def test_past_group_puzzle_does_not_change(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle")
        before = anna.fake.last(GROUP)
        set_clock(worker, NOON + timedelta(days=1))
        _puzzle, reply = await give_answer(anna, is_right=True, place=GROUP)
        assert "✅" in reply.toast
        assert reply.panel is None
        assert anna.fake.last(GROUP) == before
        assert await worker.feature(PuzzlesFeature).groups.ratings.count_answers(
            GROUP, TODAY + timedelta(days=1)
        ) == AnswerCounts(0, 0)


def test_group_puzzles_repeat_only_after_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle_lines = [puzzle.to_line() for puzzle in islice(all_puzzles().values(), 40)]
    drawn_puzzles: dict[date, str] = {}
    # The package grows between the draws.
    for size, days in ((30, 20), (40, 20), (40, 5)):
        monkeypatch.setattr("bot.features.puzzles.group_puzzles.all_puzzles", partial(Collection, puzzle_lines[:size]))
        for _ in range(days):
            day = TODAY + timedelta(days=len(drawn_puzzles))
            drawn_puzzles[day] = choose_puzzle(day, drawn_puzzles)
    puzzles = list(drawn_puzzles.values())
    assert len(set(puzzles[:40])) == 40
    assert puzzles[40:] != puzzles[:5]


async def test_new_puzzles_do_not_change_todays_puzzle(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        todays = await worker.feature(PuzzlesFeature).groups.puzzle(TODAY)
        await anna.say("/puzzle")
        fewer = [puzzle.to_line() for puzzle in all_puzzles().values()][::2]
        if todays.id not in Collection(fewer):
            fewer.append(todays.to_line())
        monkeypatch.setattr("bot.features.puzzles.group_puzzles.all_puzzles", lambda: Collection(fewer))
        assert choose_puzzle(TODAY, {}) != todays.id, "the other package would draw another puzzle"
        assert await worker.feature(PuzzlesFeature).groups.puzzle(TODAY) == todays
        await give_answer(anna, is_right=True, place=GROUP)
        assert await worker.feature(PuzzlesFeature).groups.ratings.count_answers(GROUP, TODAY) == AnswerCounts(1, 0)
        # A puzzle removed from the package cannot be shown.
        remaining = [line for line in fewer if not line.startswith(todays.id)]
        monkeypatch.setattr("bot.features.puzzles.group_puzzles.all_puzzles", lambda: Collection(remaining))
        replaced = await worker.feature(PuzzlesFeature).groups.puzzle(TODAY)
        assert replaced.id != todays.id
        assert await worker.feature(PuzzlesFeature).groups.puzzle(TODAY) == replaced


@pytest.mark.parametrize("place", [GROUP, ""])
async def test_forgotten_answer_is_not_counted_twice(store: Store, place: str) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        worker.feature(PrivacyFeature).forgetter.now = NOON.timestamp
        await anna.say("/puzzle")
        todays = await worker.feature(PuzzlesFeature).groups.puzzle(TODAY)
        expected_counts = AnswerCounts(1, 0) if place else AnswerCounts(0, 0)
        if place:
            await give_answer(anna, is_right=True, place=GROUP)
        else:
            await worker.feature(PuzzlesFeature).groups.ratings.take_answer(
                "paper:1", todays, todays.pack.codes[todays.best]
            )
        await worker.feature(PrivacyFeature).forgetter.begin("paper:1")
        while not (await forgetting_marks(store.client))["paper:1"].is_erased:
            await worker.feature(PrivacyFeature).forgetter.work()
            await asyncio.sleep(0.01)
        assert await worker.feature(PuzzlesFeature).groups.ratings.answer_of("paper:1", todays.id) == ""
        _puzzle, reply = await give_answer(anna, is_right=True, place=GROUP)
        assert reply.toast.startswith("You’ve already answered. ✅")
        assert await worker.feature(PuzzlesFeature).groups.ratings.count_answers(GROUP, TODAY) == expected_counts


async def test_puzzle_comes_daily_to_subscribed_groups(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle")
        await anna.press("13:00", GROUP)
        assert "• 13:00" in [button.label for button in anna.fake.last(GROUP).rows[-1]]
        before = len(anna.fake.messages[GROUP])
        # The group already has today's puzzle.
        await worker.feature(PuzzlesFeature).groups.send_due()
        assert len(anna.fake.messages[GROUP]) == before
        tomorrow = NOON + timedelta(days=1)
        for hour, sent in ((12, 0), (13, 1), (13, 1), (14, 1)):
            set_clock(worker, tomorrow.replace(hour=hour))
            await worker.feature(PuzzlesFeature).groups.send_due()
            assert len(anna.fake.messages[GROUP]) == before + sent
        # The puzzle can be answered in the group.
        _puzzle, reply = await give_answer(anna, is_right=True, place=GROUP)
        assert "✅" in reply.toast
        # The bot was down all day, so it is too late for the puzzle.
        set_clock(worker, NOON.replace(hour=20) + timedelta(days=2))
        await worker.feature(PuzzlesFeature).groups.send_due()
        assert len(anna.fake.messages[GROUP]) == before + 1
        await anna.press("off", GROUP)
        set_clock(worker, NOON + timedelta(days=3))
        await worker.feature(PuzzlesFeature).groups.send_due()
        assert len(anna.fake.messages[GROUP]) == before + 1


async def test_daily_puzzle_has_a_picture(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        anna.fake.shows_pictures = True
        drawn = (await worker.feature(PuzzlesFeature).groups.panel(GROUP)).picture
        assert drawn
        worker.picture_pool._kept[drawn.subject.digest] = b"painted"
        await worker.feature(PuzzlesFeature).groups.hours.choose(GROUP, 13)
        await worker.feature(PuzzlesFeature).groups.send_due()
        picture = anna.fake.last(GROUP).picture
        assert picture
        assert picture.png == b"painted"


async def test_choosing_an_hour_keeps_a_past_puzzle(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle")
        before = anna.fake.last(GROUP)
        set_clock(worker, NOON + timedelta(days=1))
        reply = await anna.press("18:00", GROUP)
        assert reply.toast == "A puzzle will come here every day at 18:00."
        assert anna.fake.last(GROUP) == before
        assert await worker.feature(PuzzlesFeature).groups.hours.hour_of(GROUP) == 18


async def test_solution_is_private_and_needs_an_answer(store: Store) -> None:
    async with open_players(store, "Anna") as (_worker, [anna]):
        await anna.say("/puzzle")
        reply = await anna.press("💡 Why?", GROUP)
        assert reply.toast == "Press a card first, then I’ll explain."
        await give_answer(anna, is_right=False, place=GROUP)
        await anna.press("💡 Why?", GROUP)
        assert "Best: " in anna.fake.last(anna.private).plain.splitlines()[1]
        await anna.press("💡 Best play")
        assert "Best play from here" in anna.fake.last(anna.private).plain
        assert "Best play" not in anna.fake.last(GROUP).plain


async def test_guest_chat_offers_no_daily_puzzle(store: Store) -> None:
    guest = "paper:guest7"
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", guest)
        panel = anna.fake.last(guest)
        assert "🔔" not in panel.plain
        assert not [button for row in panel.rows for button in row if " hour " in button.payload]
        assert anna.button("Why?", guest)
        await anna.say("/puzzle", GROUP)
        anna.fake.messages[guest]["9"] = anna.fake.last(GROUP)
        assert (await anna.press("13:00", guest)).toast == "This button has expired: use the latest message."
        assert await worker.feature(PuzzlesFeature).groups.hours.all_hours() == {}


async def test_deleted_chat_gets_no_more_puzzles(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await worker.feature(PuzzlesFeature).groups.hours.choose(GROUP, 13)

        async def refuse(*_args: object, **_options: object) -> SentMessage:
            raise ChatGone("kicked")

        monkeypatch.setattr(anna.fake, "send", refuse)
        await worker.feature(PuzzlesFeature).groups.send_due()
        assert await worker.feature(PuzzlesFeature).groups.hours.all_hours() == {}


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (NotDelivered("not connected"), 1),
        (SlowDown(20), 1),
        (PlatformFailure("no answer"), 0),
        (MessageRefused("odd"), 0),
    ],
)
async def test_puzzle_is_retried_when_the_platform_is_back(store: Store, error: DeliveryError, sent: int) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await worker.feature(PuzzlesFeature).groups.hours.choose(GROUP, 13)
        anna.fake.errors[GROUP] = [error]
        for so_far in (0, sent, sent):
            await worker.feature(PuzzlesFeature).groups.send_due()
            assert len(anna.fake.messages[GROUP]) == so_far


async def test_moved_chat_keeps_its_puzzles(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await worker.feature(PuzzlesFeature).groups.hours.choose(GROUP, 13)
        await worker.feature(PuzzlesFeature).groups.send_due()
        await give_answer(anna, is_right=True, place=GROUP)
        for _ in range(2):
            await anna.dispatcher.move_chat(GROUP, "paper:300")
        assert await worker.feature(PuzzlesFeature).groups.hours.all_hours() == {"paper:300": 13}
        await worker.feature(PuzzlesFeature).groups.send_due()
        assert not anna.fake.messages["paper:300"]
        assert await worker.feature(PuzzlesFeature).groups.ratings.count_answers("paper:300", TODAY) == AnswerCounts(
            1, 0
        )
        # The new chat's own choice stays.
        await worker.feature(PuzzlesFeature).groups.hours.choose(GROUP, 8)
        await anna.dispatcher.move_chat(GROUP, "paper:300")
        assert await worker.feature(PuzzlesFeature).groups.hours.all_hours() == {"paper:300": 13}


async def test_next_puzzle_stays_until_it_is_answered(store: Store) -> None:
    ratings = PuzzleRatings(store.client)
    next_puzzle = await choose_next(ratings, "paper:1", all_puzzles())
    for number, puzzle in enumerate(islice(all_puzzles().values(), 60)):
        await ratings.take_answer(f"paper:{9 + number}", puzzle, puzzle.pack.codes[puzzle.best])
        assert await choose_next(ratings, "paper:1", all_puzzles()) == next_puzzle
    assert next_puzzle
    # An answer to another puzzle, such as a group's, changes nothing.
    other = next(puzzle for puzzle in all_puzzles().values() if puzzle.id != next_puzzle.id)
    await ratings.take_answer("paper:1", other, other.pack.codes[other.best])
    assert await choose_next(ratings, "paper:1", all_puzzles()) == next_puzzle
    await ratings.take_answer("paper:1", next_puzzle, next_puzzle.pack.codes[next_puzzle.best])
    assert await choose_next(ratings, "paper:1", all_puzzles()) != next_puzzle


async def test_answer_during_forgetting_is_forgotten(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", anna.private)
        await worker.feature(PrivacyFeature).forgetter.begin("paper:1")
        async with asyncio.timeout(20):
            while not (await forgetting_marks(store.client))["paper:1"].is_erased:
                await asyncio.sleep(0.01)
        puzzle = next(iter(all_puzzles().values()))
        await worker.feature(PuzzlesFeature).groups.ratings.take_answer(
            "paper:1", puzzle, puzzle.pack.codes[puzzle.best]
        )
        await worker.feature(PrivacyFeature).forgetter.finish(
            "paper:1", (await forgetting_marks(store.client))["paper:1"]
        )
        assert await worker.feature(PuzzlesFeature).groups.ratings.export("paper:1") == {}


@pytest.mark.long
@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "it"))
def test_solution_fits_a_picture_caption(language: str) -> None:
    """Telegram's captions are limited to 1,024 UTF-16 units."""
    for puzzle in all_puzzles().values():
        change = StandingChange(PuzzleStanding(), PuzzleStanding(answered=1234, solved=1111, run=99, longest=99))
        for line in puzzle.lines:
            card = puzzle.pack.codes[line.cards[0]]
            solution = solution_panel(language, "italian", puzzle, card, change, change.new_standing)
            for panel in (solution, lines_panel(language, "italian", puzzle, card)):
                assert utf16_length(panel.plain) <= 1024, f"shorten the solution of puzzle {puzzle.id} for {card}"


async def test_puzzle_data_is_in_mydata_and_forgotten(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/puzzle", anna.private)
        puzzle, _reply = await give_answer(anna, is_right=True)
        file = await worker.feature(PrivacyFeature).own_data.file("paper:1", [], 0.0)
        data = json.loads(file.content)["puzzles"]
        assert data["answers"] == {puzzle.id: puzzle.pack.codes[puzzle.best]}
        assert data["solver"]["solved"] == 1
        await worker.feature(PrivacyFeature).forgetter.begin("paper:1")
        async with asyncio.timeout(20):
            while not (await forgetting_marks(store.client))["paper:1"].is_erased:
                await asyncio.sleep(0.01)
        assert await worker.feature(PuzzlesFeature).groups.ratings.export("paper:1") == {}
        assert await worker.feature(PuzzlesFeature).groups.ratings.standing("paper:1") == PuzzleStanding()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", mostly_long(GAMES, "spades"))
def test_picture_shows_every_hand(game: str, language: str) -> None:
    puzzle = next(
        puzzle for puzzle in all_puzzles().values() if puzzle.game == game and (puzzle.trick or game == "pizzichino")
    )
    scene = puzzle_scene(language, "italian", "classic", puzzle)
    hands = [card.code for card in scene.hand], *[[card.code for card in holder.cards] for holder in scene.others]
    assert [sorted(hand) for hand in hands] == [
        sorted(puzzle.pack.codes[card] for card in hand) for hand in puzzle.hands
    ]
    assert [trick_card.card.code for trick_card in scene.trick] == [puzzle.pack.codes[card] for card in puzzle.trick]
    playable = {card.code for card in scene.hand if card.light == "playable"}
    assert playable == {puzzle.pack.codes[line.cards[0]] for line in puzzle.lines}
    assert paint(scene)


async def test_newcomers_get_easy_puzzles_of_tressette(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [_anna]):
        feature, person = worker.feature(PuzzlesFeature), "paper:1"
        next_puzzle, ratings = feature.puzzles.next_puzzle, feature.groups.ratings
        for _ in range(EASY_ANSWERS):
            puzzle = await next_puzzle.find(person)
            assert puzzle
            assert count_stars(puzzle) == 1
            assert puzzle.kind.is_tressette
            await ratings.take_answer(person, puzzle, puzzle.pack.codes[puzzle.best])
        first_puzzle = await next_puzzle.find(person, "spades")
        assert first_puzzle
        assert first_puzzle.game == "spades"
        assert (unasked := await next_puzzle.find(person))
        assert unasked.kind.is_tressette
        await ratings.take_answer(person, first_puzzle, first_puzzle.pack.codes[first_puzzle.best])
        for id_ in [id_ for id_ in all_puzzles() if all_puzzles().game_of(id_) != "spades"]:
            await store.client.hset(keys.answers(person), id_, "x")
        assert (last_puzzle := await next_puzzle.find(person))
        assert last_puzzle.game == "spades"
