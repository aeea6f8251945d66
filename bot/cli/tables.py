"""`buongioco tables`: list live tables, show one, end one. Unreadable tournaments are listed and ended here too."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from typing import Annotated

import typer

from bot.cli.arguments import parse_duration
from bot.cli.output import confirm, format_count, say
from bot.cli.store_commands import open_store_client, store_command
from bot.delivery.message_state import decode_state
from bot.features.tournaments.store import Tournaments
from bot.store import Store, keys
from bot.store.entries import Move, decode, encode
from bot.store.entry_text import UnreadableEntry
from bot.store.log import strip_stamp
from bot.tables import Room, Table
from bot.tables.errors import NoSuchTable
from engine.shuffle import SECRET_BYTES

LAST_ENTRIES = 12  # entries of a log that `show` prints
SECRET = re.compile(f"[0-9a-f]{{{2 * SECRET_BYTES},}}")  # a deal's secret, also in entries of other releases
SECRET_CHOICE = re.compile("(take|hold|exchange) ")  # moves with a choice that only the player knows

tables_app = typer.Typer(add_completion=False, help="Live tables: list them, show one, end one.")


class State(StrEnum):
    open = "open"
    playing = "playing"
    over = "over"
    closed = "closed"
    unreadable = "unreadable"


@asynccontextmanager
async def _open_room() -> AsyncIterator[Room]:
    async with open_store_client() as client:
        yield Room(Store(client))


@tables_app.callback(invoke_without_command=True)
@store_command
async def list_tables(
    context: typer.Context,
    state: Annotated[State | None, typer.Option(help="Only tables in this state.")] = None,
    idle: Annotated[
        int | None,
        typer.Option(
            parser=parse_duration, metavar="TEXT", help="Only tables idle for at least this time: 24h, 7d, 2w."
        ),
    ] = None,
) -> None:
    """List live tables, longest idle first: code, state, age, idle time, game, players. Then unreadable tournaments.

    Idle time starts at the last press or the last new message at a table. Listing changes nothing.
    """
    if context.invoked_subcommand:
        return
    now, lines = time.time(), []
    async with _open_room() as room:
        async for key in room.store.client.scan_iter("{s*}:table:*"):
            code = key.decode().rpartition(":")[2]
            try:
                table = await room.load(code)
            except NoSuchTable:
                continue
            opened_at = await _opened_at(room.store, table)
            states = await room.store.load_shown(code)
            last_seen = max((decode_state(text).seen_at for text in states.values()), default=0)
            # If no message was sent yet, only the opening time is known, and sometimes not even that.
            seconds = now - (last_seen or opened_at)
            if state in (None, table.phase) and seconds >= (idle or 0):
                idle_time = f"idle {format_age(seconds)}" if seconds < now else "idle unknown"
                age = f"{format_age(now - opened_at)} old" if opened_at else "age unknown"
                columns = f"{code:8}{table.phase:12}{age:16}{idle_time:16}{table.game_id:13}"
                lines.append((seconds, columns + _player_names(table)))
        tournaments = await Tournaments(room.store).unreadable_codes() if state in (None, State.unreadable) else {}
    for _, line in sorted(lines, reverse=True):
        say(line)
    for code, since in tournaments.items():
        age = f"{format_age(now - since)} old"
        say(f"{code:8}{State.unreadable:12}{age:16}{'idle unknown':16}tournament")
    say(format_count(len(lines), "table"), err=True)
    if tournaments:
        say(format_count(len(tournaments), "tournament"), err=True)


async def _opened_at(store: Store, table: Table) -> int:
    """Return when the first person at a table sat down, in Unix seconds; 0 if unknown."""
    seated_times = []
    for chair in table.chairs:
        if chair and not chair.is_robot:
            token = (await store.index.entries(keys.tables_of_person(chair.person))).get(table.code, "0")
            seated_times.append(int(token.partition(".")[0]))
    return min(filter(None, seated_times), default=0)


def _player_names(table: Table) -> str:
    return ", ".join(chair.name if chair else "nobody" for chair in table.chairs)


def format_age(seconds: float) -> str:
    """Format a time in the largest unit of which it has at least two."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}"
    return f"{max(0, int(seconds))} s"


Code = Annotated[str, typer.Argument(metavar="CODE", help="The table's code, as `buongioco tables` lists it.")]


@tables_app.command()
@store_command
async def show(code: Code) -> None:
    """Show one table: seats, game, rules, and the end of its log."""
    code = code.upper()
    async with _open_room() as room:
        table = await room.load(code)
    say(f"table {code}: {table.phase}, version {table.version}")
    if table.error:
        say(f"cannot be read: {table.error}. Its last readable state follows.")
    say(f"game: {table.game_id or 'unknown'}")
    for seat, chair in enumerate(table.chairs):
        say(f"seat {seat}: {f'{chair.name} ({chair.person})' if chair else 'nobody'}")
    for seat, chair in table.asking.items():
        say(f"asks for seat {seat}: {chair.name} ({chair.person})")
    say(f"shown in: {', '.join(table.hosts) or 'no chat'}")
    say(f"clock: {table.clock} s a move, {'strict' if table.strict else 'lax'}{f', {table.alarm}' * bool(table.alarm)}")
    if table.game:
        rules = table.game.rules.model_dump()
        say(f"rules: {' '.join(f'{name}={value}' for name, value in rules.items())}")
        say(f"deal {table.game.deal_number}, totals {' : '.join(map(str, table.game.totals))}, turn {table.game.turn}")
    entries = table.log.entries[-LAST_ENTRIES:]
    say(f"the last {len(entries)} entries:")
    for number, entry in enumerate(entries, table.version - len(entries) + 1):
        say(f"  {number}  {format_entry(entry)}")


def format_entry(entry: bytes) -> str:
    """Format an entry without its stamp and without secrets of a deal: the pack, and a player's choice of cards."""
    text = strip_stamp(entry).decode(errors="backslashreplace")
    with suppress(UnreadableEntry):
        decoded = decode(text)
        if isinstance(decoded, Move) and (secret_choice := SECRET_CHOICE.match(decoded.move)):
            text = encode(Move(decoded.seat, f"{secret_choice[1]} …"))
    text = SECRET.sub("…", text)
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


@tables_app.command()
@store_command
async def close(
    code: Code, yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False
) -> None:
    """End one table. A challenge is withdrawn, a game is cancelled with no winner, an unreadable table is deleted.

    An unreadable tournament is called off.
    """
    code = code.upper()
    async with _open_room() as room:
        try:
            table = await room.load(code)
        except NoSuchTable:
            tournaments = Tournaments(room.store)
            if code not in await tournaments.unreadable_codes():
                raise
            if not yes:
                confirm(f"Call off the unreadable tournament {code}?")
            await tournaments.call_off_unreadable(code, f"close {code}")
            say(f"tournament {code} is called off; its card says so within a minute, or at the bot's next start")
            return
        summary = f"{table.phase}, {table.game_id or 'unknown game'}, {_player_names(table) or 'nobody known'}"
        if not yes:
            confirm(f"End table {code} ({summary})?")
        if table.error:
            await room.remove(table)
            say(f"table {code} was unreadable and is deleted")
            return
        await room.close(code, f"close {code}")
        say(f"table {code} is ended; the bot tells its players and chats within seconds, or at its next start")
