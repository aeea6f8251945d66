"""Installing the site on a phone or a desktop: the manifest, its icons, and the service worker with its pages."""

import asyncio
import json
from typing import NamedTuple

from aiohttp import web

from adapters.web.assets import APPS
from adapters.web.script_texts import offline_texts
from adapters.web.site import Site, browser_language
from bot.command_names import ArgumentKind, choices_of
from bot.pictures.app_icon import app_icon
from bot.pictures.colours import COLOURS
from bot.texts import language_of, texts

OFFLINE = "/offline"
CACHE = "public, max-age=86400"
FELT_COLOUR = "#{:02x}{:02x}{:02x}".format(*COLOURS["felt"])


class Icon(NamedTuple):
    pixels: int
    is_square: bool


# "full" is for phones that cut icons into a shape of their own, "touch" is for iOS.
ICONS = {"192": Icon(192, False), "512": Icon(512, False), "full": Icon(512, True), "touch": Icon(180, True)}


async def manifest(site: Site, request: web.Request) -> web.Response:
    """Describe the installed site (https://www.w3.org/TR/appmanifest/)."""
    language = language_of(browser_language(request))
    _ = texts(language).gettext

    def icon(name: str, purpose: str) -> dict[str, str]:
        size = ICONS[name].pixels
        return {"src": f"/icon/{name}.png", "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}

    fields = {
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "name": "Buongioco",
        "short_name": "Buongioco",
        "description": _("Italian trick-taking cards, with friends or a robot"),
        "lang": language,
        "categories": ["games"],
        "display": "standalone",
        "background_color": FELT_COLOUR,
        "theme_color": FELT_COLOUR,
        "icons": [icon("192", "any"), icon("512", "any"), icon("full", "maskable")],
        # Phones put a shared link into the text or the address, and chats add words around it (`pages.go`).
        "share_target": {
            "action": "/go",
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {"text": "to", "url": "url", "title": "title"},
        },
        "shortcuts": [
            {"name": _("Deal of the day"), "url": "/daily"},
            {"name": _("Puzzle"), "url": "/puzzle"},
        ],
    }
    text = json.dumps(fields, ensure_ascii=False)
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language"}
    return web.Response(text=text, content_type="application/manifest+json", charset="utf-8", headers=headers)


async def show_icon(_site: Site, request: web.Request) -> web.Response:
    if (icon := ICONS.get(request.match_info["name"])) is None:
        raise web.HTTPNotFound()
    # A new drawing takes some milliseconds.
    png = await asyncio.to_thread(app_icon, icon.pixels, is_square=icon.is_square)
    return web.Response(body=png, content_type="image/png", headers={"Cache-Control": CACHE})


async def service_worker(site: Site, _request: web.Request) -> web.Response:
    """Return the service worker's script.

    Browsers compare its text with the copy they have, so a new release replaces the worker.
    """
    script = site.assets.url("service_worker.js")
    files = [site.assets.url(name) for name in site.assets.loaded_files if not name.startswith(APPS)]
    pages = [OFFLINE, "/how-to-play", "/rules", *(f"/rules/{topic}" for topic in choices_of(ArgumentKind.TOPIC))]
    arguments = ", ".join(map(json.dumps, (files, pages, list(site.assets.decks.values()))))
    text = f"import {{ start }} from {json.dumps(script)};\nstart({arguments});\n"
    return web.Response(text=text, content_type="text/javascript", charset="utf-8")


async def offline(site: Site, request: web.Request) -> web.Response:
    """Show what the browser has stored. The service worker shows this page without a network."""
    return site.page(request, "offline.html", data={"texts": offline_texts(language_of(browser_language(request)))})
