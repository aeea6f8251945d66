"""Advice on safety for players; docs/safety.md repeats it in all languages."""

from bot.texts import texts


def safety_lines(language: str) -> list[str]:
    _ = texts(language).gettext
    return [
        _("You play for points only: no stakes, no bets, no prizes. Please don’t play for money here."),
        _("Everything is free. I sell nothing and show no ads, and nobody can buy an advantage."),
        _("I don’t ask your age: the minimum age of your chat app applies."),
        _("Under 18? Play with robots or people you know, and leave /find to adults."),
        _("Strangers see only your nickname and send only ready-made phrases. You can hide these in /settings."),
        _("Someone spoils your game? /block keeps them away, and they never learn about it."),
        _("In games from /find, press 🚩 Report below your hand or the result: the bot’s host can read your report."),
        _("In a group, its administrators decide who stays. Report serious things to your chat app, too."),
    ]
