"""The Discord checks of `buongioco doctor`."""

from collections.abc import AsyncIterator

import discord
from discord.http import Route

from adapters.discord.errors import LIBRARY_ERRORS, describe_error
from bot.http.proxies import proxy_for
from bot.settings import Settings

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
