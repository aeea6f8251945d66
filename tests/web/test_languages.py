"""The language that a browser asks for, by the rules of RFC 9110."""

import pytest

from adapters.web.languages import negotiate


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", ""),
        ("it", "it"),
        ("it-IT,it;q=0.9", "it"),
        ("IT-ch", "it"),
        ("de, it;q=0.8, en;q=0.5", "it"),
        ("en;q=0.1, it;q=0.9", "it"),
        ("it;q=0.9,en", "en"),
        ("en, it", "en"),
        ("it, en", "it"),
        ("fr", ""),
        # A weight of 0 excludes the language.
        ("it;q=0, en", "en"),
        ("it;q=0", "en"),
        ("en;q=0", "it"),
        ("en;q=0, it;q=0", ""),
        # The star means every language not listed.
        ("*", "en"),
        ("it;q=0.5, *", "en"),
        ("en;q=0, *", "it"),
        ("it, *;q=0.1", "it"),
        ("de, *;q=0", ""),
        # Malformed entries are ignored.
        ("en;q=2, it;q=0.1", "it"),
        ("en;q=x, it", "it"),
        ("en;level=1, it;q=0.2", "it"),
        (",,; , it ; q = 0.3 ,", "it"),
        ("en-\xff, it", "it"),
    ],
)
def test_language_with_the_greatest_weight_is_chosen(header: str, language: str) -> None:
    assert negotiate(header) == language
