"""The phrases that players can say at a table of strangers."""

from bot.texts import texts


def phrase_text(language: str, phrase: str) -> str:
    _ = texts(language).gettext
    return {
        "hello": _("Hello!"),
        "luck": _("Good luck!"),
        "played": _("Well played!"),
        "thanks": _("Thank you!"),
        "sorry": _("Sorry!"),
        "game": _("Good game!"),
    }[phrase]
