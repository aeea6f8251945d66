"""The store: everything that outlives the process, in a Redis or Valkey of the host or in an embedded one."""

from bot.store.embedded import EmbeddedStore
from bot.store.folder import FolderInUse, StoreError, StoreUnavailable
from bot.store.outage import STORE_ERRORS
from bot.store.retries import WorkDropped, WorkFailed
from bot.store.store import Appended, NewEntries, Removed, Store, connect, open_store

__all__ = [
    "STORE_ERRORS",
    "Appended",
    "EmbeddedStore",
    "FolderInUse",
    "NewEntries",
    "Removed",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "WorkDropped",
    "WorkFailed",
    "connect",
    "open_store",
]
