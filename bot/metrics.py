"""Metrics for Prometheus. `bot.running.monitoring` serves them."""

from functools import cache

from prometheus_client import Counter, Gauge, Histogram, Info, disable_created_metrics

from bot.version import VERSION

disable_created_metrics()  # type: ignore[no-untyped-call]  # they are a second series for every counter

SHORT = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

_PRESSES = Counter("buongioco_presses", "Presses of buttons, by outcome", ["outcome"])
COMMANDS = Counter("buongioco_commands", "Commands, by word", ["word"])
COMMITS = Counter("buongioco_commits", "Changes of tables committed to the store by this worker")
PRESS_SECONDS = Histogram("buongioco_press_seconds", "Seconds from a press to its answer", buckets=SHORT)
_MESSAGES = Counter("buongioco_messages", "Messages by platform and outcome", ["platform", "outcome"])
UNSETTLED = Gauge("buongioco_tables_being_delivered", "Tables with messages that are being updated")
LAG = Gauge("buongioco_delivery_lag_seconds", "Age of the oldest change that is not shown yet")
TABLES = Gauge("buongioco_tables", "Live tables that this worker has in memory, by state", ["state"])
PLATFORM_UP = Gauge("buongioco_platform_up", "1 if a platform can be reached, otherwise 0", ["platform"])
PICTURES = Counter("buongioco_pictures", "Requests for pictures that were not cached, by outcome", ["outcome"])
STORE_RISK = Gauge("buongioco_store_risk", "1 if a setting of the store can lose data, otherwise 0", ["risk"])
STORE_MEMORY = Gauge("buongioco_store_memory_used", "Part of the store's memory that is used, from 0 to 1")
STORE_UP = Gauge("buongioco_store_up", "1 if the store answers and takes writes, otherwise 0")
STORE_COMMIT_SECONDS = Histogram(
    "buongioco_store_commit_seconds", "Seconds from a change of a table to the store's answer", buckets=SHORT
)
STALLED = Counter("buongioco_stalled_seconds", "Seconds for which the process did not run, in pauses over 5 s")
ROBOT_MOVES = Counter("buongioco_robot_moves", "Moves of robots, by robot", ["robot"])
LOG_EVENTS = Counter("buongioco_log_events", "Lines of the log from level warning", ["level", "event"])
RATE_LIMITED_ANSWERS = Counter(
    "buongioco_rate_limited", "Answers 429, with which a platform slows the bot down", ["platform"]
)
ANALYSES = Gauge(
    "buongioco_analyses_pending", "Games whose analysis is running or waiting; requested ones come first", ["kind"]
)
PUSHES = Counter("buongioco_pushes", "Web Push messages, by outcome", ["outcome"])
PAGES = Gauge("buongioco_pages_open", "Open pages and streams with a live connection, by kind", ["kind"])
BANS = Gauge("buongioco_bans", "People whom the host has banned")
ANNOUNCED = Gauge("buongioco_announcement", "1 while an announcement of the host is shown, otherwise 0")
MAINTENANCE = Gauge("buongioco_maintenance", "1 while the host allows no new tables, otherwise 0")
GAMES = Counter("buongioco_games_finished", "Games finished, by game and ending", ["game", "ending"])

Info("buongioco_build", "The version of this worker").info({"version": VERSION})


for _kind in ("table", "playground", "stream"):
    PAGES.labels(_kind)
for _outcome in ("sent", "retried", "failed", "refused", "gone", "dropped"):
    PUSHES.labels(_outcome)


@cache
def message_counter(platform: str, outcome: str) -> Counter:
    """Return the counter of a platform's messages with an outcome. The cache is cheaper than the lookup of labels."""
    return _MESSAGES.labels(platform, outcome)


@cache
def press_counter(outcome: str) -> Counter:
    return _PRESSES.labels(outcome)
