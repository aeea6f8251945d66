"""Offers: challenges that people send into chats without the bot."""

from bot.command_names import find_command_spec
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import localize_name
from bot.panel import Button, Panel, Span, Writer
from bot.platform import Offer
from bot.tables.game_choice import Choice
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from bot.words.game_results import result_line
from bot.words.table_lines import option_lines, write_unusual_terms
from bot.words.wording import Wording, target_text
from engine import GAMES


def offer_panel(choice: Choice, name: str, payload: str, language: str) -> Panel:
    """Return an offer. The first press opens a table, which replaces this message."""
    words = Wording(language, ())
    _ = words.text
    page = Writer()
    kind = GAMES[choice.game]
    rules, free_seats = choice.all_rules.model_dump(), kind.seats - 1
    opener, game = Span(isolate_name(name), "bold"), Span(_(kind.name), "bold")
    players = words.ngettext("{count} player", "{count} players", kind.seats).format(count=kind.seats)
    line = _("{name}: {game}, {players}, to {points}.")
    page.line(line, name=opener, game=game, players=players, points=target_text(rules))
    write_unusual_terms(
        page, words, kind, rules, choice.clock, choice.strict, opener=isolate_name(name), free_seats=free_seats
    )
    return page.panel((Button(_("Join"), payload, "good"),))


def share_button(language: str, initial_text: str = "") -> Button:
    """Return a button that sends an offer into another chat, where the message begins with ``initial_text``."""
    return Button(texts(language).gettext("Play in another chat"), initial_text, "", "share")


def offer_title(choice: Choice, language: str) -> str:
    return texts(language).gettext("Challenge: {game}").format(game=texts(language).gettext(GAMES[choice.game].name))


def offer_description(choice: Choice, language: str) -> str:
    words = Wording(language, ())
    _ = words.text
    seats = GAMES[choice.game].seats
    players = words.ngettext("{count} player", "{count} players", seats).format(count=seats)
    rules = choice.all_rules.model_dump()
    line = _("{players}, to {points} points").format(players=players, points=target_text(rules))
    return " · ".join([line, *option_lines(words, GAMES[choice.game], rules, unusual=True)])


def guest_hint(language: str) -> Offer:
    """Return how to play in a chat without the bot."""
    _ = texts(language).gettext
    page, spec = Writer(), find_command_spec("challenge")
    assert spec
    page.line(_("To play here, write “{word}” after my name, and a game if you like."), word=spec.name_in(language))
    buttons = (share_button(language),), (Button(_("Open our chat"), "guest", "", "start"),)
    return Offer("hint", _("How to play here"), "", page.panel(*buttons))


def result_offer(game: FinishedGame, language: str) -> Offer:
    words = Wording(language, [isolate_name(localize_name(name, language)) for name in game.record.seats])
    _ = words.text
    page, line = Writer(), result_line(words, game.record)
    page.line(line, "bold")
    page.line(_(game.record.kind.name))
    return Offer(f"result.{game.id}", _("Share the result"), line, page.panel())
