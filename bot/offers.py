"""What the button of an offer carries: a game, whose offer it is and since when, and a signature over that.

Nothing is kept of an offer that nobody takes up, so all that it takes to open its table is in those few bytes, and what
the bot did not sign is no offer: nobody can challenge in somebody else's name, or change what is played.
"""

import hashlib
import hmac
import re
import secrets
import time
from base64 import urlsafe_b64encode
from typing import NamedTuple

from bot import actions
from bot.actions import BadPayload
from bot.panel import LONGEST_PAYLOAD
from bot.platform import platform_of

GOOD_HOURS = 24
"""How long an offer can be taken up, as long as a challenge is open."""

SIGNATURE_BYTES = 10

TERMS = re.compile(
    r"(?P<game>[a-z]{1,16})\.(?P<target>[0-9]{1,4})\.(?P<id>[\w-]{1,24})\.(?P<hour>[0-9a-f]{1,6})\.(?P<nonce>[\w-]{6})",
    re.A,
)


class Terms(NamedTuple):
    """An offer: the game, the points to win as players count them (0 for the usual), who made it (``platform:id``), in
    which hour since 1970, and what tells it from others of theirs.
    """

    game: str
    target: int
    person: str
    hour: int
    nonce: str

    @property
    def is_good(self) -> bool:
        """Whether it can still be taken up. From the future comes what was made before the clock was set back."""
        return abs(_hour() - self.hour) <= GOOD_HOURS


def new_terms(game: str, target: int, person: str) -> Terms:
    """An offer that is made just now."""
    return Terms(game, target, person, _hour(), secrets.token_urlsafe(4))


def encode(terms: Terms, secret: bytes) -> str:
    """The payload of an offer's button; ValueError if a person's id is too long for one."""
    number = terms.person.partition(":")[2]
    text = f"{terms.game}.{terms.target}.{number}.{terms.hour:x}.{terms.nonce}"
    payload = actions.offer(f"{text}.{_signature(platform_of(terms.person), text, secret)}")
    if len(payload.encode()) > LONGEST_PAYLOAD or not TERMS.fullmatch(text):
        raise ValueError(f"no button can carry {text!r}")
    return payload


def decode(signed: str, platform: str, secret: bytes) -> Terms:
    """The offer that was pressed on a platform; BadPayload unless the bot made it, for that platform."""
    text, _, signature = signed.rpartition(".")
    if not hmac.compare_digest(_signature(platform, text, secret).encode(), signature.encode()):
        raise BadPayload()
    found = TERMS.fullmatch(text)
    if found is None:
        raise BadPayload()
    person = f"{platform}:{found['id']}"
    return Terms(found["game"], int(found["target"]), person, int(found["hour"], 16), found["nonce"])


def _signature(platform: str, text: str, secret: bytes) -> str:
    """Under a key of its own, so that it says nothing of what else is made from the store's secret."""
    key = hmac.digest(secret, b"buongioco offer", hashlib.sha256)
    signature = hmac.digest(key, f"{platform}:{text}".encode(), hashlib.sha256)[:SIGNATURE_BYTES]
    return urlsafe_b64encode(signature).decode().rstrip("=")


def _hour() -> int:
    return int(time.time() // 3600)
