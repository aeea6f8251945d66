"""`buongioco forget PERSON`: the host's /forget."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from redis.exceptions import ResponseError

from bot.cli.output import confirm, format_count, say
from bot.cli.person import PERSON_HELP, check_person, find_person_id
from bot.cli.store_commands import open_store_client, report_errors
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.forgetting import ForgetResult
from bot.features.privacy.rewrite_schedule import rewrite_if_due
from bot.finished.archive_file import read_entries, rewrite_file
from bot.finished.game import UnreadableGame
from bot.identity.adapter_data import read_adapter_data
from bot.identity.pseudonyms import forgetting_marks
from bot.platform import PSEUDONYM_PLATFORM, private_place
from bot.settings import Settings
from bot.settings_reader import read_settings
from bot.store import Store, keys
from bot.store.outage import describe_error
from bot.store.rewriting import RewriteFailed
from bot.worker import Worker

NOT_REWRITTEN = (
    "The store's append-only file was not rewritten ({fault}), so it still holds what was deleted. "
    "docs/hosting-operate.md says what to do."
)


def forget(
    person: Annotated[str, typer.Argument(metavar="PERSON", parser=check_person, help=PERSON_HELP)],
    file: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True, dir_okay=False, help="Also forget them in this file of `buongioco archive`. Can be repeated."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Forget a person who asks for it. Works while the bot is running. It cannot be undone."""
    files = file or []
    with report_errors():
        try:
            settings = read_settings()
            person, name = asyncio.run(_find_person(settings, person, files))
            if not yes:
                description = f"{name} ({person})" if name else person
                confirm(f"Forget {description} permanently, and resign their running games?")
            result, is_running, error_description = asyncio.run(_forget(settings, person, files))
        except (UnreadableGame, OSError) as error:
            raise typer.BadParameter(str(error), param_hint="--file") from None
    games, ratings = format_count(result.games, "game"), format_count(result.ratings, "rating")
    places = f"{games}, {ratings} and {format_count(result.tables, 'table')}"
    say(f"{person} is forgotten, and was named in {places}. The store is {settings.store_location}.")
    if is_running:
        say("The running bot checks once more in a minute. Then it rewrites the store's append-only file.")
    if error_description:
        say(NOT_REWRITTEN.format(fault=error_description), err=True)


async def _find_person(settings: Settings, text: str, files: list[Path]) -> tuple[str, str]:
    """Return the id and, if known, the name of the person to forget.

    Raises BadParameter if no data is kept about them.
    """
    if text.startswith(("robot:", f"{PSEUDONYM_PLATFORM}:")):
        raise typer.BadParameter(f"{text} is not a person: no data is kept about it.", param_hint="PERSON")
    async with open_store_client(settings) as client:
        person = await find_person_id(client, text, "PERSON")
        entries = (entry.read() for path in files for entry in read_entries(path))
        if not await _is_known(client, person) and not any(game and person in game.people for *_, game in entries):
            raise typer.BadParameter(
                f"No data about {person} is kept in the store {settings.store_location}.", param_hint="PERSON"
            )
        return person, ((await client.hget(keys.person(person), "name")) or b"").decode()


async def _forget(settings: Settings, person: str, files: list[Path]) -> tuple[ForgetResult, bool, str]:
    """Return the result, whether a running bot finishes the work, and why the store's file was not rewritten.

    The reason is empty if the file was rewritten or the bot will rewrite it.
    """
    async with open_store_client(settings) as client:
        store = Store(client)
        forgetter = Worker(store, settings).feature(PrivacyFeature).forgetter
        mark = await forgetter.begin(person)
        # Rewrite the files while the forgetting mark exists, because it has the pseudonym.
        for path in files:
            rewrite_file(path, lambda entry: entry.game and entry.game.redact(person, mark.pseudonym))
        result = await forgetter.forget(person, mark)
        is_running = await store.leases.count_workers() > 0
        if is_running:
            return result, True, ""
        await forgetter.finish(person, (await forgetting_marks(client))[person])
        try:
            await rewrite_if_due(store)
        except (ResponseError, RewriteFailed) as error:
            return result, False, describe_error(error)
        return result, False, ""


async def _is_known(client: Any, person: str) -> bool:
    personal = [keys.person, keys.games_of, keys.tables_naming, keys.tables_of_person, keys.last_game, keys.scopes]
    for key in [*(make_key(person) for make_key in personal), keys.chat(private_place(person))]:
        if await client.exists(key):
            return True
    return person in await forgetting_marks(client) or bool(await read_adapter_data(client, person))
