"""The analysis page of a finished game."""

from collections.abc import Iterator, Sequence

from bot import actions
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import localize_name
from bot.panel import Button, Panel, Row, Writer
from bot.tables.snapshot import isolate_name
from bot.words.game_results import game_summary
from bot.words.verdicts import given_away_text, lost_text, replay_button, replay_step, scale_verdicts, short_move
from bot.words.wording import JOINER, Wording, faces_of
from engine.robots.verdicts import Summary, Verdict, summarize

COSTLIEST = 3  # moves that the page lists for each player
BAR = 10  # length of a bar in characters
FULL, EMPTY = "▰", "▱"


def analysis_page(
    game: FinishedGame,
    verdicts: Sequence[Verdict],
    deals_done: int,
    language: str,
    suits: str,
    pages: str = "",
    reader: str = "",
) -> Panel:
    """Return each player's accuracy as a bar, and their costliest moves. During the analysis, return its progress.

    ``pages`` is the address of the bot's web pages, empty if they cannot be reached. The ``reader``, a person, gets a
    button for each of their own costliest moves if they played.
    """
    names = [localize_name(name, language) for name in game.record.seats]
    words = Wording(language, names, faces_of(game.record.kind, suits))
    _ = words.text
    page = Writer(_("🔎 Analysis of {code}"), code=game.code)
    page.gap()
    deals, verdicts = len(game.record.deals), scale_verdicts(verdicts, game.record.game)
    if deals_done < deals:
        page.line(_("Analysing… Deals done: {done} of {deals}."), done=deals_done, deals=deals)
        page.line(_bar(deals_done / deals))
        return page.panel((Button(_("Refresh"), actions.page("analysis", game.id), "good"),))
    for seat, name in enumerate(names):
        _write_player(page, words, name, summarize(verdicts, seat, COSTLIEST))
    page.line(_("Early in a deal I compare you with the strong robot, later with perfect play."), "small")
    page.fold()
    page.gap()
    for line in game_summary(words, game.record):
        page.line(line)
    own = summarize(verdicts, game.people.index(reader), COSTLIEST).costliest if reader in game.people else ()
    return page.panel(*_move_rows(words, game.id, own, pages), (replay_button(words, game.id, pages),))


def _move_rows(words: Wording, game_id: str, verdicts: Sequence[Verdict], pages: str) -> Iterator[Row]:
    """Yield a button for each move, which leads to its place in the replay, or to its deal in the chat's replay."""
    _ = words.text
    for verdict in {(verdict.deal, verdict.move_index): verdict for verdict in reversed(verdicts)}.values():
        move = short_move(words, verdict.move).replace(JOINER, "")
        label = _("Deal {deal}: your {move}").format(deal=verdict.deal, move=move)
        address = f"{pages}/g/{game_id}{replay_step(verdict)}"
        chat_page = actions.page("replay", game_id, verdict.deal)
        yield (Button(label, address, "", "link") if pages else Button(label, chat_page),)


def _write_player(page: Writer, words: Wording, name: str, seat: Summary) -> None:
    _ = words.text
    if seat.accuracy is None:
        page.line(_("{name}: no decisions to judge"), "bold", name=isolate_name(name))
        page.gap()
        return
    decisions = words.ngettext("{count} decision", "{count} decisions", seat.decisions).format(count=seat.decisions)
    accuracy = {"percent": seat.accuracy, "decisions": decisions}
    page.line(_("{name}: {percent} % of {decisions} good"), "bold", name=isolate_name(name), **accuracy)
    page.line(_bar(seat.accuracy / 100))
    if not seat.costliest:
        page.line(_("Nothing given away."))
    else:
        page.line(given_away_text(words, seat))
    for verdict in seat.costliest:
        page.line(
            _("Deal {deal}: {move} instead of {better} ({points})"),
            deal=verdict.deal,
            move=short_move(words, verdict.move),
            better=short_move(words, verdict.better),
            points=lost_text(words, verdict),
        )
    page.gap()


def _bar(part: float) -> str:
    full = round(BAR * part)
    return FULL * full + EMPTY * (BAR - full)
