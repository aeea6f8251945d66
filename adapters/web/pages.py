"""Pages that are the same for all readers."""

from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import web

from adapters.web.codes import parse_code
from adapters.web.site import Site, browser_language, browser_text
from bot.command_names import FIRST_GAME, ArgumentKind, HelpGroup, choices_of, find_command_spec, listed_commands
from bot.parsing.codes_and_links import Kind, read_pasted
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts
from bot.words.rules import has_common_rules, rules_text
from bot.words.safety import safety_lines
from bot.words.wording import score_unit_of

COMMON = ""  # the topic of the rules that all Tressette games share
ADDRESSES: Mapping[Kind, str] = {"table": "/t/{}", "watch": "/t/{}", "game": "/g/{}"}
COMMON_RULES = _("Common to all Tressette games")
NO_CODE = _("That’s not a table’s code or link: check it and try again.")


async def chat(site: Site, request: web.Request) -> web.Response:
    challenge = find_command_spec("challenge")
    assert challenge
    word = challenge.name_in(language_of(browser_language(request)))
    return site.page(request, "chat.html", challenge=f"/{word} {FIRST_GAME}")


async def go(site: Site, request: web.Request) -> web.Response:
    """Redirect to the table or game of a pasted or shared code or link."""
    texts_to_read = (request.query.get(name, "") for name in ("to", "url", "title"))
    if pasted := next(filter(None, map(read_pasted, texts_to_read)), None):
        return site.redirect(ADDRESSES[pasted.kind].format(pasted.id))
    return site.message(request, HTTPStatus.NOT_FOUND, browser_text(request, NO_CODE))


async def notice(site: Site, request: web.Request) -> web.Response:
    """Return the host's current announcement to an open page."""
    text = site.card_room.lobby.notice(language_of(request.query.get("language", "")[:16]))
    return web.json_response({"text": text}, headers={"Cache-Control": "no-store"})


async def how_to_play(site: Site, request: web.Request) -> web.Response:
    language = language_of(browser_language(request))
    groups = {
        texts(language).gettext(group): [
            (f"/{spec.name_in(language)}", spec.title_in(language)) for spec in listed_commands() if spec.group is group
        ]
        for group in HelpGroup
    }
    return site.page(request, "how_to_play.html", language, groups=groups, first_game=FIRST_GAME)


async def safety(site: Site, request: web.Request) -> web.Response:
    language = language_of(browser_language(request))
    return site.page(request, "safety.html", language, lines=safety_lines(language))


async def rules(site: Site, request: web.Request) -> web.Response:
    """Show the rules of a topic, by default those common to all Tressette games.

    ``?t=CODE`` leads back to that table.
    """
    topic = request.match_info.get("topic", COMMON)
    topics = {COMMON: COMMON_RULES, **choices_of(ArgumentKind.TOPIC)}
    if topic not in topics:
        raise web.HTTPNotFound()
    language = language_of(browser_language(request))
    text = rules_text(language, topic)
    cards = site.assets.cards_url(f"{text.suits}-classic")
    return site.page(
        request,
        "rules.html",
        language,
        text=text,
        to=parse_code(request.query.get("t", "")),
        common=rules_text(language, unit=score_unit_of(topic)) if has_common_rules(topic) else None,
        ranking=[(f"{cards}#{card}", worth) for card, worth in text.ranking],
        others={other: texts(language).gettext(name) for other, name in topics.items() if other != topic},
    )
