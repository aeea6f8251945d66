"""Send nonsense to an adapter.

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
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--adapter", choices=ADAPTERS, required=True)
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    os.environ["BUONGIOCO_RATE_LIMITS"] = "false"
    os.environ["BUONGIOCO_ANALYSE_RESULTS"] = "false"
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(ADAPTERS[given.adapter](Path(folder), given.count, given.seed))
    print(f"{outcome}")  # noqa: T201


if __name__ == "__main__":
    main()
