"""The analysis page of a finished game."""

from collections.abc import Iterator, Sequence

from bot import actions
from bot.document_writer import DocumentWriter
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import localize_name
from bot.panel import Button, Column, Details, Grid, Panel, Paragraph, Row, Span
from bot.tables.snapshot import isolate_name
from bot.words.game_results import game_summary
from bot.words.verdicts import (
    given_away_text,
    lost_text,
    points_given_away,
    replay_button,
    replay_step,
    scale_verdicts,
    short_move,
)
from bot.words.wording import JOINER, Wording, faces_of
from engine.robots.verdicts import Summary, Verdict, summarize

MAX_COSTLIEST = 3  # moves that the page lists for each player
BAR_LENGTH = 10  # characters
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
    page = DocumentWriter(_("🔎 Analysis of {code}"), code=game.code)
    page.gap()
    deals, verdicts = len(game.record.deals), scale_verdicts(verdicts, game.record.game)
    if deals_done < deals:
        page.line(_("Analysing… Deals done: {done} of {deals}."), done=deals_done, deals=deals)
        page.line(_bar(deals_done / deals))
        return page.panel((Button(_("Refresh"), actions.page("analysis", game.id), "good"),))
    summaries = [summarize(verdicts, seat, MAX_COSTLIEST) for seat in range(len(names))]
    page.block(_accuracy_grid(words, names, summaries))
    for name, seat in zip(names, summaries, strict=True):
        _write_player(page, words, name, seat)
    page.line(_("Early in a deal I compare you with the strong robot, later with perfect play."), "small")
    page.fold()
    page.gap()
    result = list(game_summary(words, game.record))
    for line in result:
        page.text_line(line)
    page.block(Details(_("Result"), tuple(Paragraph((Span(line),)) for line in result)))
    own_costliest = summaries[game.people.index(reader)].costliest if reader in game.people else ()
    return page.panel(*_move_rows(words, game.id, own_costliest, pages), (replay_button(words, game.id, pages),))


def _move_rows(words: Wording, game_id: str, verdicts: Sequence[Verdict], pages: str) -> Iterator[Row]:
    """Yield a button for each move, which leads to its place in the replay, or to its deal in the chat's replay."""
    _ = words.text
    moves: dict[tuple[int, int], Verdict] = {}
    for verdict in verdicts:
        moves.setdefault((verdict.deal, verdict.move_index), verdict)
    for verdict in moves.values():
        move = short_move(words, verdict.move).replace(JOINER, "")
        label = _("Deal {deal}: your {move}").format(deal=verdict.deal, move=move)
        address = f"{pages}/g/{game_id}{replay_step(verdict)}"
        chat_page = actions.page("replay", game_id, verdict.deal)
        yield (Button(label, address, "", "link") if pages else Button(label, chat_page),)


def _accuracy_grid(words: Wording, names: Sequence[str], summaries: Sequence[Summary]) -> Grid:
    _ = words.text
    rows = []
    for name, seat in zip(names, summaries, strict=True):
        accuracy = "–" if seat.accuracy is None else f"{seat.accuracy} %"
        cells = (accuracy, str(seat.decisions), points_given_away(seat, words.language))
        rows.append((Span(isolate_name(name), "bold"), *map(Span, cells)))
    figures = (_("Good"), _("Decisions"), _("Given away"))
    return Grid((Column(_("Player"), is_figure=False), *map(Column, figures)), tuple(rows))


def _write_player(page: DocumentWriter, words: Wording, name: str, seat: Summary) -> None:
    _ = words.text
    if seat.accuracy is None:
        page.text_line(_("{name}: no decisions to judge"), "bold", name=isolate_name(name))
        page.gap()
        return
    decisions = words.ngettext("{count} decision", "{count} decisions", seat.decisions).format(count=seat.decisions)
    accuracy = {"percent": seat.accuracy, "decisions": decisions}
    page.text_line(_("{name}: {percent} % of {decisions} good"), "bold", name=isolate_name(name), **accuracy)
    page.text_line(_bar(seat.accuracy / 100))
    page.text_line(given_away_text(words, seat) if seat.costliest else _("Nothing given away."))
    template = _("Deal {deal}: {move} instead of {better} ({points})")
    lines = []
    for verdict in seat.costliest:
        move, better = short_move(words, verdict.move), short_move(words, verdict.better)
        lines.append(template.format(deal=verdict.deal, move=move, better=better, points=lost_text(words, verdict)))
    for line in lines:
        page.text_line(line)
    if lines:
        summary = _("{name}: the costliest moves").format(name=isolate_name(name))
        page.block(Details(summary, tuple(Paragraph((Span(line),)) for line in lines)))
    page.gap()


def _bar(share: float) -> str:
    filled_count = round(BAR_LENGTH * share)
    return FULL * filled_count + EMPTY * (BAR_LENGTH - filled_count)
