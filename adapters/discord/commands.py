"""Slash commands and menu commands of `bot.command_names`: describes them to Discord, and reads them."""

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import discord
import structlog

from adapters.discord.interactions import Fields, Interaction, NamedPerson, Unreadable, read_named_person
from adapters.discord.limits import LONGEST_CHOICE, MAX_CHOICES
from bot.card_room import CardRoom
from bot.command_names import (
    Argument,
    ArgumentKind,
    Availability,
    CommandSpec,
    choices_of,
    find_command_spec,
    listed_commands,
)
from bot.identity.names import trim_blanks
from bot.platform import PlatformFailure
from bot.texts import LANGUAGES, texts
from bot.texts import gettext_noop as _

COMMANDS_KEY = "discord:commands"  # a hash: the digest of the commands last sent to Discord, by application
LONGEST_PASTED = 500  # characters of a pasted code, which can be a link or a whole invitation

SLASH, USER_MENU, ENTRY_POINT = 1, 2, 4  # types of commands
DISCORD_LAUNCHES = 2  # a handler: Discord opens the Activity itself
TEXT, INTEGER, USER = 3, 4, 6  # types of options

# Fields of each kind of option. A code's option accepts long texts, because people paste whole invitations.
OPTIONS: dict[ArgumentKind, Fields] = {
    ArgumentKind.PERSON: {"type": USER},
    ArgumentKind.GAME: {"type": TEXT},
    ArgumentKind.TOPIC: {"type": TEXT},
    ArgumentKind.POINTS: {"type": INTEGER, "min_value": 1, "max_value": 9999},
    ArgumentKind.NAME: {"type": TEXT, "min_length": 2, "max_length": 16},
    ArgumentKind.OPEN_TABLE: {"type": TEXT, "min_length": 4, "max_length": LONGEST_PASTED},
    ArgumentKind.OWN_TABLE: {"type": TEXT, "min_length": 4, "max_length": LONGEST_PASTED},
}

# Where Discord offers a command. A group chat without a server counts as a group.
IN_SERVER, WITH_BOT, AMONG_PEOPLE = 0, 1, 2
CONTEXTS = {
    Availability.ANYWHERE: [IN_SERVER, WITH_BOT, AMONG_PEOPLE],
    Availability.GROUP: [IN_SERVER, AMONG_PEOPLE],
    Availability.PRIVATE: [WITH_BOT],
}
INSTALLS = [0, 1]  # in servers, and for people who have installed the bot for themselves

# Discord's names of the permissions that a board needs.
VIEW, WRITE, WRITE_IN_THREADS = _("“View Channel”"), _("“Send Messages”"), _("“Send Messages in Threads”")

PLAY = _("play cards")  # the name of the command that opens the Activity
INVALID_REQUEST = 400

log = structlog.get_logger()


# Description


def command_payloads() -> list[Fields]:
    """Return all commands as Discord's API describes them, with their translations."""
    specs = listed_commands()
    return [*map(_slash_payload, specs), *[_user_payload(spec) for spec in specs if spec.in_user_menu]]


def entry_point_payload() -> Fields:
    """Return the command that opens the Activity from Discord's list of apps."""
    return {
        "type": ENTRY_POINT,
        "handler": DISCORD_LAUNCHES,
        **_message("name", PLAY),
        "contexts": [0, 1, 2],
        "integration_types": INSTALLS,
    }


def _slash_payload(spec: CommandSpec) -> Fields:
    return {
        "type": SLASH,
        **_translations("name", lambda language: spec.names.get(language, spec.name)),
        **_translations("description", spec.title_in),
        "options": [_option_payload(argument) for argument in spec.arguments],
        "contexts": CONTEXTS[spec.availability],
        "integration_types": INSTALLS,
    }


def _user_payload(spec: CommandSpec) -> Fields:
    return {
        "type": USER_MENU,
        **_translations("name", lambda language: spec.names.get(language, spec.name).capitalize()),
        "contexts": CONTEXTS[spec.availability],
        "integration_types": INSTALLS,
    }


def _option_payload(argument: Argument) -> Fields:
    option = {
        **OPTIONS[argument.kind],
        **_translations("name", lambda language: argument.names.get(language, argument.name)),
        **_message("description", argument.description),
        "required": argument.required,
    }
    if choices := choices_of(argument.kind):
        option["choices"] = [{**_message("name", name), "value": value} for value, name in choices.items()]
    elif argument.kind is not ArgumentKind.PERSON:
        option["autocomplete"] = True
    return option


def _translations(field: str, translate: Callable[[str], str]) -> Fields:
    """Return a field with its translations. ``translate`` returns its text in a language."""
    translations = {language: translate(language) for language in LANGUAGES if language != "en"}
    return {field: translate("en"), f"{field}_localizations": translations}


def _message(field: str, message: str) -> Fields:
    """Return a field with the translations of a message."""
    return _translations(field, lambda language: texts(language).gettext(message))


async def sync_commands(client: discord.Client, redis: Any, *, has_activity: bool = False) -> None:
    """Send the commands to Discord if they have changed. Raises PlatformFailure if the answer lacks some."""
    ordinary, complete = command_payloads(), [*command_payloads(), entry_point_payload()]
    payloads, others = (complete, ordinary) if has_activity else (ordinary, complete)
    digest = blake2b(json.dumps(payloads, sort_keys=True).encode(), digest_size=8).hexdigest()
    application = client.application_id
    assert application
    if (await redis.hget(COMMANDS_KEY, str(application)) or b"").decode() == digest:
        return
    try:
        try:
            answer: object = await client.http.bulk_upsert_global_commands(application, payload=payloads)
        except discord.HTTPException as error:
            if error.status != INVALID_REQUEST:
                raise
            # While Activities are enabled in the portal, Discord refuses a list without the entry point.
            log.info("discord_entry_point_differs", why=str(error)[:500])
            answer = await client.http.bulk_upsert_global_commands(application, payload=others)
            payloads = others
    except discord.HTTPException as error:
        # The next start tries again.
        log.warning("discord_commands_not_set", why=str(error)[:500])
        return
    if not isinstance(answer, list) or len(answer) != len(payloads):
        raise PlatformFailure("an answer without the commands")
    await redis.hset(COMMANDS_KEY, str(application), digest)


# Reading


class Call(NamedTuple):
    """A command that a person sent.

    ``arguments`` are in the order of `CommandSpec.arguments`, without the named person and without empty ones.
    """

    word: str
    arguments: Iterable[str] = ()
    named: NamedPerson | None = None


def read_call(data: Fields) -> Call:
    """Read a command's data. Raises Unreadable.

    Unknown options are ignored. But one that names a person raises Unreadable, because a challenge without its
    opponent would be open to everyone. Discord offers removed commands for a while, so an unknown command is read by
    its name alone.
    """
    name, kind = data.get("name"), data.get("type")
    if not isinstance(name, str) or not name or kind not in (SLASH, USER_MENU):
        raise Unreadable("a command without a name or a type")
    if not isinstance(data.get("resolved", {}), dict):
        raise Unreadable("no object with the named people")
    if kind == USER_MENU:
        spec = next((spec for spec in listed_commands() if spec.in_user_menu and spec.name.capitalize() == name), None)
        if spec is None:
            raise Unreadable("an unknown menu command")
        return Call(spec.name, named=read_named_person(data, data.get("target_id")))
    spec, options = _find_spec(name), _read_options(data)
    if spec is None:
        if find_command_spec(name.lower()):
            raise Unreadable("a command under a name that Discord does not offer")
        log.warning("discord_command_unreadable", why="unknown")
        return Call(name)
    arguments = {argument.name: argument for argument in spec.arguments}
    if any(option["type"] == USER and option_name not in arguments for option_name, option in options.items()):
        raise Unreadable("an unknown option with a person")
    words, named_person = [], None
    for argument_name, argument in arguments.items():
        value = options[argument_name].get("value") if argument_name in options else ""
        if argument.kind is ArgumentKind.PERSON:
            named_person = read_named_person(data, value) if argument_name in options else None
        elif isinstance(value, str | int):
            words.append(str(value))
        else:
            raise Unreadable("an option without a value")
    return Call(spec.name, list(filter(None, words)), named_person)


def _find_spec(name: str) -> CommandSpec | None:
    return next((spec for spec in listed_commands() if spec.name == name), None)


def _read_options(data: Fields) -> Mapping[str, Fields]:
    """Return a command's options by name."""
    options = data.get("options", [])
    if not isinstance(options, list):
        raise Unreadable("no list of options")
    options_by_name = {}
    for option in options:
        name, kind = (option.get("name"), option.get("type")) if isinstance(option, dict) else (None, None)
        if not isinstance(name, str) or not name or type(kind) is not int or kind <= 0:
            raise Unreadable("an option without a name or a type")
        options_by_name[name] = option
    return options_by_name


async def find_choices(card_room: CardRoom, interaction: Interaction) -> list[Fields]:
    """Return the completions for the option that the person is typing. Raises Unreadable."""
    spec, options = _find_spec(str(interaction.data.get("name"))), _read_options(interaction.data)
    arguments = {argument.name: argument for argument in spec.arguments} if spec else {}
    typed_name = next((name for name, option in options.items() if option.get("focused") is True), "")
    argument, value = arguments.get(typed_name), options.get(typed_name, {}).get("value")
    if argument is None or choices_of(argument.kind) or not isinstance(value, str | int):
        raise Unreadable("an option without autocompletion")
    game = options.get("game", {}).get("value")
    suggestions = await card_room.suggestions(
        argument.kind, trim_blanks(str(value)), interaction.person, interaction.place, str(game or "")
    )
    to_value = int if argument.kind is ArgumentKind.POINTS else str
    return [
        {"name": suggestion.label[:LONGEST_CHOICE], "value": to_value(suggestion.value)}
        for suggestion in suggestions[:MAX_CHOICES]
    ]


def challenge_refusal(interaction: Interaction, opponent: NamedPerson | None, language: str) -> str:
    """Return why the bot cannot show this challenge here: a bot as opponent, or missing permissions; "" if it can."""
    _ = texts(language).gettext
    if opponent is not None and opponent.is_bot:
        return _("{name} is a bot: to play a robot, leave the name out and press its button.").format(
            name=opponent.person.name
        )
    if interaction.in_server:
        granted = interaction.permissions
        permissions = {VIEW: granted.view_channel, WRITE: granted.send_messages}
        if interaction.in_thread:
            permissions = {VIEW: granted.view_channel, WRITE_IN_THREADS: granted.send_messages_in_threads}
        if missing_permissions := [_(name) for name, is_granted in permissions.items() if not is_granted]:
            return _("I can’t write in this channel without {permissions}: ask the server’s administrators.").format(
                permissions=", ".join(missing_permissions)
            )
    return ""
