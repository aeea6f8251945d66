"""Previews of links: the title, text and picture that chats show beside an address.

Chats fetch a page as strangers, so a preview has only what a stranger with the link sees. The address of its picture
names no running table.
"""

import re
from datetime import date
from http import HTTPStatus
from typing import Literal, NamedTuple

from aiohttp import web

from adapters.web.api.operations import GAME_ID
from adapters.web.site import Site
from bot.command_names import ArgumentKind, choices_of
from bot.features.daily.feature import DailyFeature
from bot.features.puzzles.feature import PuzzlesFeature
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.pictures.links import invitation_sheet
from bot.texts import LANGUAGES, texts


class LinkPreview(NamedTuple):
    """A preview for ``base.html``. ``picture`` is a whole address; ``card`` is the picture's size in chats."""

    title: str
    text: str
    picture: str
    card: Literal["summary", "summary_large_image"] = "summary_large_image"


def link_preview(site: Site, language: str, title: str, panel: Panel | str, picture: str) -> LinkPreview:
    """Return the preview of a page. ``picture`` is the end of its picture's address, such as "puzzle/K7Q"."""
    text = panel if isinstance(panel, str) else "".join(span.text for span in panel.text)
    return LinkPreview(title, " ".join(text.split()), f"{site.url}/picture/{language}/{picture}.png")


def home_preview(site: Site, language: str) -> LinkPreview:
    lead = texts(language).gettext("Italian trick-taking cards, with friends or a robot")
    return LinkPreview("Buongioco", lead, f"{site.url}/icon/512.png", "summary")


async def show_picture(site: Site, request: web.Request) -> web.Response:
    language, kind, id_ = (request.match_info[name] for name in ("language", "kind", "id"))
    subject = await _subject(site, request, language, kind, id_) if language in LANGUAGES else None
    if subject is None:
        raise web.HTTPNotFound()
    png = await site.card_room.paint(subject)
    if not png:
        return web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE, headers={"Retry-After": "5"})
    # A game names its players, who can be forgotten at any time.
    headers = {"Cache-Control": "no-cache" if kind == "game" else "public, max-age=3600"}
    return web.Response(body=png, content_type="image/png", headers=headers)


async def _subject(site: Site, request: web.Request, language: str, kind: str, id_: str) -> Subject | None:
    """Return what a picture shows; None for an unknown address."""
    match kind:
        case "table":
            return invitation_sheet(id_, language) if id_ in choices_of(ArgumentKind.GAME) else None
        case "puzzle":
            return site.card_room.feature(PuzzlesFeature).site.scene(id_, language)
        case "daily":
            try:
                return await site.card_room.feature(DailyFeature).site.sheet(date.fromisoformat(id_), language)
            except ValueError:
                return None
        case "game":
            with site.limits.lookup(request) as lookup:
                is_id = re.fullmatch(GAME_ID, id_)
                sheet = await site.card_room.games.get_sheet(id_, language) if is_id else None
                lookup.end(missing=sheet is None)
            return sheet
    return None
