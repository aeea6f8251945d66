"""Parses the header Accept-Language (RFC 9110, sections 12.4.2 and 12.5.4)."""

import re
from functools import lru_cache

from bot.texts import LANGUAGES

LANGUAGE_RANGE = re.compile(  # a language and its weight, in lower case
    r"\s*(?P<tag>\*|[a-z]{2,8}(?:-[a-z0-9]{1,8})*)\s*(?:;\s*q\s*=\s*(?P<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?"
)
LONGEST_HEADER = 1000  # characters read from a header; browsers send about a hundred


@lru_cache(maxsize=1_000)
def negotiate(header: str) -> str:
    """Return our language with the greatest weight, or "" if the header names none of ours.

    Among equal weights the first wins. A weight of 0 refuses a language, and ``*`` stands for all that are not named.
    Malformed parts are ignored.
    """
    if not header:
        return ""
    # Import this late, because most bots never show a page.
    from babel.core import negotiate_locale  # noqa: PLC0415

    weights: dict[str, float] = {}
    for part in header[:LONGEST_HEADER].lower().split(","):
        if match := LANGUAGE_RANGE.fullmatch(part):
            tag, weight = match["tag"], float(match["weight"] or 1)
            language = tag if tag == "*" else negotiate_locale([tag], LANGUAGES, sep="-")
            if language:
                weights[language] = max(weight, weights.get(language, 0.0))
    default = weights.pop("*", 0.0)
    all_weights = weights | {language: default for language in LANGUAGES if language not in weights}
    best = max(all_weights, key=lambda language: all_weights[language])
    if all_weights[best] > 0:
        return best
    # All languages in the header are refused, so take the first of the others.
    return next((language for language in LANGUAGES if language not in weights), "") if weights else ""
