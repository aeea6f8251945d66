"""Features newer than python-telegram-bot, whose methods go over its requests (`adapters.telegram.transport.Post`).

A server can lack such a method, and it can refuse a message for reasons that nobody has documented.
"""

import math
import re
import time
from collections.abc import Awaitable
from typing import TypeVar

import structlog
from cachetools import TTLCache
from telegram.error import BadRequest, InvalidToken

from adapters.telegram.errors import GONE_CHATS, GONE_MESSAGES, NEVER_STARTED, NOT_MODIFIED, WRONG_KIND

NO_RIGHT = re.compile(r"rights to send|chat_send_\w+_forbidden", re.IGNORECASE)
OTHER_REASONS = (NOT_MODIFIED, GONE_MESSAGES, WRONG_KIND, NEVER_STARTED, GONE_CHATS)
"""Refusals that a simpler message would get, too."""

EVERY_CHAT = 0  # stands for all chats

Answer = TypeVar("Answer")

log = structlog.get_logger()


class FeatureMissing(Exception):
    """A chat cannot have a message of this kind. A simpler one can take its place."""


class NewFeature:
    """A feature, and who refused it. Refusals are logged once and remembered for ``refused_seconds``.

    ``name`` and the Bot API's ``version`` are for the log. A missing method counts for ``missing_seconds``. With
    ``for_all``, one refusal counts for all chats, unless the chat itself forbids such messages.
    """

    def __init__(
        self,
        name: str,
        version: str,
        refused_seconds: float,
        *,
        missing_seconds: float = math.inf,
        for_all: bool = False,
    ) -> None:
        self._name, self._version, self._missing_seconds, self._for_all = name, version, missing_seconds, for_all
        self._refusing_chats: TTLCache[int, bool] = TTLCache(10_000, refused_seconds)
        self._missing_until = 0.0

    @property
    def is_missing(self) -> bool:
        return time.monotonic() < self._missing_until

    def is_refused(self, chat: int) -> bool:
        return self.is_missing or chat in self._refusing_chats or EVERY_CHAT in self._refusing_chats

    async def attempt(self, chat: int, call: Awaitable[Answer]) -> Answer:
        """Return the answer to a call; raise FeatureMissing if the server or the chat refuses the feature.

        Raises the library's other errors. After a lost answer the message can exist, so no other may follow it.
        """
        try:
            return await call
        except InvalidToken:
            # Telegram answers 404 both for an unknown method and for an unknown token.
            explanation = f"Bot API before {self._version}"
            self._missing_until = time.monotonic() + self._missing_seconds
        except BadRequest as error:
            explanation = error.message
            is_forbidden_here = NO_RIGHT.search(explanation) is not None
            if not is_forbidden_here and any(reason.search(explanation) for reason in OTHER_REASONS):
                raise
            self._refusing_chats[EVERY_CHAT if self._for_all and not is_forbidden_here else chat] = True
        log.warning("telegram_feature_missing", what=self._name, why=explanation)
        raise FeatureMissing(explanation)
