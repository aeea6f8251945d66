"""What the button of an offer carries: what is to be played, whose offer it is and since when, and a signature.

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
from bot.tables.choice import Choice, possible
from engine import GAMES

VALID_HOURS = 24
"""How long an offer can be taken up, as long as a challenge is open; and in what is left of the hour it was made in."""

SIGNATURE_BYTES = 10

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

TERMS = re.compile(
    r"(?P<game>[a-z]{1,16})\.(?P<choice>[0-9a-z]{1,3})\.(?P<id>[0-9a-z]{1,13})\.(?P<hour>[0-9a-z]{1,4})"
    r"\.(?P<nonce>[\w-]{6})",
    re.A,
)
"""Numbers have 36 digits: the longest that there can be fit."""


class Terms(NamedTuple):
    """An offer: what is to be played, who made it (``platform:number``), in which hour since 1970, and what tells it
    from others of theirs.
    """

    choice: Choice
    person: str
    hour: int
    nonce: str

    @property
    def is_valid(self) -> bool:
        """Whether it can still be taken up. From the future comes what was made before the clock was set back."""
        return abs(_current_hour() - self.hour) <= VALID_HOURS


def new_terms(choice: Choice, person: str) -> Terms:
    """An offer that is made just now."""
    return Terms(choice, person, _current_hour(), secrets.token_urlsafe(4))


def encode(terms: Terms, secret: bytes) -> str:
    """The payload of an offer's button; ValueError if a person's id is no number, or too long a one."""
    choice, platform, number = terms.choice, platform_of(terms.person), int(terms.person.partition(":")[2])
    text = f"{choice.game}.{_to_base36(choice.number)}.{_to_base36(number)}.{_to_base36(terms.hour)}.{terms.nonce}"
    payload = actions.offer(f"{text}.{_signature(platform, choice.game, text, secret)}")
    if len(payload.encode()) > LONGEST_PAYLOAD or not TERMS.fullmatch(text):
        raise ValueError(f"no button can carry {text!r}")
    return payload


def decode(signed: str, platform: str, secret: bytes) -> Terms:
    """The offer that was pressed on a platform; BadPayload unless the bot made it, for that platform."""
    text, _, signature = signed.rpartition(".")
    found = TERMS.fullmatch(text)
    if found is None or found["game"] not in GAMES:
        raise BadPayload()
    game = found["game"]
    if not hmac.compare_digest(_signature(platform, game, text, secret).encode(), signature.encode()):
        raise BadPayload()
    person = f"{platform}:{int(found['id'], 36)}"
    return Terms(Choice.numbered(game, int(found["choice"], 36)), person, int(found["hour"], 36), found["nonce"])


def _signature(platform: str, game: str, text: str, secret: bytes) -> str:
    """Under a key of its own, so that it says nothing of what else is made from the store's secret.

    What there is to choose is signed as well: a release with other options refuses the number of a choice that it would
    take for another one.
    """
    key = hmac.digest(secret, b"buongioco offer", hashlib.sha256)
    signed = f"{platform}:{text}:{possible(game)!r}"
    signature = hmac.digest(key, signed.encode(), hashlib.sha256)[:SIGNATURE_BYTES]
    return urlsafe_b64encode(signature).decode().rstrip("=")


def _to_base36(number: int) -> str:
    """A number of no less than 0 in base 36, as `int` reads it."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits


def _current_hour() -> int:
    return int(time.time() // 3600)
