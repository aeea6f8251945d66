"""The payload of an offer's button: the game, its sender, the hour and a signature.

The bot stores nothing about an offer before it is accepted, so these bytes hold everything needed to open its table.
The signature prevents changed terms and challenges in another person's name.
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
from bot.tables.game_choice import Choice, possible_values
from bot.tables.limits import HOURS_TO_ACCEPT
from engine import GAMES

SIGNATURE_BYTES = 10

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

TERMS = re.compile(
    r"(?P<game>[a-z]{1,16})\.(?P<choice>[0-9a-z]{1,3})\.(?P<id>[0-9a-z]{1,13})\.(?P<hour>[0-9a-z]{1,4})"
    r"\.(?P<nonce>[\w-]{6})",
    re.A,
)
"""The text of an offer's terms. Numbers are in base 36, so that the longest ones fit into a payload."""


class Terms(NamedTuple):
    """An offer's terms. ``person`` sent it in this ``hour`` since 1970. ``nonce`` distinguishes a person's offers."""

    choice: Choice
    person: str
    hour: int
    nonce: str

    @property
    def is_valid(self) -> bool:
        """True if it can still be accepted: for `HOURS_TO_ACCEPT`, and the rest of its first hour.

        An offer from the future was made before the clock was set back.
        """
        return abs(_current_hour() - self.hour) <= HOURS_TO_ACCEPT


def new_terms(choice: Choice, person: str) -> Terms:
    return Terms(choice, person, _current_hour(), secrets.token_urlsafe(4))


def encode(terms: Terms, secret: bytes) -> str:
    """Return the payload of an offer's button. Raise ValueError if the person's id is not a number or too long."""
    choice, platform, number = terms.choice, platform_of(terms.person), int(terms.person.partition(":")[2])
    text = f"{choice.game}.{_to_base36(choice.number)}.{_to_base36(number)}.{_to_base36(terms.hour)}.{terms.nonce}"
    payload = actions.offer(f"{text}.{_signature(platform, choice.game, text, secret)}")
    if len(payload.encode()) > LONGEST_PAYLOAD or not TERMS.fullmatch(text):
        raise ValueError(f"too long for a button: {text!r}")
    return payload


def decode(signed: str, platform: str, secret: bytes) -> Terms:
    """Return the terms of an offer pressed on a platform. Raise BadPayload unless the bot made it for that platform."""
    text, _, signature = signed.rpartition(".")
    parts = TERMS.fullmatch(text)
    if parts is None or parts["game"] not in GAMES:
        raise BadPayload()
    game = parts["game"]
    if not hmac.compare_digest(_signature(platform, game, text, secret).encode(), signature.encode()):
        raise BadPayload()
    person = f"{platform}:{int(parts['id'], 36)}"
    return Terms(Choice.from_number(game, int(parts["choice"], 36)), person, int(parts["hour"], 36), parts["nonce"])


def _signature(platform: str, game: str, text: str, secret: bytes) -> str:
    """Sign an offer with a key of its own, derived from the store's secret.

    The possible choices are signed too. A release with other options would read a choice's number as another choice, so
    it refuses the offer.
    """
    key = hmac.digest(secret, b"buongioco offer", hashlib.sha256)
    signed = f"{platform}:{text}:{possible_values(game)!r}"
    signature = hmac.digest(key, signed.encode(), hashlib.sha256)[:SIGNATURE_BYTES]
    return urlsafe_b64encode(signature).decode().rstrip("=")


def _to_base36(number: int) -> str:
    """Return a number of at least 0 in base 36, as `int` parses it."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits


def _current_hour() -> int:
    return int(time.time() // 3600)
