"""Hands as widgets: whole games, refused widgets and forged taps."""

import json
import time
from random import Random
from typing import Any

import pytest

from bot.actions import is_page
from bot.store import Store
from engine import GAMES, verify
from tests.bot.worker.test_games import shortest_target
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, Person, on_telegram, seat_people, until
from tests.telegram.server import Failure, TelegramServer
from tests.telegram.widgets import moves_of


def hands_of(person: Person) -> list[dict[str, Any]]:
    return [message for message in person.private.messages.values() if message["from"]["is_bot"]]


async def tap(person: Person, message: dict[str, Any], data: str) -> dict[str, Any]:
    """Tap in a widget; return the answer, empty if it has no data."""
    query = person.server.tap(message, person.number, data)
    await until(lambda: "answered" in person.server.answers[query])
    text = person.server.answers[query]["data"]
    return dict(json.loads(text)) if text else {}


async def tap_anything(person: Person, random: Random) -> None:
    """Make a random move on the person's last hand, if there is one."""
    hands = [message for message in hands_of(person) if "widget" in message]
    moves = moves_of(hands[-1]) if hands else []
    bids = [data for data in moves if data.endswith((":bid 4", ":bid 5"))]
    moves = [
        data
        for data in bids or moves
        if not is_page(data) and not data.endswith(("claim", "blind", "resign", "browser", "hint"))
    ]
    if moves:
        await tap(person, hands[-1], random.choice(moves))


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
async def test_whole_game_can_be_played_by_widgets(store: Store, server: TelegramServer, game: str) -> None:
    random = Random(game)
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, game, *shortest_target(game))
        group = server.group(GROUP)

        def is_over() -> bool:
            return any(
                " beat" in str(message.get("caption") or message.get("text")) for message in group.messages.values()
            )

        for _ in range(3000):
            if is_over():
                break
            for person in people:
                await tap_anything(person, random)
            await adapter.worker.wait_until_idle()
        assert is_over(), f"{game} did not end: its moves in adapters/telegram/widget/state.py are stuck"
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        for person in people:
            [hand] = hands_of(person)
            assert "You " in json.loads(hand["widget"]["chat_data"])["text"]


@pytest.mark.parametrize("failure", [Failure(Refused(400, "Bad Request: INPUT_MEDIA_WIDGET_NOT_ALLOWED")), None])
async def test_refused_widget_becomes_a_photo_at_once(
    store: Store, server: TelegramServer, failure: Failure | None
) -> None:
    if failure:
        server.fail_next("sendWidget", *[failure] * 2)
    else:
        server.missing_methods.add("sendWidget")
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        assert [["photo" in hand for hand in hands_of(person)] for person in people] == [[True]] * 2
        for person in people:
            await person.play(Random(0))
        await adapter.worker.wait_until_idle()
        assert [["photo" in hand for hand in hands_of(person)] for person in people] == [[True]] * 2


async def test_refused_widget_and_photo_become_a_text(store: Store, server: TelegramServer) -> None:
    server.missing_methods.add("sendWidget")
    for number, name in enumerate(("Anna", "Bruno"), 1):
        Person(server, number, name).private.accepts_photos = False
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        for person in people:
            [hand] = hands_of(person)
            assert "text" in hand


@pytest.mark.parametrize("refusal", [Refused(404, "Not Found"), Refused(400, "Bad Request: WIDGET_INVALID")])
async def test_widget_whose_change_is_refused_is_replaced_by_a_photo(
    store: Store, server: TelegramServer, refusal: Refused
) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        server.fail_next("editMessageWidgetData", *[Failure(refusal)] * 2)
        mover = next(person for person in people if any("play" in move for move in moves_of(hands_of(person)[0])))
        [hand] = hands_of(mover)
        await tap(mover, hand, next(move for move in moves_of(hand) if ":play " in move))
        await adapter.worker.wait_until_idle()
        assert [["photo" in hand for hand in hands_of(person)] for person in people] == [[True]] * 2


async def test_widget_of_another_release_is_replaced(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("adapters.telegram.messages.widget_note", lambda: "widget")
        async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
            people = await seat_people(server, "testa")
            await adapter.worker.wait_until_idle()
    old = [hands_of(person)[0]["message_id"] for person in people]
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        await adapter.worker.wait_until_idle()
        mover = next(person for person in people if any("play" in move for move in moves_of(hands_of(person)[0])))
        hand = hands_of(mover)[-1]
        await tap(mover, hand, next(move for move in moves_of(hand) if ":play " in move))
        await adapter.worker.wait_until_idle()
        for person, message in zip(people, old, strict=True):
            [hand] = hands_of(person)
            assert hand["message_id"] != message


async def test_tap_is_answered_with_the_next_state(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        mover = next(person for person in people if any("play" in move for move in moves_of(hands_of(person)[0])))
        [hand] = hands_of(mover)
        before = await tap(mover, hand, "show")
        assert before == json.loads(hand["widget"]["chat_data"])
        move = next(move for move in moves_of(hand) if ":play " in move)
        after = await tap(mover, hand, move)
        assert len(after["hand"]) == len(before["hand"]) - 1
        state_after = await tap(mover, hand, move)
        assert state_after["toast"]
        assert state_after["hand"] == after["hand"]


async def test_person_can_choose_pictures_instead(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        people[0].say("/settings", people[0].private)
        await people[0].press("✓ Tap the cards of my hand")
        await adapter.worker.wait_until_idle()
        [hand] = [message for message in hands_of(people[0]) if "photo" in message]
        assert not [message for message in hands_of(people[0]) if "widget" in message]
        assert "caption" in hand
        await people[0].press("Tap the cards of my hand")
        await adapter.worker.wait_until_idle()
        assert [message for message in hands_of(people[0]) if "widget" in message]


async def test_widget_shows_the_persons_look_and_time(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        now = time.time()
        states = [json.loads(hands_of(person)[0]["widget"]["chat_data"]) for person in people]
        for name, seconds, ends_at in (state["clock"] for state in states):
            assert (name, seconds) == ("⏱ 5 min", 300)
            assert abs(ends_at - now - seconds) < 120
        people[0].say("/settings", people[0].private)
        await people[0].press("Large cards and letters")
        await people[0].press("Cards with large signs")
        await adapter.worker.wait_until_idle()
        looks = [
            json.loads(message["widget"]["chat_data"])["look"]
            for person in people
            for message in hands_of(person)
            if "widget" in message
        ]
        assert looks == ["easy large", ""]


async def test_forged_tap_is_refused(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        [hand] = hands_of(people[0])
        before = hand["widget"]["chat_data"]
        for data in ("1", "1mXXXXXX:1:play 3D", "\u0000" * 9, "show me", "1m" * 30):
            answer = await tap(people[0], hand, data)
            assert answer["toast"], data
        await adapter.worker.wait_until_idle()
        assert hand["widget"]["chat_data"] == before


async def test_deleted_hand_is_sent_again(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        mover, other = sorted(
            people, key=lambda person: not any("play" in move for move in moves_of(hands_of(person)[0]))
        )
        other.private.messages.clear()
        [hand] = hands_of(mover)
        await tap(mover, hand, next(move for move in moves_of(hand) if ":play " in move))
        await adapter.worker.wait_until_idle()
        [again] = hands_of(other)
        assert any(":play " in move for move in moves_of(again))


async def test_closed_chat_gets_its_hand_when_it_opens(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_widgets=True) as adapter:
        Person(server, 2, "Bruno").private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        bruno = people[1]
        assert not hands_of(bruno)
        bruno.private.refusal = None
        bruno.start()
        await until(lambda: any("widget" in message for message in hands_of(bruno)))
