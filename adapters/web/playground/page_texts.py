"""The texts of the playground's page."""

from bot.texts import texts


def page_texts(language: str) -> dict[str, str]:
    """Return the texts by their names in `static/chat.js`."""
    _ = texts(language).gettext
    return {
        "language": language,
        "act_as": _("Act as"),
        "host": _("Host"),
        "you": _("You"),
        "people": _("People"),
        "person": _("person"),
        "add_person": _("Add a person"),
        "name_of_person": _("Name of the new person"),
        "chats": _("Chats"),
        "group": _("group"),
        "add_group": _("Add a group"),
        "name_of_group": _("Name of the new group"),
        "personal_links": _("Personal links"),
        "links": _("Give each person their own link; it is a secret."),
        "greeting": _("Write /challenge to propose a game; /help says what else I can do."),
        "closed": _("closed"),
        "closed_about": _("Private chat closed: the bot may not write to this person."),
        "connecting": _("Connecting…"),
        "unsent": _("Not sent yet…"),
        "commands": _("Commands"),
        "message": _("Message"),
        "message_or_command": _("Message or /command"),
        "send": _("Send"),
        "reply": _("Reply"),
        "no_reply": _("Do not reply"),
        "edited": _("edited"),
        "in_words": _("In words"),
        "copy": _("Copy"),
    }
