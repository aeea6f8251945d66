"""The phrases that players can say to strangers, and at tables on pages."""

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
        "clap": "👏",
        "laugh": "😂",
        "wow": "😮",
        "oops": "🙈",
    }[phrase]
