"""Pages about finished games: a deal trick by trick, and the proof of its shuffle."""

from bot import actions
from bot.actions import BadPayload
from bot.commands import FAIR
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.panel import Button, Panel, Row, Span, Writer
from bot.people import Profile
from bot.tables.errors import GameNotKept
from bot.texts import texts
from bot.viewers import Viewers
from bot.words.phrases import fixture_line, option_lines
from bot.words.transcript import story
from bot.words.wording import Wording, faces_of


class Replays:
    """Pages about archived games. ``deal`` is a number from 1, as text. Raises GameNotKept for an unknown game."""

    def __init__(self, archive: Archive, viewers: Viewers) -> None:
        self._archive, self._viewers = archive, viewers

    async def replay(self, place: str, profile: Profile, game_id: str, deal: str) -> Panel:
        """Return a deal trick by trick, in a place's language and a person's suits."""
        game, number = await self._deal_of(game_id, deal)
        return replay_page(game, number, (await self._viewers.viewer_at(place)).language, profile.suits)

    async def fair(self, place: str, game_id: str, deal: str) -> Panel:
        game, number = await self._deal_of(game_id, deal)
        return fair_page(game, number, (await self._viewers.viewer_at(place)).language)

    async def _deal_of(self, game_id: str, deal: str) -> tuple[FinishedGame, int]:
        game = await self._archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if not deal.isdecimal() or not 1 <= int(deal) <= len(game.record.deals):
            raise BadPayload()
        return game, int(deal)


def replay_page(game: FinishedGame, deal: int, language: str, suits: str) -> Panel:
    faces = faces_of(game.record.kind, suits)
    page, words = Writer(), Wording(language, (), faces)
    options = " · ".join(option_lines(words, game.record.kind, game.record.rules))
    if game.fixture_name:
        page.line(fixture_line(words, game.fixture_name))
    for number, (line, _trick_over) in enumerate(story(game.record, deal, language, faces, options)):
        if line:
            page.line(line, "" if number else "bold")
        else:
            page.gap()
    return page.panel(_other_deals(game, deal, "replay"))


def fair_page(game: FinishedGame, deal: int, language: str) -> Panel:
    """Return the proof of a deal's shuffle in a finished game."""
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
    """Return buttons for the same page of the deals before and after."""
    deals = len(game.record.deals)
    around = [(f"◀ {deal - 1}", deal - 1), (f"{deal}/{deals}", deal), (f"{deal + 1} ▶", deal + 1)]
    row = tuple(Button(label, actions.page(page, game.id, number)) for label, number in around if 1 <= number <= deals)
    return row if deals > 1 else ()
