"""Inline mode: offers to people who type the bot's name in any chat (core.telegram.org/bots/inline)."""

from typing import Any

from telegram.error import BadRequest

from adapters.telegram import drawing
from adapters.telegram.errors import DeliveryErrors
from adapters.telegram.transport import JsonData, Post
from bot.card_room import CardRoom
from bot.panel import Panel
from bot.platform import Offer, Person

MAX_RESULTS = 50  # core.telegram.org/bots/api#answerinlinequery

# The start word of the button above the results. It opens the help, which has a button back to a chat
# (core.telegram.org/bots/api#inlinequeryresultsbutton).
START = "inline"


class InlineQueries:
    def __init__(self, post: Post, card_room: CardRoom) -> None:
        self._post, self._card_room = post, card_room

    async def answer(self, query: str, person: Person, typed: str) -> None:
        """Offer games that match the typed text; raise an error of the store or a `DeliveryError`.

        Answers are personal and not cached because each offer is for one message.
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
                # The person has typed more since, or the query came while the bot was down.
                if "query is too old" not in error.message.lower():
                    raise


def _result(offer: Offer) -> dict[str, Any]:
    """Return an article (core.telegram.org/bots/api#inlinequeryresultarticle).

    Telegram reports presses only on messages that had buttons when they were sent.
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
    """Return a text (core.telegram.org/bots/api#inputtextmessagecontent)."""
    entities = drawing.entities_of(panel)
    content = {"message_text": panel.plain, "link_preview_options": {"is_disabled": True}}
    return {**content, "entities": entities} if entities else content
