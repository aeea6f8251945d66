"""The command `buongioco`."""

import asyncio
import os
import re
import sys
from contextlib import nullcontext
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from bot import logs
from bot.bench.engine import run as run_engine_bench
from bot.bench.presses import TABLES as PRESSES_TABLES
from bot.bench.presses import run as run_presses_bench
from bot.bench.store import run as run_store_bench
from bot.cli.archive import archive, export, rebuild
from bot.cli.backup import backup, restore
from bot.cli.doctor import examine
from bot.cli.files import records
from bot.cli.forget import forget
from bot.cli.play import TerminalTable
from bot.cli.progress import progress
from bot.cli.tables import tables_app
from bot.running import run as run_bot
from bot.settings import BadSetting, read_settings
from bot.simulation import simulate as simulate_game
from bot.store import StoreFault
from bot.story import story
from bot.supervisor import NothingToRun
from engine import GAMES, GameKind, Record, game_kind, verify
from engine.errors import BadRecord, EngineError, FaultyRecord
from engine.robots import ROBOTS
from engine.rules import Value, parse, resolve, spell


class Language(StrEnum):
    en = "en"
    it = "it"


# No pretty exceptions: they show local variables, and those hold hands and tokens.
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Italian trick-taking cards.",
)
BENCHES = "buongioco.benches"
"""The group of entry points that measure a platform: called with how many tables to hold."""

bench_app = typer.Typer(no_args_is_help=True, help="Measure, each figure beside its baseline.")
app.add_typer(bench_app, name="bench")


def main() -> None:
    """Run the command; a fault of the user's is one line on stderr. What it writes is for its user alone."""
    os.umask(0o077)
    try:
        app()
    except EngineError as error:
        typer.echo(f"buongioco: {error}", err=True)
        sys.exit(2)


@app.command()
def games() -> None:
    """List the games with their options, the values that each may take, and its default."""
    for kind in GAMES.values():
        typer.echo(f"{kind.id}: {kind.name}, {kind.seats} players")
        defaults = resolve(kind.rules, {}).model_dump()
        for name, values in kind.rules.choices().items():
            spelled = " | ".join(map(spell, values))
            note = f"(default {spell(defaults[name])})" if len(values) > 1 else "(fixed)"
            typer.echo(f"  {name} = {spelled}  {note}")
        typer.echo()


@app.command()
def simulate(
    game: Annotated[str, typer.Option(help="The game's id; `buongioco games` lists them.")],
    number: Annotated[int, typer.Option("--games", min=1, help="How many games.")] = 1,
    seed: Annotated[str, typer.Option(help="The same seed gives the same games.")] = "0",
    rules: Annotated[list[str] | None, typer.Option(help="Options, as name=value; several may follow.")] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="More options.")] = None,
    players: Annotated[str, typer.Option(help=f"{' or '.join(ROBOTS)}; or one for each seat, with commas.")] = "random",
    legal: Annotated[bool, typer.Option("--legal", help="Add to each move the list of legal moves.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write here instead of to the screen.")] = None,
) -> None:
    """Let robots play games and write their records, one a line."""
    kind = game_kind(game)
    options = _options(kind, rules, more)
    names = _players(kind, players)
    try:
        opened = out.open("w", encoding="utf-8") if out else nullcontext(sys.stdout)
    except OSError as error:
        raise typer.BadParameter(f"{out}: {error.strerror}", param_hint="--out") from None
    with opened as file, progress(number, game) as bar:
        for count in range(1, number + 1):
            record = simulate_game(game, options, names, f"{seed}/{game}/{count}", legal=legal)
            file.write(record.to_json() + "\n")
            bar.update(1)


def _options(kind: GameKind, *words: list[str] | None) -> dict[str, Value]:
    return parse(kind.rules, [word for some in words for several in some or [] for word in re.split("[, ]+", several)])


def _players(kind: GameKind, players: str) -> list[str]:
    names = players.split(",")
    for name in names:
        if name not in ROBOTS:
            raise typer.BadParameter(f"{name!r} is not one of: {', '.join(ROBOTS)}", param_hint="--players")
    if len(names) == 1:
        return names * kind.seats
    if len(names) != kind.seats:
        raise typer.BadParameter(f"{kind.id} has {kind.seats} seats", param_hint="--players")
    return names


ExistingFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE")]


@app.command(name="verify")
def verify_files(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...")],
) -> None:
    """Check records: shuffles, moves, lists of legal moves, scores and endings. Exit 1 if anything is wrong."""
    faults = sum(_verify_file(path) for path in files)
    if faults:
        raise typer.Exit(1)


def _verify_file(path: Path) -> int:
    number, faults, unfinished = 0, 0, 0
    with progress(path.stat().st_size, path.name) as bar:
        for number, record, size in records(path):
            fault = _fault_of(record)
            if fault:
                faults += 1
                typer.echo(f"{path}: game {number}, {fault}")
            elif isinstance(record, Record) and record.ending is None:
                unfinished += 1
            bar.update(size)
    if not number:
        faults = 1
        typer.echo(f"{path}: there is no game in it")
    notes = f", {unfinished} unfinished" if unfinished else ""
    games = "game" if number == 1 else "games"
    typer.echo(f"{path}: {number} {games}{notes}, {faults or 'no'} {'fault' if faults == 1 else 'faults'}")
    return faults


def _fault_of(record: Record | BadRecord) -> EngineError | None:
    if isinstance(record, BadRecord):
        return record
    try:
        verify(record)
    except FaultyRecord as fault:
        return fault
    return None


@app.command()
def replay(
    file: ExistingFile,
    game: Annotated[int, typer.Option(min=1, help="Which game of the file.")] = 1,
    deal: Annotated[int | None, typer.Option(min=1, help="Only this deal.")] = None,
    lang: Annotated[Language, typer.Option(help="en or it")] = Language.en,
    pause: Annotated[bool, typer.Option("--pause", help="Wait for Enter after each trick.")] = False,
) -> None:
    """Step through a game, card by card."""
    record = next((entry.record for entry in records(file) if entry.number == game), None)
    if record is None:
        raise typer.BadParameter(f"{file} has no game {game}", param_hint="--game")
    if isinstance(record, BadRecord):
        raise record
    if deal is not None and deal > len(record.deals):
        raise typer.BadParameter(f"the game has {len(record.deals)} deals", param_hint="--deal")
    for line, trick_over in story(record, deal, lang.value):
        typer.echo(line)
        if pause and trick_over:
            input()


@app.command()
def analyse(
    file: ExistingFile,
    game: Annotated[int, typer.Option(min=1, help="Which game of the file.")] = 1,
    lang: Annotated[Language, typer.Option(help="en or it")] = Language.en,
) -> None:
    """Say how well a game was played: points given away, and the costliest moves with what was better."""
    from bot.cli.analysis import analyse as analyse_file  # noqa: PLC0415 - what compiles searches is slow to import

    analyse_file(file, game, lang.value)


@app.command()
def play(
    game: Annotated[str, typer.Option(help="The game's id; `buongioco games` lists them.")] = "pizzichino",
    rules: Annotated[list[str] | None, typer.Option(help="Options, as name=value; several may follow.")] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="More options.")] = None,
    robot: Annotated[str, typer.Option(help=" or ".join(ROBOTS))] = "random",
    lang: Annotated[Language, typer.Option(help="en or it")] = Language.en,
) -> None:
    """Play a game here in the terminal against a robot."""
    kind = game_kind(game)
    TerminalTable(kind, _options(kind, rules, more), _players(kind, robot)[0], lang.value).run()


@app.command()
def run() -> None:
    """Run the bot: the playground in the browser, and every platform whose token is set."""
    try:
        settings = read_settings()
        logs.set_up(settings.log_level)
        asyncio.run(run_bot(settings))
    except (BadSetting, StoreFault, NothingToRun) as fault:
        typer.echo(f"buongioco: {fault}", err=True)
        raise typer.Exit(2) from None


@app.command()
def doctor() -> None:
    """Check settings and store, and say what to do about what is wrong. Exit 1 if anything is."""
    if not asyncio.run(_doctor()):
        raise typer.Exit(1)


async def _doctor() -> bool:
    try:
        settings = read_settings()
    except BadSetting as fault:
        typer.echo(f"wrong  {fault}")
        return False
    healthy = True
    async for well, line in examine(settings):
        typer.echo(f"{'ok' if well else 'wrong':6} {line}")
        healthy = healthy and well
    return healthy


app.command()(export)
app.command()(rebuild)
app.command()(archive)
app.command()(backup)
app.command()(restore)
app.add_typer(tables_app, name="tables")
app.command()(forget)


@bench_app.callback()
def bench() -> None:
    """Measure, each figure beside its baseline."""


@bench_app.command(name="engine")
def bench_engine() -> None:
    """Playouts and moves a second, copying, loading and record sizes."""
    run_engine_bench()


@bench_app.command(name="store")
def bench_store() -> None:
    """What a live table weighs in the store, and presses committed a second."""
    run_store_bench()


@bench_app.command(name="scale")
def bench_scale() -> None:
    """One, two and three workers on one node and on a cluster: presses a second, CPU a press, p99."""
    from bot.bench.scale import run as run_scale_bench  # noqa: PLC0415 - as above

    run_scale_bench()


@bench_app.command(name="robots")
def bench_robots(
    game: Annotated[list[str] | None, typer.Option(help="Only this game; several may follow.")] = None,
    deals: Annotated[int, typer.Option(min=0, help="How many packs, each played twice with seats swapped.")] = 100,
    games: Annotated[
        int | None, typer.Option(min=0, help="How many games to the usual target; without it one for each ten packs.")
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option(help="Only this pair, as in strong:medium; several may follow.")
    ] = None,
) -> None:
    """Levels of robots against each other and two references: points a deal, games won, CPU a move."""
    from bot.bench import robots  # noqa: PLC0415 - as above

    known = {":".join(names): names for names in robots.PAIRS}
    if wrong := [one for one in pair or () if one not in known]:
        typer.echo(f"There is no pair {wrong[0]!r}; there are: {', '.join(known)}.", err=True)
        raise typer.Exit(2)
    if not deals and not games:
        typer.echo("Nothing to play: --deals or --games must be more than 0.", err=True)
        raise typer.Exit(2)
    pairs = [known[one] for one in pair] if pair else robots.PAIRS
    robots.run([game_kind(one).id for one in game or GAMES], deals, games, pairs)


@bench_app.command(name="solver")
def bench_solver() -> None:
    """Exact solves of random endings, beside plain alpha-beta."""
    from bot.bench.solver import run as run_solver_bench  # noqa: PLC0415 - as above

    run_solver_bench()


@bench_app.command(name="presses")
def bench_presses(
    tables: Annotated[list[int] | None, typer.Option(min=10, help="How many live tables; several may follow.")] = None,
    adapter: Annotated[str, typer.Option(help="A platform, to whose server the whole bot speaks over HTTP.")] = "",
) -> None:
    """Presses a second through bot and store, and how long one takes from press to panel."""
    benches = {entry.name: entry for entry in entry_points(group=BENCHES)}
    if not adapter:
        run_presses_bench(tuple(tables) if tables else PRESSES_TABLES)
    elif adapter in benches:
        benches[adapter].load()(tuple(tables or ()))
    else:
        typer.echo(f"There is no bench for {adapter!r}; there are: {', '.join(sorted(benches))}.", err=True)
        raise typer.Exit(2)
