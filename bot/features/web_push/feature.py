"""The feature object of Web Push."""

from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.web_push.sending import Sender
from bot.features.web_push.subscriptions import Subscriptions

SEND_SECONDS = 1.0  # interval at which the leader sends due messages


class WebPushFeature(Feature):
    name = "web_push"

    def __init__(self, core: Core) -> None:
        url = core.settings.public_url or ""
        self.subscriptions = Subscriptions(core.store.client)
        self.sender = Sender(core.store.client, self.subscriptions, url if url.startswith("https:") else "")
        self.loops = {"push": partial(core.shards.while_leader, SEND_SECONDS, self.sender.send_due)}

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.subscriptions.forget, forgetting.person)
        yield partial(self.sender.forget, forgetting.person)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        browsers = await self.subscriptions.of(person)
        return {
            "notifications": [
                {"service": urlsplit(browser.endpoint).hostname, "kinds": list(browser.kinds), "made": browser.made}
                for browser in browsers
            ]
        }
