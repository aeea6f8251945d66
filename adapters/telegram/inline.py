"""Inline mode: what people are offered to send who type the bot's name in any chat (core.telegram.org/bots/inline)."""

from typing import Any

from telegram.error import BadRequest

from adapters.telegram import drawing
from adapters.telegram.errors import DeliveryErrors
from adapters.telegram.transport import JsonData, Post
from bot.card_room import CardRoom
from bot.panel import Panel
from bot.platform import Offer, Person

MAX_RESULTS = 50
"""That an answer may have (core.telegram.org/bots/api#answerinlinequery)."""

START = "inline"
"""What stands behind /start where the button above the results leads: the help, with a button that leads back to a chat
(core.telegram.org/bots/api#inlinequeryresultsbutton).
"""


class InlineQueries:
    """Answers inline queries."""

    def __init__(self, post: Post, card_room: CardRoom) -> None:
        self._post, self._card_room = post, card_room

    async def answer(self, query: str, person: Person, typed: str) -> None:
        """Offer somebody what fits what they have typed; one of the store's errors, or a `DeliveryError`.

        Each answer is for that person alone and for once: an offer stands for one message.
        """
        offers, start = await self._card_room.offers(person, typed)
        fields: dict[str, Any] = {
            "inline_query_id": query,
            "results": [_result(offer) for offer in offers[:MAX_RESULTS]],
            "cache_time": 0,
            "is_personal": True,
        }
        if start:
            fields["button"] = {"text": start, "start_parameter": START}
        with DeliveryErrors(""):
            try:
                await self._post("answerInlineQuery", JsonData(fields))
            except BadRequest as error:
                # They have typed on meanwhile, or it came while the bot was down.
                if "query is too old" not in error.message.lower():
                    raise


def _result(offer: Offer) -> dict[str, Any]:
    """An article (core.telegram.org/bots/api#inlinequeryresultarticle). Telegram tells of presses on a message only
    where it had buttons when it was sent.
    """
    fields = {
        "type": "article",
        "id": offer.id,
        "title": offer.title,
        "description": offer.description,
        "input_message_content": _content(offer.panel),
    }
    markup = drawing.markup_of(offer.panel, "")
    return {**fields, "reply_markup": markup} if markup else fields


def _content(panel: Panel) -> dict[str, Any]:
    """A text (core.telegram.org/bots/api#inputtextmessagecontent)."""
    entities = drawing.entities_of(panel)
    content = {"message_text": panel.plain, "link_preview_options": {"is_disabled": True}}
    return {**content, "entities": entities} if entities else content
