"""The bot's profile at Telegram: command menus and descriptions."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import structlog
from telegram import Bot, BotCommand, BotCommandScopeAllGroupChats, BotCommandScopeAllPrivateChats
from telegram.error import BadRequest, InvalidToken, TelegramError

from adapters.telegram.errors import error_name
from adapters.telegram.mini_app import MENU, TelegramApp
from adapters.telegram.transport import Post, json_body
from bot.command_names import listed_commands
from bot.texts import LANGUAGES, texts
from bot.texts import gettext_noop as _

DIGESTS_KEY = "telegram:profile"  # a hash: the digest of each part as it was last set

EPHEMERAL_COMMANDS = ("hand", "stats", "tables")
"""Commands that a group does not see (core.telegram.org/bots/api#botcommand, ``is_ephemeral``)."""

log = structlog.get_logger()

ABOUT = _("Play Tressette and Spades with friends or a robot, here or in your group.")
DESCRIPTION = _(
    "Play Tressette and Spades: press Start.\n\n"
    "Play a robot, or learn in 3 minutes. With friends, add me to a group and write /challenge there: your cards come "
    "here, and the group sees every trick."
)

CALLBACK_MODE = "default"
"""The mode in which presses come with the pressed message.

In other modes a press on an ordinary message has an inline id instead, as if the message had been sent through the bot.
Telegram added the setting on 22 November 2026. TDLib calls this mode ``botCallbackQueryModeDefault``.
"""


async def choose_callback_mode(post: Post) -> None:
    """Set `CALLBACK_MODE`, even if the host chose another mode at BotFather. Older servers lack the setting."""
    try:
        await post("setMySettings", json_body({"callback_query_mode": CALLBACK_MODE}))
    except InvalidToken:
        # The method is unknown: the Bot API answers 404.
        log.debug("telegram_feature_missing", what="set callback_query_mode", why="unknown to this server")
    except TelegramError as error:
        log.warning("telegram_feature_missing", what="set callback_query_mode", why=error_name(error))


async def update_profile(bot: Bot, app: TelegramApp, client: Any) -> None:
    """Set the parts of the profile that have changed since a worker last set them. An empty part was never set.

    After an error the next start sets the rest.
    """
    refused_parts = []
    try:
        for name, value, set_part in _parts(bot, app):
            digest = blake2b(value.encode(), digest_size=8).hexdigest() if value else ""
            field = f"{bot.id} {name}"
            if (await client.hget(DIGESTS_KEY, field) or b"").decode() == digest:
                continue
            try:
                await set_part()
            except (InvalidToken, BadRequest):
                refused_parts.append(name)
            else:
                await client.hset(DIGESTS_KEY, field, digest)
    except TelegramError as error:
        log.warning("telegram_profile_not_set", why=error_name(error))
        return
    if refused_parts:
        log.warning("telegram_feature_missing", what=f"set {', '.join(refused_parts)}", why="refused by this server")


def _parts(bot: Bot, app: TelegramApp) -> Iterator[tuple[str, str, Callable[[], Awaitable[object]]]]:
    """Yield each part's name, its wanted value and the call that sets it."""
    for language in LANGUAGES:
        code = None if language == "en" else language
        for scope in (BotCommandScopeAllPrivateChats(), BotCommandScopeAllGroupChats()):
            specs = listed_commands(private=scope.type == scope.ALL_PRIVATE_CHATS)
            hidden = () if scope.type == scope.ALL_PRIVATE_CHATS else EPHEMERAL_COMMANDS
            menu = [
                BotCommand(
                    spec.name_in(language),
                    spec.help_line(language)[:256],
                    api_kwargs={"is_ephemeral": True} if spec.name in hidden else None,
                )
                for spec in specs
            ]
            value = repr([entry.to_dict() for entry in menu])
            yield f"{scope.type} {language}", value, partial(bot.set_my_commands, menu, scope, code)
        description, about_text = texts(language).gettext(DESCRIPTION), texts(language).gettext(ABOUT)
        yield f"description {language}", description, partial(bot.set_my_description, description, code)
        yield f"about {language}", about_text, partial(bot.set_my_short_description, about_text, code)
    yield "menu button", app.address and f"{app.address} {MENU}", partial(app.set_menu_button, "en")
