"""What Telegram shows of the bot beside its messages: menus of commands, and the texts of its profile."""

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

KNOWN = "telegram:profile"
"""A hash: what was set last, by what it is."""

log = structlog.get_logger()


SHORT = _("Italian trick-taking cards with friends: Tressette in six forms, and Spades for two.")
LONG = _(
    "Play Tressette and Spades with your friends.\n\n"
    "Add me to a group and write /challenge there: whoever accepts gets a hand of cards, right here in the private "
    "chat. The group sees every trick, and /leaderboard tells who is best.\n\n"
    "Press Start, so that I may bring you your cards."
)


CALLBACK_MODE = "default"
"""How presses come: with the message that was pressed. With other modes a press on an ordinary message has an inline id
instead, like one on a message that somebody sent through the bot. The setting came on 22 November 2026. Its string is
TDLib's name of the mode (``botCallbackQueryModeDefault``).
"""


async def choose_callback_mode(post: Post) -> None:
    """Have presses come with their message, whatever the host has chosen at BotFather.

    An older server has no such choice.
    """
    try:
        await post("setMySettings", JsonData({"callback_query_mode": CALLBACK_MODE}))
    except InvalidToken:
        # The method is unknown: the Bot API answers 404.
        log.debug("telegram_cannot", what="set callback_query_mode", why="this server does not know it")
    except TelegramError as error:
        log.warning("telegram_cannot", what="set callback_query_mode", why=error_name(error))


class Profile:
    """Sets what has changed since it was set last, by whichever worker; where a server cannot, it is done without."""

    def __init__(self, bot: Bot, client: Any) -> None:
        self._bot, self._client = bot, client

    async def update(self) -> None:
        """Set what has changed; where Telegram is away the rest is set at the next start."""
        try:
            missing = [name for name, shown, call in self._parts() if not await self._set(name, shown, call)]
        except TelegramError as error:
            log.warning("telegram_profile_not_set", why=error_name(error))
            return
        if missing:
            log.warning("telegram_cannot", what=f"set: {', '.join(missing)}", why="this server does not take it")

    def _parts(self) -> Iterator[tuple[str, str, Callable[[], Awaitable[bool]]]]:
        """What there is to set: what it is, what it should say, and the call that sets it."""
        for language in LANGUAGES:
            code = None if language == "en" else language
            for scope in (Privates(), Groups()):
                specs = listed_commands(private=scope.type == scope.ALL_PRIVATE_CHATS)
                menu = [BotCommand(spec.name_in(language), spec.help_line(language)[:256]) for spec in specs]
                shown = repr([(one.command, one.description) for one in menu])
                yield f"{scope.type} {language}", shown, partial(self._bot.set_my_commands, menu, scope, code)
            long, short = texts(language).gettext(LONG), texts(language).gettext(SHORT)
            yield f"description {language}", long, partial(self._bot.set_my_description, long, code)
            yield f"about {language}", short, partial(self._bot.set_my_short_description, short, code)

    async def _set(self, name: str, shown: str, call: Callable[[], Awaitable[bool]]) -> bool:
        """Set one part, if it is not as it should be; False if the server refuses."""
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
