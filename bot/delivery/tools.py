"""The objects that the tasks of all surfaces share."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.cluster.shards import Shards
from bot.delivery.outages import Outages
from bot.delivery.reposts import RepostPolicy
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.surface_panels import Drawer
from bot.delivery.table_topics import TableTopics
from bot.pictures.pool import PicturePool
from bot.platform import Adapter
from bot.tables.room import Room


@dataclass
class DeliveryTools:
    """The services that delivery uses. ``stopping`` ends the tasks of surfaces at their next step."""

    room: Room
    shards: Shards
    adapters: Mapping[str, Adapter]
    limiter: SendLimiter
    drawer: Drawer
    pictures: PicturePool
    reposts: RepostPolicy
    outages: Outages
    topics: TableTopics
    stopping: bool = False
    _back_events: dict[str, asyncio.Event] = field(default_factory=dict)

    def back_event(self, platform: str) -> asyncio.Event:
        """Return the event that is set when a platform is available again."""
        return self._back_events.setdefault(platform, asyncio.Event())

    def resume_platform(self, platform: str) -> None:
        """Retry the pending work for a platform that is available again."""
        self._back_events.pop(platform, asyncio.Event()).set()
