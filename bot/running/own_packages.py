"""The check that the bot's packages are its own.

They have common names: other distributions have a package `adapters` too. In one environment, the distribution
installed last overwrites files of the other.
"""

from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("engine", "bot", "adapters")
ROOT = Path(__file__).parents[2]
REMEDY = (
    "The bot needs a virtual environment of its own. Other packages there named {name} are damaged too: make a new "
    "environment for each (docs/releasing.md)."
)


class ForeignPackage(Exception):
    """Another distribution has installed files into a package of the bot. The text says what to do."""


def check_own_packages(root: Path = ROOT) -> None:
    """Raise ForeignPackage unless `PACKAGES` are those of this bot, in the folder ``root``."""
    # In an editable installation, no package is recorded.
    recorded = {str(file): file.hash for file in distribution("buongioco").files or ()}
    for name in PACKAGES:
        start = root / name / "__init__.py"
        spec = find_spec(name)
        if spec is None or spec.origin is None or Path(spec.origin).resolve() != start.resolve():
            place = spec.origin if spec else "nowhere"
            raise ForeignPackage(
                f"Python finds the package {name} in another place, {place}. {REMEDY.format(name=name)}"
            )
        recorded_hash = recorded.get(f"{name}/__init__.py")
        if recorded_hash is None:
            continue
        own_files = {file.split("/")[1] for file in recorded if file.startswith(f"{name}/")} | {"__pycache__"}
        foreign_files = sorted(path.name for path in start.parent.iterdir() if path.name not in own_files)
        digest = urlsafe_b64encode(sha256(start.read_bytes()).digest()).rstrip(b"=").decode()
        if digest != recorded_hash.value:
            foreign_files.insert(0, start.name)
        if foreign_files:
            raise ForeignPackage(
                f"Another distribution has put {', '.join(foreign_files[:3])} into the bot's package {name} in {root}. "
                f"{REMEDY.format(name=name)}"
            )
