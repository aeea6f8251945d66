"""`python -m benchmarks hints`: how often an analysis blames a player for the move of a hint."""

from random import Random
from typing import Annotated

import typer

from bot.cli.output import say
from engine import Game
from engine.robots import act, make_robot
from engine.robots.analysis import analyse_deal
from engine.robots.hints import usual_hint

PLAYER = 0  # seat that plays every hint
GAMES_PLAYED = ("metamazzo", "tressette", "pizzichino", "spades")


def run(
    hands: Annotated[int, typer.Option(help="hands to play, in turn of four games")] = 200,
    seed: Annotated[int, typer.Option(help="seed of the packs")] = 1,
) -> None:
    """Let a player play every hint against medium robots, and count the hints that the analysis blames."""
    for game_id in GAMES_PLAYED:
        hints, blamed, lost = 0, 0, 0.0
        for number in range(hands // len(GAMES_PLAYED)):
            made, blames = play_hand(game_id, Random(f"{seed}/{game_id}/{number}"))
            hints, blamed, lost = hints + made, blamed + len(blames), lost + sum(blames)
        say(f"{game_id}: {hints} hints, {blamed} blamed ({100 * blamed / max(1, hints):.1f} %), {lost:.1f} points")


def play_hand(game_id: str, random: Random) -> tuple[int, list[float]]:
    """Play a hand by hints. Return the number of its hints with a verdict, and the points lost by those blamed."""
    game = Game(game_id, dealer=random.randrange(2))
    game.deal(random.randbytes(32))
    robot = make_robot("medium", random)
    while game.turn is not None:
        seat = game.turn
        if seat != PLAYER:
            act(game, seat, robot)
            continue
        hint = usual_hint(game.view(seat), game.history(seat))
        assert hint
        game.play(seat, hint.move)
    verdicts = [verdict for verdict in analyse_deal(game.record(), 1) if verdict.seat == PLAYER]
    return len(verdicts), [verdict.lost for verdict in verdicts if verdict.lost > 0]
