"""The web table inside Discord, as an Activity.

Sources: docs.discord.com/developers/activities/development-guides (launching, instances, networking) and
docs.discord.com/developers/topics/oauth2 (codes).
"""

import hmac
import re
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import discord
import structlog

from adapters.discord.errors import ANSWERED, EXPIRED, LIBRARY_ERRORS, RATE_LIMITED, describe_error
from adapters.discord.interactions import Unreadable, fields_of, read_person
from adapters.discord.limits import COUNTED_STATUSES, RATE_LIMIT_SECONDS, RefusalBudget
from adapters.discord.places import PLATFORM, InteractionToken
from adapters.discord.rest import TIMEOUT, Rest
from bot import actions
from bot.actions import BadPayload, TableAction
from bot.card_room import CardRoom
from bot.http.proxies import proxy_for
from bot.places import GUEST, Place
from bot.platform import DeliveryError, PlatformFailure, SlowDown
from bot.settings import Settings
from bot.site.mini_app import InvalidLaunch, Launch
from bot.store import STORE_ERRORS

FRAME_ORIGINS = ("https://discord.com", "https://ptb.discord.com", "https://canary.discord.com")
LAUNCH_SECONDS = 900  # time from the launch page to the person's consent
PRESS_SECONDS = 86400  # how long the table of a press is kept
TABLE_KEY = "discord:activity"  # start of the keys in the store: the table's code, by instance and person, as a hash
INSTANCE = re.compile(r"[A-Za-z0-9_-]{1,200}")
CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
LONGEST_LAUNCH_DATA = 1024  # characters of launch data
SCOPE = "identify"

log = structlog.get_logger()


def missing_for_activity(settings: Settings) -> str:
    """Return what the host must set for the Activity; empty if nothing is missing."""
    if not settings.discord_client_secret:
        return "set BUONGIOCO_DISCORD_CLIENT_SECRET: it is in the developer portal, under OAuth2"
    if not (settings.public_url or "").startswith("https://"):
        return "set BUONGIOCO_PUBLIC_URL to an https address, which Discord’s proxy can reach"
    return ""


def has_activity(settings: Settings) -> bool:
    """Return whether the host has turned the Activity on. Log a missing setting."""
    if not settings.discord_activity:
        return False
    if missing := missing_for_activity(settings):
        log.warning("discord_activity_off", remedy=missing)
    return not missing


def table_to_open(payload: str) -> str:
    """Return the table of a press on *Play here*; empty for any other press."""
    try:
        action = actions.parse_payload(payload)
    except BadPayload:
        return ""
    return action.code if isinstance(action, TableAction) and action.verb == "browser" else ""


async def request_token(session: aiohttp.ClientSession, settings: Settings, application: int, **grant: str) -> str:
    """Exchange a grant for an access token. Raise InvalidLaunch if Discord refuses it, SlowDown, or a client error."""
    assert settings.discord_client_secret
    form = {"client_id": str(application), "client_secret": settings.discord_client_secret.get_secret_value(), **grant}
    url = f"{settings.discord_api_url}/oauth2/token"
    async with session.post(url, data=form, proxy=proxy_for(url)) as response:
        _check_rate_limit(response)
        answer = fields_of(await response.json(content_type=None))
        if response.status in (400, 401):
            # RFC 6749, section 5.2. The description is not logged: it can repeat the code or the secret.
            error = answer.get("error")
            if error == "invalid_client":
                log.error("discord_client_secret_refused", remedy="copy BUONGIOCO_DISCORD_CLIENT_SECRET again")
            raise InvalidLaunch(error if error in ("invalid_grant", "invalid_client") else "refused")
        response.raise_for_status()
    token = answer.get("access_token")
    if not isinstance(token, str):
        raise PlatformFailure("an answer without a token")
    return token


class Activity:
    """The Activity of the bot's application. ``redis`` keeps the table of each instance."""

    frame_origins: tuple[str, ...] = FRAME_ORIGINS

    def __init__(
        self, client: discord.AutoShardedClient, rest: Rest, budget: RefusalBudget, card_room: CardRoom
    ) -> None:
        self._client, self._rest, self._budget, self._card_room = client, rest, budget, card_room
        self._settings, self._redis = card_room.settings, card_room.redis
        self._paused_until = 0.0  # by the monotonic clock

    @property
    def page_origin(self) -> str:
        application = self._client.application_id
        return f"https://{application}.discordsays.com" if application else ""

    # From a button to the page

    async def launch(self, token: InteractionToken, person: str, code: str) -> bool:
        """Answer a press by opening the Activity at a table. Return False if another answer is still possible.

        All people of a channel share an instance, but each can press at another table.
        """
        try:
            instance = await self._rest.launch_activity(token)
        except (DeliveryError, *LIBRARY_ERRORS) as error:
            log.warning("discord_activity_not_launched", why=describe_error(error))
            if isinstance(error, discord.HTTPException) and error.status < 500:
                return error.code in (ANSWERED, EXPIRED)
            return not isinstance(error, SlowDown)
        try:
            await self._redis.set(self._table_key(instance, person), code, ex=PRESS_SECONDS)
        except STORE_ERRORS as error:
            # The Activity then opens the table of its channel.
            self._card_room.report_store_error(error)
        return True

    def page_data(self, query: Mapping[str, str]) -> dict[str, str]:
        issued = str(int(time.time()))
        state = f"{issued}.{self._sign('activity', query.get('instance_id', ''), issued)}"
        return {"client_id": str(self._client.application_id), "scope": SCOPE, "state": state}

    def _sign(self, *words: str) -> str:
        """Sign a launch, so that only codes for a recent launch page of this instance are exchanged."""
        assert self._settings.discord_client_secret
        key = self._settings.discord_client_secret.get_secret_value().encode()
        return hmac.digest(key, " ".join(words).encode(), sha256).hex()

    def _table_key(self, instance: str, person: str) -> str:
        return f"{TABLE_KEY}:{self._sign('table', instance, person)}"

    # From the page to its person

    async def verify_launch(self, launch_data: str) -> Launch:
        if len(launch_data) > LONGEST_LAUNCH_DATA:
            raise InvalidLaunch("too long")
        fields = dict(parse_qsl(launch_data))
        code, instance = fields.get("code", ""), fields.get("instance_id", "")
        if not CODE.fullmatch(code) or not INSTANCE.fullmatch(instance):
            raise InvalidLaunch("malformed")
        issued, _dot, signature = fields.get("state", "").partition(".")
        # The page signs any text as an instance, so one with a space could pass as part of the time.
        is_signed = hmac.compare_digest(signature.encode(), self._sign("activity", instance, issued).encode())
        if not is_signed or not issued.isdecimal():
            raise InvalidLaunch("not from our launch page")
        if time.time() - int(issued) > LAUNCH_SECONDS:
            raise InvalidLaunch("opened too long ago")
        user = await self._user_of(code)
        try:
            person = read_person(user, {}, str(user.get("locale") or ""))
        except Unreadable as error:
            raise PlatformFailure(str(error)) from None
        return Launch(person, *await self._where(instance, person.id))

    async def _user_of(self, code: str) -> dict[str, Any]:
        """Return the user who gave consent, by the code that Discord gave the page for it."""
        url, application = f"{self._settings.discord_api_url}/users/@me", self._client.application_id
        if not application:
            raise PlatformFailure("not connected")
        if time.monotonic() < self._paused_until:
            raise PlatformFailure("Discord asked to wait")
        try:
            self._budget.check()
            async with aiohttp.ClientSession(timeout=TIMEOUT, trace_configs=[self._refusal_trace()]) as session:
                grant = {"grant_type": "authorization_code", "code": code}
                token = await request_token(session, self._settings, application, **grant)
                headers = {"Authorization": f"Bearer {token}"}
                async with session.get(url, headers=headers, proxy=proxy_for(url)) as response:
                    _check_rate_limit(response)
                    response.raise_for_status()
                    return fields_of(await response.json(content_type=None))
        except SlowDown as pause:
            # Anybody can send codes, so without a pause they could use up the bot's budget of refusals.
            self._paused_until = time.monotonic() + pause.seconds
            raise PlatformFailure("Discord asked to wait") from None
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise PlatformFailure(type(error).__name__) from None

    def _refusal_trace(self) -> aiohttp.TraceConfig:
        """Return a trace configuration that counts refused requests: Discord bans the address for too many."""
        config = aiohttp.TraceConfig()

        async def count(_session: object, _call: object, params: aiohttp.TraceRequestEndParams) -> None:
            if params.response.status in (*COUNTED_STATUSES, RATE_LIMITED):
                self._budget.count()

        config.on_request_end.append(count)
        return config

    async def _where(self, instance: str, person: str) -> tuple[str, str]:
        """Return the table of a person's press and the instance's channel; both empty if they are not in the instance.

        The page's own word is no proof: it could name any instance.
        """
        try:
            instance_fields = fields_of(await self._rest.get_activity_instance(instance))
        except (DeliveryError, *LIBRARY_ERRORS) as error:
            log.info("discord_activity_instance_unknown", why=describe_error(error))
            return "", ""
        users = instance_fields.get("users")
        if not isinstance(users, list) or person.partition(":")[2] not in users:
            return "", ""
        code = (await self._redis.get(self._table_key(instance, person)) or b"").decode()
        location = fields_of(instance_fields.get("location"))
        channel, server = str(location.get("channel_id") or ""), str(location.get("guild_id") or "")
        if not channel.isdecimal():
            return code, ""
        is_member = server.isdecimal() and self._is_member(int(server))
        place = Place(PLATFORM, server, channel) if is_member else Place(PLATFORM, f"{GUEST}{channel}")
        return code, str(place)

    def _is_member(self, server: int) -> bool:
        """Return whether the bot is in a server. It is assumed to be in the servers of other workers' shards."""
        shard = (server >> 22) % (self._client.shard_count or 1)
        return shard not in (self._client.shard_ids or ()) or self._client.get_guild(server) is not None


def _check_rate_limit(response: aiohttp.ClientResponse) -> None:
    """Raise SlowDown if Discord, or the proxy in front of it, asks to wait."""
    if response.status == RATE_LIMITED:
        try:
            raise SlowDown(float(response.headers["Retry-After"]))
        except (KeyError, ValueError):
            raise SlowDown(RATE_LIMIT_SECONDS) from None
