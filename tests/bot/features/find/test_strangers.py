"""Blocking strangers."""

import asyncio
import json

import pytest

from bot.features.find import matching
from bot.features.find.feature import FindFeature
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import forgetting_marks
from bot.platform import Command, Person, Reply
from bot.store import Store, keys
from bot.tables.limits import MAX_BLOCKS
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.find.conftest import find_each_other, run_finder
from tests.bot.features.find.test_finder import expire_table, list_waiting


@pytest.fixture(autouse=True)
def no_automatic_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop automatic matching, and ignore ratings, which the first game changes."""
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)


async def resign(player: Player) -> None:
    """Resign and wait until the result is delivered."""
    [table] = await player.worker.room.lists.tables_of(player.person.id)
    seat = table.seat_of(player.person.id)
    assert seat is not None
    await player.worker.room.make_move(table.code, player.person.id, table.oldest_panel(seat), "resign", "r")
    await player.worker.wait_until_idle()


async def search_again(players: list[Player]) -> None:
    for player in players:
        await player.say("/find pizzichino", player.private)
    await run_finder(players[0].worker)


async def list_blocked(player: Player) -> list[str]:
    return [
        block.person
        for block in await player.worker.feature(FindFeature).finder.queue.blocks.blocks_of(player.person.id)
    ]


async def test_block_on_a_hand_prevents_matches(playing: list[Player]) -> None:
    anna, bruno = playing
    name = (await anna.worker.people.person(bruno.person.id)).nickname
    before = bruno.fake.texts(bruno.private)
    await anna.press("🚫 Block")
    assert f"Block \u2068{name}\u2069?" in anna.fake.last(anna.private).plain
    assert not any(button.payload.startswith("1m") for row in anna.fake.last(anna.private).rows for button in row)
    reply = await anna.press("Yes, block")
    assert "I won’t match you again" in reply.toast
    # The hand is back, and the other player noticed nothing.
    assert "Block" not in anna.fake.last(anna.private).plain
    assert bruno.fake.texts(bruno.private) == before
    await resign(bruno)
    await search_again(playing)
    assert await list_waiting(playing) == [anna.person.id, bruno.person.id]
    await anna.say("/block", anna.private)
    await anna.press(f"Unblock \u2068{name}")
    await run_finder(anna.worker)
    assert await list_waiting(playing) == []


async def test_cancelled_block_shows_the_hand_again(playing: list[Player]) -> None:
    anna, _bruno = playing
    before = anna.fake.last(anna.private)
    await anna.press("🚫 Block")
    await anna.press("No")
    assert anna.fake.last(anna.private) == before
    assert await list_blocked(anna) == []


async def test_block_on_a_result_prevents_matches(playing: list[Player]) -> None:
    anna, bruno = playing
    await resign(bruno)
    result = anna.fake.last(anna.private)
    await bruno.press("🚫 Block")
    await bruno.press("No")
    assert "everything stays" in bruno.fake.last(bruno.private).plain
    await anna.press("🚫 Block")
    # The question is a separate message: the result stays.
    assert result in anna.fake.messages[anna.private].values()
    await anna.press("Yes, block")
    assert await list_blocked(bruno) == []
    assert await list_blocked(anna) == [bruno.person.id]
    await search_again(playing)
    assert await list_waiting(playing) == [anna.person.id, bruno.person.id]


async def test_block_list_shows_nicknames_only(playing: list[Player]) -> None:
    anna, bruno = playing
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    await anna.say("/settings", anna.private)
    await anna.press("Blocked players")
    page = repr(anna.fake.last(anna.private))
    file = await anna.worker.feature(PrivacyFeature).own_data.file(anna.person.id, [], 0)
    nickname = (await anna.worker.people.person(bruno.person.id)).nickname
    assert json.loads(file.content)["blocked"] == [nickname]
    for text in (page, file.content.decode()):
        assert nickname in text
        for secret in (bruno.person.id, bruno.person.name, f"{bruno.person.handle}"):
            assert secret not in text
    await anna.press("Unblock")
    assert "Nobody yet" in anna.fake.last(anna.private).plain


async def test_block_ends_a_pairing_without_a_reason(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await find_each_other(two_strangers)
    await bruno.press("Ready")
    await anna.say("/block @bruno", anna.private)
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [anna.person.id, bruno.person.id]
    assert any("No game this time" in text for text in bruno.fake.texts(bruno.private))
    assert "lock" not in "".join(bruno.fake.texts(bruno.private))
    await run_finder(anna.worker)
    assert await anna.worker.feature(FindFeature).finder.queue.pairings() == []


async def test_block_ends_a_pairing_without_a_table(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    queue = anna.worker.feature(FindFeature).finder.queue
    for player in two_strangers:
        await player.say("/find pizzichino", player.private)
    first, second = await queue.entries()
    assert await queue.pair("c0de", [first, second], "pizzichino")
    await anna.say("/block @bruno", anna.private)
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [anna.person.id, bruno.person.id]
    for player in two_strangers:
        with pytest.raises(AssertionError, match="no button"):
            player.button("Ready")


async def test_block_during_matching_separates_the_two(store: Store) -> None:
    """One worker matches two people while one of them blocks the other on another worker."""
    first, second = FakePlatform(), FakePlatform()
    async with (
        open_worker(store, first, alone=False) as worker,
        open_worker(store, second, alone=False) as second_worker,
    ):
        for number in range(1, 21, 2):
            anna, bruno = (
                Player(worker, first, "Anna", number),
                Player(second_worker, second, f"Bruno{number}", number + 1),
            )
            for player in (anna, bruno):
                await player.say("/find pizzichino", player.private)

            async def block(blocker: Player = anna, blocked: Player = bruno) -> Reply:
                return await blocker.say(f"/block @{blocked.person.handle}", blocker.private)

            await asyncio.gather(
                worker.feature(FindFeature).finder.run_round(),
                block(),
                second_worker.feature(FindFeature).finder.run_round(),
            )
            await run_finder(worker)
            await run_finder(second_worker)
            pairings = await worker.feature(FindFeature).finder.queue.pairings()
            assert not [pairing for pairing in pairings if set(pairing.people) == {anna.person.id, bruno.person.id}]
            assert not [
                table for table in await worker.room.lists.tables_of(anna.person.id) if table.phase == "playing"
            ]
            for player in (anna, bruno):
                await worker.feature(FindFeature).finder.queue.forget(player.person.id)


async def test_blocked_rematch_looks_unanswered(playing: list[Player]) -> None:
    anna, bruno = playing
    [finished] = await anna.worker.room.lists.tables_of(anna.person.id)
    await resign(bruno)
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    assert "You’ve blocked" in (await anna.press("Rematch")).toast
    before = anna.fake.texts(anna.private)
    await bruno.press("Rematch")
    hands = anna.dispatcher.live_hands
    assert await hands.find_rematch_opener(finished, anna.person.id) == "", "an open page does not show the offer"
    assert anna.fake.texts(anna.private) == before
    assert "You’re ready" in bruno.fake.last(bruno.private).plain
    [table] = await bruno.worker.room.lists.tables_of(bruno.person.id)
    await expire_table(bruno.worker, table.code)
    assert "didn’t answer" in bruno.fake.last(bruno.private).plain


async def test_block_withdraws_a_pending_rematch(playing: list[Player]) -> None:
    anna, bruno = playing
    [finished] = await anna.worker.room.lists.tables_of(anna.person.id)
    await resign(bruno)
    await bruno.press("Rematch")
    hands, name = anna.dispatcher.live_hands, (await anna.worker.people.person(bruno.person.id)).nickname
    assert await hands.find_rematch_opener(finished, anna.person.id) == name
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    assert await hands.find_rematch_opener(finished, anna.person.id) == ""
    assert await bruno.worker.room.lists.tables_of(bruno.person.id) == []
    assert any("No game this time" in text for text in bruno.fake.texts(bruno.private))


async def open_challenge(player: Player, command: str = "/challenge pizzichino") -> str:
    await player.say(command)
    [table] = await player.worker.room.lists.tables_of(player.person.id)
    return table.code


async def test_blocked_player_cannot_join_the_blockers_table(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await bruno.say("/help")
    await anna.say("/block @bruno", anna.private)
    code = await open_challenge(anna)
    for toast in ((await bruno.press("Join", GROUP)).toast, (await bruno.say(f"/join {code}")).toast):
        assert toast.startswith("I can’t seat you")
    assert [table.phase for table in await anna.worker.room.lists.tables_of(anna.person.id)] == ["open"]
    # A player can still sit down with a person they blocked.
    await open_challenge(bruno)
    await anna.press("Join", GROUP)
    assert "playing" in [table.phase for table in await anna.worker.room.lists.tables_of(anna.person.id)]


async def test_blocked_player_can_accept_an_invitation(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await bruno.say("/help")
    await anna.say("/block @bruno", anna.private)
    await open_challenge(anna, "/challenge @bruno pizzichino")
    await bruno.press("Join", GROUP)
    assert [table.phase for table in await anna.worker.room.lists.tables_of(anna.person.id)] == ["playing"]


async def test_challenge_does_not_notify_a_blocker(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    for player in two_strangers:
        await player.say("/help")
    await bruno.say("/challenge @anna pizzichino")
    assert [span.person for span in bruno.fake.last(GROUP).text if span.person] == [anna.person.id]
    before = bruno.fake.last(GROUP).plain
    await anna.say("/block @bruno", anna.private)
    await bruno.say("/challenge @anna pizzichino")
    after = bruno.fake.last(GROUP)
    # The message looks the same, so the opener cannot see the block.
    assert [(span.style, span.person) for span in after.text if span.person] == [("quiet", anna.person.id)]
    assert len(after.plain) == len(before)


async def test_group_rematch_does_not_notify_a_blocker(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await bruno.say("/help")
    await open_challenge(anna)
    await bruno.press("Join", GROUP)
    await resign(bruno)
    await anna.say("/block @bruno", anna.private)
    await bruno.press("Rematch", GROUP)
    card = bruno.fake.last(GROUP)
    assert "challenges \u2068Anna\u2069" in card.plain
    assert [(span.style, span.person) for span in card.text if span.person] == [("quiet", anna.person.id)]
    # A refusal would show Anna which player the blocked stranger is.
    assert not (await anna.press("Join", GROUP)).toast
    assert [table.phase for table in await anna.worker.room.lists.tables_of(anna.person.id)] == ["playing"]


async def test_block_command_refuses_invalid_targets(
    two_strangers: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, _bruno = two_strangers
    assert "don’t know" in (await anna.say("/block @nobody", anna.private)).toast
    assert "don’t know" in (await anna.say("/block nobody", anna.private)).toast
    assert "no longer here" in (await anna.say("/block @anna", anna.private)).toast
    assert "private chat" in (await anna.say("/block", GROUP)).toast
    blocks = anna.worker.feature(FindFeature).finder.queue.blocks
    for number in range(MAX_BLOCKS):
        assert await blocks.add(anna.person.id, f"paper:{number + 100}", "Re 100")
    await _bruno.say("/help")
    assert f"{MAX_BLOCKS} people" in (await anna.say("/block @bruno", anna.private)).toast


async def test_invented_payloads_block_nobody(playing: list[Player]) -> None:
    anna, bruno = playing
    carla = Player(anna.worker, anna.fake, "Carla", 3)
    [table] = await anna.worker.room.lists.tables_of(anna.person.id)
    for payload in ("block", "block 7", "block x", "block 1 1"):
        assert (await anna.send(f"1t{table.code}:{payload}")).toast
        assert (await carla.send(f"1t{table.code}:{payload}")).toast
    own_seat = table.seat_of(anna.person.id)
    assert "no longer here" in (await anna.send(f"1t{table.code}:block {own_seat}")).toast
    await resign(bruno)
    message, button = anna.button("🚫 Block")
    [game] = [game async for game in anna.worker.archive.games()]
    for arguments in (
        "",
        " ask",
        f" yes {game.id}",
        f" yes {game.id} 7",
        f" yes {game.id} -1",
        " yes NONE-1 0",
        " undo",
    ):
        panel = anna.fake.messages[anna.private][message]
        made_up = panel.rows[-1][0]._replace(payload=f"1pblock{arguments}")
        anna.fake.messages[anna.private][message] = type(panel)(panel.text, ((made_up,),))
        assert (await anna.send(made_up.payload, anna.private, message)).toast
    assert await list_blocked(anna) == await list_blocked(carla) == []
    assert button.payload == f"1pblock ask {game.id} {1 - (own_seat or 0)}"


async def test_forgotten_player_has_no_blocks(playing: list[Player]) -> None:
    anna, bruno = playing
    await anna.press("🚫 Block")
    await anna.press("Yes, block")
    worker: Worker = anna.worker
    await worker.feature(PrivacyFeature).forgetter.begin(bruno.person.id)
    while not (await forgetting_marks(worker.store.client))[bruno.person.id].is_erased:
        await asyncio.sleep(0.01)
    await worker.wait_until_idle()
    assert await worker.store.client.hgetall(keys.FIND_BLOCKS) == {}
    assert "no longer here" in (await anna.press("🚫 Block")).toast


async def test_repeated_find_after_the_game_began_is_ignored(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await anna.say("/find pizzichino", anna.private, key="update 1")
    await bruno.say("/find pizzichino", bruno.private)
    await run_finder(anna.worker)
    for player in two_strangers:
        await player.press("Ready")
    await run_finder(anna.worker)
    reply = await anna.say("/find pizzichino", anna.private, key="update 1")
    assert (reply.panel, await list_waiting(two_strangers)) == (None, [])


async def test_unknown_person_cannot_be_blocked(playing: list[Player]) -> None:
    anna = playing[0]
    command = Command("c-named", anna.person, anna.private, "block", (), (Person("", "Nobody Known", "nobody"),))
    assert "Nobody Known" in (await anna.dispatcher.handle_command(command)).toast
    assert await list_blocked(anna) == []
