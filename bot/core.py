"""The parts of a worker that serve every feature."""

import time
from collections.abc import Mapping
from importlib.util import find_spec

from bot.alarms import Alarms
from bot.cluster.host_time import HostTime
from bot.cluster.shards import Shards
from bot.delivery.delivery import Delivery
from bot.delivery.outages import Outages
from bot.delivery.private_hands import PrivateHands
from bot.delivery.reposts import RING_SECONDS, LowestHands, RepostPolicy
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.shared_pace import SharedPace
from bot.delivery.surface_names import Result
from bot.delivery.surface_panels import Drawer
from bot.delivery.table_topics import TableTopics
from bot.delivery.tools import DeliveryTools
from bot.delivery.updates import Updates
from bot.feature import Feature, Lesson
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings
from bot.finisher import Finisher
from bot.hints import Hints, UnaskedHints
from bot.meetings import Meetings
from bot.panels.replays import Replays
from bot.people import People
from bot.pictures.pool import PicturePool
from bot.platform import Adapter, SentMessage
from bot.presence import Presence
from bot.robots.pool import RobotPool
from bot.settings import Settings
from bot.site.watching import Watching
from bot.store import Store
from bot.table_policy import Outcome, Policies
from bot.tables.blocks import Blocks
from bot.tables.challenges import Challenges
from bot.tables.code_guard import CodeGuard
from bot.tables.room import ROBOT_PAUSE, Room
from bot.tables.table import Table
from bot.viewers import Viewers
from engine import GameKind

TROUBLE_SECONDS = 300.0  # for this long after a failure or a start, players are not blamed for silence


class Core:
    """Everything that features can use. A feature passes to its classes only the parts that they need."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        alone: bool = True,
        robot_pause: float = ROBOT_PAUSE,
        ring_after: float = RING_SECONDS,
    ) -> None:
        self.store, self.settings = store, settings
        self.features: list[Feature] = []  # filled by the worker once all features exist
        self.policies = Policies()
        self.adapters: dict[str, Adapter] = {}
        self.errors: dict[str, str] = {}  # reasons why platforms are down, from their supervisor
        self._started_at = time.monotonic()
        self.host_time = HostTime(store.leases, settings.time_zone)
        self.robot_pool, self.picture_pool = RobotPool(), PicturePool()
        self.hints = Hints(self.robot_pool, self._unasked_hints)
        self.shards = Shards(store, alone=alone, zone=settings.time_zone)
        self.people = People(store.client, None if alone else self.shards.notify_forget)
        self.presence = Presence(store.client, store.outage)
        self.viewers = Viewers(self.people, self.adapters)
        self.room = Room(
            store,
            robot_pause=robot_pause,
            before_removal=lambda table: self.policies.policy_of(table).before_removal(table),
            shards=self.shards,
        )
        self.challenges = Challenges(self.room, self.robot_pool)
        self.code_guard = CodeGuard(self.room)
        self.blocks, self.meetings = Blocks(store.client), Meetings()
        self.archive = Archive(store.client)
        self.ratings = Ratings(store.client, self.archive)
        self.replays = Replays(self.archive, self.viewers, self.room)
        self.analysis_pool = AnalysisPool(store.client, self.robot_pool)
        self.outages = Outages(self.is_healthy, self._on_platform_back)
        self.watching = Watching(self.room, self.people, self.shards)
        self.alarms = Alarms(self.room, self.shards, self.robot_pool, self.policies)
        self.finisher = Finisher(store, self.archive, self.ratings, self.policies)
        lowest = LowestHands(None if alone else self.shards.notify_lowest)
        limiter = SendLimiter.for_adapters(self.adapters, SharedPace(store.client, store.outage.begin))
        tools = DeliveryTools(
            room=self.room,
            shards=self.shards,
            adapters=self.adapters,
            limiter=limiter,
            drawer=Drawer(
                self.people,
                self.adapters,
                limiter,
                self.picture_pool,
                self.watching,
                self.policies,
                self.hints,
                self.is_first_game,
                store.levers,
                store.leases.clock_rings_in,
            ),
            pictures=self.picture_pool,
            reposts=RepostPolicy(lowest, ring_after),
            outages=self.outages,
            topics=TableTopics(self.adapters, self.people),
        )
        self.delivery = Delivery(tools, self.finisher.finish, self._on_results_shown)
        self.hints.watchers.append(self.delivery.touch)
        self.updates = Updates(self.room, self.shards, self.people, self.delivery, lowest)
        self.private_hands = PrivateHands(store, self.room.lists, self.updates.send_change)

    @property
    def analyses_games(self) -> bool:
        """True if finished games are analysed automatically. This requires numba, because plain Python is too slow."""
        return self.settings.analyse_results and find_spec("numba") is not None

    def platform_state(self, adapter: Adapter) -> str:
        """Return "up", or "down: " and the reason."""
        platform = adapter.platform
        if adapter.healthy and not self.outages.is_failing(platform):
            return "up"
        return f"down: {self.errors.get(platform) or self.outages.reason(platform) or 'not connected'}"

    def is_healthy(self, platform: str) -> bool:
        adapter = self.adapters.get(platform)
        return adapter is not None and adapter.healthy

    def is_in_trouble(self, platform: str) -> bool:
        """Return whether a platform's users could have been cut off from the bot within `TROUBLE_SECONDS`."""
        has_just_started = time.monotonic() - self._started_at < TROUBLE_SECONDS
        return has_just_started or not self.is_healthy(platform) or self.outages.has_failed(platform, TROUBLE_SECONDS)

    async def is_first_game(self, table: Table, seat: int) -> bool:
        """Return whether a seat's player plays this kind of game for the first time."""
        return any([await feature.is_first_game(table, seat) for feature in self.features])

    async def lessons(self, person: str, kind: GameKind, language: str) -> list[Lesson]:
        """Return lessons about a game, if a person does not know the game yet. ``person`` is empty for a stranger."""
        return [lesson for feature in self.features for lesson in await feature.lessons(person, kind, language)]

    async def _unasked_hints(self, table: Table, seat: int) -> UnaskedHints:
        return max([await feature.unasked_hints(table, seat) for feature in self.features], default=UnaskedHints.NONE)

    def _on_platform_back(self, platform: str) -> None:
        self.delivery.resume_platform(platform)

    def _on_results_shown(self, table: Table, outcome: Outcome, messages: Mapping[Result, SentMessage]) -> None:
        for feature in self.features:
            feature.on_results_shown(table, outcome, messages)
