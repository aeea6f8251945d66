"""Arguments of several commands."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from engine import GameKind
from engine.options import Value, parse_options
from engine.robots import ROBOTS

ExistingFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE")]
GameId = Annotated[str, typer.Option(help="The game's id; `buongioco games` lists them.")]
Rules = Annotated[list[str] | None, typer.Option(help="Options, as name=value. Can be repeated.")]
MoreRules = Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="More options.")]


class Language(StrEnum):
    en = "en"
    it = "it"


def options_of(kind: GameKind, rules: list[str] | None, more: list[str] | None) -> dict[str, Value]:
    """Parse options, given as ``name=value``. A word can hold several, separated by commas or spaces."""
    words = [*(rules or []), *(more or [])]
    return parse_options(kind.rules, [option for word in words for option in re.split("[, ]+", word)])


def robots_of(kind: GameKind, players: str) -> list[str]:
    """Return a robot level for each seat. Raises BadParameter for unknown levels or the wrong number of levels."""
    levels = players.split(",")
    for level in levels:
        if level not in ROBOTS:
            raise typer.BadParameter(f"{level!r} is not one of: {', '.join(ROBOTS)}", param_hint="--players")
    if len(levels) not in (1, kind.seats):
        raise typer.BadParameter(f"{kind.id} has {kind.seats} seats", param_hint="--players")
    return levels if len(levels) == kind.seats else levels * kind.seats


UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}  # seconds


def parse_duration(text: str) -> int:
    """Return the seconds of a duration such as ``24h``, ``365d`` or ``12w``. Raises BadParameter for any other text."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})([hdw])", text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a duration. Write hours, days or weeks: 24h, 365d or 12w.")
    return int(match[1]) * UNITS[match[2]]
