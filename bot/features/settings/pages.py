"""Settings of people and groups, and panels about a person's browsers and programs."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from bot import actions
from bot.identity.programs import MOST_EACH, Program
from bot.panel import Button, Panel, Row, Writer, choice_button
from bot.panel_picture import CardStyle
from bot.people import HANDS, STYLES, SUITS, ChatProfile, Profile
from bot.site.sessions import Session
from bot.tables.clock import CLOCKS
from bot.texts import LANGUAGES, texts
from bot.words.phrases import short_clock
from bot.words.wording import Wording

LANGUAGE_NAMES = {"en": "English", "it": "Italiano"}


def settings_page(profile: Profile, *, has_ephemeral: bool, shows_pictures: bool, has_pages: bool) -> Panel:
    """Return the page of a person's settings, with what their platform supports.

    ``has_pages`` is whether the platform can link to the bot's web pages, which browsers and programs need.
    """
    _ = texts(profile.language).gettext
    page = Writer()
    page.line(_("Your settings"), "bold")
    page.line(_("Your language, the suits on your cards, and pictures. Spades is always played with French suits."))
    names = _suit_names(profile.language)
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
    return (
        Setting("language", _("Language"), LANGUAGE_NAMES, language),
        Setting("suits", _("Suits"), _suit_names(language), profile.suits),
        Setting("deck", _("Cards"), _deck_names(language), profile.deck),
    )


def _toggle(label: str, name: str, is_on: bool) -> Button:
    return Button(f"{'✓ ' if is_on else ''}{label}", actions.page("settings", name, int(not is_on)))


def _language_row(language: str) -> Row:
    return tuple(
        choice_button(LANGUAGE_NAMES[code], language == code, actions.page("settings", "language", code))
        for code in LANGUAGES
    )


def _suit_names(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {"italian": _("Italian suits 🪙🏆⚔️🪵"), "french": _("French suits ♦️♥️♠️♣️")}


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


# Browsers


def link_panel(language: str, address: str) -> Panel:
    """Return a link that signs its reader in."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("This link opens your cards in a browser. It works once, within ten minutes."))
    page.line(_("Keep it to yourself: whoever opens it plays as you. /settings shows and ends browsers."))
    return page.panel((Button(_("Open in the browser"), address, "good", kind="link"),))


def browsers_page(language: str, sessions: Sequence[Session], *, can_open: bool) -> Panel:
    """List a person's browsers, each with a button that ends its session.

    ``can_open`` is whether the person can open another one.
    """
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Browsers in which you play"), "bold")
    if not sessions:
        page.line(_("None: the button below your cards opens one."))
    for number, session in enumerate(sessions, 1):
        page.line(
            _("{number}. since {made}, last used {used}"),
            number=number,
            made=_day(session.made),
            used=_day(session.used),
        )
    opening = (Button(_("Open in the browser"), actions.page("browsers", "home")),) if can_open else ()
    ends = tuple(
        Button(_("End {number}").format(number=number), actions.page("browsers", "end", session.id), "danger")
        for number, session in enumerate(sessions, 1)
    )
    all_ = (Button(_("End all"), actions.page("browsers", "end", "all"), "danger"),) if len(sessions) > 1 else ()
    return page.panel(opening, ends, all_, (Button(_("◀ Back"), actions.page("settings")),))


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


# Programs


def programs_page(language: str, programs: Sequence[Program]) -> Panel:
    """List a person's programs, each with a button that revokes its token."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Programs of yours that play"), "bold")
    page.line(_("With a token a program sits down as a robot, under a name of its own; its games are in no rating."))
    plays, reads = _("plays"), _("only sees")
    for number, program in enumerate(programs, 1):
        line = _("{number}. {name}: {does}")
        page.line(line, number=number, name=program.name, does=plays if "play" in program.scopes else reads)
    making = (
        Button(_("Token to play"), actions.page("programs", "make", "play"), "good"),
        Button(_("Token to see"), actions.page("programs", "make", "read")),
    )
    revoking = tuple(
        Button(_("Revoke {number}").format(number=number), actions.page("programs", "revoke", program.id), "danger")
        for number, program in enumerate(programs, 1)
    )
    rows = (making if len(programs) < MOST_EACH else (), revoking, (Button(_("◀ Back"), actions.page("settings")),))
    return page.panel(*(row for row in rows if row))


def token_panel(language: str, program: Program, token: str, pages: str) -> Panel:
    """Show a new token. It is never shown again."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("The token of {name}:"), name=program.name)
    page.line(token, "code")
    page.line(_("It is shown only now: keep it to yourself, and delete this message when you have copied it."))
    page.line(_("What a program may ask for: {address}"), address=f"{pages}/api/v1/openapi.json")
    return page.panel()
