"""The host's secret link to an open playground: printed on a terminal and stored in a file, never logged.

It is printed only on a terminal, because Docker and systemd, for example, store all other output.
"""

import os
import sys
import tempfile
from pathlib import Path

import structlog

from bot.store.folder import StoreError, make_private

log = structlog.get_logger()


def link_path(folder: Path) -> Path:
    """Return the file in a data folder that holds the link while a bot runs."""
    return folder / "playground.link"


def show_link(folder: Path, link: str) -> None:
    """Store the link in the data folder with mode 0600 (`buongioco link` prints it), and print it on a terminal.

    The log names the file, or says why the link could not be stored.
    """
    if sys.stdout.isatty():
        print(f"The playground is open to others. Your host's link: {link}", flush=True)  # noqa: T201
    try:
        _write(folder, link)
    except (StoreError, OSError) as error:
        what_to_do = "set BUONGIOCO_DATA to a folder that can be written, or start the bot in a terminal"
        log.warning("playground_host_link_not_saved", why=str(error), what_to_do=what_to_do)
    else:
        log.info("playground_host_link_saved", file=str(link_path(folder)), or_by="buongioco link")


def _write(folder: Path, link: str) -> None:
    make_private(folder)
    # A new file with mode 0600 and a random name: an existing one could belong to another user.
    number, name = tempfile.mkstemp(prefix=".playground.link.", dir=folder)
    try:
        with os.fdopen(number, "w") as file:
            file.write(f"{link}\n")
        os.replace(name, link_path(folder))
    except OSError:
        Path(name).unlink()
        raise


def delete_link(folder: Path, link: str) -> None:
    """Delete the file if it still holds this link. A bot started later might have written its own."""
    path = link_path(folder)
    try:
        if path.read_text().strip() == link:
            path.unlink()
    except OSError:
        # A file that stays is harmless, because its link no longer opens anything.
        return
