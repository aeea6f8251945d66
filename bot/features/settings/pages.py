"""Settings of people and groups, and panels about a person's browsers and programs."""

from collections.abc import Sequence
from typing import NamedTuple

from bot import actions
from bot.identity.programs import MAX_EACH, Program
from bot.panel import Button, Panel, Row, Writer, choice_button
from bot.panel_picture import CardStyle
from bot.people import HANDS, STYLES, ChatProfile, Profile
from bot.platform import Adapter
from bot.site.sessions import Session
from bot.tables.clock import CLOCKS
from bot.texts import LANGUAGES, day_of, texts
from bot.words.table_lines import short_clock
from bot.words.wording import Wording

LANGUAGE_NAMES = {"en": "English", "it": "Italiano"}


def settings_page(profile: Profile, adapter: Adapter | None, *, is_saved: bool = False) -> Panel:
    """Return the page of a person's settings, with what their platform supports.

    ``is_saved``: a setting has just been changed. Browsers and programs need web pages.
    """
    _ = texts(profile.language).gettext
    page = Writer(_("Your settings"))
    page.line(_("Language, suits and pictures. Spades always has French suits."))
    has_ephemeral = adapter is not None and adapter.has_ephemeral
    if has_ephemeral:
        page.line(_("In the group, your cards come when you press “My hand, here”, without a sound."))
    if is_saved:
        page.line(_("✓ Saved. It applies at once."), "bold")
    suits = [_choice(name, "suits", id_, profile.suits) for id_, name in _suit_names(profile.language).items()]
    rows: list[Row] = [_language_row(profile.language), tuple(suits)]
    if adapter and adapter.shows_pictures:
        rows += _picture_rows(profile.language, profile.wants_pictures, profile.deck)
    if adapter and adapter.has_live_hands:
        rows += _live_rows(profile)
    if has_ephemeral:
        places = {"private": _("Cards in our private chat"), "aside": _("Cards in the group, only for me")}
        rows += [(_choice(places[hands], "hands", hands, profile.hands),) for hands in HANDS]
    rows += [
        (_toggle(_("Call me in the group on my turn"), "called", profile.wants_calls),),
        (_toggle(_("Show what others say"), "phrases", profile.wants_phrases),),
        (Button(_("Blocked players"), actions.page("block", "list")), Button(_("Privacy"), actions.page("privacy"))),
    ]
    if adapter and adapter.pages_url:
        browsers = Button(_("Play in a browser"), actions.page("browsers", "list"))
        rows.append((browsers, Button(_("For programmers"), actions.page("programs", "list"))))
    return page.panel(*rows)


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
        Setting("card_size", _("Size of the cards"), {"normal": _("Normal"), "large": _("Large")}, profile.card_size),
    )


def _live_rows(profile: Profile) -> tuple[Row, ...]:
    _ = texts(profile.language).gettext
    toggle = (_toggle(_("Tap the cards of my hand"), "live", profile.wants_live_hands),)
    size = "normal" if profile.wants_large_cards else "large"
    mark = "✓ " if profile.wants_large_cards else ""
    large = (Button(mark + _("Large cards and letters"), actions.page("settings", "card_size", size)),)
    return (toggle, large) if profile.wants_live_hands else (toggle,)


def _choice(label: str, name: str, value: object, chosen_value: object) -> Button:
    return choice_button(label, value == chosen_value, actions.page("settings", name, value))


def _toggle(label: str, name: str, is_on: bool) -> Button:
    return Button(f"{'✓ ' if is_on else ''}{label}", actions.page("settings", name, int(not is_on)))


def _language_row(language: str) -> Row:
    return tuple(_choice(LANGUAGE_NAMES[code], "language", code, language) for code in LANGUAGES)


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
    return (toggle,), tuple(_choice(names[style], "deck", style, deck) for style in STYLES)


def chat_settings_page(chat: ChatProfile, *, shows_pictures: bool, for_admins: bool, is_saved: bool = False) -> Panel:
    """Return a chat's settings.

    ``for_admins`` is whether only administrators can change them. ``is_saved``: a setting has just been changed.
    """
    words = Wording(chat.language, [])
    _ = words.text
    page = Writer(_("This chat’s settings"))
    page.line(_("Language, pictures, and the clock of new tables."))
    if for_admins:
        page.line(_("Only administrators can change them."), "italic")
    if is_saved:
        page.line(_("✓ Saved. It applies at once."), "bold")
    clocks = [_choice(short_clock(words, seconds), "clock", seconds, chat.clock) for seconds in CLOCKS]
    return page.panel(
        _language_row(chat.language),
        tuple(clocks[:3]),
        tuple(clocks[3:]),
        (_toggle(_("Strict: a robot plays late moves, three in a row lose"), "strict", chat.strict),),
        (_toggle(_("Anyone with the link can watch"), "watched", chat.can_be_watched),),
        *(_picture_rows(chat.language, chat.wants_pictures, chat.deck) if shows_pictures else ()),
        (Button(_("My settings"), actions.page("settings")),),
    )


# Browsers


def link_panel(language: str, address: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("This link opens your cards in a browser. It works once, within ten minutes."))
    page.line(_("Keep it to yourself: anyone who opens it plays as you. /settings signs browsers out."))
    return page.panel((Button(_("Open in the browser"), address, "good", kind="link"),))


def browsers_page(language: str, sessions: Sequence[Session], *, can_open: bool) -> Panel:
    """List a person's browsers, each with a button that ends its session. With ``can_open`` another can be opened."""
    _ = texts(language).gettext
    page = Writer(_("Your browsers"))
    if not sessions:
        page.line(_("None yet: open one with the button below your cards."))
    for number, session in enumerate(sessions, 1):
        made, used = day_of(session.made, language), day_of(session.used, language)
        page.line(_("{number}. since {made}, last used {used}"), number=number, made=made, used=used)
    opening = (Button(_("Open in the browser"), actions.page("browsers", "home")),) if can_open else ()
    ends = tuple(
        Button(_("Sign out {number}").format(number=number), actions.page("browsers", "end", session.id), "danger")
        for number, session in enumerate(sessions, 1)
    )
    all_ = (Button(_("Sign out all"), actions.page("browsers", "end", "all"), "danger"),) if len(sessions) > 1 else ()
    return page.panel(opening, ends, all_, (Button(_("◀ Back"), actions.page("settings")),))


# Programs


def programs_page(language: str, programs: Sequence[Program]) -> Panel:
    """List a person's programs, each with a button that revokes its token."""
    _ = texts(language).gettext
    page = Writer(_("Your programs"))
    page.line(_("With a token, a program plays as a robot under its own name. Its games aren’t rated."))
    plays_text, reads_text = _("plays"), _("only watches")
    for number, program in enumerate(programs, 1):
        line = _("{number}. {name}: {does}")
        page.line(line, number=number, name=program.name, does=plays_text if "play" in program.scopes else reads_text)
    make_row = (
        Button(_("Token to play"), actions.page("programs", "make", "play"), "good"),
        Button(_("Token to watch"), actions.page("programs", "make", "read")),
    )
    revoke_row = tuple(
        Button(_("Revoke {number}").format(number=number), actions.page("programs", "revoke", program.id), "danger")
        for number, program in enumerate(programs, 1)
    )
    rows = (make_row if len(programs) < MAX_EACH else (), revoke_row, (Button(_("◀ Back"), actions.page("settings")),))
    return page.panel(*(row for row in rows if row))


def token_panel(language: str, program: Program, token: str, pages: str) -> Panel:
    """Show a new token. It is never shown again."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("The token of {name}:"), name=program.name)
    page.line(token, "code")
    page.line(_("You see it only now: copy it, keep it to yourself, then delete this message."))
    page.line(_("Guide for programs: {address}"), address=f"{pages}/api/v1/openapi.json")
    return page.panel()
