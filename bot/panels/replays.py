"""Pages about finished games: a deal trick by trick, and the proof of its shuffle."""

from typing import NamedTuple

from bot import actions
from bot.actions import BadPayload
from bot.command_names import FAIR
from bot.finished.archive import Archive
from bot.finished.archive import game_id as id_of_table
from bot.finished.game import FinishedGame
from bot.panel import Button, Panel, Row, Span, Writer
from bot.panels.offer import result_offer
from bot.people import Profile
from bot.tables.errors import NoSuchTable, SetAside
from bot.tables.room import Room
from bot.tables.snapshot import finished_deal
from bot.texts import texts
from bot.viewers import Viewers
from bot.words.table_lines import fixture_line, option_lines
from bot.words.transcript import story
from bot.words.wording import Wording, faces_of
from engine import GAMES
from engine.records import Proof
from engine.shuffle import commitment


class Replays:
    """Pages about archived games. ``deal`` is a number from 1, as text. Raises GameNotKept for an unknown game."""

    def __init__(self, archive: Archive, viewers: Viewers, room: Room) -> None:
        self._archive, self._viewers, self._room = archive, viewers, room

    async def replay(self, place: str, profile: Profile, game_id: str, deal: str) -> Panel:
        """Return a deal trick by trick, in a place's language and a person's suits."""
        game, number = await self._deal_of(game_id, deal)
        return replay_page(game, number, (await self._viewers.viewer_at(place)).language, profile.suits)

    async def fair(self, place: str, game_id: str, deal: str) -> Panel:
        """Return the proof of a finished deal's shuffle, or the seal of a running one."""
        language = (await self._viewers.viewer_at(place)).language
        if panel := await self._live_fair_page(game_id, deal, language):
            return panel
        game, number = await self._deal_of(game_id, deal)
        return _fair_panel(_subject_of(game, number), "", game.record.deals[number - 1].proof, language)

    async def result_to_share(self, game_id: str, language: str) -> Panel:
        """Return a game's result as a message to forward or copy."""
        return result_offer(await self._archive.require(game_id), language).panel

    async def _live_fair_page(self, game_id: str, deal: str, language: str) -> Panel | None:
        """Return the page of a running game; None if the game is over, or its cards are secret.

        While a pack waits for a cut, its page has the table's code as ``game_id``, because the game can have no id yet.
        """
        try:
            table = await self._room.table(game_id.partition("-")[0])
        except (NoSuchTable, SetAside):
            return None
        if table.awaits_cut and game_id == table.code:
            number = table.game.deal_number + 1 if table.game else 1
            subject = _Subject(table.code, table.game_id, table.code, number, 1)
            return _fair_panel(subject, commitment(table.sealed), None, language)
        if table.game is None or table.is_duplicate or table.phase != "playing" or id_of_table(table) != game_id:
            return None
        deals = table.game.deal_number
        number = _parse_deal(deal, deals)
        finished = finished_deal(table, number) if number < deals or table.game.needs_deal else None
        seal = table.game.view(None).commitment or ""
        subject = _Subject(game_id, table.game_id, table.code, number, deals)
        return _fair_panel(subject, seal, finished.proof if finished else None, language)

    async def _deal_of(self, game_id: str, deal: str) -> tuple[FinishedGame, int]:
        game = await self._archive.require(game_id)
        return game, _parse_deal(deal, len(game.record.deals))


class _Subject(NamedTuple):
    """A deal of a game, for headings and buttons. ``game`` is the kind's id, ``deals`` the number of deals so far."""

    game_id: str
    game: str
    code: str
    deal: int
    deals: int


def _parse_deal(deal: str, deals: int) -> int:
    if not deal.isdecimal() or not 1 <= int(deal) <= deals:
        raise BadPayload()
    return int(deal)


def _subject_of(game: FinishedGame, deal: int) -> _Subject:
    return _Subject(game.id, game.record.kind.id, game.code, deal, len(game.record.deals))


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
    fair = Button(words.text("Is it fair?"), actions.page("fair", game.id, deal))
    return page.panel(_other_deals(_subject_of(game, deal), "replay"), (fair,))


def _fair_panel(subject: _Subject, seal: str, proof: Proof | None, language: str) -> Panel:
    """Return a deal's proof, or the ``seal`` of a running deal. Cards laid out by hand have neither."""
    _ = texts(language).gettext
    page = Writer(_("Is it fair?"))
    game = _(GAMES[subject.game].name)
    page.line(_("{game} · {code} · deal {deal}"), game=game, code=subject.code, deal=subject.deal)
    page.gap()
    if proof:
        seal = proof.commitment
    if not seal:
        page.line(_("These cards were laid out by hand."))
        return page.panel(_other_deals(subject, "fair"))
    page.line(_("Seal, fixed before the first card:"))
    page.line("{seal}", seal=Span(seal, "code"))
    if proof:
        page.line(_("Secret, shown after the deal:"))
        page.line("{secret}", secret=Span(proof.secret, "code"))
        if cut := proof.made_cut:
            page.line(_("Cut, made after the seal was shown:"))
            page.line("{cut}", cut=Span(cut.text, "code"))
            page.gap()
            page.line(_("The secret’s SHA-256 must be the seal, and the pack follows from secret and cut."))
        else:
            page.gap()
            page.line(_("The secret’s SHA-256 must be the seal, and the pack follows from the secret alone."))
    else:
        page.gap()
        page.line(_("After the deal you get the secret: its SHA-256 must be this seal."))
    return page.panel(_other_deals(subject, "fair"), (Button(_("How it works"), actions.page("rules", FAIR)),))


def _other_deals(subject: _Subject, page: str) -> Row:
    """Return buttons for the same page of the deals before and after."""
    deal, deals = subject.deal, subject.deals
    targets = [(f"◀ {deal - 1}", deal - 1), (f"{deal}/{deals}", deal), (f"{deal + 1} ▶", deal + 1)]
    row = [
        Button(label, actions.page(page, subject.game_id, number)) for label, number in targets if 1 <= number <= deals
    ]
    return tuple(row) if deals > 1 else ()
