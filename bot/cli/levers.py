"""The host's levers: bans, announcements and maintenance. A running bot follows within seconds."""

import getpass
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from bot.cli.arguments import parse_duration
from bot.cli.output import format_count, format_time, say
from bot.cli.person import PERSON_HELP, check_person, find_person_id
from bot.cli.store_commands import open_store_client, store_command
from bot.identity.names import JOINERS
from bot.settings_reader import read_settings
from bot.store import Store, keys
from bot.store.folder import is_locked
from bot.store.levers import Levers

LONGEST_TEXT = 200  # characters of an announcement: a board with a picture has 1,024 for everything

PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", parser=check_person, help=PERSON_HELP)]


class Switch(StrEnum):
    on = "on"
    off = "off"


@asynccontextmanager
async def _open_levers() -> AsyncIterator[tuple[Levers, Any]]:
    """Yield the current levers and the store's client. Afterwards say if no bot can follow, as in the wrong folder."""
    settings = read_settings()
    has_bot = bool(settings.redis_url) or is_locked(settings.data)
    async with open_store_client(settings) as client:
        levers = Store(client).levers
        await levers.refresh()
        yield levers, client
    if not has_bot:
        say(f"No bot is running with the data folder {settings.data}.", err=True)


def _account_name() -> str:
    """Return the name of the account that gives the command."""
    return os.environ.get("SUDO_USER") or getpass.getuser()


def _parse_text(text: str) -> str:
    """Return a text for players in one line. Raises BadParameter if it is too long or has control characters."""
    line = " ".join(text.split())
    if not all(char.isprintable() or char in JOINERS for char in line):
        raise typer.BadParameter("it has characters that cannot be shown.")
    if len(line) > LONGEST_TEXT:
        raise typer.BadParameter(f"it has {len(line)} characters, and {LONGEST_TEXT} fit.")
    return line


Text = Annotated[str, typer.Argument(metavar="[TEXT]", parser=_parse_text, help="The text for players, in one line.")]


@store_command
async def ban(
    person: PersonArgument,
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The day on which it ends, at 0:00 UTC.")
    ] = None,
    length: Annotated[
        int | None, typer.Option("--for", parser=parse_duration, metavar="TEXT", help="Its length: 24h, 7d, 12w.")
    ] = None,
    reason: Annotated[
        str, typer.Option(parser=_parse_text, metavar="TEXT", help="For your own list. Players never see it.")
    ] = "",
) -> None:
    """Ban a person from this bot. They leave their tables: running games are resigned. `unban` ends it."""
    if until and length:
        raise typer.BadParameter("--until and --for exclude each other.", param_hint="--until")
    now = time.time()
    ends_at = int(until.replace(tzinfo=UTC).timestamp()) if until else int(now + length) if length else 0
    if ends_at and ends_at <= now:
        raise typer.BadParameter("this day has begun.", param_hint="--until")
    if person.startswith("robot:"):
        raise typer.BadParameter(f"{person} is not a person.", param_hint="PERSON")
    async with _open_levers() as (levers, client):
        person = await find_person_id(client, person, "PERSON")
        await levers.ban(person, _account_name(), ends_at, reason)
        person_text = await _name(client, person)
    say(f"{person_text} is banned {_format_end(ends_at)}.")


@store_command
async def unban(person: PersonArgument) -> None:
    """End a person's ban."""
    async with _open_levers() as (levers, client):
        person = await find_person_id(client, person, "PERSON")
        if not await levers.unban(person, _account_name()):
            raise typer.BadParameter(f"{person} is not banned.", param_hint="PERSON")
        person_text = await _name(client, person)
    say(f"{person_text} is no longer banned.")


@store_command
async def bans() -> None:
    """List the bans, newest first: since when, until when, the person, your reason."""
    async with _open_levers() as (levers, client):
        bans_by_person = sorted(levers.bans.items(), key=lambda item: -item[1].since)
        named_bans = [(await _name(client, person), ban) for person, ban in bans_by_person]
    for person_text, ban in named_bans:
        columns = format_time(ban.since), f"{_format_end(ban.until):26}", person_text, ban.reason
        say("  ".join(filter(None, columns)))
    say(format_count(len(named_bans), "ban"), err=True)


@store_command
async def announce(
    text: Text = "",
    end: Annotated[bool, typer.Option("--end", help="Withdraw the announcement.")] = False,
) -> None:
    """Show a line below every board in groups and on every page, until you end it. Without TEXT, print it.

    There is one announcement at a time: a new one replaces the last.
    """
    if end and text:
        raise typer.BadParameter("--end needs no text.", param_hint="TEXT")
    async with _open_levers() as (levers, _client):
        if end:
            if not await levers.end_announcement(_account_name()):
                raise typer.BadParameter("There is no announcement.", param_hint="--end")
            say("The announcement is withdrawn.")
        elif text:
            await levers.announce(text, _account_name())
            say(f"Announced: {text}")
        elif notice := levers.announcement:
            say(f"{format_time(notice.since)}  {notice.text}")
        else:
            say("There is no announcement.")


@store_command
async def maintenance(
    switch: Annotated[Switch | None, typer.Argument(help="Without this argument, print the state.")] = None,
    text: Text = "",
) -> None:
    """Allow no new tables, or allow them again. Running games go on. Players who open a table read TEXT."""
    if text and switch is not Switch.on:
        raise typer.BadParameter("Only `on` takes a text.", param_hint="TEXT")
    async with _open_levers() as (levers, _client):
        if switch is Switch.on:
            await levers.begin_maintenance(text, _account_name())
            say("Maintenance is on: no new tables, and running games go on.")
        elif switch is Switch.off:
            if not await levers.end_maintenance(_account_name()):
                raise typer.BadParameter("Maintenance is off already.", param_hint="off")
            say("Maintenance is off.")
        elif notice := levers.maintenance:
            say(f"on since {format_time(notice.since)}  {notice.text}".rstrip())
        else:
            say("off")


@store_command
async def log() -> None:
    """List the changes by `ban`, `unban`, `announce` and `maintenance`, newest first: when, who, what."""
    async with _open_levers() as (levers, client):
        pulls = (await levers.pulls())[::-1]
        named_pulls = [(pull, await _name(client, pull.person) if pull.person else "") for pull in pulls]
    for pull, person_text in named_pulls:
        end_text = _format_end(pull.until) if pull.lever == "ban" else ""
        columns = format_time(pull.at), f"{pull.by:12}", pull.lever, person_text, end_text, pull.text
        say("  ".join(filter(None, columns)))
    say(format_count(len(named_pulls), "line"), err=True)


async def _name(client: Any, person: str) -> str:
    name = ((await client.hget(keys.person(person), "name")) or b"").decode()
    return f"{name} ({person})" if name else person


def _format_end(until: int) -> str:
    return f"until {format_time(until)} UTC" if until else "without end"
