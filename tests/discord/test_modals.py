"""The form of a challenge: one modal for the game, its points, its clock and its options."""

from typing import Any

import pytest

from adapters.discord.modals import modal_body
from bot.panel import Panel, Span
from bot.panels.challenge_form import challenge_form
from bot.parsing.challenge_form import FormChoices, all_boxes
from bot.store import Store
from bot.tables.table import Table
from bot.texts import LANGUAGES
from engine import GAMES
from tests.discord.players import ObservedDiscord, Person, on_discord, text_of, until
from tests.discord.server import BAR, CHANNEL, FORM, Channel, DiscordServer
from tests.discord.validation import Refused, validate_modal

MODAL, EDIT = 9, 7


def bar(server: DiscordServer) -> Channel:
    return server.channels[CHANNEL]


async def only_table(adapter: ObservedDiscord, person: Person) -> Table:
    [table] = await adapter.worker.room.lists.tables_of(f"discord:{person.number}")
    return table


def ephemerals(person: Person) -> list[str]:
    return [text_of(message) for message in bar(person.server).ephemerals[person.number].values()]


def chosen_in(modal: dict[str, Any]) -> dict[str, list[str]]:
    """Return the options that a modal shows as chosen, by field."""
    fields = [label["component"] for label in modal["components"]]
    return {
        field["custom_id"]: [option["value"] for option in field["options"] if option.get("default")]
        for field in fields
    }


async def test_command_without_arguments_opens_a_form(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        opened = anna.start_command("challenge")
        modal = await anna.open_modal(opened)
        assert [label["label"] for label in modal["components"]] == [
            "Game",
            "Points to win",
            "Time for a move",
            "Options",
        ]
        assert chosen_in(modal)["points"] == ["0"]
        assert not bar(server).messages
        chosen_terms = {
            "game": "spades",
            "points": "300",
            "clock": "60",
            "options": ["strict", "cuts", "nil_bags=false"],
        }
        assert await anna.send_modal(opened, **chosen_terms) == ""
        table = await only_table(adapter, anna)
        assert (table.game_id, table.clock, table.strict, table.has_cuts) == ("spades", 60, True, True)
        assert dict(table.rules) == {"target": 300, "nil_bags": False}
        # The card is the answer to the form.
        [message] = bar(server).messages.values()
        assert "Spades, 2 players, to 300" in text_of(message)
        assert not ephemerals(anna)


async def test_form_remembers_the_game_of_the_chat(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna = Person(server, 1, "Anna")
        await anna.send_modal(anna.start_command("challenge"), game="testa")
        await until(lambda: bool(bar(server).messages))
        assert chosen_in(await anna.open_modal(anna.start_command("challenge")))["game"] == ["testa"]


async def test_form_in_a_private_chat_opens_a_table(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        await anna.send_modal(anna.start_command("challenge", anna.private), game="testa", points="11")
        assert (await only_table(adapter, anna)).rules == {"target": 11}
        [message] = anna.private.messages.values()
        assert "Who do you want to play?" in text_of(message)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"game": "spades", "points": "31"}, "You can’t play Spades to 31: choose one of 200, 300, 500."),
        ({"game": "spades", "options": ["declare=none"]}, "Not all these options are for Spades: untick the others."),
        (
            {"game": "pizzichino", "options": ["declare=dealt", "declare=none", "strict"]},
            "Two of these options exclude each other: untick one.",
        ),
    ],
)
async def test_refused_form_keeps_what_was_chosen(
    store: Store, server: DiscordServer, wrong: dict[str, Any], sentence: str
) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        assert await anna.send_modal(anna.start_command("challenge"), **wrong, clock="300") == sentence
        assert not bar(server).messages
        again = await anna.press_for_modal("Choose again", bar(server))
        kept_terms = chosen_in(again.modal)
        assert (kept_terms["game"], kept_terms["clock"]) == ([wrong["game"]], ["300"])
        assert kept_terms["points"] == [wrong.get("points", "0")]
        assert set(kept_terms["options"]) == set(wrong.get("options", []))
        # Sent unchanged, it is refused again in the same message.
        await anna.send_modal(again)
        assert ephemerals(anna) == [sentence]
        await anna.send_modal(
            await anna.press_for_modal("Choose again", bar(server)), game="testa", points="0", options=[]
        )
        assert ephemerals(anna) == ["The challenge is open."]
        assert (await only_table(adapter, anna)).game_id == "testa"
        await until(lambda: len(bar(server).messages) == 1)


async def test_change_opens_the_form_with_the_terms_of_the_table(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        await anna.slash("challenge", game="pizzichino", target=31)
        opened = await anna.press_for_modal("Change", bar(server))
        assert chosen_in(opened.modal)["game"] == ["pizzichino"]
        assert chosen_in(opened.modal)["points"] == ["31"]
        assert await anna.send_modal(opened, points="41", options=["packets=peek", "cuts"]) == ""
        table = await only_table(adapter, anna)
        assert dict(table.rules) == {"target": 41, "packets": "peek"}
        assert table.has_cuts
        [message] = bar(server).messages.values()
        await until(lambda: "to 41" in text_of(message))
        # A change back to the usual options, and to another game.
        await anna.send_modal(await anna.press_for_modal("Change", bar(server)), options=[])
        table = await only_table(adapter, anna)
        assert (table.rules["packets"], table.has_cuts) == ("blind", False)
        await anna.send_modal(await anna.press_for_modal("Change", bar(server)), game="testa", points="0")
        table = await only_table(adapter, anna)
        assert (table.game_id, dict(table.rules)) == ("testa", {})
        assert "ask Anna" in await bruno.press("Change", bar(server))


async def test_refused_change_keeps_the_table(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        await anna.slash("challenge", game="testa")
        answer = await anna.send_modal(await anna.press_for_modal("Change", bar(server)), points="500")
        assert answer == "You can’t play Testa a Testa to 500: choose one of 11, 21, 31."
        assert not (await only_table(adapter, anna)).rules
        again = await anna.press_for_modal("Choose again", bar(server))
        await anna.send_modal(again, points="31")
        assert ephemerals(anna) == ["The challenge has changed."]
        assert (await only_table(adapter, anna)).rules == {"target": 31}
        await until(lambda: any("to 31" in text_of(message) for message in bar(server).messages.values()))


async def test_form_of_another_table_cannot_be_changed(store: Store, server: DiscordServer) -> None:
    """A person can keep a form open for long, and a modified client can send any form."""
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        await anna.slash("challenge", game="testa")
        opened = await anna.press_for_modal("Change", bar(server))
        opened.user = bruno.number
        assert "ask Anna" in await bruno.send_modal(opened, points="31")
        opened.user = anna.number
        await bruno.press("Join", bar(server))
        await adapter.worker.wait_until_idle()
        assert await anna.send_modal(opened, points="31")
        assert not any("to 31" in text_of(message) for message in bar(server).messages.values())


async def test_form_survives_a_restart_and_counts_once(store: Store, server: DiscordServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_discord(store, server):
        opened = anna.start_command("challenge")
        await anna.open_modal(opened)
    async with on_discord(store, server) as adapter:
        await anna.send_modal(opened, game="testa")
        sent = next(interaction for interaction in server.interactions.values() if interaction.type == FORM)
        server.dispatch_interaction(sent)
        await adapter.worker.wait_until_idle()
        assert (await only_table(adapter, anna)).game_id == "testa"
        assert len(bar(server).messages) == 1


@pytest.mark.parametrize("in_private", [False, True])
async def test_other_message_does_not_take_the_answer_of_a_form(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch, in_private: bool
) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        place = f"discord:@{anna.number}" if in_private else f"discord:{BAR}/{CHANNEL}"
        channel = anna.private if in_private else bar(server)
        meet = adapter.worker.people.meet

        async def meet_after_message(*arguments: Any) -> Any:
            await adapter.send(place, Panel((Span("news"),)), "news")
            return await meet(*arguments)

        monkeypatch.setattr(adapter.worker.people, "meet", meet_after_message)
        await anna.open_modal(anna.start_command("challenge", channel))
        assert [text_of(message) for message in channel.messages.values()] == ["news"]


async def test_maintenance_is_announced_instead_of_a_form(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        await adapter.worker.store.levers.begin_maintenance("back at 22:00", "root")
        await adapter.worker.store.levers.refresh()
        assert "back at 22:00" in await Person(server, 1, "Anna").slash("challenge")


async def test_deferred_command_asks_to_try_again(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discord accepts no modal after a deferral."""
    monkeypatch.setattr("adapters.discord.adapter.MAX_PENDING", 0)
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        meet = adapter.worker.people.meet

        async def meet_late(*arguments: Any) -> Any:
            await until(lambda: bool(opened.answer))
            return await meet(*arguments)

        monkeypatch.setattr(adapter.worker.people, "meet", meet_late)
        opened = anna.start_command("challenge")
        await until(lambda: ephemerals(anna) == ["That took too long: try again."])
        assert not bar(server).messages


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", GAMES)
def test_form_fits_into_a_modal_uncut(language: str, game: str) -> None:
    form = challenge_form("challenge", FormChoices(game, 0, 0, frozenset(all_boxes())), language)
    body = modal_body(form)
    validate_modal({"type": MODAL, "data": body})
    assert form.title == body["title"]
    for field, label in zip(form.fields, body["components"], strict=True):
        assert field.label == label["label"]
        for option, shown_option in zip(field.options, label["component"]["options"], strict=True):
            assert (option.label, option.description) == (shown_option["label"], shown_option.get("description", ""))


SELECT: dict[str, Any] = {
    "type": 3,
    "custom_id": "a",
    "options": [{"value": "1", "label": "One"}, {"value": "2", "label": "Two"}],
}


def modal_of(*components: dict[str, Any], **data_fields: Any) -> dict[str, Any]:
    labels = [{"type": 18, "label": "Label", "component": component} for component in components]
    return {"type": MODAL, "data": {"custom_id": "x", "title": "Title", "components": labels, **data_fields}}


def test_documented_modal_is_accepted() -> None:
    boxes = {**SELECT, "type": 22, "custom_id": "b", "min_values": 0, "required": False}
    validate_modal(modal_of(SELECT, boxes, {**SELECT, "type": 21, "custom_id": "c"}))


@pytest.mark.parametrize(
    "modal",
    [
        modal_of(),
        modal_of(*({**SELECT, "custom_id": str(number)} for number in range(6))),
        modal_of(SELECT, SELECT),
        modal_of(SELECT, title="T" * 46),
        modal_of(SELECT, custom_id="x" * 101),
        modal_of({**SELECT, "disabled": False}),
        modal_of({**SELECT, "min_values": 0}),
        modal_of({**SELECT, "options": [{**option, "default": True} for option in SELECT["options"]]}),
        modal_of({**SELECT, "options": SELECT["options"] * 2}),
        modal_of({**SELECT, "type": 21, "options": SELECT["options"][:1]}),
        modal_of({**SELECT, "type": 22, "max_values": 3}),
        modal_of({**SELECT, "type": 22, "min_values": 0}),
        modal_of({"type": 2, "style": 1, "label": "Button", "custom_id": "b"}),
        {"type": MODAL, "data": {"custom_id": "x", "title": "Title", "components": [SELECT]}},
    ],
    ids=range(14),
)
def test_modal_beyond_the_limits_is_refused(modal: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        validate_modal(modal)
