"""What strangers may do about each other: block."""

import asyncio
import json

import pytest

from bot.features.find import finder, matching
from bot.features.find.feature import FindFeature
from bot.features.privacy.feature import PrivacyFeature
from bot.platform import Command, Person, Reply
from bot.pseudonyms import forgetting_marks
from bot.store import Store, keys
from bot.tables.blocks import MOST_BLOCKS
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.find.conftest import asked, tended
from tests.bot.features.find.test_finder import expired, waiting


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is matched but when a test has the finder look; then ratings do not matter, which a first game moves."""
    monkeypatch.setattr(finder, "POLL_SECONDS", 1e6)
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)


async def resigned(player: Player) -> None:
    """The end of the game."""
    [table] = await player.worker.tables_of(player.person.id)
    seat = table.seat_of(player.person.id)
    assert seat is not None
    await player.worker.room.press(table.code, player.person.id, table.oldest_panel(seat), "resign", "r")
    await player.worker.settled()


async def both_look(two: list[Player]) -> None:
    for player in two:
        await player.say("/find pizzichino", player.private)
    await tended(two[0].worker)


async def blocked_by(player: Player) -> list[str]:
    return [block.person for block in await player.worker.feature(FindFeature).finder.queue.blocks.of(player.person.id)]


async def test_who_was_blocked_on_a_hand_is_not_found_again_either_way(playing: list[Player]) -> None:
    anna, bruno = playing
    name = (await anna.worker.people.person(bruno.person.id)).nickname
    before = bruno.fake.texts(bruno.private)
    await anna.press("🚫 Block")
    assert f"Block \u2068{name}\u2069?" in anna.fake.last(anna.private).plain
    assert not any(one.payload.startswith("1m") for row in anna.fake.last(anna.private).rows for one in row)
    reply = await anna.press("Yes, block")
    assert "matched with them no more" in reply.toast
    # The hand is back, and the other has seen nothing of it.
    assert "Block" not in anna.fake.last(anna.private).plain
    assert bruno.fake.texts(bruno.private) == before
    await resigned(bruno)
    await both_look(playing)
    assert await waiting(playing) == [anna.person.id, bruno.person.id]
    await anna.say("/block", anna.private)
    await anna.press(f"Unblock \u2068{name}")
    await tended(anna.worker)
    assert await waiting(playing) == []


async def test_no_to_the_question_on_a_hand_brings_the_cards_back(playing: list[Player]) -> None:
    anna, _bruno = playing
    before = anna.fake.last(anna.private)
    await anna.press("🚫 Block")
    await anna.press("No")
    assert anna.fake.last(anna.private) == before
    assert await blocked_by(anna) == []


async def test_who_was_blocked_on_a_result_is_not_found_again(playing: list[Player]) -> None:
    anna, bruno = playing
    await resigned(bruno)
    result = anna.fake.last(anna.private)
    await bruno.press("🚫 Block")
    await bruno.press("No")
    assert "everything stays" in bruno.fake.last(bruno.private).plain
    await anna.press("🚫 Block")
    # The question is a message of its own: the result stays.
    assert result in anna.fake.messages[anna.private].values()
    await anna.press("Yes, block")
    assert await blocked_by(bruno) == []
    assert await blocked_by(anna) == [bruno.person.id]
    await both_look(playing)
    assert await waiting(playing) == [anna.person.id, bruno.person.id]


async def test_the_list_of_blocks_names_no_stranger_by_id_or_handle(playing: list[Player]) -> None:
    anna, bruno = playing
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    await anna.say("/settings", anna.private)
    await anna.press("Whom you have blocked")
    page = repr(anna.fake.last(anna.private))
    file = await anna.worker.feature(PrivacyFeature).own_data.mydata.file(anna.person.id, [], 0)
    nickname = (await anna.worker.people.person(bruno.person.id)).nickname
    assert json.loads(file.content)["blocked"] == [nickname]
    for text in (page, file.content.decode()):
        assert nickname in text
        for secret in (bruno.person.id, bruno.person.name, f"{bruno.person.handle}"):
            assert secret not in text
    await anna.press("Unblock")
    assert "Nobody." in anna.fake.last(anna.private).plain


async def test_two_who_are_asked_come_apart_and_read_no_reason(two: list[Player]) -> None:
    anna, bruno = two
    await asked(two)
    await bruno.press("Ready")
    await anna.say("/block @bruno", anna.private)
    await tended(anna.worker)
    assert await waiting(two) == [anna.person.id, bruno.person.id]
    assert any("No game came of it" in text for text in bruno.fake.texts(bruno.private))
    assert "lock" not in "".join(bruno.fake.texts(bruno.private))
    await tended(anna.worker)
    assert await anna.worker.feature(FindFeature).finder.queue.pairings() == []


async def test_two_in_a_pairing_without_a_table_come_apart(two: list[Player]) -> None:
    anna, bruno = two
    queue = anna.worker.feature(FindFeature).finder.queue
    for player in two:
        await player.say("/find pizzichino", player.private)
    one, other = await queue.entries()
    assert await queue.pair("c0de", [one, other], "pizzichino")
    await anna.say("/block @bruno", anna.private)
    await tended(anna.worker)
    assert await waiting(two) == [anna.person.id, bruno.person.id]
    for player in two:
        with pytest.raises(AssertionError, match="no button"):
            player.button("Ready")


async def test_blocking_while_a_worker_matches_leaves_nobody_with_somebody_blocked(store: Store) -> None:
    """Two workers: at one people are matched over and over, at the other one of them blocks the other meanwhile."""
    one, other = FakePlatform(), FakePlatform()
    async with open_worker(store, one, alone=False) as worker, open_worker(store, other, alone=False) as second:
        for number in range(1, 21, 2):
            anna, bruno = Player(worker, one, "Anna", number), Player(second, other, f"Bruno{number}", number + 1)
            for player in (anna, bruno):
                await player.say("/find pizzichino", player.private)

            async def block(blocker: Player = anna, blocked: Player = bruno) -> Reply:
                return await blocker.say(f"/block @{blocked.person.handle}", blocker.private)

            await asyncio.gather(
                worker.feature(FindFeature).finder.run_round(), block(), second.feature(FindFeature).finder.run_round()
            )
            await tended(worker)
            await tended(second)
            pairings = await worker.feature(FindFeature).finder.queue.pairings()
            assert not [pairing for pairing in pairings if set(pairing.people) == {anna.person.id, bruno.person.id}]
            assert not [table for table in await worker.tables_of(anna.person.id) if table.phase == "playing"]
            for player in (anna, bruno):
                await worker.feature(FindFeature).finder.queue.forget(player.person.id)


async def test_a_rematch_looks_to_who_was_blocked_as_if_nobody_answered(playing: list[Player]) -> None:
    anna, bruno = playing
    [over] = await anna.worker.tables_of(anna.person.id)
    await resigned(bruno)
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    assert "You have blocked" in (await anna.press("Rematch")).toast
    before = anna.fake.texts(anna.private)
    await bruno.press("Rematch")
    after_games = anna.dispatcher.hands.after_games
    assert await after_games.who_wants_rematch(over, anna.person.id) == "", "nor on an open page"
    assert anna.fake.texts(anna.private) == before
    assert "You are ready" in bruno.fake.last(bruno.private).plain
    [table] = await bruno.worker.tables_of(bruno.person.id)
    await expired(bruno.worker, table.code)
    assert "does not answer" in bruno.fake.last(bruno.private).plain


async def test_a_rematch_that_waits_is_taken_back_by_a_block(playing: list[Player]) -> None:
    anna, bruno = playing
    [over] = await anna.worker.tables_of(anna.person.id)
    await resigned(bruno)
    await bruno.press("Rematch")
    after_games, name = anna.dispatcher.hands.after_games, (await anna.worker.people.person(bruno.person.id)).nickname
    assert await after_games.who_wants_rematch(over, anna.person.id) == name
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    assert await after_games.who_wants_rematch(over, anna.person.id) == ""
    assert await bruno.worker.tables_of(bruno.person.id) == []
    assert any("No game came of it" in text for text in bruno.fake.texts(bruno.private))


async def open_challenge(player: Player, command: str = "/challenge pizzichino") -> str:
    await player.say(command)
    [table] = await player.worker.tables_of(player.person.id)
    return table.code


async def test_nobody_sits_down_at_a_table_of_who_has_blocked_them(two: list[Player]) -> None:
    anna, bruno = two
    await bruno.say("/help")
    await anna.say("/block @bruno", anna.private)
    code = await open_challenge(anna)
    for toast in ((await bruno.press("Accept", GROUP)).toast, (await bruno.say(f"/join {code}")).toast):
        assert toast.startswith("I cannot seat you here")
    assert [one.phase for one in await anna.worker.tables_of(anna.person.id)] == ["open"]
    # Whoever blocked somebody may still sit down at their table, or ask them.
    await open_challenge(bruno)
    await anna.press("Accept", GROUP)
    assert "playing" in [one.phase for one in await anna.worker.tables_of(anna.person.id)]


async def test_whoever_was_blocked_may_accept_what_they_are_asked_to(two: list[Player]) -> None:
    anna, bruno = two
    await bruno.say("/help")
    await anna.say("/block @bruno", anna.private)
    await open_challenge(anna, "/challenge @bruno pizzichino")
    await bruno.press("Accept", GROUP)
    assert [one.phase for one in await anna.worker.tables_of(anna.person.id)] == ["playing"]


async def test_a_challenge_by_name_calls_nobody_who_has_blocked_its_opener(two: list[Player]) -> None:
    anna, bruno = two
    for player in two:
        await player.say("/help")
    await bruno.say("/challenge @anna pizzichino")
    assert [span.person for span in bruno.fake.last(GROUP).text if span.person] == [anna.person.id]
    before = bruno.fake.last(GROUP).plain
    await anna.say("/block @bruno", anna.private)
    await bruno.say("/challenge @anna pizzichino")
    after = bruno.fake.last(GROUP)
    # It looks the same, so that he is not told.
    assert [(span.style, span.person) for span in after.text if span.person] == [("quiet", anna.person.id)]
    assert len(after.plain) == len(before)


async def test_a_rematch_in_a_group_calls_nobody_who_has_blocked_whoever_wants_it(two: list[Player]) -> None:
    anna, bruno = two
    await bruno.say("/help")
    await open_challenge(anna)
    await bruno.press("Accept", GROUP)
    await resigned(bruno)
    await anna.say("/block @bruno", anna.private)
    await bruno.press("Rematch", GROUP)
    card = bruno.fake.last(GROUP)
    assert "challenges \u2068Anna\u2069" in card.plain
    assert [(span.style, span.person) for span in card.text if span.person] == [("quiet", anna.person.id)]
    # Were she refused, she would know which of them the stranger is whom she has blocked.
    assert not (await anna.press("Accept", GROUP)).toast
    assert [one.phase for one in await anna.worker.tables_of(anna.person.id)] == ["playing"]


async def test_whom_one_may_block(two: list[Player], monkeypatch: pytest.MonkeyPatch) -> None:
    anna, _bruno = two
    assert "have not met" in (await anna.say("/block @nobody", anna.private)).toast
    assert "have not met" in (await anna.say("/block nobody", anna.private)).toast
    assert "nobody there" in (await anna.say("/block @anna", anna.private)).toast
    assert "private chat" in (await anna.say("/block", GROUP)).toast
    blocks = anna.worker.feature(FindFeature).finder.queue.blocks
    for number in range(MOST_BLOCKS):
        assert await blocks.add(anna.person.id, f"paper:{number + 100}", "Re 100")
    await _bruno.say("/help")
    assert f"{MOST_BLOCKS} people" in (await anna.say("/block @bruno", anna.private)).toast


async def test_made_up_presses_block_nobody(playing: list[Player]) -> None:
    anna, bruno = playing
    carla = Player(anna.worker, anna.fake, "Carla", 3)
    [table] = await anna.worker.tables_of(anna.person.id)
    for word in ("block", "block 7", "block x", "block 1 1"):
        assert (await anna.send(f"1t{table.code}:{word}")).toast
        assert (await carla.send(f"1t{table.code}:{word}")).toast
    own = table.seat_of(anna.person.id)
    assert "nobody there" in (await anna.send(f"1t{table.code}:block {own}")).toast
    await resigned(bruno)
    message, button = anna.button("🚫 Block")
    [game] = [one async for one in anna.worker.archive.all()]
    for words in ("", " ask", f" yes {game.id}", f" yes {game.id} 7", f" yes {game.id} -1", " yes NONE-1 0", " undo"):
        panel = anna.fake.messages[anna.private][message]
        made_up = panel.rows[-1][0]._replace(payload=f"1pblock{words}")
        anna.fake.messages[anna.private][message] = type(panel)(panel.text, ((made_up,),))
        assert (await anna.send(made_up.payload, anna.private, message)).toast
    assert await blocked_by(anna) == await blocked_by(carla) == []
    assert button.payload == f"1pblock ask {game.id} {1 - (own or 0)}"


async def test_of_who_is_forgotten_no_block_is_left(playing: list[Player]) -> None:
    anna, bruno = playing
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    worker: Worker = anna.worker
    await worker.feature(PrivacyFeature).forgetter.begin(bruno.person.id)
    while not (await forgetting_marks(worker.store.client))[bruno.person.id].is_erased:
        await asyncio.sleep(0.01)
    await worker.settled()
    assert await worker.store.client.hgetall(keys.FIND_BLOCKS) == {}
    assert "nobody there" in (await anna.press("🚫 Block")).toast


async def test_a_wish_that_is_told_again_after_the_game_began_looks_no_more(two: list[Player]) -> None:
    anna, bruno = two
    await anna.say("/find pizzichino", anna.private, key="update 1")
    await bruno.say("/find pizzichino", bruno.private)
    await tended(anna.worker)
    for player in two:
        await player.press("Ready")
    await tended(anna.worker)
    reply = await anna.say("/find pizzichino", anna.private, key="update 1")
    assert (reply.panel, await waiting(two)) == (None, [])


async def test_who_is_named_by_the_platform_alone_and_not_known_is_not_blocked(playing: list[Player]) -> None:
    anna = playing[0]
    command = Command("c-named", anna.person, anna.private, "block", (), (Person("", "Nobody Known", "nobody"),))
    assert "Nobody Known" in (await anna.dispatcher.handle_command(command)).toast
    assert await blocked_by(anna) == []
