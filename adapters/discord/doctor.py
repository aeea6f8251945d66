"""The Discord checks of `buongioco doctor`."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import discord
from discord.http import Route

from adapters.discord.activity import SCOPE, missing_for_activity, request_token
from adapters.discord.errors import LIBRARY_ERRORS, describe_error
from adapters.discord.rest import TIMEOUT
from bot.http.proxies import proxy_for
from bot.platform import DeliveryError
from bot.settings import Settings
from bot.site.mini_app import InvalidLaunch

# Permissions that the bot needs in a server: see the channel, and write there, with pictures.
PERMISSIONS = discord.Permissions(
    view_channel=True, send_messages=True, send_messages_in_threads=True, attach_files=True
)


async def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """Check the token and the settings in the developer portal. Yield the link that adds the bot to a server."""
    assert settings.discord_token
    Route.BASE = settings.discord_api_url
    client = discord.Client(intents=discord.Intents.none(), proxy=proxy_for(settings.discord_api_url))
    try:
        await client.login(settings.discord_token.get_secret_value())
        application = await client.application_info()
        _shards, _address, limits = await client.http.get_bot_gateway()
    except discord.LoginFailure:
        yield False, "discord: Discord does not accept the token: copy it again from the developer portal"
        return
    except LIBRARY_ERRORS as error:
        yield False, f"discord: {Route.BASE} does not answer ({describe_error(error)}): check the network"
        return
    finally:
        await client.close()
    assert client.user
    if settings.discord_activity:
        yield await _examine_activity(settings, application.id)
    invite = discord.utils.oauth_url(application.id, permissions=PERMISSIONS, scopes=("bot", "applications.commands"))
    yield True, f"discord: the token is {client.user.name}'s; add it to a server: {invite}"
    if application.interactions_endpoint_url:
        yield (
            False,
            f"discord: presses go to {application.interactions_endpoint_url} instead of the bot: in the developer "
            "portal, under General Information, remove the Interactions Endpoint URL",
        )
    if not application.bot_public:
        yield True, "discord: only you can add it to servers (Public Bot is off)"
    if not limits["remaining"]:
        yield False, "discord: the bot was started too often today; Discord accepts it again after a while"


async def _examine_activity(settings: Settings, application: int) -> tuple[bool, str]:
    """Check the Activity's settings, and the client secret by a token for the application itself."""
    if missing := missing_for_activity(settings):
        return False, f"discord: the Activity is off: {missing}"
    try:
        async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
            await request_token(session, settings, application, grant_type="client_credentials", scope=SCOPE)
    except InvalidLaunch:
        return False, "discord: Discord does not accept the client secret: copy it again from the portal, under OAuth2"
    except (DeliveryError, *LIBRARY_ERRORS) as error:
        return False, f"discord: the client secret could not be checked ({describe_error(error)})"
    return True, (
        f"discord: the Activity is on; under Activities, URL Mappings, the portal needs / for "
        f"{urlsplit(settings.public_url or '').netloc}, and under Settings, Enable Activities"
    )
