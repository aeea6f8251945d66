"""Topics of tables in private chats: one for each table, also after kills and deleted topics."""

import asyncio
from random import Random

import pytest

from adapters.telegram import table_topics
from adapters.telegram.widget.kept_states import topics_key
from bot.identity.adapter_data import delete_adapter_data, read_adapter_data
from bot.store import Store
from tests.telegram.content import Refused
from tests.telegram.players import Person, on_telegram, seat_people, until
from tests.telegram.server import Failure, TelegramServer


@pytest.fixture
def server(server: TelegramServer) -> TelegramServer:
    """Return a server on which the bot has topics in private chats."""
    server.has_topics = True
    return server


def topics_of(person: Person) -> list[int]:
    """Return the topics of a person's messages from the bot, oldest first; 0 for the main chat."""
    messages = person.private.messages.values()
    return [message.get("message_thread_id", 0) for message in messages if message["from"]["is_bot"]]


def creations(server: TelegramServer) -> int:
    return sum(method == "createForumTopic" for method, _fields in server.calls)


async def resign(person: Person) -> None:
    person.say("/resign", person.private)
    await person.press("Yes, I resign")


async def test_two_tables_have_a_topic_each(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        await seat_people(server, "spades")
        await adapter.worker.wait_until_idle()
        for person, opponent in zip(people, ("Bruno", "Anna"), strict=True):
            chat = person.server.private(person.number)
            assert list(chat.topics.values()) == [f"Testa a Testa · {opponent}", f"Spades · {opponent}"]
            assert topics_of(person) == list(chat.topics)
        # Each hand is the lowest in its topic, so turns edit it.
        lowest = adapter.worker.delivery._tools.reposts.lowest
        codes = [table.code for table in await adapter.worker.room.lists.tables_of("telegram:1")]
        assert [lowest.is_lowest("telegram:@1", code) for code in codes] == [True, True]


async def test_topics_share_the_rate_limit_of_the_chat(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        [anna, _bruno] = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        adapter.worker.delivery._tools.limiter.block("telegram:@1", 60)
        count = len(topics_of(anna))
        [topic] = anna.private.topics
        anna.say("/help", anna.private, message_thread_id=topic, is_topic_message=True)
        await until(lambda: not server.pending)
        assert len(topics_of(anna)) == count


async def test_topic_has_the_players_language(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        anna = Person(server, 1, "Anna", language="it")
        anna.say("/challenge testa robot", anna.private)
        await until(lambda: bool(anna.private.topics))
        await adapter.worker.wait_until_idle()
        assert list(anna.private.topics.values()) == ["Testa a Testa · 🤖 Gino"]


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_all_stays_in_the_main_chat_without_topics(
    store: Store, server: TelegramServer, *, is_wanted: bool
) -> None:
    server.has_topics = not is_wanted
    async with on_telegram(store, server, telegram_table_topics=is_wanted) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        assert [topics_of(person) for person in people] == [[0], [0]]
    assert creations(server) == 0


async def test_person_without_topics_plays_in_the_main_chat(store: Store, server: TelegramServer) -> None:
    Person(server, 1, "Anna").private.has_topics = False
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        people[0].say("/hand", people[0].private)
        await adapter.worker.wait_until_idle()
        assert set(topics_of(people[0])) == {0}
        assert set(topics_of(people[1])) == set(people[1].private.topics)
    assert creations(server) == 2


async def test_press_and_text_in_a_topic_are_answered_there(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        anna, _bruno = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        [topic] = anna.private.topics
        for count, text in enumerate(("/join", "/mydata", "/help", "/settings"), 2):
            anna.say(text, anna.private, message_thread_id=topic, is_topic_message=True)
            await until(lambda: len(topics_of(anna)) == count)  # noqa: B023
        # The page and the hand, which becomes Italian too, are both sent again.
        refusal = Failure(Refused(400, "Bad Request: there is no text in the message to edit"))
        server.fail_next("editMessageText", refusal, refusal)
        sent_before = set(anna.private.messages)
        await anna.press("Italiano")
        await until(
            lambda: any(
                "Lingua" in message.get("text", "")
                for number, message in anna.private.messages.items()
                if number not in sent_before
            )
        )
        assert set(topics_of(anna)) == {topic}


async def test_hand_is_played_in_its_topic_to_the_end(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        for _ in range(4):
            for person in people:
                await person.play(Random(1))
                await adapter.worker.wait_until_idle()
        await resign(people[0])
        await adapter.worker.wait_until_idle()
        for person in people:
            [topic] = person.private.topics
            hand = next(message for message in person.private.messages.values() if "photo" in message)
            assert hand["message_thread_id"] == topic
            assert "resigned" in hand["caption"]


async def test_deleted_topic_loses_no_move(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        for person in people:
            server.delete_topic(person.private, *person.private.topics)
            person.say("/hand", person.private)
        await adapter.worker.wait_until_idle()
        await until(lambda: all(topics_of(person) for person in people))
        moves = [await person.play(Random(1)) for person in people]
        assert any(moves)
        await adapter.worker.wait_until_idle()
        assert [set(topics_of(person)) for person in people] == [{0}, {0}]
        people[0].say("/hand", people[0].private)
        await adapter.worker.wait_until_idle()
    refusals = [
        fields for method, fields in server.calls if method == "sendMessage" and fields.get("message_thread_id")
    ]
    assert len(refusals) == 4, "each deleted topic must be tried once"
    assert creations(server) == 2


@pytest.mark.parametrize("is_done", [True, False])
async def test_lost_answer_to_a_creation_makes_no_second_topic(
    store: Store, server: TelegramServer, *, is_done: bool
) -> None:
    server.fail_next("createForumTopic", *[Failure(hang_up=True, done_first=is_done)] * 2)
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        assert [topics_of(person) for person in people] == [[0], [0]]
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        for person in people:
            person.say("/hand", person.private)
        await adapter.worker.wait_until_idle()
        assert [set(topics_of(person)) for person in people] == [{0}, {0}]
    assert creations(server) == 2


async def test_kill_during_a_creation_makes_no_second_topic(store: Store, server: TelegramServer) -> None:
    server.fail_next("createForumTopic", *[Failure(silent=True, done_first=True)] * 2)
    async with on_telegram(store, server, telegram_table_topics=True):
        people = await seat_people(server, "testa")
        await until(lambda: all(person.private.topics for person in people))
    assert [topics_of(person) for person in people] == [[], []]
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        await adapter.worker.wait_until_idle()
        assert [topics_of(person) for person in people] == [[0], [0]]
    assert creations(server) == 2


async def test_topic_is_used_again_after_a_kill_before_the_send(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True):
        server.fail_next("sendMessage", Failure(), *[Failure(gate=asyncio.Event())] * 3)
        people = await seat_people(server, "testa")
        await until(lambda: all(person.private.topics for person in people))
    assert [topics_of(person) for person in people] == [[], []]
    server.clear_failures()
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        await adapter.worker.wait_until_idle()
    assert [topics_of(person) for person in people] == [list(person.private.topics) for person in people]
    assert creations(server) == 2


async def test_topic_of_a_finished_game_is_deleted_a_day_later(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        await resign(people[0])
        await adapter.worker.wait_until_idle()
        await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        assert [len(person.private.topics) for person in people] == [2, 2]
        for person in people:
            for code, stored in (await store.client.hgetall(topics_key(person.number))).items():
                topic, _, ended_at = stored.decode().partition(" ")
                if ended_at:
                    days_ago = int(ended_at) - table_topics.KEPT_AFTER_GAME - 1
                    await store.client.hset(topics_key(person.number), code, f"{topic} {days_ago}")
        await resign(people[0])
        await until(lambda: all(len(person.private.topics) == 1 for person in people))
        assert all(set(topics_of(person)) == set(person.private.topics) for person in people)


async def test_topic_that_the_person_deleted_is_forgotten(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_topics, "KEPT_AFTER_GAME", -1)
    server.fail_next("deleteForumTopic", Failure(Refused(400, "Bad Request: TOPIC_ID_INVALID")))
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        await resign(people[0])
        await until(lambda: sum(method == "deleteForumTopic" for method, _fields in server.calls) == 2)
        await adapter.worker.wait_until_idle()
    assert not any([await store.client.hgetall(topics_key(person.number)) for person in people])


async def test_mydata_shows_and_forget_deletes_the_topics(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        assert (await read_adapter_data(store.client, "telegram:1"))[topics_key(1)]
        await delete_adapter_data(store.client, "telegram:1")
        assert not await store.client.exists(topics_key(1))
        assert await store.client.exists(topics_key(2))


async def test_table_that_is_played_again_keeps_its_topic(store: Store, server: TelegramServer) -> None:
    """Players who challenge each other again can get the same code, when their last table is forgotten."""
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        [anna, _bruno] = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        [(code, topic)] = (await store.client.hgetall(topics_key(1))).items()
        await store.client.hset(topics_key(1), code, topic + b" 1000")
        assert await adapter.find_topic("telegram:@1", code.decode(), "again") == f"telegram:@1~/{topic.decode()}"
        assert await store.client.hget(topics_key(1), code) == topic
        # A deletion that was queued before comes too late.
        await adapter._topics._delete("telegram:@1", code.decode(), int(topic))
        assert list(anna.private.topics) == [int(topic)]


async def test_topic_refused_for_a_moment_is_created_later(store: Store, server: TelegramServer) -> None:
    server.fail_next("createForumTopic", Failure(Refused(429, "Too Many Requests: retry after 1", retry_after=1)))
    async with on_telegram(store, server, telegram_table_topics=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        assert sum(len(person.private.topics) for person in people) == 1
        for person in people:
            person.say("/hand", person.private)
        await until(lambda: all(len(person.private.topics) == 1 for person in people))
