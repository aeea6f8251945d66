"""The pages on which people and groups choose their settings."""

from typing import NamedTuple

from bot import actions
from bot.panel import Button, Panel, Row, Writer, choice_button
from bot.people import HANDS, STYLES, SUITS, ChatProfile, Profile
from bot.picture import CardStyle
from bot.tables.table import CLOCKS
from bot.texts import LANGUAGES, texts
from bot.words.phrases import short_clock
from bot.words.wording import Wording

LANGUAGE_NAMES = {"en": "English", "it": "Italiano"}


def settings_page(profile: Profile, *, has_ephemeral: bool, shows_pictures: bool, has_pages: bool) -> Panel:
    """A person's settings. Where hands are shown can be chosen if the platform can show ephemeral messages, pictures if
    it shows any, and browsers and programs if our pages can be reached from there.
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
        tuple(
            choice_button(LANGUAGE_NAMES[code], profile.language == code, actions.page("settings", "language", code))
            for code in LANGUAGES
        ),
        tuple(
            choice_button(names[suits], profile.suits == suits, actions.page("settings", "suits", suits))
            for suits in SUITS
        ),
        *(
            (choice_button(places[one], profile.hands == one, actions.page("settings", "hands", one)),)
            for one in HANDS
            if has_ephemeral
        ),
        *(_picture_rows(profile.language, profile.wants_pictures, profile.deck) if shows_pictures else ()),
        (
            Button(
                ("✓ " if profile.wants_calls else "") + _("Call me in the group when it is my turn"),
                actions.page("settings", "called", int(not profile.wants_calls)),
            ),
        ),
        (
            Button(
                ("✓ " if profile.wants_phrases else "") + _("Show me what strangers say"),
                actions.page("settings", "phrases", int(not profile.wants_phrases)),
            ),
        ),
        (Button(_("Whom you have blocked"), actions.page("block", "list")),),
        (
            Button(_("Browsers"), actions.page("browsers", "list")),
            Button(_("Programs"), actions.page("programs", "list")),
        )
        if has_pages
        else (),
    )


class Setting(NamedTuple):
    """A setting as a form asks for it: what each value is called, and which one holds."""

    name: str
    label: str
    values: dict[str, str]
    chosen: str


def appearance_settings(profile: Profile, language: str) -> tuple[Setting, ...]:
    """Those of a person's settings that say how their cards look on a page."""
    _ = texts(language).gettext
    suits = {"italian": _("Italian suits 🪙🏆⚔️🪵"), "french": _("French suits ♦️♥️♠️♣️")}
    return (
        Setting("language", _("Language"), LANGUAGE_NAMES, language),
        Setting("suits", _("Suits"), suits, profile.suits),
        Setting("deck", _("Cards"), _deck_names(language), profile.deck),
    )


def _deck_names(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {"classic": _("Classic cards"), "easy": _("Cards with large signs")}


def _picture_rows(language: str, are_wanted: bool, deck: CardStyle) -> tuple[Row, ...]:
    """Whether there are pictures, and with which cards."""
    _ = texts(language).gettext
    toggle = Button(
        ("✓ " if are_wanted else "") + _("Pictures"), actions.page("settings", "pictures", int(not are_wanted))
    )
    names = _deck_names(language)
    if not are_wanted:
        return ((toggle,),)
    return (toggle,), tuple(
        choice_button(names[one], deck == one, actions.page("settings", "deck", one)) for one in STYLES
    )


def chat_settings_page(chat: ChatProfile, *, shows_pictures: bool, for_admins: bool = False) -> Panel:
    """Return a chat's settings; of pictures if its platform shows any. ``for_admins`` if only they may change them."""
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
    strict = Button(
        ("✓ " if chat.strict else "") + _("Strict: a robot plays when time is up; three in a row lose"),
        actions.page("settings", "strict", int(not chat.strict)),
    )
    return page.panel(
        tuple(
            choice_button(LANGUAGE_NAMES[code], chat.language == code, actions.page("settings", "language", code))
            for code in LANGUAGES
        ),
        tuple(clocks[:3]),
        tuple(clocks[3:]),
        (strict,),
        (
            Button(
                ("✓ " if chat.can_be_watched else "") + _("Whoever has the link may watch"),
                actions.page("settings", "watched", int(not chat.can_be_watched)),
            ),
        ),
        *(_picture_rows(chat.language, chat.wants_pictures, chat.deck) if shows_pictures else ()),
        (Button(_("My own settings"), actions.page("settings")),),
    )
