"""Notifications in a guest's browsers. People of a chat get theirs in the chat."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.web.refusals import Refused
from adapters.web.script_texts import push_texts
from adapters.web.site import Site
from bot.days.chosen_hours import HOURS
from bot.features.daily.feature import DailyFeature
from bot.features.web_push.feature import WebPushFeature
from bot.features.web_push.subscriptions import LONGEST_ENDPOINT, BadSubscription, subscription_id
from bot.http.server import body_timeout
from bot.notification import NotificationKind
from bot.texts import texts


class BrowserKeys(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    p256dh: Annotated[str, Field(max_length=128)]
    auth: Annotated[str, Field(max_length=64)]


class PushRequest(BaseModel):
    """A browser's subscription, its ``kinds`` of notifications, and the ``hour`` of the person's daily reminder.

    Without ``kinds`` the browser asks for the stored ones.
    """

    model_config = ConfigDict(strict=True, extra="forbid")
    endpoint: Annotated[str, Field(max_length=LONGEST_ENDPOINT)]
    keys: BrowserKeys
    kinds: Annotated[list[Literal["turn", "challenge", "daily", "tournament"]], Field(max_length=4)] | None = None
    hour: int | None = None


async def push_form(site: Site, person: str, language: str) -> dict[str, Any]:
    """Return the values of the form in the settings."""
    _ = texts(language).gettext
    chosen_hour = await site.card_room.feature(DailyFeature).site.hours.hour_of(person)
    kinds: dict[NotificationKind, str] = {
        "turn": _("Your turn"),
        "challenge": _("Challenges"),
        "daily": _("Deal of the day"),
        "tournament": _("Tournaments"),
    }
    key = await site.card_room.feature(WebPushFeature).sender.public_key()
    page_data = {"key": key, "texts": push_texts(language)}
    return {"kinds": kinds, "hours": HOURS, "chosen_hour": chosen_hour or HOURS[-2], "data": page_data}


async def choose(site: Site, request: web.Request) -> web.Response:
    """Store which notifications a browser wants, if it says so. Return the stored kinds."""
    site.check_own_page(request)
    reader = await site.people.identify(request)
    if reader is None or not reader.is_guest:
        raise Refused("Only guests get notifications here.")
    try:
        async with body_timeout():
            push_request = PushRequest.model_validate_json(await request.read())
    except ValidationError:
        raise Refused("there is no such request") from None
    if push_request.hour not in (None, *HOURS):
        raise Refused("there is no such hour")
    subscriptions = site.card_room.feature(WebPushFeature).subscriptions
    if push_request.kinds is not None:
        try:
            await subscriptions.choose(
                reader.person, push_request.endpoint, push_request.keys.model_dump(), push_request.kinds
            )
        except BadSubscription:
            raise Refused("there is no such push service") from None
        # A person has one reminder of the daily deal for all their browsers.
        hours = site.card_room.feature(DailyFeature).site.hours
        if not any("daily" in browser.kinds for browser in await subscriptions.of(reader.person)):
            await hours.choose(reader.person, None)
        elif push_request.hour is not None:
            await hours.choose(reader.person, push_request.hour)
    subscription = await subscriptions.get(reader.person, subscription_id(push_request.endpoint))
    return web.json_response({"kinds": subscription.kinds if subscription else []}, status=HTTPStatus.OK)
