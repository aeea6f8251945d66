"""Rate the pages with Google's Lighthouse: ``python -m tests.web.lighthouse``.

It needs Node's npm and Chromium, and takes a minute per page. For each page and screen it prints one line with the
scores for performance, accessibility and best practices, each out of 100, after the audits that score below 90. Other
load on the machine lowers the performance scores.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import aiohttp

from tests.bot.finished.games import finished_game, store_game
from tests.open_playground import OpenPlayground

LIGHTHOUSE = "lighthouse@12.8.2"
FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking"
CATEGORIES = ("performance", "accessibility", "best-practices")
SCREENS: dict[str, tuple[str, ...]] = {"phone": (), "desktop": ("--preset=desktop",)}


async def rate_page(url: str, headers: dict[str, str], options: tuple[str, ...]) -> dict[str, int]:
    """Return a page's score for each category."""
    command = ["npx", "--yes", LIGHTHOUSE, url, "--quiet", "--output=json", f"--only-categories={','.join(CATEGORIES)}"]
    command += [f"--chrome-flags={FLAGS}", f"--extra-headers={json.dumps(headers)}", *options]
    chrome = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
    process = await asyncio.create_subprocess_exec(
        *command,
        env=os.environ | {"CHROME_PATH": chrome},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    if process.returncode:
        raise SystemExit(f"lighthouse failed at {url}:\n{errors.decode()}")
    report = json.loads(output)
    for name in CATEGORIES:
        for reference in report["categories"][name]["auditRefs"]:
            audit = report["audits"][reference["id"]]
            if reference["weight"] and audit["score"] is not None and audit["score"] < 0.9:
                print(f"    {name}: {audit['title']} {audit.get('displayValue', '')}")
    return {name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES}


async def main() -> int:
    low = 0
    with tempfile.TemporaryDirectory() as folder:
        site = OpenPlayground(Path(folder))
        await site.start()
        try:
            game = finished_game(1, "metamazzo")
            await store_game(site.worker.store, game)
            async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
                form = {"game": "testa", "robot": "easy", "key": "0" * 16, "name": "Anna"}
                async with session.post(f"{site.url}play", data=form, headers={"Origin": site.url[:-1]}) as answer:
                    table = str(answer.url)
                cookie = "; ".join(f"{morsel.key}={morsel.value}" for morsel in session.cookie_jar)
            pages = {"home": site.url, "table": table, "replay": f"{site.url}g/{game.id}", "chat": site.chat_url}
            for name, url in pages.items():
                for screen, options in SCREENS.items():
                    scores = await rate_page(url, {"Cookie": cookie}, options)
                    print(
                        f"{name:8} {screen:8} "
                        + "  ".join(f"{category} {score}" for category, score in scores.items()),
                        flush=True,
                    )
                    low += any(score < 90 for score in scores.values())
        finally:
            await site.stop()
    return bool(low)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
