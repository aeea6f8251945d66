"""Slash commands: their words in both languages, what may be chosen, and what they mean to the desk."""

import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.app_commands import Choice, TranslationContextTypes, locale_str

from adapters.discord import reading
from adapters.discord.faults import NO_ANSWER
from adapters.discord.reading import Interaction
from bot.desk import Desk
from bot.desk.commands import targets
from bot.panels.rules import FAIR
from bot.people import language_of
from bot.platform import Trouble
from bot.store import STORE_FAULTS
from bot.tables.table import Table
from bot.texts import marked as _
from bot.texts import texts
from engine import GAMES

KNOWN = "discord:commands"
"""A hash: what was set last, by application."""

MOST_CHOICES = 25

Run = Callable[[Interaction, str, Iterable[str], discord.User | None], Awaitable[None]]
"""What carries a command out: the interaction, its word, the words behind it, and the person that it is about."""

log = structlog.get_logger()


NAMES = {
    "challenge": "sfida",
    "join": "entra",
    "hand": "mano",
    "tables": "tavoli",
    "leaderboard": "classifica",
    "stats": "statistiche",
    "rules": "regole",
    "settings": "impostazioni",
    "resign": "resa",
    "analyse": "analisi",
    "mydata": "mieidati",
    "forget": "dimenticami",
    "help": "aiuto",
    "opponent": "avversario",
    "player": "giocatore",
    "game": "gioco",
    "target": "punti",
    "table": "tavolo",
    "about": "argomento",
    "Challenge": "Sfida",
}
"""Words of commands and of what they take, in Italian."""

OPEN = _("Open a table: for a friend, or for whoever comes")
JOIN = _("Sit down at a table, from any chat")
HAND = _("Show me my cards here, for my eyes only")
TABLES = _("Where I sit")
LEADERBOARD = _("Who is best")
STATS = _("How somebody plays")
RULES = _("How a game is played")
SETTINGS = _("Language, suits, clock")
RESIGN = _("Give a game up")
ANALYSE = _("What my last game could have been")
MYDATA = _("What I keep of you, as a file")
FORGET = _("Forget me; asks first")
HELP = _("What I can do")
WHO = _("Whom you challenge; nobody, and whoever wants to may accept")
WHICH = _("Which game")
UP_TO = _("Points to win")
CODE = _("The table's code")
WHOSE = _("Whose games; your own if you leave it out")
FAIRNESS = _("Fair shuffles")


class Words(app_commands.Translator):
    """Italian for Discord: names from the list above, everything else from the catalogue."""

    async def translate(
        self, string: locale_str, locale: discord.Locale, context: TranslationContextTypes
    ) -> str | None:
        if locale is not discord.Locale.italian:
            return None
        return NAMES.get(string.message) or texts("it").gettext(string.message)


def games() -> list[Choice[str]]:
    return [Choice(name=locale_str(kind.name), value=kind.id) for kind in GAMES.values()]


class Commands:
    """The commands, as the library's tree; each comes down to a word and words, which ``run`` carries out."""

    def __init__(self, client: discord.Client, desk: Desk, run: Run) -> None:
        self.desk, self._run = desk, run
        self.tree = app_commands.CommandTree(
            client,
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=True),
        )
        self.tree.error(self._failed)
        for command in self._all():
            self.tree.add_command(command)

    async def _failed(self, interaction: Interaction, error: app_commands.AppCommandError) -> None:
        """A command that is none of ours, or no more as Discord knows it, is answered as any other."""
        log.warning("discord_command_unreadable", why=type(error).__name__)
        if interaction.type is discord.InteractionType.autocomplete:
            with suppress(*NO_ANSWER):
                await interaction.response.autocomplete([])
        else:
            data: Any = interaction.data or {}
            await self._run(interaction, str(data.get("name", "")), [], None)

    def _all(self) -> Iterable[app_commands.Command[Any, ..., None] | app_commands.ContextMenu]:
        game = app_commands.choices(game=games())

        @app_commands.describe(opponent=locale_str(WHO), game=locale_str(WHICH), target=locale_str(UP_TO))
        @app_commands.rename(**_names("opponent", "game", "target"))
        @app_commands.autocomplete(target=self._targets)
        @game
        async def challenge(
            interaction: Interaction,
            opponent: discord.User | None = None,
            game: str | None = None,
            target: app_commands.Range[int, 1, 9999] | None = None,
        ) -> None:
            words = [game or "", str(target) if target else ""]
            await self._run(interaction, "challenge", words, opponent)

        @app_commands.describe(table=locale_str(CODE))
        @app_commands.rename(**_names("table"))
        @app_commands.autocomplete(table=self._open_tables)
        async def join(interaction: Interaction, table: app_commands.Range[str, 4, 8]) -> None:
            await self._run(interaction, "join", [table], None)

        @app_commands.describe(table=locale_str(CODE))
        @app_commands.rename(**_names("table"))
        @app_commands.autocomplete(table=self._own_tables)
        async def hand(interaction: Interaction, table: app_commands.Range[str, 4, 8] | None = None) -> None:
            await self._run(interaction, "hand", [table or ""], None)

        @app_commands.describe(table=locale_str(CODE))
        @app_commands.rename(**_names("table"))
        @app_commands.autocomplete(table=self._own_tables)
        async def resign(interaction: Interaction, table: app_commands.Range[str, 4, 8] | None = None) -> None:
            await self._run(interaction, "resign", [table or ""], None)

        @app_commands.describe(game=locale_str(WHICH))
        @app_commands.rename(**_names("game"))
        @game
        async def leaderboard(interaction: Interaction, game: str | None = None) -> None:
            await self._run(interaction, "leaderboard", [game or ""], None)

        @app_commands.describe(player=locale_str(WHOSE))
        @app_commands.rename(**_names("player"))
        async def stats(interaction: Interaction, player: discord.User | None = None) -> None:
            await self._run(interaction, "stats", [], player)

        @app_commands.describe(about=locale_str(WHICH))
        @app_commands.rename(**_names("about"))
        @app_commands.choices(about=[*games(), Choice(name=locale_str(FAIRNESS), value=FAIR)])
        async def rules(interaction: Interaction, about: str | None = None) -> None:
            await self._run(interaction, "rules", [about or ""], None)

        async def tables(interaction: Interaction) -> None:
            await self._run(interaction, "tables", [], None)

        async def analyse(interaction: Interaction) -> None:
            await self._run(interaction, "analyse", [], None)

        async def mydata(interaction: Interaction) -> None:
            await self._run(interaction, "mydata", [], None)

        async def forget(interaction: Interaction) -> None:
            await self._run(interaction, "forget", [], None)

        async def settings(interaction: Interaction) -> None:
            await self._run(interaction, "settings", [], None)

        async def help(interaction: Interaction) -> None:  # noqa: A001
            await self._run(interaction, "help", [], None)

        async def challenge_them(interaction: Interaction, user: discord.User) -> None:
            await self._run(interaction, "challenge", [], user)

        about: dict[Any, str] = {
            challenge: OPEN,
            join: JOIN,
            hand: HAND,
            tables: TABLES,
            leaderboard: LEADERBOARD,
            stats: STATS,
            rules: RULES,
            settings: SETTINGS,
            resign: RESIGN,
            analyse: ANALYSE,
            mydata: MYDATA,
            forget: FORGET,
            help: HELP,
        }
        for callback, text in about.items():
            yield app_commands.Command(
                name=locale_str(callback.__name__), description=locale_str(text), callback=callback
            )
        yield app_commands.ContextMenu(name=locale_str("Challenge"), callback=challenge_them)

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
        return self._choices([table for table in tables if table.phase == "open"], interaction, begun)

    async def _own_tables(self, interaction: Interaction, begun: str) -> list[Choice[str]]:
        """The tables where this person plays."""
        tables = await self.desk.house.tables_of(reading.presser(interaction).id)
        return self._choices([table for table in tables if table.phase == "playing"], interaction, begun)

    @staticmethod
    def _choices(tables: list[Table], interaction: Interaction, begun: str) -> list[Choice[str]]:
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


def _names(*parameters: str) -> dict[str, locale_str]:
    return {name: locale_str(name) for name in parameters}
