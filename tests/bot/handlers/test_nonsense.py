"""Made-up payloads, odd names and repeated presses do no harm."""

import asyncio
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import actions
from bot.actions import BadPayload
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    mover_of,
    play_until,
    resign,
    seat_players,
)
from tests.long import mostly_long
from tests.tricks import tricks_played

MADE_UP_PAYLOADS = [
    "",
    "1",
    "x" * 64,
    "1mABCD:1:play 3D",
    "1m:::",
    "1mABCD:999999:resign",
    "1tABCD:sit",
    "1tABCD:sit 99999999",
    "1tABCD:rule layout=full",
    "1tABCD:draft x y",
    "1p",
    "1pleaderboard a b c",
    "1preplay X 1",
    "1prematch Y",
    "1psettings language xx",
    "1phand",
    "2mABCD:1:play 3D",
    "1tABCD:clock 7 1",
    "1tABCD:robot genius",
    "1tABCD:accept 9",
    "1pleaderboard chat all all extra",
    "1mABCD:1:play 3D\n",
    "1mABCD:-1:resign",
    "🂠" * 16,
]


async def test_made_up_payload_changes_nothing(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    code = await code_of(worker, players[0])
    before = (await worker.room.table(code)).log
    stranger = Player(worker, fake, "Zoe", 99)
    for payload in MADE_UP_PAYLOADS:
        for place in (GROUP, stranger.private):
            reply = await stranger.send(payload.replace("ABCD", code), place, "1")
            assert reply.toast or reply.panel, payload
    assert (
        await stranger.send("1m" + code + ":1:" + "x" * 1_000_000)
    ).toast == "This button has expired: use the latest message."
    assert (await worker.room.table(code)).log == before


async def test_made_up_press_touches_only_the_surfaces_message(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    mover = mover_of(players)
    message, button = mover.moves()[0]
    table = await worker.room.table(await code_of(worker, mover))
    await mover.say("/help", mover.private)
    other = next(number for number in fake.messages[mover.private] if number != message)
    card = next(number for number, panel in fake.messages[GROUP].items() if "open our private chat" in panel.plain)
    board = next(number for number in fake.messages[GROUP] if number != card)
    before = {place: dict(messages) for place, messages in fake.messages.items()}
    for payload, place, pressed_message in (
        (f"1m{table.code}:1:{button.payload.rpartition(':')[2]}", mover.private, other),
        (f"1t{table.code}:draft {table.dealt_at} resign", mover.private, other),
        (f"1t{table.code}:draft {table.dealt_at}", mover.private, other),
        (f"1t{table.code}:sit 1", GROUP, board),
        (f"1t{table.code}:cancel", GROUP, board),
        (f"1t{table.code}:menu rules", GROUP, board),
        ("1phelp", GROUP, board),
        ("1pleaderboard chat all all", GROUP, card),
        ("1psettings language it", mover.private, message),
        ("1prematch x", GROUP, board),
    ):
        await mover.send(payload, place, pressed_message)
        await worker.wait_until_idle()
    assert {place: dict(messages) for place, messages in fake.messages.items()} == before

    # A legal move is made, and no other message changes.
    await mover.send(button.payload, mover.private, other)
    await worker.wait_until_idle()
    assert (await worker.room.table(table.code)).version == table.version + 1
    assert set(fake.messages[mover.private]) == {message, other}
    assert fake.messages[mover.private][other] == before[mover.private][other]


@given(st.text(max_size=80))
def test_any_text_parses_or_is_refused(text: str) -> None:
    with suppress(BadPayload):
        actions.parse_payload(text)


async def test_fifty_simultaneous_presses_are_one_move(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    mover = mover_of(players)
    code = await code_of(worker, mover)
    version = (await worker.room.table(code)).version
    message, button = mover.moves()[0]
    replies = await asyncio.gather(*(mover.send(button.payload, mover.private, message) for _ in range(50)))
    assert (await worker.room.table(code)).version == version + 1
    assert [reply.toast for reply in replies].count("") == 1
    assert all("has expired" in reply.toast for reply in replies if reply.toast)
    await worker.wait_until_idle()
    assert len(fake.messages[mover.private]) == 1


ODD_NAMES = [
    "\u202eanna\u202c",
    "\u200f\u05d0\u05d1\u05d2\u200f",
    "👨‍👩‍👧‍👦" * 64,
    "<b>*_`[x](y)~||",
    "Ａｎｎａ",
    "a\u0301" * 40,
    "\u0000\u0007\u200b",
    "Zalgơ̷̢",
    "'; DROP TABLE",
    "{name}",
    "%s %d",
]


@pytest.mark.parametrize("name", mostly_long(ODD_NAMES, ODD_NAMES[0], "<b>*_`[x](y)~||", "{name}"))
async def test_any_name_can_sit_and_play(worker: Worker, fake: FakePlatform, name: str) -> None:
    anna = Player(worker, fake, name, 1)
    bruno = Player(worker, fake, "Bruno", 2)
    assert not (await anna.say("/challenge testa")).toast
    await bruno.press("Join", GROUP)
    random = Random(1)
    await play_until(worker, [anna, bruno], random, lambda: tricks_played(fake.last(GROUP).plain) >= 2)
    await resign(worker, fake, [anna, bruno], 0)
    assert "resigned" in fake.last(GROUP).plain
    await bruno.say("/leaderboard")
    [game] = [game async for game in worker.archive.games()]
    assert game.record.seats[0]
