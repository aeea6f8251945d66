"""The pages that are the same for everybody."""

from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import web

from adapters.web.site import Site, browser_language
from bot.commands import FIRST_GAME, ArgumentKind, choices_of, find_command_spec
from bot.pasted_text import Kind, read_pasted
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts
from bot.words.rules import has_common_rules, rules_text

COMMON = ""
"""What the rules are about that all Tressette games share."""


ADDRESSES: Mapping[Kind, str] = {"table": "/t/{}", "watch": "/t/{}", "game": "/g/{}"}
"""Where each leads that somebody may have been given."""

COMMON_RULES = _("Common to all Tressette games")
NO_CODE = _("This is no code of a table, and no link to one.")


class Pages:
    """Answers for them."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def chat(self, request: web.Request) -> web.Response:
        challenge = find_command_spec("challenge")
        assert challenge
        word = challenge.name_in(language_of(browser_language(request)))
        return self._site.page(request, "chat.html", challenge=f"/{word} {FIRST_GAME}")

    async def go(self, request: web.Request) -> web.Response:
        """Lead to the table or game whose code or link somebody was given, written as they had it."""
        if pasted := read_pasted(request.query.get("to", "")):
            return web.Response(status=303, headers={"Location": ADDRESSES[pasted.kind].format(pasted.id)})
        why = texts(language_of(browser_language(request))).gettext(NO_CODE)
        return self._site.said(request, HTTPStatus.NOT_FOUND, why)

    async def rules(self, request: web.Request) -> web.Response:
        """How a game is played, by its id; without one, what all Tressette games share."""
        about = request.match_info.get("about", COMMON)
        subjects = {COMMON: COMMON_RULES, **choices_of(ArgumentKind.TOPIC)}
        if about not in subjects:
            raise web.HTTPNotFound()
        language = language_of(browser_language(request))
        text = rules_text(language, about)
        cards = self._site.assets.cards_url(f"{text.suits}-classic")
        return self._site.page(
            request,
            "rules.html",
            language,
            text=text,
            common=rules_text(language) if has_common_rules(about) else None,
            ranking=[(f"{cards}#{card}", worth) for card, worth in text.ranking],
            others={one: texts(language).gettext(name) for one, name in subjects.items() if one != about},
        )
