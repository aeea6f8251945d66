"""What outlives the process: tables as logs in a Redis or Valkey, one's own or the embedded one."""

from bot.store.embedded import EmbeddedStore
from bot.store.folder import FolderTaken, StoreAway, StoreError
from bot.store.outage import STORE_ERRORS
from bot.store.retries import WorkDropped, WorkFailed
from bot.store.store import Appended, Behind, Gone, Store, connected, opened

__all__ = [
    "STORE_ERRORS",
    "Appended",
    "Behind",
    "EmbeddedStore",
    "FolderTaken",
    "Gone",
    "Store",
    "StoreAway",
    "StoreError",
    "WorkDropped",
    "WorkFailed",
    "connected",
    "opened",
]
