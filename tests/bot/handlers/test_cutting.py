"""Cutting the pack in chats: an option that is off by default, a button for the player who can cut, and a time limit."""

import json
from collections.abc import Sequence
from random import Random

import pytest

from bot.store import Store
from bot.tables import Table
from bot.worker import Worker
from engine.shuffle import commitment
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    open_worker,
    play_until,
    seat_players,
)
from tests.bot.playing_time import ring_clocks

OPTION = "Cut the pack before each deal"
CUT = "✂️ Cut the pack"
WHOLE_SEAL = "🔒 Fair shuffle"


async def table_of(worker: Worker, player: Player) -> Table:
    return await worker.room.load_cached(await code_of(worker, player))


async def cutter_and_other(worker: Worker, players: Sequence[Player]) -> tuple[Player, Player]:
    cutter = (await table_of(worker, players[0])).cutter
    assert cutter is not None
    return players[cutter], players[1 - cutter]


async def test_cutting_is_off_in_chats(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    table = await table_of(worker, players[0])
    assert table.phase == "playing"
    assert "cut" not in fake.last(GROUP).plain


async def test_card_of_a_full_table_asks_for_the_cut(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    cutter, other = await cutter_and_other(worker, players)
    table = await table_of(worker, cutter)
    card = fake.last(GROUP)
    assert f"{cutter.person.name}\u2069 can cut the pack: 20 seconds." in card.plain
    assert commitment(table.sealed)[:12] not in card.plain
    await other.press(WHOLE_SEAL, GROUP)
    assert commitment(table.sealed) in fake.last(other.private).plain
    assert table.sealed.hex() not in card.plain
    assert (await other.press(CUT, GROUP)).toast == "An opponent of the dealer cuts: wait for the cards."
    _, button = cutter.button(CUT, GROUP)
    await cutter.press(CUT, GROUP)
    assert f"{cutter.person.name}\u2069 cut the pack." in fake.last(GROUP).plain
    assert "✂️ You cut the pack." in fake.last(cutter.private).plain
    assert (await cutter.send(button.payload, GROUP)).toast == "This button has expired: use the latest message."
    table = await table_of(worker, cutter)
    assert table.game
    proof = json.loads(table.game.record().to_json())["deals"][0]["proof"]
    assert proof["cut_by"] == table.seat_of(cutter.person.id)
    assert len(proof["cut"]) == 32


async def seat_two_in_private(worker: Worker, fake: FakePlatform) -> list[Player]:
    """Seat Anna and Bruno at a table with cuts that no group sees."""
    anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
    await anna.say("/challenge testa", anna.private)
    for label in ("Change", OPTION, "Done"):
        await anna.press(label, anna.private)
    await bruno.say(f"/join {await code_of(worker, anna)}", bruno.private)
    return [anna, bruno]


async def test_opener_can_cancel_before_the_cut(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    code = await code_of(worker, players[0])
    await players[0].press("Cancel", GROUP)
    assert "The challenge was withdrawn." in fake.last(GROUP).plain
    assert (await worker.room.load_recent(code)).closed == "cancelled"


async def test_player_can_stand_up_before_the_cut(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    assert (await players[1].press("Stand up", GROUP)).toast == "You’ve left the table."
    table = await table_of(worker, players[0])
    assert (table.awaits_cut, table.chairs[1]) == (False, None)
    labels = [button.label for row in fake.last(GROUP).rows for button in row]
    assert "Join" in labels
    assert CUT not in labels


@pytest.mark.parametrize("leaver", [0, 1])
async def test_private_table_can_be_left_before_the_cut(worker: Worker, fake: FakePlatform, leaver: int) -> None:
    players = await seat_two_in_private(worker, fake)
    await players[leaver].press("Cancel" if leaver == 0 else "Stand up", players[leaver].private)
    assert CUT not in [button.label for row in fake.last(players[0].private).rows for button in row]
    if leaver == 0:
        assert "This challenge closed before the game began." in fake.last(players[1].private).plain
    else:
        assert (await table_of(worker, players[0])).phase == "open"


async def test_guest_of_a_private_challenge_can_cut(worker: Worker, fake: FakePlatform) -> None:
    cutter, other = await cutter_and_other(worker, await seat_two_in_private(worker, fake))
    assert "Cut the pack: you have 20 seconds." in fake.last(cutter.private).plain
    assert f"{cutter.person.name}\u2069 can cut the pack: 20 seconds." in fake.last(other.private).plain
    assert CUT not in [button.label for row in fake.last(other.private).rows for button in row]
    await cutter.press(CUT, cutter.private)
    assert "✂️ You cut the pack." in fake.last(cutter.private).plain
    assert f"{cutter.person.name}\u2069 cut the pack." in fake.last(other.private).plain


async def test_uncut_pack_is_dealt_after_20_seconds(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    await ring_clocks(worker, 18)
    assert (await table_of(worker, players[0])).awaits_cut
    await ring_clocks(worker, 3)
    table = await table_of(worker, players[0])
    assert table.is_uncut
    for place in (GROUP, *(player.private for player in players)):
        assert "Nobody cut the pack." in fake.last(place).plain


async def test_hand_asks_for_the_cut_of_a_later_deal(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    await ring_clocks(worker, 21)
    await play_until(worker, list(players), Random(1), lambda: "can cut the pack" in fake.last(GROUP).plain)
    cutter, other = await cutter_and_other(worker, players)
    assert "Cut the pack: you have 20 seconds." in fake.last(cutter.private).plain
    assert f"{cutter.person.name}\u2069 can cut the pack" in fake.last(other.private).plain
    assert CUT not in [button.label for row in fake.last(other.private).rows for button in row]
    seal = commitment((await table_of(worker, cutter)).sealed)
    await other.press(WHOLE_SEAL)
    assert seal in fake.last(other.private).plain
    assert "deal 2" in fake.last(other.private).plain
    await cutter.press(CUT)
    table = await table_of(worker, cutter)
    assert table.game
    assert table.game.deal_number == 2
    assert table.game.view(None).commitment == seal
    assert "can cut the pack" not in "".join(fake.texts(GROUP))


async def test_player_can_resign_before_the_cut_of_a_later_deal(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    await ring_clocks(worker, 21)
    await play_until(worker, list(players), Random(1), lambda: "can cut the pack" in fake.last(GROUP).plain)
    code = await code_of(worker, players[0])
    await players[0].say("/resign")
    assert "Do you really want to resign?" in fake.last(players[0].private).plain
    await players[0].press("Yes, I resign")
    assert f"{players[1].person.name}\u2069" in fake.last(GROUP).plain
    table = await worker.room.load_recent(code)
    assert table.game
    assert table.game.ending == "resign"


@pytest.mark.parametrize("text", ["XY", "0" * 65, "c0 ffee", ""])
async def test_malformed_cut_is_refused(worker: Worker, fake: FakePlatform, text: str) -> None:
    players = await seat_players(worker, fake, "testa", OPTION)
    cutter, _other = await cutter_and_other(worker, players)
    _, button = cutter.button(CUT, GROUP)
    assert (await cutter.send(f"{button.payload} {text}", GROUP)).toast
    assert (await table_of(worker, cutter)).awaits_cut


async def test_option_can_be_turned_off_again(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", OPTION, OPTION)
    assert (await table_of(worker, players[0])).phase == "playing"


async def test_sealed_pack_survives_a_restart(store: Store, fake: FakePlatform) -> None:
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa", OPTION)
        sealed = (await table_of(worker, players[0])).sealed
    async with open_worker(store, fake) as worker:
        again = [Player(worker, fake, player.person.name, number) for number, player in enumerate(players, 1)]
        table = await table_of(worker, again[0])
        assert table.sealed == sealed
        assert table.cutter is not None
        await again[table.cutter].press(CUT, GROUP)
        table = await table_of(worker, again[0])
        assert table.game
        assert table.game.view(None).commitment == commitment(sealed)
        assert table.cut_by is not None


async def test_restarted_bot_deals_the_pack_that_nobody_cut(store: Store, fake: FakePlatform) -> None:
    async with open_worker(store, fake) as worker:
        code = await code_of(worker, (await seat_players(worker, fake, "testa", OPTION))[0])
    async with open_worker(store, fake) as worker:
        await ring_clocks(worker, 21)
        table = await worker.room.load_cached(code)
        assert (table.phase, table.is_uncut) == ("playing", True)
