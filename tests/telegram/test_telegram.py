"""Commands, presses and failures on Telegram."""

import asyncio
import time
from functools import partial
from itertools import count
from random import Random
from typing import Any

import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.telegram import adapter as adapter_module
from adapters.telegram import examine
from bot.delivery import surface_waits
from bot.finished.ratings import Scope
from bot.panel import Button, Panel, Span
from bot.platform import ChatGone, NotDelivered, PlatformFailure, private_place
from bot.running import supervisor
from bot.settings import BadSetting, Settings
from bot.store import Store
from tests.bot.fake_platform import FakePlatform, Player
from tests.long import long
from tests.telegram.content import Refused, payloads_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, seat_people, until
from tests.telegram.server import BOT, TOKEN, Chat, Failure, TelegramServer
from tests.tricks import has_reached_trick


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.02)
    monkeypatch.setattr("adapters.telegram.polling.FIRST_PAUSE", 0.02)
    monkeypatch.setattr("adapters.telegram.webhook.FIRST_PAUSE", 0.02)


def panels(person: Person) -> list[dict[str, Any]]:
    return [message for message in person.private.messages.values() if message["from"]["is_bot"]]


def newest_id(person: Person) -> int:
    """Return the id of the bot's newest message in a private chat, or 0 without one.

    The number of messages can stay the same: the bot deletes the old message at once.
    """
    return max((message["message_id"] for message in panels(person)), default=0)


def has_text(chat: Chat, text: str) -> bool:
    return any(text in message["text"] for message in chat.messages.values())


def count_bot_messages(chat: Chat) -> int:
    return sum(message["from"] == BOT for message in chat.messages.values())


async def play_to_trick(server: TelegramServer, people: list[Person], trick: int, seed: int = 1) -> None:
    random, group = Random(seed), server.group(GROUP)

    def is_reached() -> bool:
        return has_reached_trick(trick, (message["text"] for message in group.messages.values()))

    deadline = time.monotonic() + 60.0
    while not is_reached():
        assert time.monotonic() < deadline, f"trick {trick} was not reached within a minute"
        for person in people:
            await person.play(random)
        await asyncio.sleep(0.01)


async def test_other_bots_commands_and_chatter_are_ignored(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna = Person(server, 1, "Anna")
        anna.say("/challenge@other_bot testa")
        anna.say("/ban @bruno")
        anna.say("/report", message_thread_id=7, is_topic_message=True)
        anna.say("how are you?")
        anna.say("see /challenge")
        anna.say("/challenge@Buongioco_Bot testa")
        group = server.group(GROUP)
        await until(lambda: count_bot_messages(group) > 0)
        await asyncio.sleep(0.1)
        assert count_bot_messages(group) == 1
        # A command with the bot's name, or in its private chat, is for the bot.
        for chat, text in ((group, "/ban@Buongioco_Bot"), (anna.private, "/ban")):
            anna.say(text, chat)
            await until(partial(has_text, chat, "don’t know"))


async def test_mentions_and_replies_challenge_that_person(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna, bruno, carla = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), Person(server, 3, "Carla")
        group = server.group(GROUP)
        message = bruno.say("ciao")
        anna.say("/challenge @bruno testa")
        assert "for bruno" in (await carla.press("Join", group)).lower()
        await anna.press("Cancel", group)
        entities = [
            {"type": "bot_command", "offset": 0, "length": 10},
            {"type": "text_mention", "offset": 11, "length": 5, "user": server.users[2]},
        ]
        anna.say("/challenge Bruno spades", entities=entities)
        await until(lambda: has_text(group, "Spades"))
        assert "for Bruno" in await carla.press("Join", group)
        await anna.press("Cancel", group)
        anna.say("/challenge metamazzo", reply_to_message=message)
        await until(lambda: has_text(group, "Metà"))
        card = next(message for message in reversed(group.messages.values()) if "challenges" in message["text"])
        mention = next(entity for entity in card["entities"] if entity["type"] != "bold" and entity["type"] != "code")
        assert mention["type"] == "text_mention"
        assert mention["user"]["id"] == 2
        assert await bruno.press("Join", group) == ""


async def test_reply_to_a_channel_post_challenges_everyone(store: Store, server: TelegramServer) -> None:
    """A channel's post comes from user 777000, which is not a bot.

    Source: core.telegram.org/bots/api#message, ``from``, ``sender_chat`` and ``is_automatic_forward``.
    """
    async with on_telegram(store, server):
        anna, bruno, group = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), server.group(GROUP)
        server.users[777000] = {"id": 777000, "is_bot": False, "first_name": "Telegram"}
        channel = {"id": -1005, "type": "channel", "title": "News"}
        post = server.write(group, 777000, "/challenge testa", sender_chat=channel, is_automatic_forward=True)
        anna.say("/challenge metamazzo", reply_to_message=post)
        assert await bruno.press("Join", group) == ""
        assert not has_text(group, "as yourself")


async def test_board_stays_in_its_topic(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        group = server.group(GROUP)
        anna.say("/challenge testa", message_thread_id=7, is_topic_message=True)
        await bruno.press("Join", group)
        await until(lambda: count_bot_messages(group) == 2)
        assert all(message["message_thread_id"] == 7 for message in group.messages.values())


async def test_anonymous_admin_is_asked_to_write_as_themselves(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        server.users[1087968824] = {
            "id": 1087968824,
            "is_bot": True,
            "first_name": "Group",
            "username": "GroupAnonymousBot",
        }
        group = server.group(GROUP)
        server.write(group, 1087968824, "/challenge testa", sender_chat=group.as_json)
        await until(lambda: has_text(group, "as yourself"))


async def test_start_link_on_the_board_brings_the_missing_hand(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False)
        group = server.group(GROUP)
        anna.say("/challenge metamazzo")
        await bruno.press("Join", group)
        await until(lambda: has_text(group, "can’t write"))
        board = list(group.messages.values())[-1]
        [[button, _ephemeral]] = board["reply_markup"]["inline_keyboard"]
        assert button["url"].startswith("https://t.me/buongioco_bot?start=")
        assert button["style"] == "success"
        bruno.start(button["url"].partition("=")[2])
        await until(lambda: bool(panels(bruno)))
        await until(lambda: "can’t write" not in group.messages[board["message_id"]]["text"])


async def test_group_shows_that_a_player_blocked_the_bot(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await play_to_trick(server, people, 1)
        # Until then a hand can have the buttons of an earlier turn.
        await adapter.worker.wait_until_idle()
        mover = next(person for person in people if panels(person)[-1].get("reply_markup"))
        other = people[1 - people.index(mover)]
        other.private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        await mover.play(Random(1))
        group = server.group(GROUP)
        await until(lambda: has_text(group, "can’t write"))


@pytest.mark.parametrize(
    "failure",
    [
        Failure(Refused(429, "Too Many Requests: retry after 1", retry_after=1)),
        long(Failure(Refused(500, "Internal Server Error"))),
        long(Failure(Refused(502, "Bad Gateway"))),
        long(Failure(hang_up=True)),
        Failure(hang_up=True, done_first=True),
        Failure(Refused(400, "Bad Request: something new")),
    ],
    ids=lambda failure: f"{failure.refusal or 'hang up'} {'done' if failure.done_first else ''}",
)
async def test_failed_edits_are_retried(store: Store, server: TelegramServer, failure: Failure) -> None:
    limited_before = count_answers_429()
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        server.fail_next("editMessageText", failure, failure)
        await play_to_trick(server, people, 3)
        await adapter.worker.wait_until_idle()
        assert all(len(panels(person)) == 1 for person in people)
    is_limited = failure.refusal and failure.refusal.code == 429
    assert count_answers_429() - limited_before == (2 if is_limited else 0)


def count_answers_429() -> float:
    return REGISTRY.get_sample_value("buongioco_rate_limited_total", {"platform": "telegram"}) or 0.0


async def test_deleted_panel_is_sent_again(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        people = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in people))
        waiting_person = next(person for person in people if not panels(person)[-1].get("reply_markup"))
        mover = people[1 - people.index(waiting_person)]
        waiting_person.private.messages.clear()
        await mover.play(Random(1))
        await until(lambda: bool(panels(waiting_person)))


@pytest.mark.parametrize(
    "refusal",
    [
        Refused(500, "Internal Server Error: sent message was immediately deleted and can't be returned"),
        Refused(502, "Bad Gateway"),
        Refused(504, "Gateway Timeout"),
    ],
    ids=str,
)
async def test_server_error_leaves_delivery_uncertain(store: Store, server: TelegramServer, refusal: Refused) -> None:
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        Person(server, 1, "Anna")
        place = private_place("telegram:1")
        server.fail_next(
            "sendMessage", Failure(refusal, done_first=True), Failure(Refused(413, "Request Entity Too Large"))
        )
        with pytest.raises(PlatformFailure) as broken:
            await adapter.send(place, Panel((Span("Ciao"),)), "key")
        assert not isinstance(broken.value, NotDelivered)
        with pytest.raises(NotDelivered):
            await adapter.send(place, Panel((Span("Ciao"),)), "key")


@pytest.mark.parametrize(
    "description",
    [
        "CHAT_RESTRICTED",
        "CHAT_SEND_PLAIN_FORBIDDEN",
        "CHAT_ADMIN_REQUIRED",
        "CHAT_FORBIDDEN",
        "CHANNEL_PRIVATE",
        "TOPIC_DELETED",
    ],
)
async def test_missing_rights_mean_the_chat_is_gone(store: Store, server: TelegramServer, description: str) -> None:
    """Errors of messages.sendMessage that the Bot API passes on (core.telegram.org/method/messages.sendMessage)."""
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        server.group(GROUP)
        server.fail_next("sendMessage", Failure(Refused(400, f"Bad Request: {description}")))
        with pytest.raises(ChatGone):
            await adapter.send(f"telegram:{GROUP}", Panel((Span("Ciao"),)), "key")


async def test_message_too_old_to_delete_loses_its_buttons(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        group, place = server.group(GROUP), f"telegram:{GROUP}"
        sent = await adapter.send(place, Panel((Span("Ciao"),), ((Button("3D", "1m:play 3D"),),)), "key")
        [message] = group.messages.values()
        message["date"] -= 3 * 24 * 3600
        for _ in range(2):
            await adapter.delete(place, sent.message)
            assert "reply_markup" not in message
        assert list(group.messages.values()) == [message]


async def test_duplicate_of_an_uncertain_send_is_deleted(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        anna.say("/challenge metamazzo")
        await until(lambda: bruno.button("Join", server.group(GROUP)) is not None)
        server.fail_next("sendMessage", Failure(hang_up=True, done_first=True), Failure(hang_up=True, done_first=True))
        await bruno.press("Join", server.group(GROUP))
        await until(lambda: all(panels(person) for person in (anna, bruno)))
        await adapter.worker.wait_until_idle()
        assert sum(len(panels(person)) for person in (anna, bruno)) <= 4
        mover = next(person for person in (anna, bruno) if panels(person)[-1].get("reply_markup"))
        oldest = panels(mover)[0]
        await mover.send_press(mover.private, oldest, payloads_of(oldest)[0])
        await until(lambda: len(panels(mover)) == 1)


async def test_game_continues_after_the_bot_is_kicked(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "testa", "to 11")
        server.group(GROUP).refusal = Refused(403, "Forbidden: bot was kicked from the supergroup chat")
        random = Random(2)
        for _ in range(600):
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
            if await adapter.worker.archive.count():
                break
        assert await adapter.worker.archive.count() == 1


@pytest.mark.parametrize("is_announced", [True, False])
async def test_new_supergroup_keeps_table_and_settings(
    store: Store, server: TelegramServer, is_announced: bool
) -> None:
    new = -100777
    async with on_telegram(store, server) as adapter:
        worker = adapter.worker
        people = await seat_people(server, "metamazzo")
        await play_to_trick(server, people, 1)
        await worker.people.update_chat(f"telegram:{GROUP}", language="it")
        await worker.people.update_chat(f"telegram:{GROUP}", language="en", clock="60")
        old_group, new_group = server.group(GROUP), server.group(new, "Bar Sport, super")
        old_group.refusal = Refused(
            400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=new
        )
        if is_announced:
            for chat, field in ((old_group, {"migrate_to_chat_id": new}), (new_group, {"migrate_from_chat_id": GROUP})):
                server.push(message={"message_id": 1, "date": 1, "chat": chat.as_json, **field})
        random = Random(3)
        for _ in range(300):
            for person in people:
                await person.play(random)
            if has_reached_trick(4, (message["text"] for message in new_group.messages.values())):
                break
            await asyncio.sleep(0.01)
        await worker.wait_until_idle()
        [table] = await worker.room.lists.tables_of("telegram:1")
        assert table.hosts == (f"telegram:{new}",)
        assert sum("Metà Mazzo" in message["text"] for message in new_group.messages.values()) == 1
        assert (await worker.people.chat(f"telegram:{new}")).clock == 60


async def test_refused_deletion_reveals_a_new_supergroup(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        old = server.group(GROUP)
        old.refusal = Refused(
            400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=-100777
        )
        await adapter.delete(f"telegram:{GROUP}", str(next(iter(old.messages))))
        assert await adapter.worker.room.lists.tables_at("telegram:-100777")


async def test_leaderboards_move_with_their_group(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        worker = adapter.worker
        people = await seat_people(server, "testa", "to 11")
        people[0].say("/resign", people[0].private)
        await people[0].press("Yes, I resign")
        await until(lambda: has_text(server.group(GROUP), "resigned"))
        await worker.wait_until_idle()
        await adapter.card_room.move_chat(f"telegram:{GROUP}", "telegram:-100777")
        scope = Scope(chat="telegram:-100777")
        before = await worker.ratings.standing(scope, "telegram:1")
        assert before.games == 1
        await worker.ratings.rebuild()
        assert await worker.ratings.standing(scope, "telegram:1") == before
        assert (await worker.ratings.standing(Scope(chat=f"telegram:{GROUP}"), "telegram:1")).games == 0


async def test_every_press_is_answered(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        people = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in people))
        stranger = Person(server, 9, "Zoe")
        message = panels(people[0])[-1]
        for made_up in ("x", "1mABCD:1:play 3D", "1tABCD:sit", "🂠" * 16, "1p" + "y" * 60):
            assert await stranger.send_press(stranger.private, message, made_up)
        # A press without message or inline id.
        server.answers["77"] = {}
        server.push(callback_query={"id": "77", "from": server.users[9], "chat_instance": "1", "data": "x"})
        await until(lambda: "answered" in server.answers["77"])
        # A query that Telegram has forgotten.
        server.fail_next("answerCallbackQuery", Failure(Refused(400, "Bad Request: query is too old")))
        forgotten = server.press(stranger.private, message, 9, "x")
        await until(lambda: not server._failures["answerCallbackQuery"])
        del server.queries[forgotten]
        assert await stranger.send_press(stranger.private, message, "x")


async def test_redelivered_updates_count_once(store: Store, server: TelegramServer) -> None:
    server.redeliver = True
    async with on_telegram(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        anna.say("/challenge testa")
        await until(lambda: count_bot_messages(server.group(GROUP)) > 0)
        await asyncio.sleep(0.3)
        await adapter.worker.wait_until_idle()
        assert count_bot_messages(server.group(GROUP)) == 1


async def test_updates_out_of_order_are_each_handled_once(store: Store, server: TelegramServer) -> None:
    people = [Person(server, number, name) for number, name in enumerate(("Anna", "Bruno", "Carla"), 1)]
    for person in people:
        person.say("/challenge testa")
    server._updates.reverse()
    async with on_telegram(store, server) as adapter:

        def cards() -> int:
            return sum("players, to" in message["text"] for message in server.group(GROUP).messages.values())

        # The bot has confirmed these updates and polls again.
        await until(lambda: cards() == 3 and not server._updates and not server._new.is_set())
        # Telegram can restart its numbering after a week without updates.
        server._update_ids = count(5)
        people[0].say("/challenge spades")
        await until(lambda: cards() == 4)
        await asyncio.sleep(0.1)
        await adapter.worker.wait_until_idle()
        assert cards() == 4
        assert not server._updates


async def test_presses_made_while_the_bot_was_down_are_answered(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await play_to_trick(server, people, 1)
        await adapter.worker.wait_until_idle()
    mover = next(person for person in people if panels(person)[-1].get("reply_markup"))
    message = panels(mover)[-1]
    data = payloads_of(message)[0]
    queries = [server.press(mover.private, message, mover.number, data) for _ in range(3)]
    async with on_telegram(store, server):
        await until(lambda: all("answered" in server.answers[query] for query in queries))
        toasts = sorted(str(server.answers[query]["text"]) for query in queries)
        assert toasts[0] == ""
        assert all("has expired" in toast for toast in toasts[1:])


async def test_game_survives_a_short_network_outage(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await play_to_trick(server, people, 1)
        server.fail_next("getUpdates", *[Failure(hang_up=True)] * 3)
        server.fail_next("editMessageText", *[Failure(hang_up=True)] * 6)
        await play_to_trick(server, people, 3, seed=2)
        await adapter.worker.wait_until_idle()
        assert adapter.healthy


async def test_group_gets_fewer_than_twenty_messages_a_minute(store: Store, server: TelegramServer) -> None:
    server.group_limit = 20
    async with on_telegram(store, server, quick=False) as adapter:
        people = await seat_people(server, "metamazzo")
        random = Random(1)
        for _ in range(60):
            for person in people:
                await person.play(random)
        # Hands keep up while the board waits, and Telegram refuses nothing.
        assert max(len(chat.sent_at) for chat in server.chats.values() if chat.type != "private") < 20
        assert adapter.healthy


async def test_menus_and_profile_texts_are_set_once(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        assert set(server.menus) == {
            f"{scope} {code}" for scope in ("all_private_chats", "all_group_chats") for code in ("", "it")
        }
        assert "amici" in server.texts["description it"]
        assert "friends" in server.texts["short_description "]

    def calls() -> int:
        return sum(method.startswith("setMy") for method, _ in server.calls if method != "setMySettings")

    before = calls()
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        assert calls() == before == 8
    await store.client.delete("telegram:profile")
    server.missing_methods = {"setMyCommands"}
    with capture_logs() as logs:
        async with on_telegram(store, server) as adapter:
            await until(lambda: adapter.healthy)
        assert calls() == before + 4
    assert [line["event"] for line in logs].count("telegram_feature_missing") == 1


RIGHTS = (
    *(f"can_send_{kind}" for kind in ("messages", "audios", "documents", "photos", "videos", "video_notes")),
    *(f"can_send_{kind}" for kind in ("voice_notes", "polls", "other_messages")),
    *("can_add_web_page_previews", "can_edit_tag", "can_change_info", "can_invite_users", "can_pin_messages"),
    *("can_manage_topics", "can_react_to_messages"),
)
"""A member's rights (core.telegram.org/bots/api#chatmemberrestricted)."""
RESTRICTED = {
    "user": BOT,
    "status": "restricted",
    "is_member": True,
    "until_date": 0,
    **dict.fromkeys(RIGHTS, False),
    "can_send_messages": True,
}
MUTED = {**RESTRICTED, "can_send_messages": False}
MEMBER, LEFT = {"user": BOT, "status": "member"}, {"user": BOT, "status": "left"}


@pytest.mark.parametrize(("old", "new"), [(LEFT, MEMBER), (MUTED, RESTRICTED)])
async def test_board_returns_when_the_bot_can_write_again(
    store: Store, server: TelegramServer, old: dict[str, Any], new: dict[str, Any]
) -> None:
    async with on_telegram(store, server) as adapter:
        group = server.group(GROUP)
        people = await seat_people(server, "metamazzo")
        before = await play_while_closed(adapter, server, people)
        server.push(my_chat_member=member_update(group, people[0], old, MUTED))
        server.push(my_chat_member=member_update(group, people[0], old, new))
        await until(lambda: any("Trick" in group.messages[message]["text"] for message in set(group.messages) - before))


async def test_group_is_greeted_once_when_the_bot_joins(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter_module, "START_SECONDS", 0.01)
    group, anna = server.group(GROUP), Person(server, 1, "Anna")
    for _restart in range(2):
        async with on_telegram(store, server):
            for old in (MUTED, LEFT, LEFT):
                server.push(my_chat_member=member_update(group, anna, old, MEMBER))
            anna.say("/help", group)
            await until(lambda: any("All commands" in str(message) for message in group.messages.values()))
            await until(lambda: any("Hi! I deal" in message["text"] for message in group.messages.values()))
    greetings = [message for message in group.messages.values() if "Hi! I deal" in message["text"]]
    assert len(greetings) == 1
    assert "Challenge a friend" in str(greetings[0]["reply_markup"])


async def test_command_or_press_brings_the_board_back(store: Store, server: TelegramServer) -> None:
    """Telegram sends no update when a topic reopens, or when a group gives all members their rights back."""
    async with on_telegram(store, server) as adapter:
        group = server.group(GROUP)
        people = await seat_people(server, "metamazzo")
        before = await play_while_closed(adapter, server, people)
        people[0].say("/help", group)
        await until(lambda: any("Trick" in group.messages[message]["text"] for message in set(group.messages) - before))
        before = await play_while_closed(adapter, server, people)
        server.press(group, {"message_id": min(group.messages), "chat": group.as_json, "date": 0}, 1, "1x")
        await until(lambda: any("Trick" in group.messages[message]["text"] for message in set(group.messages) - before))


def member_update(chat: Chat, person: Person, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return an update about the bot's own membership (core.telegram.org/bots/api#chatmemberupdated)."""
    user = person.server.users[person.number]
    return {"chat": chat.as_json, "from": user, "date": 1, "old_chat_member": old, "new_chat_member": new}


async def play_while_closed(adapter: ObservedTelegram, server: TelegramServer, people: list[Person]) -> set[int]:
    """Play while the bot cannot write in the group; return the ids of the group's earlier messages."""
    group = server.group(GROUP)
    group.refusal = Refused(400, "Bad Request: not enough rights to send text messages to the chat")
    before, random = set(group.messages), Random(2)
    for _ in range(12):
        for person in people:
            await person.play(random)
        await adapter.worker.wait_until_idle()
    group.refusal = None
    return before


@pytest.mark.parametrize("starts", [False, True])
async def test_unblocking_the_bot_brings_one_hand(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch, starts: bool
) -> None:
    monkeypatch.setattr(adapter_module, "START_SECONDS", 0.5)
    async with on_telegram(store, server) as adapter:
        group = server.group(GROUP)
        anna, bruno = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        anna.private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        mover = next(person for person in (anna, bruno) if panels(person)[-1].get("reply_markup"))
        await mover.play(Random(1))
        await until(lambda: has_text(group, "can’t write"))
        anna.private.refusal = None
        anna.private.messages.clear()
        calls = len(server.calls)
        blocked, member = {**LEFT, "status": "kicked", "until_date": 0}, MEMBER
        server.push(my_chat_member=member_update(anna.private, anna, blocked, member))
        if starts:
            anna.start()
        await until(lambda: bool(panels(anna)))
        await asyncio.sleep(0.7)
        await adapter.worker.wait_until_idle()
        sent = [
            fields["text"]
            for method, fields in server.calls[calls:]
            if method == "sendMessage" and fields["chat_id"] == 1
        ]
        assert len([text for text in sent if text.startswith("Your turn.")]) == 1
        assert len(sent) == 1 + starts, "only /start must also show the menu"
        assert not has_text(group, "can’t write")


async def test_unknown_token_is_a_bad_setting(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        adapter.bot._bot_initialized = adapter.bot._requests_initialized = False
        server.missing_methods = {"getMe"}
        with pytest.raises(BadSetting, match="BUONGIOCO_TELEGRAM_TOKEN"):
            await adapter.serve()


def doctor_settings(url: str, token: str = TOKEN, **settings_fields: Any) -> Settings:
    return Settings(_env_file=None, telegram_token=SecretStr(token), telegram_api_url=url, **settings_fields)


async def test_doctor_checks_the_token(server: TelegramServer) -> None:
    [finding] = [finding async for finding in examine(doctor_settings(server.url))]
    assert finding == (
        True,
        "telegram: the token is @buongioco_bot's; add it to a group: https://t.me/buongioco_bot?startgroup=true",
    )
    [(is_well, line)] = [finding async for finding in examine(doctor_settings(server.url, "1:wrong"))]
    assert (is_well, "copy it from" in line, "wrong" in line) == (False, True, False)
    [(is_well, line)] = [finding async for finding in examine(doctor_settings("http://127.0.0.1:9"))]
    assert (is_well, "does not answer" in line, TOKEN in line) == (False, True, False)


async def test_doctor_checks_the_webhook(server: TelegramServer) -> None:
    url = "https://cards.example.org/telegram"
    server.webhook = {"url": url}
    findings = [line async for _is_well, line in examine(doctor_settings(server.url))]
    assert "the bot removes it when it starts" in findings[1]
    with_webhook = doctor_settings(server.url, telegram_webhook_url=url)
    assert [is_well async for is_well, _line in examine(with_webhook)] == [True, True]

    server.refused_by_webhook.append(502)
    server.push(message={})
    [_token_finding, (is_well, line)] = [finding async for finding in examine(with_webhook)]
    assert (is_well, "waiting updates: 1" in line, "502" in line) == (False, True, True)

    server.missing_methods = {"getWebhookInfo"}
    [_token_finding, (is_well, line)] = [finding async for finding in examine(with_webhook)]
    assert (is_well, "has no webhooks" in line) == (False, True)


async def test_table_can_have_players_of_another_platform(store: Store, server: TelegramServer) -> None:
    fake = FakePlatform()
    async with on_telegram(store, server) as adapter:
        worker = adapter.worker
        worker.add_adapter(fake)
        anna = Person(server, 1, "Anna")
        bruno = Player(worker, fake, "Bruno", 2)
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Join", server.group(GROUP)) is not None)
        [table] = await worker.room.lists.tables_of("telegram:1")
        await bruno.say(f"/join {table.code}")
        random = Random(1)
        for _ in range(60):
            await anna.play(random)
            await worker.wait_until_idle()
            await bruno.play(random)
            await worker.wait_until_idle()
        board = list(server.group(GROUP).messages.values())[-1]["text"]
        assert "Trick" in board
        assert board == fake.last("paper:100").plain


async def test_made_up_payload_overwrites_no_message(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        anna.say("/challenge testa")
        group = server.group(GROUP)
        await until(lambda: anna.button("Join", group) is not None)
        card, _button = anna.button("Join", group) or ({}, {})
        before = dict(card)
        for made_up in ("1phelp", "1psettings language it", "1pleaderboard chat all all"):
            assert "has expired" in await anna.send_press(group, card, made_up)
        # Without the message's content, Telegram's update proves no button.
        old = {"message_id": card["message_id"], "chat": group.as_json, "date": 0}
        assert "has expired" in await anna.send_press(group, old, "1phelp")
        await adapter.worker.wait_until_idle()
        assert group.messages[card["message_id"]] == before
        anna.say("/leaderboard")
        await anna.press("this month", group)
        await until(lambda: any("this month" in message["text"].lower() for message in group.messages.values()))
