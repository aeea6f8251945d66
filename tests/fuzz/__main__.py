"""Fuzz an adapter with malformed requests.

python -m tests.fuzz --adapter telegram --count 100000 --seed 1
"""

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from tests.fuzz import discord, playground, telegram

ADAPTERS = {"telegram": telegram.run, "discord": discord.run, "playground": playground.run}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapter", choices=ADAPTERS, required=True)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["BUONGIOCO_RATE_LIMITS"] = "false"
    os.environ["BUONGIOCO_ANALYSE_RESULTS"] = "false"
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(ADAPTERS[arguments.adapter](Path(folder), arguments.count, arguments.seed))
    print(f"{outcome}")  # noqa: T201


if __name__ == "__main__":
    main()
