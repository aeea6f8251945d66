"""Send nonsense to an adapter.

python -m tests.fuzz --adapter telegram --count 100000 --seed 1
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

from bot.store import EmbeddedStore, opened
from tests.fuzz import discord, telegram
from tests.fuzz.common import Outcome

ADAPTERS = {"telegram": telegram.run, "discord": discord.run}


async def fuzz(adapter: str, messages: int, seed: int, folder: Path) -> Outcome:
    """So many messages of nonsense to an adapter, with a store of its own."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    try:
        async with opened(embedded.url) as store:
            return await ADAPTERS[adapter](store, messages, seed)
    finally:
        await embedded.stop()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--adapter", choices=ADAPTERS, required=True)
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    os.environ["BUONGIOCO_RATE_LIMITS"] = "false"
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(fuzz(given.adapter, given.count, given.seed, Path(folder)))
    print(f"{outcome}; {time.monotonic() - start:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
