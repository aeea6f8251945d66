"""`buongioco games`: the games and their options."""

from bot.cli.output import say
from engine.games import GAMES
from engine.options import format_value, resolve


def games() -> None:
    """List the games with their options, possible values and defaults."""
    for kind in GAMES.values():
        say(f"{kind.id}: {kind.name}, {kind.seats} players")
        defaults = resolve(kind.rules, {}).model_dump()
        for name, values in kind.rules.choices().items():
            values_text = " | ".join(map(format_value, values))
            note = f"(default {format_value(defaults[name])})" if len(values) > 1 else "(fixed)"
            say(f"  {name} = {values_text}  {note}")
        say()
