"""Is Telegram well, as far as can be asked without a chat?"""

from collections.abc import AsyncIterator

from telegram import Bot
from telegram.error import InvalidToken, TelegramError

from adapters.telegram.transport import AiohttpRequest
from bot.settings import Settings


async def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """Whether Telegram knows the token, and what the host should know of the bot."""
    assert settings.telegram_token
    request = AiohttpRequest()
    base = settings.telegram_api_url.rstrip("/")
    bot = Bot(settings.telegram_token.get_secret_value(), base_url=f"{base}/bot", request=request)
    try:
        await request.initialize()
        me = await bot.get_me()
    except InvalidToken:
        yield False, "telegram: the token is not one that Telegram knows: copy it anew from @BotFather"
        return
    except TelegramError as error:
        yield False, f"telegram: {base} does not answer ({type(error).__name__}): is the network there?"
        return
    finally:
        await request.shutdown()
    yield (
        True,
        f"telegram: the token is @{me.username}'s; add it to a group: https://t.me/{me.username}?startgroup=true",
    )
    if me.can_join_groups is False:
        yield False, "telegram: the bot may not be added to groups: tell @BotFather /setjoingroups, Enable"
    if me.can_read_all_group_messages:
        yield True, "telegram: privacy mode is off; the bot does not need that: @BotFather, /setprivacy, Enable"
