"""Launch data of the Mini App: who opened it. Telegram signs it with the bot's token.

core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
"""

import hmac
import json
import re
import time
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl

from adapters.telegram.reading import PLATFORM
from bot.platform import Person
from bot.site.mini_app import InvalidLaunch

OLDEST_SECONDS = 3600  # age after which the person must open the page again
EARLY_SECONDS = 60  # tolerance if Telegram's clock is ahead
LONGEST = 4096  # characters of launch data
HASH = re.compile(r"[0-9a-f]{64}")


class Launch(NamedTuple):
    """The person who opened the app, and the start value of their link; empty without one."""

    person: Person
    start: str = ""


def verify_launch(token: str, init_data: str, now: float | None = None) -> Launch:
    """Return who opened the app, by its ``initData``; raise InvalidLaunch if it is forged or too old."""
    if len(init_data) > LONGEST:
        raise InvalidLaunch("too long")
    try:
        pairs = parse_qsl(init_data, keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise InvalidLaunch("malformed query") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise InvalidLaunch("a field occurs twice")
    signature = fields.pop("hash", "")
    signed_text = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()))
    key = hmac.digest(b"WebAppData", token.encode(), sha256)
    if not HASH.fullmatch(signature) or not hmac.compare_digest(
        signature, hmac.digest(key, signed_text.encode(), sha256).hex()
    ):
        raise InvalidLaunch("not signed by Telegram for this bot")
    age = (time.time() if now is None else now) - int(fields.get("auth_date", "0"))
    if not -EARLY_SECONDS <= age <= OLDEST_SECONDS:
        raise InvalidLaunch("opened too long ago, or in the future")
    # core.telegram.org/bots/webapps#webappuser
    user = json.loads(fields.get("user", "null"))
    if not isinstance(user, dict) or type(user.get("id")) is not int:
        raise InvalidLaunch("no user")
    texts = {name: value for name, value in user.items() if isinstance(value, str)}
    name = " ".join(filter(None, (texts.get("first_name"), texts.get("last_name"))))
    person = Person(f"{PLATFORM}:{user['id']}", name, texts.get("username", ""), texts.get("language_code", ""))
    return Launch(person, fields.get("start_param", ""))
