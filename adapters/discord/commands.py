"""Slash commands, made from the bot's own (`bot.commands`): what may be chosen, and what they mean to the desk."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from inspect import Parameter, Signature
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.app_commands import Choice, TranslationContextTypes, locale_str

from adapters.discord import reading
from adapters.discord.reading import Interaction
from adapters.discord.tree import Slash, Tree
from adapters.discord.unread import Bare
from bot.commands import CommandSpec, Kind, Where, choices, listed
from bot.desk import Desk
from bot.desk.commands import targets
from bot.people import language_of
from bot.platform import Trouble
from bot.store import STORE_FAULTS
from bot.tables.table import Table
from bot.texts import LANGUAGES, texts
from engine import GAMES

KNOWN = "discord:commands"
"""A hash: what was set last, by application."""

MOST_CHOICES = 25

Run = Callable[[Interaction, str, Iterable[str], discord.User | None], Awaitable[None]]
"""What carries a command out: the interaction, its word, the words behind it, and the person that it is about."""

log = structlog.get_logger()


class Words(app_commands.Translator):
    """Other languages for Discord: each text brings its translations along (`_localized`)."""

    async def translate(
        self, string: locale_str, locale: discord.Locale, context: TranslationContextTypes
    ) -> str | None:
        return string.extras.get(locale.value.partition("-")[0])


def _localized(text: str, in_language: Callable[[str], str]) -> locale_str:
    return locale_str(text, **{language: in_language(language) for language in LANGUAGES if language != "en"})


def _named(name: str, names: Mapping[str, str]) -> locale_str:
    return _localized(name, lambda language: names.get(language, name))


def _translated(text: str) -> locale_str:
    return _localized(text, lambda language: texts(language).gettext(text))


def _choices(kind: Kind) -> list[Choice[str]]:
    return [Choice(name=_translated(name), value=value) for value, name in choices(kind).items()]


TYPES: dict[Kind, Any] = {
    Kind.PERSON: discord.User,
    Kind.GAME: str,
    Kind.TOPIC: str,
    Kind.POINTS: app_commands.Range[int, 1, 9999],
    Kind.OPEN_TABLE: app_commands.Range[str, 4, 8],
    Kind.OWN_TABLE: app_commands.Range[str, 4, 8],
}
"""What Discord has people give for an argument."""

CONTEXTS = {
    Where.ANYWHERE: app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True),
    Where.GROUP: app_commands.AppCommandContext(guild=True, dm_channel=False, private_channel=True),
    Where.PRIVATE: app_commands.AppCommandContext(guild=False, dm_channel=True, private_channel=False),
}
"""Where Discord offers a command; a channel among people, without a server, is a group too."""


class Commands:
    """The commands, as the library's tree; each comes down to a word and words, which ``run`` carries out.
    ``unread`` answers those that cannot be read.
    """

    def __init__(self, client: discord.Client, desk: Desk, run: Run, unread: Callable[[Bare], Awaitable[None]]) -> None:
        self.desk, self._run, self._unread = desk, run, unread
        self._suggest: dict[Kind, Any] = {
            Kind.POINTS: self._targets,
            Kind.OPEN_TABLE: self._open_tables,
            Kind.OWN_TABLE: self._own_tables,
        }
        self.tree = Tree(client, self._failed)
        for command in self._all():
            self.tree.add_command(command)

    async def _failed(self, interaction: Interaction, error: Exception) -> None:
        """Answer a command that is no more, as Discord knows it for a while, or that cannot be read."""
        if isinstance(error, app_commands.CommandInvokeError):
            log.error("discord_command_failed", exc_info=error.original)
        elif isinstance(error, STORE_FAULTS):
            self.desk.house.store.outage.begin(error)
        else:
            log.warning("discord_command_unreadable", why=type(error).__name__)
        if isinstance(error, app_commands.CommandNotFound) and reading.is_whole(interaction):
            await self._run(interaction, error.name, [], None)
        else:
            # Not without what belonged to it: a challenge would be open to all.
            await self._unread(Bare.of(interaction))

    def _all(self) -> Iterator[app_commands.Command[Any, ..., None] | app_commands.ContextMenu]:
        for spec in listed():
            yield self._slash(spec)
            if spec.on_person:
                yield self._on_person(spec)

    def _slash(self, spec: CommandSpec) -> app_commands.Command[Any, ..., None]:
        """A command as the library wants it: a function whose parameters are what the command takes."""

        async def run(interaction: Interaction, **given: Any) -> None:
            kinds = {one.name: one.kind for one in spec.arguments}
            people = [given[name] for name in given if kinds[name] is Kind.PERSON]
            words = [str(given[name] or "") for name in given if kinds[name] is not Kind.PERSON]
            await self._run(interaction, spec.name, words, next(iter(people), None))

        parameters = [Parameter("interaction", Parameter.POSITIONAL_ONLY, annotation=Interaction)]
        for one in spec.arguments:
            accepted = TYPES[one.kind] if one.required else TYPES[one.kind] | None
            default = Parameter.empty if one.required else None
            parameters.append(Parameter(one.name, Parameter.KEYWORD_ONLY, annotation=accepted, default=default))
        # The library reads what a command takes from its function's signature.
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        arguments = {one.name: one for one in spec.arguments}
        app_commands.describe(**{name: _translated(one.about) for name, one in arguments.items()})(run)
        app_commands.rename(**{name: _named(name, one.names) for name, one in arguments.items()})(run)
        app_commands.choices(**{name: _choices(one.kind) for name, one in arguments.items() if choices(one.kind)})(run)
        suggest = {name: self._suggest[one.kind] for name, one in arguments.items() if one.kind in self._suggest}
        app_commands.autocomplete(**suggest)(run)
        return Slash(
            name=_named(spec.name, spec.names),
            description=_localized(spec.title_in("en"), spec.title_in),
            callback=run,
            allowed_contexts=CONTEXTS[spec.where],
        )

    def _on_person(self, spec: CommandSpec) -> app_commands.ContextMenu:
        async def run(interaction: Interaction, user: discord.User) -> None:
            await self._run(interaction, spec.name, [], user)

        names = {language: name.capitalize() for language, name in spec.names.items()}
        return app_commands.ContextMenu(
            name=_named(spec.name.capitalize(), names), callback=run, allowed_contexts=CONTEXTS[spec.where]
        )

    # What may be chosen

    async def _targets(self, interaction: Interaction, begun: str) -> list[Choice[int]]:
        """What the chosen game is played to, or the one that is usual in this chat."""
        game = getattr(interaction.namespace, "game", None)
        if game not in GAMES:
            game = (await self.desk.house.people.chat(reading.place_of(interaction))).game
        found = [points for points in targets(game) if str(points).startswith(str(begun))]
        return [Choice(name=str(points), value=points) for points in (found or targets(game))][:MOST_CHOICES]

    async def _open_tables(self, interaction: Interaction, begun: str) -> list[Choice[str]]:
        """The tables of this chat that wait for players."""
        tables = await self.desk.house.tables_at(reading.place_of(interaction).partition("/")[0])
        return self._tables([table for table in tables if table.phase == "open"], interaction, begun)

    async def _own_tables(self, interaction: Interaction, begun: str) -> list[Choice[str]]:
        """The tables where this person plays."""
        tables = await self.desk.house.tables_of(reading.presser(interaction).id)
        return self._tables([table for table in tables if table.phase == "playing"], interaction, begun)

    @staticmethod
    def _tables(tables: list[Table], interaction: Interaction, begun: str) -> list[Choice[str]]:
        _ = texts(language_of(str(interaction.locale))).gettext
        choices = []
        for table in tables:
            names = ", ".join(chair.name for chair in table.chairs if chair)
            label = f"{table.code} · {_(GAMES[table.game_id].name)} · {names}"
            if begun.casefold() in label.casefold():
                choices.append(Choice(name=label[:100], value=table.code))
        return choices[:MOST_CHOICES]

    # Telling Discord

    async def bring_up_to_date(self) -> None:
        """Tell Discord of the commands, if they are not as it was told last; Trouble if it answers nonsense."""
        await self.tree.set_translator(Words())
        try:
            digest = await self._digest()
            client = self.desk.house.store.client
            field = str(self.tree.client.application_id)
            if (await client.hget(KNOWN, field) or b"").decode() != digest:
                if len(await self.tree.sync()) != len(self.tree.get_commands()):
                    raise Trouble("an answer without the commands")
                await client.hset(KNOWN, field, digest)
        except (discord.HTTPException, app_commands.AppCommandError) as error:
            # It is tried again at the next start.
            log.warning("discord_cannot", what="set commands", why=str(error)[:500])
        except STORE_FAULTS as error:
            self.desk.house.store.outage.begin(error)

    async def _digest(self) -> str:
        translator = self.tree.translator
        assert translator
        payload = [
            await command.get_translated_payload(self.tree, translator)
            for kind in (discord.AppCommandType.chat_input, discord.AppCommandType.user)
            for command in self.tree.get_commands(type=kind)
        ]
        return blake2b(json.dumps(payload, sort_keys=True).encode(), digest_size=8).hexdigest()
