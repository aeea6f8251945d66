"""Sheets for links, which chats show next to the address. Strangers see them, so they show no card of a deal."""

from datetime import date

from bot.panel_picture import DECKS, CardStyle, Deck
from bot.pictures.results import BOT
from bot.pictures.scene import Card
from bot.pictures.sheet import Ranking, Sheet, Words
from bot.texts import day_name, texts
from bot.words.rules import GAME_LINES, ranking_of
from bot.words.wording import card_faces, faces_of
from engine import game_kind

STYLE: CardStyle = DECKS[0].style


def invitation_sheet(game: str, language: str) -> Sheet:
    """Return the picture of an invitation to a game, by its id. It names neither the table nor its players."""
    _ = texts(language).gettext
    return _sheet(game, _(game_kind(game).name), _(GAME_LINES[game]))


def day_sheet(game: str, language: str, day: date) -> Sheet:
    """Return the picture of a day's deal, without its cards."""
    _ = texts(language).gettext
    return _sheet(game, _("Deal of the day"), f"{day_name(day, language)} · {_(game_kind(game).name)}")


def _sheet(game: str, title: str, line: str) -> Sheet:
    """Return a sheet with the cards of one suit from high to low."""
    kind = game_kind(game)
    faces = card_faces(faces_of(kind, DECKS[0].suits))
    cards = tuple(Card(faces.drawn_code(code)) for code, _points in ranking_of(kind))
    return Sheet(title=title, parts=(Words(line), Ranking(cards)), small=BOT, deck=Deck(faces.deck, STYLE))
