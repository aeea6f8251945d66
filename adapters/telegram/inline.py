"""Inline mode: offers to people who type the bot's name in any chat (core.telegram.org/bots/inline)."""

from collections.abc import Collection
from typing import Any

from telegram.error import BadRequest

from adapters.telegram import keyboard, text_entities
from adapters.telegram.errors import delivery_errors
from adapters.telegram.limits import MAX_OFFERS
from adapters.telegram.transport import Post, json_body
from adapters.telegram.unlinked_text import unlink_panel
from bot.card_room import CardRoom
from bot.platform import Offer, Person

START_PARAMETER = "inline"
"""The start parameter of the button above the results. The button opens the private chat, where the bot greets the
person (core.telegram.org/bots/api#inlinequeryresultsbutton).
"""


async def answer_inline_query(post: Post, card_room: CardRoom, query_id: str, person: Person, typed: str) -> None:
    """Offer games that match the typed text. Answers are not cached because each offer is for one message."""
    offers, label = await card_room.offers(person, typed)
    fields: dict[str, Any] = {
        "inline_query_id": query_id,
        "results": [article(offer) for offer in offers[:MAX_OFFERS]],
        "cache_time": 0,
        "is_personal": True,
        "button": {"text": label, "start_parameter": START_PARAMETER} if label else None,
    }
    with delivery_errors(""):
        try:
            await post("answerInlineQuery", json_body(fields))
        except BadRequest as error:
            # The person has typed more since, or the query came while the bot was down.
            if "query is too old" not in error.message.lower():
                raise


def article(offer: Offer, username: str = "", hidden_kinds: Collection[str] = ()) -> dict[str, Any]:
    """Return an offer as an article with text (core.telegram.org/bots/api#inlinequeryresultarticle).

    ``username`` is the name of the bot, for links to it. Buttons of the kinds in ``hidden_kinds`` are left out.
    The bot can edit the message only if it is sent with buttons (core.telegram.org/bots/api#choseninlineresult).
    """
    panel = unlink_panel(offer.panel)
    entities = text_entities.entities_of(panel)
    content = {"message_text": panel.plain, "link_preview_options": {"is_disabled": True}}
    markup = keyboard.markup_of(offer.panel, username, hidden_kinds=hidden_kinds)
    return {
        "type": "article",
        "id": offer.id,
        "title": offer.title,
        "description": offer.description,
        "input_message_content": {**content, "entities": entities} if entities else content,
        **({"reply_markup": markup} if markup else {}),
    }
