"""Guests of the web pages: people known by a browser's cookie alone, who may be anybody, any number of times."""

from bot.programs import is_program

GUESTS = "web:"
"""How ids of guests begin. Those of programs do too."""


def is_web_guest(person: str) -> bool:
    """Return whether a person is a guest of the web pages."""
    return person.startswith(GUESTS) and not is_program(person)
