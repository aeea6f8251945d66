"""What has to be on disk before something else is done."""

import os
from pathlib import Path


def sync_name(path: Path) -> None:
    """Have a file's name on disk, which stands in its folder: after a power cut there might be no such file."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
