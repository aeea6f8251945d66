"""`buongioco games`: what can be played, and by which rules."""

from bot.cli.output import say
from engine.games import GAMES
from engine.rules import resolve, spell


def games() -> None:
    """List the games with their options, the values that each may take, and its default."""
    for kind in GAMES.values():
        say(f"{kind.id}: {kind.name}, {kind.seats} players")
        defaults = resolve(kind.rules, {}).model_dump()
        for name, values in kind.rules.choices().items():
            spelled = " | ".join(map(spell, values))
            note = f"(default {spell(defaults[name])})" if len(values) > 1 else "(fixed)"
            say(f"  {name} = {spelled}  {note}")
        say()
