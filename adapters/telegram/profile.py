"""The bot's profile at Telegram: command menus and descriptions."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import structlog
from telegram import Bot, BotCommand
from telegram import BotCommandScopeAllGroupChats as Groups
from telegram import BotCommandScopeAllPrivateChats as Privates
from telegram.error import BadRequest, InvalidToken, TelegramError

from adapters.telegram.errors import error_name
from adapters.telegram.transport import JsonData, Post
from bot.commands import listed_commands
from bot.texts import LANGUAGES, texts
from bot.texts import gettext_noop as _

KNOWN = "telegram:profile"  # a hash in the store: the digest of each part that was set last

log = structlog.get_logger()


SHORT = _("Italian trick-taking cards with friends: Tressette in six forms, and Spades for two.")
LONG = _(
    "Play Tressette and Spades with your friends.\n\n"
    "Add me to a group and write /challenge there: whoever accepts gets a hand of cards, right here in the private "
    "chat. The group sees every trick, and /leaderboard tells who is best.\n\n"
    "Press Start, so that I may bring you your cards."
)


CALLBACK_MODE = "default"
"""The mode in which presses come with the pressed message.

In other modes a press on an ordinary message has an inline id instead, as if it were sent through the bot. The setting
came on 22 November 2026. The value is TDLib's name of the mode (``botCallbackQueryModeDefault``).
"""


async def choose_callback_mode(post: Post) -> None:
    """Set `CALLBACK_MODE`, even if the host chose another mode at BotFather. Older servers lack the setting."""
    try:
        await post("setMySettings", JsonData({"callback_query_mode": CALLBACK_MODE}))
    except InvalidToken:
        # The method is unknown: the Bot API answers 404.
        log.debug("telegram_feature_missing", what="set callback_query_mode", why="unknown to this server")
    except TelegramError as error:
        log.warning("telegram_feature_missing", what="set callback_query_mode", why=error_name(error))


class Profile:
    """Updates the parts of the profile that changed since a worker last set them."""

    def __init__(self, bot: Bot, client: Any) -> None:
        self._bot, self._client = bot, client

    async def update(self) -> None:
        """Set changed parts. After an error the rest is set at the next start."""
        try:
            missing = [name for name, shown, call in self._parts() if not await self._set(name, shown, call)]
        except TelegramError as error:
            log.warning("telegram_profile_not_set", why=error_name(error))
            return
        if missing:
            log.warning("telegram_feature_missing", what=f"set {', '.join(missing)}", why="refused by this server")

    def _parts(self) -> Iterator[tuple[str, str, Callable[[], Awaitable[bool]]]]:
        """Yield each part's name, its wanted value and the call that sets it."""
        for language in LANGUAGES:
            code = None if language == "en" else language
            for scope in (Privates(), Groups()):
                specs = listed_commands(private=scope.type == scope.ALL_PRIVATE_CHATS)
                menu = [BotCommand(spec.name_in(language), spec.help_line(language)[:256]) for spec in specs]
                shown = repr([(entry.command, entry.description) for entry in menu])
                yield f"{scope.type} {language}", shown, partial(self._bot.set_my_commands, menu, scope, code)
            long, short = texts(language).gettext(LONG), texts(language).gettext(SHORT)
            yield f"description {language}", long, partial(self._bot.set_my_description, long, code)
            yield f"about {language}", short, partial(self._bot.set_my_short_description, short, code)

    async def _set(self, name: str, shown: str, call: Callable[[], Awaitable[bool]]) -> bool:
        """Set one part if it changed; return False if the server refuses."""
        digest = blake2b(shown.encode(), digest_size=8).hexdigest()
        field = f"{self._bot.id} {name}"
        if (await self._client.hget(KNOWN, field) or b"").decode() == digest:
            return True
        try:
            await call()
        except (InvalidToken, BadRequest):
            return False
        await self._client.hset(KNOWN, field, digest)
        return True
