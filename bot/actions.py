"""What a button carries, in at most 64 bytes: the version of this grammar, a kind, and what it is about.

| payload | a press of it is |
|---|---|
| ``1m<code>:<version>:<move>`` | a move at a table, from a panel of that version |
| ``1t<code>:<verb and words>`` | anything else at a table: robot, cancel, resign, draft … |
| ``1t<code>:<version>:sit`` | a chair, on terms that a table has had since that version; ``sit 2`` for a certain one |
| ``1o<terms>`` | an offer taken up that somebody sent into a chat: a game, whose it is, a signature (`bot.offers`) |
| ``1p<words>`` | a page to be shown in this message's place: a leaderboard, settings, a replay … |

Anyone may send anything: a modified client makes payloads up. What does not read as one of these is `BadPayload`.
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


class BadPayload(TableError):
    """A press of a button that this bot never made, or made in a version long gone."""

    code = "bad_payload"
    sentence = "This button does not work any more."


class MoveAction(NamedTuple):
    code: str
    version: int
    move: str


class TableAction(NamedTuple):
    """``version`` is None on buttons that have none, and on those of before they had one."""

    code: str
    verb: str
    words: list[str]
    version: int | None = None


class PageAction(NamedTuple):
    page: str
    words: list[str]


class OfferAction(NamedTuple):
    terms: str
    """As they were signed (`bot.offers`), by whomever."""


Action = MoveAction | TableAction | PageAction | OfferAction


def move(code: str, version: int, text: str) -> str:
    return f"1m{code}:{version}:{text}"


def table(code: str, *words: object) -> str:
    return f"1t{code}:{' '.join(map(str, words))}"


def sit(code: str, terms: int, *seat: int) -> str:
    return table(f"{code}:{terms}", "sit", *seat)


def page(*words: object) -> str:
    return f"1p{' '.join(map(str, words))}"


def is_page(payload: str) -> bool:
    """Return whether a payload asks for a page."""
    return payload.startswith("1p")


def offer(terms: str) -> str:
    return f"1o{terms}"


def join_start_word(code: str) -> str:
    """Return the word after /start in a link that seats people: ``join-K7QF2M`` (see `bot.pasted_text`)."""
    return f"join-{code}"


def parse_payload(payload: str) -> Action:
    """What a payload asks for."""
    if len(payload) <= LONGEST_PAYLOAD:
        if found := MOVE.fullmatch(payload):
            return MoveAction(found["code"], int(found["version"]), found["text"])
        if found := TABLE.fullmatch(payload):
            verb, *words = found["text"].split(" ")
            return TableAction(found["code"], verb, words, int(found["version"]) if found["version"] else None)
        if found := OFFER.fullmatch(payload):
            return OfferAction(found["text"])
        if found := PAGE.fullmatch(payload):
            name, *words = found["text"].split(" ")
            return PageAction(name, words)
    raise BadPayload()


def parse_number(words: Sequence[str], digits: int = 6) -> int:
    """Return the first word as a number of at most ``digits`` digits. BadPayload if it is not one."""
    if not words or not words[0].isdecimal() or len(words[0]) > digits:
        raise BadPayload()
    return int(words[0])
