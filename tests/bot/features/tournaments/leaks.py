"""Search for leaks of a duplicate round that is still in progress."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp
import pytest

from bot.features.tournaments.tournament import Tournament
from bot.panel import Panel
from bot.pictures.pool import PicturePool
from engine import GAMES
from engine.shuffle import shuffle_pack

RUN = 10  # number of consecutive cards of a pack that proves a leak


def find_leaks(text: str, tournament: Tournament, number: int) -> list[str]:
    """Return leaks of a round's packs in a text: secrets in hex, or runs of cards in pack order."""
    secrets = [tournament.secret(number, deal) for deal in tournament.deals]
    packs = [shuffle_pack(GAMES[tournament.game].pack, secret) for secret in secrets]
    leaks = [secret.hex() for secret in (tournament.root, *secrets) if secret.hex() in text]
    lined_up = " ".join(re.findall(r"(?<![A-Z0-9])[0-9A-Z]{1,2}[A-Z](?![A-Z0-9])", text))
    for pack in packs:
        for start in range(len(pack) - RUN + 1):
            run = pack[start : start + RUN]
            if " ".join(run) in lined_up or "".join(run) in text:
                leaks.append(" ".join(run))
    return leaks


def dump_info_logs(logs: Iterable[Mapping[str, Any]]) -> str:
    """Return the log lines at INFO or above as JSON."""
    return json.dumps([event for event in logs if event["log_level"] != "debug"], default=repr)


async def fetch_pages(url: str, codes: Iterable[str], games: Iterable[str]) -> dict[str, str]:
    """Fetch all pages and API answers about these tables and games, by path."""
    paths = ["/", "/leaderboard", "/daily", "/api/v1/leaderboard"]
    for code in codes:
        paths += [f"/t/{code}", f"/t/{code}/live", f"/g/{code}"]
        paths += [
            f"/api/v1/{resource}/{code}{suffix}" for resource in ("tables", "me/tables") for suffix in ("", "/stream")
        ]
    for game in games:
        paths += [f"/g/{game}", f"/t/{game}", f"/api/v1/games/{game}", f"/api/v1/games/{game}/record"]
        paths += [f"/api/v1/games/{game}/deals/1", f"/api/v1/games/{game}/analysis", f"/api/v1/tables/{game}"]
    texts = {}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        for path in paths:
            async with session.get(f"{url}{path}", timeout=aiohttp.ClientTimeout(30)) as response:
                texts[path] = await response.text()
    return texts


@pytest.fixture
def scenes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the subjects and alternative texts of painted pictures."""
    texts: list[str] = []
    paint = PicturePool.paint_panel

    async def record_scene(pool: PicturePool, panel: Panel) -> Panel:
        if panel.picture:
            texts.append(f"{panel.picture.subject!r} {panel.picture.alt}")
        return await paint(pool, panel)

    monkeypatch.setattr(PicturePool, "paint_panel", record_scene)
    return texts
