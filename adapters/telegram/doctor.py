"""Is Telegram well, as far as can be asked without a chat?"""

from collections.abc import AsyncIterator, Iterator

from telegram import Bot, WebhookInfo
from telegram.error import InvalidToken

from adapters.telegram.errors import LIBRARY_ERRORS
from adapters.telegram.transport import AiohttpRequest
from bot.settings import Settings


async def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """Whether Telegram knows the token, and what the host should know of the bot."""
    assert settings.telegram_token
    request = AiohttpRequest()
    base = settings.telegram_api_url
    bot = Bot(settings.telegram_token.get_secret_value(), base_url=f"{base}/bot", request=request)
    try:
        await request.initialize()
        me = await bot.get_me()
        webhook = await _webhook_of(bot)
    except InvalidToken:
        yield False, "telegram: the token is not one that Telegram knows: copy it anew from @BotFather"
        return
    except LIBRARY_ERRORS as error:
        yield False, f"telegram: {base} does not answer ({type(error).__name__}): is the network there?"
        return
    finally:
        await request.shutdown()
    yield (
        True,
        f"telegram: the token is @{me.username}'s; add it to a group: https://t.me/{me.username}?startgroup=true",
    )
    for finding in _webhook_findings(settings.telegram_webhook_url or "", webhook):
        yield finding
    if me.can_join_groups is False:
        yield False, "telegram: the bot may not be added to groups: tell @BotFather /setjoingroups, Enable"
    if me.supports_inline_queries is False:
        yield True, "telegram: inline mode is off, so no table can be sent into other chats: @BotFather, /setinline"
    if me.can_read_all_group_messages:
        yield True, "telegram: privacy mode is off; the bot does not need that: @BotFather, /setprivacy, Enable"


async def _webhook_of(bot: Bot) -> WebhookInfo | None:
    """What Telegram knows of the webhook; None from a server that knows none."""
    try:
        return await bot.get_webhook_info()
    except InvalidToken:
        return None


def _webhook_findings(wanted: str, webhook: WebhookInfo | None) -> Iterator[tuple[bool, str]]:
    """Whether updates come the way that the settings say."""
    if webhook is None:
        if wanted:
            yield False, "telegram: this Bot API server knows no webhooks: take BUONGIOCO_TELEGRAM_WEBHOOK_URL out"
        return
    if wanted and webhook.url != wanted:
        yield True, f"telegram: the webhook {wanted} is set as soon as the bot runs"
    elif wanted and webhook.last_error_message and webhook.pending_update_count:
        yield (
            False,
            f"telegram: {webhook.pending_update_count} updates wait, for Telegram does not get through to {wanted}: "
            f"{webhook.last_error_message}",
        )
    elif wanted:
        yield True, f"telegram: updates come to {wanted}"
    elif webhook.url:
        yield True, f"telegram: a webhook is set ({webhook.url}); it is taken away as soon as the bot runs"
