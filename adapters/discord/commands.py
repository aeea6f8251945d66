"""Slash commands, built from the bot's own (`bot.command_names`)."""

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from hashlib import blake2b
from inspect import Parameter, Signature
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.app_commands import Choice, Namespace, TranslationContextTypes, locale_str

from adapters.discord import reading
from adapters.discord.interaction_answers import UnreadableInteraction
from adapters.discord.limits import LONGEST_CHOICE, MAX_CHOICES
from adapters.discord.reading import Interaction
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
from bot.store import STORE_ERRORS
from bot.texts import LANGUAGES, texts
from bot.texts import gettext_noop as _

COMMANDS_KEY = "discord:commands"  # a hash: the digest of the commands last sent to Discord, by application
LONGEST_PASTED = 500  # characters of a pasted code, which can be a link or a whole invitation

# Runs a command, given its interaction, its word, its arguments and the person that it names.
RunCommand = Callable[[Interaction, str, Iterable[str], discord.User | None], Awaitable[None]]

log = structlog.get_logger()


class Tree(app_commands.CommandTree[discord.Client]):
    """A command tree that handles every error.

    The library's own tree leaves interactions unanswered and writes tracebacks.
    """

    def __init__(
        self, client: discord.Client, handle_error: Callable[[Interaction, Exception], Awaitable[None]]
    ) -> None:
        super().__init__(client, allowed_installs=app_commands.AppInstallationType(guild=True, user=True))
        self.handle_error = handle_error

    async def on_error(self, interaction: Interaction, error: app_commands.AppCommandError, /) -> None:
        await self.handle_error(interaction, error)

    async def interaction_check(self, interaction: Interaction, /) -> bool:
        if not reading.is_complete(interaction):
            raise app_commands.CheckFailure("no person, no place or no token")
        options: object = interaction.data.get("options") if isinstance(interaction.data, dict) else None
        for option in options if isinstance(options, list) else ():
            name, kind = (option.get("name"), option.get("type")) if isinstance(option, dict) else (None, None)
            if not isinstance(name, str) or not name or type(kind) is not int or kind <= 0:
                # The library would drop such an option, and the challenge would be open to everyone.
                raise app_commands.CheckFailure("an option without a name or a type")
        return True

    async def _call(self, interaction: Interaction) -> None:
        try:
            await super()._call(interaction)
        except Exception as error:  # noqa: BLE001 - the library can raise anything
            await self.handle_error(interaction, error)


class SlashCommand(app_commands.Command[Any, ..., None]):
    """A command that also handles errors of its autocompletion.

    The library would write a traceback and answer nothing.
    """

    async def _invoke_autocomplete(self, interaction: Interaction, name: str, namespace: Namespace) -> None:
        try:
            await super()._invoke_autocomplete(interaction, name, namespace)
        except Exception as error:  # noqa: BLE001 - handled like every error
            tree = interaction.client._connection._command_tree
            assert isinstance(tree, Tree)
            await tree.handle_error(interaction, error)


class CommandTranslator(app_commands.Translator):
    """Gives Discord the translations that `_localize` attaches to each text."""

    async def translate(
        self, string: locale_str, locale: discord.Locale, context: TranslationContextTypes
    ) -> str | None:
        return string.extras.get(locale.value.partition("-")[0])


def _localize(text: str, translate: Callable[[str], str]) -> locale_str:
    """Attach a text's translations; ``translate`` returns it in a language."""
    return locale_str(text, **{language: translate(language) for language in LANGUAGES if language != "en"})


def _localize_name(name: str, names: Mapping[str, str]) -> locale_str:
    return _localize(name, lambda language: names.get(language, name))


def _localize_text(text: str) -> locale_str:
    return _localize(text, lambda language: texts(language).gettext(text))


# Discord's names of the permissions that a board needs.
VIEW, WRITE, WRITE_IN_THREADS = _("“View Channel”"), _("“Send Messages”"), _("“Send Messages in Threads”")

# Discord's option types. A code option accepts long texts, because people paste whole invitations.
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
    """The commands as the library's tree. ``run`` runs them, ``answer_unreadable`` answers unreadable ones."""

    def __init__(
        self,
        client: discord.Client,
        card_room: CardRoom,
        run: RunCommand,
        answer_unreadable: Callable[[UnreadableInteraction], Awaitable[None]],
    ) -> None:
        self.card_room, self._run, self._answer_unreadable = card_room, run, answer_unreadable
        self.tree = Tree(client, self._handle_error)
        for spec in listed_commands():
            self.tree.add_command(self._slash_command(spec))
            if spec.in_user_menu:
                self.tree.add_command(self._user_command(spec))

    async def _handle_error(self, interaction: Interaction, error: Exception) -> None:
        """Answer a command that failed, is unreadable or was removed. Discord offers removed commands for a while."""
        if isinstance(error, app_commands.CommandInvokeError):
            log.error("discord_command_failed", exc_info=error.original)
        elif isinstance(error, STORE_ERRORS):
            self.card_room.report_store_error(error)
        else:
            log.warning("discord_command_unreadable", why=type(error).__name__)
        is_command = interaction.type is discord.InteractionType.application_command
        unknown = str(error.name) if isinstance(error, app_commands.CommandNotFound) else ""
        if is_command and unknown and not find_command_spec(unknown.lower()):
            await self._run(interaction, unknown, [], None)
        else:
            # Never run the command without its arguments: a challenge would be open to everyone.
            await self._answer_unreadable(UnreadableInteraction.from_interaction(interaction))

    def _slash_command(self, spec: CommandSpec) -> app_commands.Command[Any, ..., None]:
        """Build a command in the library's form: a function with one parameter per argument."""

        async def run(interaction: Interaction, **given: Any) -> None:
            kinds = {argument.name: argument.kind for argument in spec.arguments}
            people = [value for name, value in given.items() if kinds[name] is ArgumentKind.PERSON]
            if not all(person is None or isinstance(person, discord.User | discord.Member) for person in people):
                raise app_commands.AppCommandError("Discord does not say who the named person is")
            words = [str(value or "") for name, value in given.items() if kinds[name] is not ArgumentKind.PERSON]
            await self._run(interaction, spec.name, words, next(iter(people), None))

        parameters = [Parameter("interaction", Parameter.POSITIONAL_ONLY, annotation=Interaction)]
        for argument in spec.arguments:
            accepted = TYPES[argument.kind] if argument.required else TYPES[argument.kind] | None
            default = Parameter.empty if argument.required else None
            parameters.append(Parameter(argument.name, Parameter.KEYWORD_ONLY, annotation=accepted, default=default))
        # The library reads a command's arguments from the function's signature.
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        for argument in spec.arguments:
            app_commands.describe(**{argument.name: _localize_text(argument.description)})(run)
            app_commands.rename(**{argument.name: _localize_name(argument.name, argument.names)})(run)
            if choices := choices_of(argument.kind):
                named = [Choice(name=_localize_text(name), value=value) for value, name in choices.items()]
                app_commands.choices(**{argument.name: named})(run)
            elif argument.kind is not ArgumentKind.PERSON:
                app_commands.autocomplete(**{argument.name: self._autocompleter(argument)})(run)
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
        async def suggest(interaction: Interaction, typed: str) -> list[Choice[Any]]:
            suggestions = await self.card_room.suggestions(
                argument.kind,
                trim_blanks(str(typed)),
                reading.presser_of(interaction),
                reading.place_of(interaction),
                str(getattr(interaction.namespace, "game", None) or ""),
            )
            to_value = int if argument.kind is ArgumentKind.POINTS else str
            return [
                Choice(name=suggestion.label[:LONGEST_CHOICE], value=to_value(suggestion.value))
                for suggestion in suggestions[:MAX_CHOICES]
            ]

        return suggest

    async def sync(self) -> None:
        """Send the commands to Discord if they have changed. Raises PlatformFailure if the answer lacks some."""
        translator = CommandTranslator()
        await self.tree.set_translator(translator)
        try:
            payload = [
                await command.get_translated_payload(self.tree, translator)
                for kind in (discord.AppCommandType.chat_input, discord.AppCommandType.user)
                for command in self.tree.get_commands(type=kind)
            ]
            digest = blake2b(json.dumps(payload, sort_keys=True).encode(), digest_size=8).hexdigest()
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


def challenge_refusal(interaction: Interaction, opponent: discord.User | None, language: str) -> str:
    """Return why the bot cannot show this challenge here: a bot as opponent, or missing permissions; "" if it can."""
    _ = texts(language).gettext
    if opponent is not None and opponent.bot:
        return _("{name} is a bot: to play a robot, leave the name out and press its button.").format(
            name=opponent.display_name
        )
    if interaction.guild_id and not reading.is_guest(reading.place_of(interaction)):
        granted = interaction.app_permissions
        permissions = {VIEW: granted.view_channel, WRITE: granted.send_messages}
        if isinstance(interaction.channel, discord.Thread):
            permissions = {VIEW: granted.view_channel, WRITE_IN_THREADS: granted.send_messages_in_threads}
        if missing := [_(name) for name, is_granted in permissions.items() if not is_granted]:
            return _("I can’t write in this channel without {permissions}: ask the server’s administrators.").format(
                permissions=", ".join(missing)
            )
    return ""
