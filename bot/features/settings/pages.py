"""The pages with the settings of people and groups."""

from typing import NamedTuple

from bot import actions
from bot.panel import Button, Panel, Row, Writer, choice_button
from bot.people import HANDS, STYLES, SUITS, ChatProfile, Profile
from bot.picture import CardStyle
from bot.tables.clock import CLOCKS
from bot.texts import LANGUAGES, texts
from bot.words.phrases import short_clock
from bot.words.wording import Wording

LANGUAGE_NAMES = {"en": "English", "it": "Italiano"}


def settings_page(profile: Profile, *, has_ephemeral: bool, shows_pictures: bool, has_pages: bool) -> Panel:
    """Return the page of a person's settings, as far as their platform supports them.

    ``has_pages`` is whether the bot's web pages can be reached from there: browsers and programs need them.
    """
    _ = texts(profile.language).gettext
    page = Writer()
    page.line(_("Your settings"), "bold")
    page.line(_("Your language, the suits on your cards, and pictures. Spades is always played with French suits."))
    names = {"italian": _("Italian suits 🪙🏆⚔️🪵"), "french": _("French suits ♦️♥️♠️♣️")}
    places = {"private": _("Hands in our private chat"), "aside": _("Hands in the group, for my eyes only")}
    if has_ephemeral:
        page.line(_("Where your cards come: in the group only when you press My hand, here, and without a sound."))
    return page.panel(
        _language_row(profile.language),
        tuple(
            choice_button(names[suits], profile.suits == suits, actions.page("settings", "suits", suits))
            for suits in SUITS
        ),
        *(
            (choice_button(places[hands], profile.hands == hands, actions.page("settings", "hands", hands)),)
            for hands in HANDS
            if has_ephemeral
        ),
        *(_picture_rows(profile.language, profile.wants_pictures, profile.deck) if shows_pictures else ()),
        (_toggle(_("Call me in the group when it is my turn"), "called", profile.wants_calls),),
        (_toggle(_("Show me what strangers say"), "phrases", profile.wants_phrases),),
        (Button(_("Whom you have blocked"), actions.page("block", "list")),),
        (
            Button(_("Browsers"), actions.page("browsers", "list")),
            Button(_("Programs"), actions.page("programs", "list")),
        )
        if has_pages
        else (),
    )


class Setting(NamedTuple):
    """A setting for a form. ``values`` are the names of its values; ``chosen`` is the current one."""

    name: str
    label: str
    values: dict[str, str]
    chosen: str


def appearance_settings(profile: Profile, language: str) -> tuple[Setting, ...]:
    """Return a person's settings for how cards look on web pages."""
    _ = texts(language).gettext
    suits = {"italian": _("Italian suits 🪙🏆⚔️🪵"), "french": _("French suits ♦️♥️♠️♣️")}
    return (
        Setting("language", _("Language"), LANGUAGE_NAMES, language),
        Setting("suits", _("Suits"), suits, profile.suits),
        Setting("deck", _("Cards"), _deck_names(language), profile.deck),
    )


def _toggle(label: str, name: str, is_on: bool) -> Button:
    return Button(f"{'✓ ' if is_on else ''}{label}", actions.page("settings", name, int(not is_on)))


def _language_row(language: str) -> Row:
    return tuple(
        choice_button(LANGUAGE_NAMES[code], language == code, actions.page("settings", "language", code))
        for code in LANGUAGES
    )


def _deck_names(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {"classic": _("Classic cards"), "easy": _("Cards with large signs")}


def _picture_rows(language: str, are_wanted: bool, deck: CardStyle) -> tuple[Row, ...]:
    _ = texts(language).gettext
    toggle = _toggle(_("Pictures"), "pictures", are_wanted)
    names = _deck_names(language)
    if not are_wanted:
        return ((toggle,),)
    return (toggle,), tuple(
        choice_button(names[style], deck == style, actions.page("settings", "deck", style)) for style in STYLES
    )


def chat_settings_page(chat: ChatProfile, *, shows_pictures: bool, for_admins: bool = False) -> Panel:
    """Return a chat's settings. ``for_admins`` is whether only administrators can change them."""
    words = Wording(chat.language, [])
    _ = words.text
    page = Writer()
    page.line(_("This chat's settings"), "bold")
    page.line(_("The language here, the clock of new tables, and pictures."))
    if for_admins:
        page.line(_("Only administrators of this group can change them."), "italic")
    clocks = [
        choice_button(short_clock(words, seconds), chat.clock == seconds, actions.page("settings", "clock", seconds))
        for seconds in CLOCKS
    ]
    return page.panel(
        _language_row(chat.language),
        tuple(clocks[:3]),
        tuple(clocks[3:]),
        (_toggle(_("Strict: a robot plays when time is up; three in a row lose"), "strict", chat.strict),),
        (_toggle(_("Whoever has the link may watch"), "watched", chat.can_be_watched),),
        *(_picture_rows(chat.language, chat.wants_pictures, chat.deck) if shows_pictures else ()),
        (Button(_("My own settings"), actions.page("settings")),),
    )
