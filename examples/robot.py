"""A robot that plays a game against one of Buongioco's robots, through the interface for programs.

    .venv/bin/buongioco token make "My robot" > token
    ROBOT_TOKEN=$(cat token) .venv/bin/python examples/robot.py http://127.0.0.1:8765 metamazzo strong

The bot must be running at that address (`make run`), and the token must be made with the bot's settings. The robot
plays by a rule of thumb; replace `choose` to make your own. It needs Python and httpx. A game takes a few minutes.
"""

import json
import os
import secrets
import sys
import time
from contextlib import suppress

import httpx

UNWISE = ("claim", "resign", "blind", "bid 0")
RETRIED = (429, 502, 503, 504)  # too many requests, or the bot or its store is down: ask again


def choose(table: dict) -> str:
    """Return the lowest card that wins, or the lowest. If there are other moves, declare, bid 4 or take the first."""
    ranks = "23456789TJQKA" if table["game"] == "spades" else "4567FCRA23"
    moves = [move for move in table["moves"] if move not in UNWISE]
    plays = sorted(move for move in moves if move.startswith("play "))
    if not plays or len(plays) < len(moves):
        return next((move for move in moves if move.startswith("declare") or move == "bid 4"), moves[0])
    plays.sort(key=lambda move: ranks.find(move.split()[1][0]))
    trick = table["view"]["trick"]
    led = trick[0][1] if trick else "  "
    winning = (move for move in plays if move[6] == led[1] and ranks.find(move[5]) > ranks.find(led[0]))
    return next(winning, plays[0])


def main(address: str, game: str = "metamazzo", robots: str = "strong") -> None:
    headers = {"Authorization": f"Bearer {os.environ['ROBOT_TOKEN']}"}
    with httpx.Client(base_url=f"{address}/api/v1", headers=headers, timeout=60) as client:

        def post(path: str, **body: object) -> httpx.Response:
            key = secrets.token_hex(8)
            while (answer := client.post(path, json=body, headers={"Idempotency-Key": key})).status_code in RETRIED:
                time.sleep(int(answer.headers.get("Retry-After", 1)))
            return answer

        table = post("/me/tables", game=game, robots=robots, cuts=True).raise_for_status().json()
        code, deal = table["code"], 1
        while table["phase"] not in ("over", "closed"):
            # A stream ends early if the bot stops or its store is down. Then open it again.
            with suppress(httpx.TransportError), client.stream("GET", f"/me/tables/{code}/stream") as states:
                if states.status_code == 404:
                    sys.exit(f"Table {code} was removed before its result arrived. Run again for a new game.")
                if states.status_code not in RETRIED:
                    states.raise_for_status()
                for line in filter(None, states.iter_lines() if states.is_success else ()):
                    table = json.loads(line)
                    if table["deal"] > deal:
                        side, totals = table["seat"] % 2, table["totals"]
                        print(f"deal {deal} is over, totals by side: {totals}, my side: {side}", flush=True)
                        deal = table["deal"]
                    if table["cutter"] == table["seat"]:
                        post(f"/me/tables/{code}/cut", version=table["version"], cut=secrets.token_hex(16))
                    if table["phase"] == "playing" and table["turn"] == table["seat"]:
                        post(f"/me/tables/{code}/moves", version=table["version"], move=choose(table))
            time.sleep(1)
        winner = table["winner"]
        outcome = "no winner" if winner is None else "won" if table["seat"] in winner else "lost"
        print(outcome, table["totals"], table["replay"])


if __name__ == "__main__":
    main(*sys.argv[1:])
