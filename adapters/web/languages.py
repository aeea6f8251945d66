"""The language that a browser asks for: the header Accept-Language, by RFC 9110, sections 12.4.2 and 12.5.4."""

import re
from functools import lru_cache

from bot.texts import LANGUAGES

LANGUAGE_RANGE = re.compile(
    r"\s*(?P<tag>\*|[a-z]{2,8}(?:-[a-z0-9]{1,8})*)\s*(?:;\s*q\s*=\s*(?P<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?"
)
"""One language and its weight, in lower case."""

LONGEST_HEADER = 1000
"""Characters of a header that are read; browsers send a tenth of that."""


@lru_cache(maxsize=1_000)
def negotiate(header: str) -> str:
    """Return the language of ours with the greatest weight; empty if the header names none of ours.

    Of equal weights the first counts. A weight of 0 refuses a language, and ``*`` stands for all that are not named.
    Malformed parts are ignored.
    """
    if not header:
        return ""
    # Most bots that run never show a page.
    from babel.core import negotiate_locale  # noqa: PLC0415

    weights: dict[str, float] = {}
    for part in header[:LONGEST_HEADER].lower().split(","):
        if found := LANGUAGE_RANGE.fullmatch(part):
            tag, weight = found["tag"], float(found["weight"] or 1)
            language = tag if tag == "*" else negotiate_locale([tag], LANGUAGES, sep="-")
            if language:
                weights[language] = max(weight, weights.get(language, 0.0))
    others = weights.pop("*", 0.0)
    wanted = weights | {language: others for language in LANGUAGES if language not in weights}
    best = max(wanted, key=lambda language: wanted[language])
    if wanted[best] > 0:
        return best
    # Only refused languages were named: the first of the others will do.
    return next((language for language in LANGUAGES if language not in weights), "") if weights else ""
