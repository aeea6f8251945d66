"""`buongioco forget PERSON`: what /forget does, for the host."""

import asyncio
import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.asking import counted, is_meant
from bot.cli.errors import told
from bot.cli.stores import beside
from bot.finished.archive import Archive, UnreadableGame
from bot.finished.file import filed, rewrite
from bot.finished.ratings import Ratings
from bot.people import People
from bot.platform import private_place
from bot.privacy.forgetting import Forgetter, Forgotten
from bot.privacy.kept import read_kept
from bot.settings import Settings, read_settings
from bot.somebody import PLATFORM, marks
from bot.store import Store, keys, schema
from bot.tables.room import Room

PERSON = re.compile(r"[a-z][a-z0-9_-]*:[^\s:@~!/]+")


class NobodyToForget(Exception):
    """There is no such person; the text says what was wrong."""


def forget(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="As platform:id, such as telegram:42.")],
    file: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="In this file of `buongioco archive` too; several may follow."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether that is meant.")] = False,
) -> None:
    """Forget a person who asks for it, also while the bot is running. It cannot be taken back."""
    if not yes and not is_meant(f"Forget {person} for good, and resign the games where they sit? (--yes does not ask)"):
        raise typer.Exit(1)
    with told():
        settings = read_settings()
        try:
            done, is_running = asyncio.run(_forget(settings, person, file or []))
        except NobodyToForget as error:
            raise typer.BadParameter(str(error), param_hint="PERSON") from None
        except (UnreadableGame, OSError) as error:
            raise typer.BadParameter(str(error), param_hint="--file") from None
    found = [counted(done.games, "game"), counted(done.scopes, "rating"), counted(done.tables, "table")]
    where = f"The store is {settings.store_place}."
    typer.echo(f"{person} is forgotten, and was named in {found[0]}, {found[1]} and {found[2]}. {where}")
    if is_running:
        typer.echo("The running bot looks once more in a minute.")


async def _forget(settings: Settings, person: str, files: list[Path]) -> tuple[Forgotten, bool]:
    """What came of it, and whether a running bot looks once more for what comes late."""
    if not PERSON.fullmatch(person) or person.startswith(("robot:", f"{PLATFORM}:")):
        raise NobodyToForget(f"{person!r} is no person: write platform:id, such as telegram:42.")
    async with beside(settings) as client:
        await schema.check(client)
        store = Store(client)
        if not await _is_known(client, person) and not any(_has_played(person, path) for path in files):
            raise NobodyToForget(f"Nothing is kept of {person} in the store {settings.store_place}.")
        words: list[dict[str, Any]] = []
        forgetter = _forgetter(store, words)
        mark = await forgetter.begin(person)
        # While it is known who stands in their place.
        for path in files:
            rewrite(path, lambda one: one.game and one.game.without(person, mark.somebody))
        done = await forgetter.forget(person, mark)
        for word in words:
            await client.publish(keys.NOTIFICATIONS, json.dumps(word))
        is_running = await store.attendance.alive() > 0
        if not is_running:
            await forgetter.finish(person, (await marks(client))[person])
        return done, is_running


def _has_played(person: str, path: Path) -> bool:
    return any((game := one.read().game) and person in game.people for one in filed(path))


def _forgetter(store: Store, words: list[dict[str, Any]]) -> Forgetter:
    """Forgets in this store; ``words`` gathers what workers are to be told."""
    room, archive = Room(store), Archive(store.client)

    async def tell(key: str) -> None:
        words.append({"forget": key, "by": ""})

    return Forgetter(room, People(store.client), archive, Ratings(store.client, archive), tell)


async def _is_known(client: Any, person: str) -> bool:
    about = [keys.person, keys.games_of, keys.named, keys.seated, keys.last_game]
    for key in [*(name(person) for name in about), keys.chat(private_place(person))]:
        if await client.exists(key):
            return True
    return person in await marks(client) or bool(await read_kept(client, person))
