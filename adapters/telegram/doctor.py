"""The Telegram checks of `buongioco doctor`."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

from telegram import Bot, WebhookInfo
from telegram.error import InvalidToken

from adapters.telegram.errors import LIBRARY_ERRORS
from adapters.telegram.modes import check_modes
from adapters.telegram.transport import AiohttpRequest
from bot.settings import Settings


async def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """Check the token, the webhook and the bot's settings at @BotFather."""
    assert settings.telegram_token
    request = AiohttpRequest()
    base = settings.telegram_api_url
    bot = Bot(settings.telegram_token.get_secret_value(), base_url=f"{base}/bot", request=request)
    try:
        await request.initialize()
        me = await bot.get_me()
        webhook = None
        # A server without webhooks answers with this error.
        with suppress(InvalidToken):
            webhook = await bot.get_webhook_info()
    except InvalidToken:
        yield False, "telegram: Telegram does not know the token: copy it from @BotFather again"
        return
    except LIBRARY_ERRORS as error:
        yield False, f"telegram: {base} does not answer ({type(error).__name__}): check the network"
        return
    finally:
        await request.shutdown()
    name = me.username
    yield True, f"telegram: the token is @{name}'s; add it to a group: https://t.me/{name}?startgroup=true"
    for finding in _webhook_findings(settings.telegram_webhook_url or "", webhook):
        yield finding
    for finding in check_modes(me.to_dict(), table_topics=settings.telegram_table_topics):
        yield finding
    pages = settings.public_url or ""
    if pages.startswith("https://") and not me.has_main_web_app:
        yield (
            True,
            "telegram: the bot has no main Mini App, so links in chats open the browser: @BotFather, /mybots, Bot "
            f"Settings, Configure Mini App, {pages}/app/telegram",
        )


def _webhook_findings(wanted_url: str, webhook: WebhookInfo | None) -> Iterator[tuple[bool, str]]:
    """Check how Telegram delivers updates. ``webhook`` is None if the Bot API server has no webhooks."""
    if webhook is None:
        if wanted_url:
            yield False, "telegram: this Bot API server has no webhooks: remove BUONGIOCO_TELEGRAM_WEBHOOK_URL"
        return
    if wanted_url and webhook.url != wanted_url:
        yield True, f"telegram: the bot sets the webhook {wanted_url} when it starts"
    elif wanted_url and webhook.last_error_message and webhook.pending_update_count:
        yield (
            False,
            f"telegram: Telegram cannot reach {wanted_url} (waiting updates: {webhook.pending_update_count}): "
            f"{webhook.last_error_message}",
        )
    elif wanted_url:
        yield True, f"telegram: updates come to {wanted_url}"
    elif webhook.url:
        yield True, f"telegram: a webhook is set ({webhook.url}); the bot removes it when it starts"
