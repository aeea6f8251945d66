"""A nonsense answer or event costs no more than one failed call or one lost event."""

from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.discord import examine
from bot.delivery import surface_waits
from bot.running import supervisor
from bot.settings import Settings
from bot.store import Store
from tests.discord.players import Person, on_discord, seat_people, text_of, until
from tests.discord.server import (
    AUTOCOMPLETE,
    BAR,
    CHANNEL,
    COMMAND,
    COMPONENT,
    FORM,
    TOKEN,
    DiscordServer,
    Failure,
    Interaction,
)
from tests.discord.test_discord import play_to_trick
from tests.fuzz.common import Outcome, fail_on_errors
from tests.long import long

PAGE = b"<html><h1>Your network has a message for you</h1></html>"


def nonsense(*, done_first: bool = False) -> list[Failure]:
    """Return nonsense answers: a web page, invalid JSON, and JSON of another shape."""
    return [
        Failure(body=PAGE, kind="text/html", done_first=done_first),
        *(Failure(body=body, done_first=done_first) for body in (PAGE, b'{"id": "12', b"{}", b"[1]", b"null", b"")),
    ]


def bar_messages(server: DiscordServer) -> list[dict[str, object]]:
    return list(server.channels[CHANNEL].messages.values())


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.02)
    monkeypatch.setattr(supervisor, "MAX_RETRY_SECONDS", 0.05)
    monkeypatch.setattr("discord.backoff.ExponentialBackoff.delay", lambda _self: 0.05)


@pytest.mark.parametrize("failure", [nonsense()[0], *map(long, nonsense()[1:4])], ids=str)
@pytest.mark.parametrize("call", ["me", "application", "gateway", "set_commands"])
async def test_nonsense_at_startup_is_retried(store: Store, server: DiscordServer, call: str, failure: Failure) -> None:
    server.fail_next(call, failure)
    with capture_logs() as logs:
        async with on_discord(store, server) as adapter:
            await until(lambda: adapter.healthy)
            await Person(server, 1, "Anna").slash("tables")
    assert not any("exc_info" in line for line in logs)


@pytest.mark.parametrize("failure", nonsense(done_first=True), ids=str)
async def test_nonsense_answers_duplicate_no_message(store: Store, server: DiscordServer, failure: Failure) -> None:
    with capture_logs() as logs:
        async with on_discord(store, server) as adapter:
            server.fail_next("answer", failure)
            server.fail_next("send", failure, failure)
            server.fail_next("open_private", failure)
            people = await seat_people(server, "metamazzo")
            server.fail_next("edit", failure)
            await play_to_trick(server, people, 2)
            await adapter.worker.wait_until_idle()
            # Repeated messages were recognized by their nonce, and the command's answer was fetched.
            assert all(len(person.private.messages) == 1 for person in people)
            assert (
                sum(
                    "cards are dealt" in text_of(message) or " · deal " in text_of(message)
                    for message in bar_messages(server)
                )
                == 2
            )
    assert not [line for line in logs if line["event"] == "surface_failed"]


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("INTERACTION_CREATE", {}),
        ("INTERACTION_CREATE", {"id": "1", "type": 3, "token": "x", "application_id": None}),
        ("GUILD_CREATE", {"id": "x"}),
        ("CHANNEL_UPDATE", {"guild_id": str(BAR)}),
        ("THREAD_UPDATE", {"guild_id": str(BAR), "id": "7"}),
        ("A_NEW_EVENT", {"x": []}),
    ],
)
async def test_unreadable_event_is_skipped(
    store: Store, server: DiscordServer, event: str, data: dict[str, object]
) -> None:
    with capture_logs() as logs:
        async with on_discord(store, server) as adapter:
            people = await seat_people(server, "metamazzo")
            server.gateway.dispatch(event, data)
            server.gateway.dispatch(event, data, BAR)
            await play_to_trick(server, people, 2)
            # The connection stays the same, because Discord limits new sessions.
            assert len(server.gateway.identified) == 1
            assert adapter.healthy
    assert not [line for line in logs if line["event"] in ("platform_failed", "platform_away")]


@pytest.mark.parametrize(
    ("code", "word"), [(4004, "token refused"), (4010, "shards refused"), (4014, "intents refused")]
)
async def test_permanent_gateway_refusal_is_logged_once(
    store: Store, server: DiscordServer, code: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "STEADY_SECONDS", 0.0)
    with capture_logs() as logs:
        async with on_discord(store, server) as adapter:
            worker = adapter.worker
            await server.gateway.drop(code)
            await until(lambda: worker.errors.get("discord") == word)
            assert not adapter.healthy
    [line] = [line for line in logs if line["event"] in ("platform_refused", "platform_failed")]
    assert (line["event"], "Discord" in line["what_to_do"] or "DISCORD" in line["what_to_do"]) == (
        "platform_refused",
        True,
    )


@pytest.mark.parametrize("failure", nonsense(), ids=str)
async def test_doctor_reports_nonsense(server: DiscordServer, failure: Failure) -> None:
    settings = Settings(_env_file=None, discord_token=SecretStr(TOKEN), discord_api_url=server.url)
    server.fail_next("application", failure)
    [(is_well, line)] = [finding async for finding in examine(settings)]
    assert (is_well, "does not answer" in line) == (False, True)


@pytest.mark.parametrize("options", [[], [{"name": "x", "type": 3, "value": "y"}]])
async def test_removed_command_is_answered(
    store: Store, server: DiscordServer, options: list[dict[str, object]]
) -> None:
    """Discord can still offer a command that the running release has removed."""
    with capture_logs() as logs:
        async with on_discord(store, server):
            anna = Person(server, 1, "Anna")
            data = {"id": "1", "name": "gone", "type": 1, "options": options}
            assert await anna.wait_for_answer(server.interact(COMMAND, 1, server.channels[CHANNEL], data))
    assert [
        line["event"] for line in logs if line["log_level"] == "warning" and line["event"] != "store_may_lose_data"
    ] == ["discord_command_unreadable"]


USER = {"name": "opponent", "type": 6, "value": "no id"}
TARGET = {"name": "target", "type": 4, "value": "2", "focused": True}
FOCUSED = {"name": "table", "type": 3, "focused": True}
CHECKED = {"type": 22, "custom_id": "options", "values": ["cuts"]}


@pytest.mark.parametrize(
    ("kind", "data", "without"),
    [
        (COMMAND, {"name": "challenge", "options": [USER]}, ()),
        long(COMMAND, {"name": "stats", "options": [{**USER, "name": "player", "value": []}]}, ()),
        long(COMMAND, {"name": "challenge", "options": [{**USER, "value": "77"}]}, ()),
        long(COMMAND, {"name": "challenge", "options": None}, ()),
        long(COMMAND, {"name": "challenge", "options": [{}]}, ()),
        long(COMMAND, {"name": "challenge", "resolved": [], "options": []}, ()),
        (COMMAND, {"name": []}, ()),
        long(COMMAND, {"name": "sfida", "options": [{**USER, "value": "1"}]}, ()),
        (COMMAND, {"name": "Challenge", "type": 2, "target_id": "7"}, ()),
        (COMMAND, {"name": "challenge"}, ("channel", "channel_id")),
        long(COMMAND, {"name": "challenge"}, ("member",)),
        (COMMAND, {}, ("data",)),
        long(AUTOCOMPLETE, {"name": "challenge", "options": []}, ()),
        (AUTOCOMPLETE, {"name": "hand", "options": [FOCUSED]}, ()),
        long(AUTOCOMPLETE, {"name": "hand", "options": [{**FOCUSED, "name": "gone"}]}, ()),
        (AUTOCOMPLETE, {"name": "gone", "options": [FOCUSED]}, ()),
        long(AUTOCOMPLETE, {"name": "leaderboard", "options": [{**FOCUSED, "name": "game"}]}, ()),
        long(AUTOCOMPLETE, {"name": "challenge", "options": [TARGET]}, ("member",)),
        (COMPONENT, {}, ()),
        long(COMPONENT, {"custom_id": [], "component_type": 2}, ()),
        (COMPONENT, {"custom_id": "1ttest", "component_type": 2}, ("channel", "channel_id")),
        long(COMPONENT, {"custom_id": "1ttest", "component_type": 2}, ("member",)),
        (FORM, {"custom_id": "x", "components": []}, ()),
        (FORM, {"custom_id": "forget", "components": [{"type": 18, "component": CHECKED}]}, ()),
        long(FORM, {}, ()),
    ],
    ids=str,
)
async def test_unreadable_interaction_is_answered_and_not_run(
    store: Store, server: DiscordServer, kind: int, data: dict[str, Any], without: tuple[str, ...]
) -> None:
    interaction = await send_interaction(store, server, kind, {"id": "1", "type": 1, **data}, without)
    if kind == AUTOCOMPLETE:
        assert interaction.choices == []
    else:
        [message] = interaction.channel.ephemerals[1].values()
        assert text_of(message).startswith("Discord sent something I couldn’t read")
    assert not interaction.channel.messages


async def send_interaction(
    store: Store, server: DiscordServer, kind: int, data: dict[str, Any], without: tuple[str, ...] = ()
) -> Interaction:
    """Send an interaction without some fields. Return it after its answer and one warning."""
    with fail_on_errors(Outcome()) as outcome:
        async with on_discord(store, server) as adapter:
            Person(server, 1, "Anna")
            interaction = server.create_interaction(kind, 1, server.channels[CHANNEL], data)
            event = server.event_of(interaction)
            server.gateway.dispatch(
                "INTERACTION_CREATE", {name: value for name, value in event.items() if name not in without}, BAR
            )
            await until(lambda: bool(interaction.answer))
            assert len(server.gateway.identified) == 1
            assert adapter.healthy
    assert sum(outcome.warnings.values()) == 1
    return interaction


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "{}",
        '{"op": "x"}',
        '{"op": 0, "t": []}',
        '{"op": 0, "d": ' + "[" * 100_000,
        b"\xff\x00\x00\xff\xff",
    ],
    ids=lambda frame: repr(frame[:20]),
)
async def test_unreadable_frame_reconnects_with_one_log_line(
    store: Store, server: DiscordServer, frame: str | bytes
) -> None:
    with capture_logs() as logs:
        async with on_discord(store, server):
            for session in list(server.gateway.sessions.values()):
                assert session.connection
                await session.connection.send_text(frame)
            anna = Person(server, 1, "Anna")
            interaction = anna.start_command("tables")
            await until(
                lambda: bool(interaction.answer) or len(server.gateway.identified) > 1 or server.gateway.resumed > 0
            )
            await until(lambda: any(session.connection for session in server.gateway.sessions.values()))
            await anna.slash("tables")
    problems = [line for line in logs if line["log_level"] != "info"]
    assert [line["event"] for line in problems] in ([], ["platform_away"])
    assert not any("exc_info" in line for line in problems)


async def test_lone_surrogate_keeps_the_connection(store: Store, server: DiscordServer) -> None:
    with fail_on_errors(Outcome()):
        async with on_discord(store, server):
            anna = Person(server, 1, "Anna")
            server.users[1]["global_name"] = "\ud800 Anna"
            await anna.slash("challenge", game="testa")
            await until(lambda: any("players, to" in text_of(message) for message in bar_messages(server)))
            assert "You have no seat" in await anna.slash("hand", table="\udfff\ud800\udfff\ud800")
            assert len(server.gateway.identified) == 1


async def test_person_with_odd_name_and_language_is_answered(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna = Person(server, 1, "Anna")
        odd_values: list[Any] = [7, None, [], "", "xx", {}]
        for value in odd_values:
            server.users[1].update(locale=value, username=value, global_name=value)
            assert "no game running" in await anna.slash("hand")


async def test_press_on_a_message_with_odd_fields_is_answered(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna = Person(server, 1, "Anna")
        await anna.slash("challenge", game="testa")
        await until(lambda: bool(server.channels[CHANNEL].messages))
        [message] = server.channels[CHANNEL].messages.values()
        bare = {name: value for name, value in message.items() if name != "components"}
        for odd in (bare, {**message, "flags": "x"}, {**message, "flags": None}):
            assert "There’s no table" in await anna.wait_for_answer(
                anna.start_press(server.channels[CHANNEL], odd, "1tABCDEF:sit")
            )


@pytest.mark.long
@pytest.mark.parametrize("token", ["\ud800", 7, None, []], ids=repr)
async def test_invalid_token_is_one_warning(store: Store, server: DiscordServer, token: object) -> None:
    with fail_on_errors(Outcome()) as outcome:
        async with on_discord(store, server):
            anna = Person(server, 1, "Anna")
            # The bot would store a valid token, because it is not a member of this server.
            channel = server.add_channel(300, 9 << 22)
            interaction = server.create_interaction(COMMAND, 1, channel, {"id": "1", "name": "tables", "type": 1})
            server.gateway.dispatch(
                "INTERACTION_CREATE", {**server.event_of(interaction), "token": token}, channel.server
            )
            await anna.slash("tables")
            assert not any([key async for key in store.client.scan_iter("discord:pass*")])
    assert outcome.warnings.pop("discord_interaction_unreadable") == 1
