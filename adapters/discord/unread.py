"""Answers to interactions that cannot be read: a new kind, or malformed data from a proxy."""

import time
from typing import Any, NamedTuple

from adapters.discord.answers import Answer
from adapters.discord.reading import Interaction, InteractionToken, locale_of, token_of
from adapters.discord.rest import Rest
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

UNREADABLE = _("I cannot read what Discord says that you want. Please try again.")

COMMAND, COMPONENT, AUTOCOMPLETE, FORM = 2, 3, 4, 5  # types of interactions that take an answer
CHOICES = 8  # the response type with choices for autocompletion
LONGEST_ID = 20  # digits of a 64-bit id


class UnreadableInteraction(NamedTuple):
    """The fields that an answer to any interaction needs. ``kind`` is the number of its type."""

    token: InteractionToken
    kind: int
    language: str

    @classmethod
    def from_interaction(cls, interaction: Interaction) -> "UnreadableInteraction":
        return cls(token_of(interaction), interaction.type.value, locale_of(interaction))

    @classmethod
    def from_event(cls, data: Any) -> "UnreadableInteraction | None":
        """Read the gateway's event. Returns None if a field is missing."""
        if not isinstance(data, dict):
            return None
        number, token, kind = str(data.get("id")), data.get("token"), data.get("type")
        is_id = number.isascii() and number.isdecimal() and len(number) <= LONGEST_ID
        if not is_id or not isinstance(token, str) or not isinstance(kind, int):
            return None
        return cls(InteractionToken(number, token, int(time.time())), kind, str(data.get("locale")))


async def answer(rest: Rest, interaction: UnreadableInteraction) -> None:
    """Say that the interaction could not be read. Raises the library's errors."""
    if interaction.kind == AUTOCOMPLETE:
        await rest.answer(interaction.token, CHOICES, {"choices": []})
    elif interaction.kind in (COMMAND, COMPONENT, FORM):
        text = texts(language_of(interaction.language)).gettext(UNREADABLE)
        await Answer(rest, interaction.token, "").send_toast(text)
