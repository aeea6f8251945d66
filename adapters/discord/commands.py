"""Slash commands, built from the bot's own (`bot.commands`)."""

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from hashlib import blake2b
from inspect import Parameter, Signature
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.app_commands import Choice, TranslationContextTypes, locale_str

from adapters.discord import reading
from adapters.discord.reading import Interaction
from adapters.discord.tree import SlashCommand, Tree
from adapters.discord.unread import UnreadableInteraction
from bot.card_room import CardRoom
from bot.commands import (
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
from bot.store import STORE_ERRORS
from bot.texts import LANGUAGES, texts

COMMANDS_KEY = "discord:commands"  # a hash: the digest of the commands last sent to Discord, by application
MOST_CHOICES, LONGEST_CHOICE = 25, 100
LONGEST_PASTED = 500  # characters of a pasted code, which can come as a link or a whole invitation

# Runs a command: the interaction, the command word, its arguments and the person it names.
RunCommand = Callable[[Interaction, str, Iterable[str], discord.User | None], Awaitable[None]]

log = structlog.get_logger()


class CommandTranslator(app_commands.Translator):
    """Gives Discord the translations that each text carries (`_localize`)."""

    async def translate(
        self, string: locale_str, locale: discord.Locale, context: TranslationContextTypes
    ) -> str | None:
        return string.extras.get(locale.value.partition("-")[0])


def _localize(text: str, in_language: Callable[[str], str]) -> locale_str:
    return locale_str(text, **{language: in_language(language) for language in LANGUAGES if language != "en"})


def _localize_name(name: str, names: Mapping[str, str]) -> locale_str:
    return _localize(name, lambda language: names.get(language, name))


def _localize_text(text: str) -> locale_str:
    return _localize(text, lambda language: texts(language).gettext(text))


def _choices(kind: ArgumentKind) -> list[Choice[str]]:
    return [Choice(name=_localize_text(name), value=value) for value, name in choices_of(kind).items()]


# Discord's option types. A code can be longer than 8 characters: pasted text has more around it.
TYPES: dict[ArgumentKind, Any] = {
    ArgumentKind.PERSON: discord.User,
    ArgumentKind.GAME: str,
    ArgumentKind.TOPIC: str,
    ArgumentKind.POINTS: app_commands.Range[int, 1, 9999],
    ArgumentKind.NAME: app_commands.Range[str, 2, 16],
    ArgumentKind.OPEN_TABLE: app_commands.Range[str, 4, LONGEST_PASTED],
    ArgumentKind.OWN_TABLE: app_commands.Range[str, 4, LONGEST_PASTED],
}

# Where Discord offers a command. A group chat without a server counts as a group.
CONTEXTS = {
    Availability.ANYWHERE: app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True),
    Availability.GROUP: app_commands.AppCommandContext(guild=True, dm_channel=False, private_channel=True),
    Availability.PRIVATE: app_commands.AppCommandContext(guild=False, dm_channel=True, private_channel=False),
}


class Commands:
    """The commands as the library's tree. ``run`` carries them out, ``unread`` answers unreadable ones."""

    def __init__(
        self,
        client: discord.Client,
        card_room: CardRoom,
        run: RunCommand,
        unread: Callable[[UnreadableInteraction], Awaitable[None]],
    ) -> None:
        self.card_room, self._run, self._unread = card_room, run, unread
        self.tree = Tree(client, self._handle_error)
        for command in self._build_commands():
            self.tree.add_command(command)

    async def _handle_error(self, interaction: Interaction, error: Exception) -> None:
        """Answer a command that cannot be read or no longer exists. Discord offers removed commands for a while."""
        if isinstance(error, app_commands.CommandInvokeError):
            log.error("discord_command_failed", exc_info=error.original)
        elif isinstance(error, STORE_ERRORS):
            self.card_room.report_store_error(error)
        else:
            log.warning("discord_command_unreadable", why=type(error).__name__)
        is_given = interaction.type is discord.InteractionType.application_command
        if (
            is_given
            and isinstance(error, app_commands.CommandNotFound)
            and not find_command_spec(str(error.name).lower())
        ):
            await self._run(interaction, str(error.name), [], None)
        else:
            # Never run it without its arguments: a challenge would be open to everyone.
            await self._unread(UnreadableInteraction.from_interaction(interaction))

    def _build_commands(self) -> Iterator[app_commands.Command[Any, ..., None] | app_commands.ContextMenu]:
        for spec in listed_commands():
            yield self._slash_command(spec)
            if spec.in_user_menu:
                yield self._user_command(spec)

    def _slash_command(self, spec: CommandSpec) -> app_commands.Command[Any, ..., None]:
        """Build a command as the library wants it: a function with one parameter per argument."""

        async def run(interaction: Interaction, **given: Any) -> None:
            kinds = {argument.name: argument.kind for argument in spec.arguments}
            people = [given[name] for name in given if kinds[name] is ArgumentKind.PERSON]
            if not all(person is None or isinstance(person, discord.User | discord.Member) for person in people):
                raise app_commands.AppCommandError("Discord does not say who that is")
            words = [str(given[name] or "") for name in given if kinds[name] is not ArgumentKind.PERSON]
            await self._run(interaction, spec.name, words, next(iter(people), None))

        parameters = [Parameter("interaction", Parameter.POSITIONAL_ONLY, annotation=Interaction)]
        for argument in spec.arguments:
            accepted = TYPES[argument.kind] if argument.required else TYPES[argument.kind] | None
            default = Parameter.empty if argument.required else None
            parameters.append(Parameter(argument.name, Parameter.KEYWORD_ONLY, annotation=accepted, default=default))
        # The library reads a command's arguments from the function's signature.
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        arguments = spec.arguments
        fixed = {argument.name: _choices(argument.kind) for argument in arguments if choices_of(argument.kind)}
        typed = [item for item in arguments if item.kind is not ArgumentKind.PERSON and item.name not in fixed]
        app_commands.describe(**{argument.name: _localize_text(argument.description) for argument in arguments})(run)
        names = {argument.name: _localize_name(argument.name, argument.names) for argument in arguments}
        app_commands.rename(**names)(run)
        app_commands.choices(**fixed)(run)
        app_commands.autocomplete(**{argument.name: self._autocompleter(argument) for argument in typed})(run)
        return SlashCommand(
            name=_localize_name(spec.name, spec.names),
            description=_localize(spec.title_in("en"), spec.title_in),
            callback=run,
            allowed_contexts=CONTEXTS[spec.availability],
        )

    def _user_command(self, spec: CommandSpec) -> app_commands.ContextMenu:
        async def run(interaction: Interaction, user: discord.User) -> None:
            await self._run(interaction, spec.name, [], user)

        names = {language: name.capitalize() for language, name in spec.names.items()}
        return app_commands.ContextMenu(
            name=_localize_name(spec.name.capitalize(), names),
            callback=run,
            allowed_contexts=CONTEXTS[spec.availability],
        )

    def _autocompleter(
        self, argument: Argument
    ) -> Callable[[Interaction, str], Coroutine[Any, Any, list[Choice[Any]]]]:
        async def suggest(interaction: Interaction, begun: str) -> list[Choice[Any]]:
            found = await self.card_room.suggestions(
                argument.kind,
                trim_blanks(str(begun)),
                reading.presser_of(interaction),
                reading.place_of(interaction),
                str(getattr(interaction.namespace, "game", None) or ""),
            )
            value = int if argument.kind is ArgumentKind.POINTS else str
            return [Choice(name=item.label[:LONGEST_CHOICE], value=value(item.value)) for item in found[:MOST_CHOICES]]

        return suggest

    async def sync(self) -> None:
        """Send the commands to Discord if they have changed. Raises PlatformFailure for an unreadable answer."""
        await self.tree.set_translator(CommandTranslator())
        try:
            digest = await self._digest()
            redis = self.card_room.redis
            field = str(self.tree.client.application_id)
            if (await redis.hget(COMMANDS_KEY, field) or b"").decode() != digest:
                if len(await self.tree.sync()) != len(self.tree.get_commands()):
                    raise PlatformFailure("an answer without the commands")
                await redis.hset(COMMANDS_KEY, field, digest)
        except (discord.HTTPException, app_commands.AppCommandError) as error:
            # The next start tries again.
            log.warning("discord_commands_not_set", why=str(error)[:500])
        except STORE_ERRORS as error:
            self.card_room.report_store_error(error)

    async def _digest(self) -> str:
        translator = self.tree.translator
        assert translator
        payload = [
            await command.get_translated_payload(self.tree, translator)
            for kind in (discord.AppCommandType.chat_input, discord.AppCommandType.user)
            for command in self.tree.get_commands(type=kind)
        ]
        return blake2b(json.dumps(payload, sort_keys=True).encode(), digest_size=8).hexdigest()
