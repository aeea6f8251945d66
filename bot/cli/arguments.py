"""Arguments of several commands."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from engine import GameKind
from engine.robots import ROBOTS
from engine.rules import Value, parse_options

ExistingFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE")]
GameId = Annotated[str, typer.Option(help="The game's id; `buongioco games` lists them.")]
Rules = Annotated[list[str] | None, typer.Option(help="Options, as name=value. Can be repeated.")]
MoreRules = Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="More options.")]


class Language(StrEnum):
    en = "en"
    it = "it"


def options_of(kind: GameKind, *words: list[str] | None) -> dict[str, Value]:
    return parse_options(
        kind.rules, [word for some in words for several in some or [] for word in re.split("[, ]+", several)]
    )


def players_of(kind: GameKind, players: str) -> list[str]:
    """Return a robot level for each seat. BadParameter for unknown levels or a wrong number of them."""
    names = players.split(",")
    for name in names:
        if name not in ROBOTS:
            raise typer.BadParameter(f"{name!r} is not one of: {', '.join(ROBOTS)}", param_hint="--players")
    if len(names) == 1:
        return names * kind.seats
    if len(names) != kind.seats:
        raise typer.BadParameter(f"{kind.id} has {kind.seats} seats", param_hint="--players")
    return names


UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}  # seconds


def parse_duration(text: str) -> int:
    """Return the seconds of a duration such as ``24h``, ``365d`` or ``12w``; ValueError for any other text."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([hdw])", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a duration. Write hours, days or weeks: 24h, 365d or 12w.")
    return int(found[1]) * UNITS[found[2]]
