"""Payloads of buttons, at most 64 bytes: a version of this grammar, a kind, and the rest.

| payload | meaning |
|---|---|
| ``1m<code>:<version>:<move>`` | a move at a table, from a panel of that version |
| ``1t<code>:<verb and words>`` | another action at a table: robot, cancel, resign, draft … |
| ``1t<code>:<version>:sit`` | join a table whose terms have not changed since that version; ``sit 2`` takes seat 2 |
| ``1t<code>:<version>:cut`` | cut the pack that was sealed at that version; ``cut c0ffee`` has the cut's text |
| ``1o<terms>`` | accept an offer that was sent into a chat (`bot.handlers.offer_terms`) |
| ``1p<words>`` | replace this message with a page: a leaderboard, settings, a replay … |

Modified clients can send anything. A payload that does not parse raises `BadPayload`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.panel import LONGEST_PAYLOAD
from bot.tables.errors import TableError

CODE = r"(?P<code>[A-Z0-9]{4,8})"
MOVE = re.compile(rf"1m{CODE}:(?P<version>[0-9]{{1,6}}):(?P<text>[ -~]+)")
TABLE = re.compile(rf"1t{CODE}:((?P<version>[0-9]{{1,6}}):)?(?P<text>[ -~]+)")
PAGE = re.compile(r"1p(?P<text>[ -~]+)")
OFFER = re.compile(r"1o(?P<text>[ -~]+)")
SEPARATE = "new"  # last word of a page's button on a message that the page must not replace
BACK = "back"  # word in a page's payload; the words of the page to return to follow it


class BadPayload(TableError):
    """A payload that this bot never made, or that only very old releases made."""

    sentence = "This button has expired: use the latest message."


class MoveAction(NamedTuple):
    code: str
    version: int
    move: str


class TableAction(NamedTuple):
    """``version`` is None if the payload has none, as in payloads of early releases."""

    code: str
    verb: str
    words: list[str]
    version: int | None = None


class PageAction(NamedTuple):
    page: str
    words: list[str]


class OfferAction(NamedTuple):
    terms: str  # with its signature (`bot.handlers.offer_terms`), not checked yet


Action = MoveAction | TableAction | PageAction | OfferAction


def move(code: str, version: int, text: str) -> str:
    return f"1m{code}:{version}:{text}"


def table(code: str, *words: object) -> str:
    return f"1t{code}:{' '.join(map(str, words))}"


def sit(code: str, terms: int, *seat: int) -> str:
    return table(f"{code}:{terms}", "sit", *seat)


def cut(code: str, sealed_at: int) -> str:
    return table(f"{code}:{sealed_at}", "cut")


def page(*words: object) -> str:
    return f"1p{' '.join(map(str, words))}"


def rules(game: str, *back: object) -> str:
    """Return the payload for a new message with a game's rules. ``back`` are the words of the page to return to."""
    return page("rules", game, SEPARATE, *((BACK, *back) if back else ()))


def is_page(payload: str) -> bool:
    return payload.startswith("1p")


def offer(terms: str) -> str:
    return f"1o{terms}"


def parse_payload(payload: str) -> Action:
    if len(payload) <= LONGEST_PAYLOAD:
        if match := MOVE.fullmatch(payload):
            return MoveAction(match["code"], int(match["version"]), match["text"])
        if match := TABLE.fullmatch(payload):
            verb, *words = match["text"].split(" ")
            return TableAction(match["code"], verb, words, int(match["version"]) if match["version"] else None)
        if match := OFFER.fullmatch(payload):
            return OfferAction(match["text"])
        if match := PAGE.fullmatch(payload):
            name, *words = match["text"].split(" ")
            return PageAction(name, words)
    raise BadPayload()


def parse_number(words: Sequence[str]) -> int:
    """Return the first word as a number of at most six digits, or raise BadPayload."""
    if not words or not words[0].isdecimal() or len(words[0]) > 6:
        raise BadPayload()
    return int(words[0])
