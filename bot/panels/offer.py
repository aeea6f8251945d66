"""What is sent into a chat that the bot is not in: a challenge that nobody has taken up yet, and somebody's rating."""

from bot.panel import Button, Panel, Span, Writer
from bot.panels.snapshot import isolated
from bot.texts import texts
from engine import GAMES


def offer_panel(game: str, points: int, name: str, payload: str, language: str) -> Panel:
    """A challenge: the table is opened by the first press, and takes this message's place."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("{name} challenges: who plays?"), name=Span(isolated(name), "bold"))
    page.line(_("{game} · to {points} points"), game=Span(_(GAMES[game].name), "bold"), points=points)
    return page.panel((Button(_("Play"), payload, "good"),))


def share_button(language: str, typed: str = "") -> Button:
    """Sends an offer into another chat, beginning with what is ``typed`` there."""
    return Button(texts(language).gettext("Play in another chat"), typed, "", "share")


def offer_title(game: str, language: str) -> str:
    return texts(language).gettext("Challenge: {game}").format(game=texts(language).gettext(GAMES[game].name))


def offer_description(game: str, points: int, language: str) -> str:
    """What is offered, in a line."""
    words = texts(language)
    seats = GAMES[game].seats
    players = words.ngettext("{count} player", "{count} players", seats).format(count=seats)
    return words.gettext("{players}, to {points} points").format(players=players, points=points)
