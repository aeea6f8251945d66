"""Static files that browsers cache: scripts, styles and cards.

Addresses contain a digest of the content, so a browser loads each file once and a new release has new addresses. All
files in `static/` share one digest, because scripts import each other by relative addresses.
"""

import asyncio
import gzip
import re
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import brotli
from aiohttp import web

from adapters.web.bundles import SCRIPTS, STYLES, find_loaded, join_scripts, join_styles
from bot.panel_picture import DECKS, Deck
from bot.pictures.cards import sprite_svg

TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "txt": "text/plain"}
CACHE_FOREVER, REVALIDATE = "public, max-age=31536000, immutable", "no-cache"
MIN_GZIP_BYTES = 800
APPS = ("app.js", "activity.js", "telegram")  # how the names of files begin that only apps of platforms load


class Asset(NamedTuple):
    """A file.

    ``gzipped`` is empty for a file too small to compress. Brotli compression happens when a browser first accepts it.
    """

    body: bytes
    gzipped: bytes
    type: str
    etag: str

    @classmethod
    def build(cls, name: str, body: bytes) -> "Asset":
        packed = gzip.compress(body, 9, mtime=0) if len(body) >= MIN_GZIP_BYTES else b""
        return cls(body, packed, TYPES[name.rpartition(".")[2]], _digest(body))


class Assets:
    """The static files, which are read when the first page is served."""

    @cached_property
    def _files(self) -> dict[str, Asset]:
        root = Path(__file__).parent / "static"
        paths = sorted(path for path in root.rglob("*") if path.suffix[1:] in TYPES)
        bodies = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
        texts = {name: body.decode() for name, body in bodies.items()}
        bodies |= {name: join_scripts(texts, entries).encode() for name, entries in SCRIPTS.items()}
        bodies |= {name: join_styles(texts, names).encode() for name, names in STYLES.items()}
        return {name: Asset.build(name, body) for name, body in bodies.items()}

    @cached_property
    def version(self) -> str:
        return _digest(*(f"{name} {asset.etag}".encode() for name, asset in self._files.items()))

    def url(self, name: str) -> str:
        """Return the address of a file in `static/`. Raises KeyError if it does not exist."""
        self._files[name]
        return f"/static/{self.version}/{name}"

    @cached_property
    def loaded_files(self) -> list[str]:
        """The names of all files that pages load, without modules that only a bundle has."""
        pages = [path.read_text("utf-8") for path in (Path(__file__).parent / "templates").iterdir()]
        return sorted(find_loaded({name: asset.body.decode() for name, asset in self._files.items()}, pages))

    @cached_property
    def _sprites(self) -> dict[str, Asset]:
        return {deck_name(deck): Asset.build("cards.svg", sprite_svg(deck).encode()) for deck in DECKS}

    def cards_url(self, deck: str) -> str:
        """Return the address of a deck: one SVG with a symbol for each card, ``url#3D``, and ``url#back``."""
        return f"/cards/{self._sprites[deck].etag}/{deck}.svg"

    @property
    def decks(self) -> dict[str, str]:
        return {deck: self.cards_url(deck) for deck in map(deck_name, DECKS)}

    async def file(self, request: web.Request) -> web.Response:
        asset = self._files.get(request.match_info["name"])
        return await _response(request, asset, is_current=request.match_info["version"] == self.version)

    async def cards(self, request: web.Request) -> web.Response:
        asset = self._sprites.get(request.match_info["deck"])
        is_current = asset is not None and request.match_info["version"] == asset.etag
        return await _response(request, asset, is_current=is_current)


def deck_name(deck: Deck) -> str:
    """Return a deck's name in addresses, such as "italian-classic"."""
    return f"{deck.suits}-{deck.style}"


@cache
def _brotli(body: bytes) -> bytes:
    """Compress a file with the highest quality, which takes up to 0.1 s for a deck."""
    return bytes(brotli.compress(body, mode=brotli.MODE_TEXT))


async def _response(request: web.Request, asset: Asset | None, *, is_current: bool) -> web.Response:
    """Return a file, or 304 if the browser has it. Browsers must revalidate a file at an outdated address."""
    if asset is None:
        raise web.HTTPNotFound()
    headers = {
        "Cache-Control": CACHE_FOREVER if is_current else REVALIDATE,
        "ETag": f'"{asset.etag}"',
        "Vary": "Accept-Encoding",
    }
    if is_unchanged(request, asset.etag):
        return web.Response(status=304, headers=headers)
    body, encodings = asset.body, request.headers.get("Accept-Encoding", "")
    if asset.gzipped and re.search(r"\bbr\b", encodings):
        body, headers["Content-Encoding"] = await asyncio.to_thread(_brotli, body), "br"
    elif asset.gzipped and "gzip" in encodings:
        body, headers["Content-Encoding"] = asset.gzipped, "gzip"
    return web.Response(body=body, content_type=asset.type, charset="utf-8", headers=headers)


def is_unchanged(request: web.Request, etag: str) -> bool:
    return any(tag.value in (etag, "*") for tag in request.if_none_match or ())


def _digest(*parts: bytes) -> str:
    return blake2b(b"\0".join(parts), digest_size=8).hexdigest()
