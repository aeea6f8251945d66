"""Guests of the web pages: a browser's cookie is all that identifies them, so one person can be many guests."""

from bot.identity.programs import is_program

GUESTS = "web:"  # id prefix of guests and programs


def is_web_guest(person: str) -> bool:
    return person.startswith(GUESTS) and not is_program(person)
