"""Pages: panels that belong to no table. A press on a page shows another one in its place."""

from typing import NamedTuple

from bot import actions
from bot.commands import FAIR, listed
from bot.finished.archive import FinishedGame
from bot.panel import Button, Panel, Row, Span, Writer, chosen
from bot.panels.offer import share_button
from bot.panels.phrases import fixture_line, options_in_words, short_clock
from bot.people import HANDS, STYLES, SUITS, ChatProfile, Profile
from bot.picture import CardStyle
from bot.tables.table import CLOCKS
from bot.texts import LANGUAGES, texts
from bot.transcript import story
from bot.wording import Wording, faces_of

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
            chosen(LANGUAGE_NAMES[code], profile.language == code, actions.page("settings", "language", code))
            for code in LANGUAGES
        ),
        tuple(
            chosen(names[suits], profile.suits == suits, actions.page("settings", "suits", suits)) for suits in SUITS
        ),
        *(
            (chosen(places[one], profile.hands == one, actions.page("settings", "hands", one)),)
            for one in HANDS
            if has_ephemeral
        ),
        *(_pictures(profile.language, profile.wants_pictures, profile.deck) if shows_pictures else ()),
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


def look_settings(profile: Profile, language: str) -> tuple[Setting, ...]:
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


def _pictures(language: str, are_wanted: bool, deck: CardStyle) -> tuple[Row, ...]:
    """Whether there are pictures, and with which cards."""
    _ = texts(language).gettext
    toggle = Button(
        ("✓ " if are_wanted else "") + _("Pictures"), actions.page("settings", "pictures", int(not are_wanted))
    )
    names = _deck_names(language)
    if not are_wanted:
        return ((toggle,),)
    return (toggle,), tuple(chosen(names[one], deck == one, actions.page("settings", "deck", one)) for one in STYLES)


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
        chosen(short_clock(words, seconds), chat.clock == seconds, actions.page("settings", "clock", seconds))
        for seconds in CLOCKS
    ]
    strict = Button(
        ("✓ " if chat.strict else "") + _("Strict: a robot plays when time is up; three in a row lose"),
        actions.page("settings", "strict", int(not chat.strict)),
    )
    return page.panel(
        tuple(
            chosen(LANGUAGE_NAMES[code], chat.language == code, actions.page("settings", "language", code))
            for code in LANGUAGES
        ),
        tuple(clocks[:3]),
        tuple(clocks[3:]),
        (strict,),
        (
            Button(
                ("✓ " if chat.may_be_watched else "") + _("Whoever has the link may watch"),
                actions.page("settings", "watched", int(not chat.may_be_watched)),
            ),
        ),
        *(_pictures(chat.language, chat.wants_pictures, chat.deck) if shows_pictures else ()),
        (Button(_("My own settings"), actions.page("settings")),),
    )


def replay_page(game: FinishedGame, deal: int, language: str, suits: str) -> Panel:
    """A finished game's deal, trick by trick."""
    faces = faces_of(game.record.kind, suits)
    page, words = Writer(), Wording(language, (), faces)
    options = " · ".join(options_in_words(words, game.record.kind, game.record.rules))
    if game.played_for:
        page.line(fixture_line(words, game.played_for))
    for number, (line, _trick_over) in enumerate(story(game.record, deal, language, faces, options)):
        if line:
            page.line(line, "" if number else "bold")
        else:
            page.gap()
    return page.panel(_other_deals(game, deal, "replay"))


def fair_page(game: FinishedGame, deal: int, language: str) -> Panel:
    """What proves a deal's shuffle, in a finished game."""
    _ = texts(language).gettext
    page, proof = Writer(), game.record.deals[deal - 1].proof
    page.line(_("Is it fair?"), "bold")
    page.line(_("{game} · {code} · deal {deal}"), game=_(game.record.kind.name), code=game.code, deal=deal)
    page.gap()
    if proof is None:
        page.line(_("These cards were laid out by hand."))
        return page.panel(_other_deals(game, deal, "fair"))
    page.line(_("Seal, shown before the first card:"))
    page.line("{seal}", seal=Span(proof.commitment, "code"))
    page.line(_("Secret, shown after the deal:"))
    page.line("{secret}", secret=Span(proof.secret, "code"))
    page.gap()
    page.line(_("The secret's SHA-256 must be the seal, and the pack follows from the secret alone."))
    return page.panel(_other_deals(game, deal, "fair"), (Button(_("How it works"), actions.page("rules", FAIR)),))


def _other_deals(game: FinishedGame, deal: int, page: str) -> Row:
    """The way to the same page on the deals before and after."""
    deals = len(game.record.deals)
    around = [(f"◀ {deal - 1}", deal - 1), (f"{deal}/{deals}", deal), (f"{deal + 1} ▶", deal + 1)]
    row = tuple(Button(label, actions.page(page, game.id, number)) for label, number in around if 1 <= number <= deals)
    return row if deals > 1 else ()


def help_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Buongioco: Italian cards among friends"), "bold")
    page.line(
        _(
            "Write /challenge in a group: whoever presses Accept plays with you. Your cards come in the private chat "
            "with me: press one to play it. If nobody is there, press a robot on the challenge, or write me /find."
        )
    )
    page.line(_("In pictures the cards that you may not play just now are dimmed."))
    page.gap()
    for spec in listed():
        has_signs = any(one.in_help for one in spec.arguments)
        page.line(f"/{spec.name_in(language)}{' ' if has_signs else ': '}{spec.help_line(language)}")
    return page.panel((Button(_("Rules"), actions.page("rules")), share_button(language)))
