"""The phrases that strangers can send by button, each read in the reader's language."""

import asyncio
from random import Random

import pytest

from bot.platform import private_place
from bot.store import Store
from bot.store.entries import Say
from bot.tables.clock import next_alarm
from bot.tables.limits import PHRASES_PER_DEAL
from bot.tables.table import Table
from bot.tables.table_state import PHRASES
from bot.texts import LANGUAGES
from bot.words.phrases import phrase_text
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, Player, open_worker
from tests.bot.features.find.conftest import find_each_other
from tests.bot.features.find.test_finder import make_random_move
from tests.bot.features.find.test_strangers import resign


@pytest.fixture(autouse=True)
def no_automatic_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)


async def load_table(player: Player) -> Table:
    [table] = await player.worker.room.lists.tables_of(player.person.id)
    return table


def read_hand(player: Player) -> str:
    """Return the text of the message with the player's cards."""
    return player.fake.last(player.private).plain


async def say_phrase(player: Player, label: str) -> str:
    await player.press("💬")
    return (await player.press(label)).toast


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrases_of_a_language_are_distinct(language: str) -> None:
    assert len({phrase_text(language, phrase) for phrase in PHRASES}) == len(PHRASES) == 10


async def test_phrase_is_translated_and_silent(playing: list[Player]) -> None:
    anna, bruno = playing
    await bruno.worker.people.update_person(bruno.person.id, language="it")
    ring_counts = anna.fake.ring_counts.copy()
    await anna.press("💬 Say")
    labels = [button.label for row in anna.fake.last(anna.private).rows for button in row]
    assert labels[-11:-5] == ["Hello!", "Good luck!", "Well played!", "Thank you!", "Sorry!", "Good game!"]
    assert "Good luck!" in (await anna.press("Good luck!")).toast
    name = (await anna.worker.people.person(anna.person.id)).nickname
    assert f"💬 \u2068{name}\u2069: Buona fortuna!" in read_hand(bruno)
    assert "💬 \u2068" not in read_hand(anna)
    assert anna.fake.ring_counts == ring_counts
    # The menu is closed again.
    anna.button("🚫 Block")


async def test_phrases_are_limited_per_deal(playing: list[Player]) -> None:
    anna, bruno = playing
    for _ in range(PHRASES_PER_DEAL):
        await say_phrase(anna, "Hello!")
    with pytest.raises(AssertionError, match="no button"):
        anna.button("💬 Say")
    code = (await load_table(anna)).code
    assert f"said {PHRASES_PER_DEAL} things" in (await anna.send(f"1t{code}:say hello")).toast
    await say_phrase(bruno, "Sorry!")
    random = Random(3)
    while (game := (await load_table(anna)).game) and game.deal_number == 1:
        await make_random_move(playing, random)
    await say_phrase(anna, "Thank you!")
    assert [text for text in bruno.fake.texts(bruno.private) if "💬" in text and "Thank you!" in text]


async def test_phrase_disappears_after_the_next_deals_first_move(playing: list[Player]) -> None:
    anna, bruno = playing
    await say_phrase(anna, "Hello!")
    table = await load_table(anna)
    seat = table.seat_of(bruno.person.id)
    assert seat is not None
    assert [phrase for _by, phrase in table.phrases_shown_to(seat)] == ["hello"]
    random = Random(4)
    while (game := (table := await load_table(anna)).game) and game.deal_number == 1:
        assert table.phrases_shown_to(seat)
        await make_random_move(playing, random)
    while table.moved_at[seat] < table.dealt_at:
        await make_random_move(playing, random)
        table = await load_table(anna)
    assert not table.phrases_shown_to(seat)


async def test_player_without_phrases_can_still_send_them(playing: list[Player]) -> None:
    anna, bruno = playing
    await say_phrase(anna, "Hello!")
    assert "Hello!" in read_hand(bruno)
    await bruno.say("/settings", bruno.private)
    await bruno.press("Show what others say")
    assert not [text for text in bruno.fake.texts(bruno.private) if "Hello!" in text]
    await say_phrase(bruno, "Well played!")
    assert "Well played!" in read_hand(anna)
    await bruno.press("Show what others say")
    assert [text for text in bruno.fake.texts(bruno.private) if "Hello!" in text]


async def test_repeated_phrase_counts_once_and_is_stored(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = make_players(worker, fake)
        await find_each_other([anna, bruno])
        for player in (anna, bruno):
            await player.press("Ready")
        code = (await load_table(anna)).code
        for _ in range(3):
            await anna.send(f"1t{code}:say hello", key="once")
        assert sum((await load_table(anna)).phrase_counts) == 1
    fake.messages[private_place(bruno.person.id)].clear()
    async with open_worker(store, fake) as worker:
        anna, bruno = make_players(worker, fake)
        await bruno.say("/hand", bruno.private)
        assert "Hello!" in read_hand(bruno)


def make_players(worker: Worker, fake: FakePlatform) -> tuple[Player, Player]:
    return Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)


async def test_phrase_delays_no_press_and_changes_no_clock(playing: list[Player]) -> None:
    anna, bruno = playing
    table = await load_table(anna)
    seats = {player.person.id: table.seat_of(player.person.id) or 0 for player in playing}
    assert table.game
    mover = next(player for player in playing if seats[player.person.id] == table.game.turn)
    other = bruno if mover is anna else anna
    # Packets need several presses, so this payload can be a draft.
    payload = next(
        button.payload
        for row in anna.fake.last(mover.private).rows
        for button in row
        if button.payload.startswith("1m") or ":draft " in button.payload
    )
    after_phrase = table.with_entries([Say(seats[other.person.id], "hello")], "u")
    assert next_alarm(after_phrase, table, 0.0) is None
    assert after_phrase.board_changed_at == table.board_changed_at
    replies = await asyncio.gather(
        mover.send(payload), *(other.send(f"1t{table.code}:say hello") for _ in range(PHRASES_PER_DEAL))
    )
    assert [reply.toast for reply in replies] == ["", *["💬 Hello!"] * PHRASES_PER_DEAL]


@pytest.mark.parametrize("phrase", ["say", "say bye", "say hello hello", "say hello\u00a0"])
async def test_other_words_are_refused(playing: list[Player], phrase: str) -> None:
    anna, _bruno = playing
    code = (await load_table(anna)).code
    assert (await anna.send(f"1t{code}:{phrase}")).toast
    carla = Player(anna.worker, anna.fake, "Carla", 3)
    assert (await carla.send(f"1t{code}:say hello")).toast
    assert sum((await load_table(anna)).phrase_counts) == 0


async def test_phrase_of_a_blocked_player_does_not_arrive(playing: list[Player]) -> None:
    anna, bruno = playing
    await bruno.worker.blocks.add(bruno.person.id, anna.person.id, "them")
    for speaker, reader in ((anna, bruno), (bruno, anna)):
        assert "Good luck!" in await say_phrase(speaker, "Good luck!")
        await reader.worker.wait_until_idle()
        assert "Good luck!" not in read_hand(reader)


async def test_friends_have_no_phrases(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = make_players(worker, fake)
        await anna.say("/challenge pizzichino")
        await bruno.press("Join", "paper:100")
        code = (await load_table(anna)).code
        assert "expired" in (await anna.send(f"1t{code}:say hello")).toast
        assert not [button for row in fake.last(anna.private).rows for button in row if "say" in button.payload]


async def test_each_player_has_one_phrase_after_the_game(playing: list[Player]) -> None:
    anna, bruno = playing
    await bruno.worker.people.update_person(bruno.person.id, language="it")
    await resign(anna)
    ring_counts = anna.fake.ring_counts.copy()
    assert (await anna.press("Good game!")).toast == "💬 Good game!"
    name = (await anna.worker.people.person(anna.person.id)).nickname
    await anna.worker.delivery.answers.tasks.wait()
    assert read_hand(bruno) == f"💬 \u2068{name}\u2069: Bella partita!"
    assert "already said something" in (await anna.press("Thank you!")).toast
    await bruno.press("Grazie!")
    await anna.worker.delivery.answers.tasks.wait()
    assert read_hand(anna).endswith(": Thank you!")
    assert anna.fake.ring_counts == ring_counts


@pytest.mark.parametrize("reason", ["blocked", "muted"])
async def test_blocked_or_muted_phrase_is_not_sent_after_the_game(playing: list[Player], reason: str) -> None:
    anna, bruno = playing
    await resign(anna)
    if reason == "blocked":
        await bruno.press("🚫 Block")
        await bruno.press("Yes, block")
    else:
        await bruno.worker.people.update_person(bruno.person.id, phrases="0")
    before = bruno.fake.texts(bruno.private)
    assert (await anna.press("Good game!")).toast == "💬 Good game!"
    await anna.worker.delivery.answers.tasks.wait()
    assert bruno.fake.texts(bruno.private) == before


async def test_sender_of_a_phrase_can_be_blocked(playing: list[Player]) -> None:
    anna, bruno = playing
    await resign(anna)
    await anna.press("Good game!")
    await anna.worker.delivery.answers.tasks.wait()
    labels = [button.label for row in bruno.fake.last(bruno.private).rows for button in row]
    assert labels == ["🚫 Block"]
    await bruno.press("🚫 Block")
    await bruno.press("Yes, block")
    name = (await anna.worker.people.person(anna.person.id)).nickname
    assert [block.name for block in await bruno.worker.blocks.blocks_of(bruno.person.id)] == [name]
