"""`buongioco export` and `buongioco rebuild`: the archive of finished games, and what follows from it."""

import sys
from contextlib import nullcontext
from pathlib import Path

from bot.cli.doctor import store_of
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings
from bot.settings import Settings


async def export_games(settings: Settings, out: Path | None, chat: str | None, person: str | None) -> int:
    """Write records, one a line; returns how many. OSError where ``out`` cannot be written."""
    written = 0
    async with store_of(settings) as store:
        with out.open("w", encoding="utf-8") if out else nullcontext(sys.stdout) as file:
            async for game in Archive(store.client).all():
                if chat not in (None, *game.chats) or person not in (None, *game.people):
                    continue
                file.write(game.record.to_json() + "\n")
                written += 1
    return written


async def rebuild_ratings(settings: Settings) -> int:
    """Throw the ratings away and make them anew; returns from how many games."""
    async with store_of(settings) as store:
        ratings = Ratings(store.client, Archive(store.client))
        await ratings.rebuild()
        return await ratings.archive.count()
