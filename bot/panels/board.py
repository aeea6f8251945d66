"""The boards in a group: one for each deal, edited after each trick, and one for the end of the game."""

from collections.abc import Sequence
from typing import NamedTuple

from bot import actions
from bot.panel import Button, Panel, Role, Row, Span, Writer
from bot.panels.strangers import deed_row, farewell_row
from bot.tables.snapshot import FinishedDeal, TableSnapshot, isolate_name
from bot.texts import gettext_noop as _
from bot.words.deal_results import deal_lines, total_line
from bot.words.game_results import decisive_line, declared_totals_line, result_line, with_course
from bot.words.table_lines import TableLines, cut_news, shown_points, table_words, turn_line
from bot.words.verdicts import replay_button
from bot.words.wording import Wording, short_seal, signed_text
from engine import Record
from engine.robots.verdicts import Summary
from engine.views import DealView, TressetteView


def board_panel(
    snapshot: TableSnapshot,
    language: str,
    suits: str,
    unreachable: Sequence[tuple[str, str]] = (),
    *,
    ephemeral: bool = False,
    player_to_call: tuple[str, str] | None = None,
    watch: str = "",
    plays_here: bool = False,
    is_pictured: bool = False,
    seal: str = "",
    last_deal: FinishedDeal | None = None,
) -> Panel:
    """Return the public view of a deal.

    ``unreachable`` are the players to whom the bot cannot send their hand. ``ephemeral``: a hand is shown in the group
    to its player alone, and can vanish. ``player_to_call`` is the person and name of the player to move, if they want
    to be notified. ``watch`` is the address of the page for spectators, or empty. ``plays_here``: a button opens
    the table inside the chat's app. ``is_pictured``: a picture shows each card, so the text describes the trick.
    ``seal`` is the shuffle's seal, or empty to leave it out. ``last_deal`` is a deal whose points the board repeats; a
    message before it has the details.
    """
    words = table_words(snapshot, language, suits)
    _ = words.text
    lines, page = TableLines(snapshot, words), Writer()
    view = snapshot.view
    assert view
    assert view.deal
    turn = view.turn
    if last_deal:
        page.line(deal_lines(words, last_deal.record, last_deal.number)[0])
        page.gap()
    if snapshot.alarm == "flagged" and turn is not None and not snapshot.is_practice:
        page.line(_("{name}’s time is up."), "bold", name=snapshot.name(turn))
    elif player_to_call:
        page.line(_("{name}, it is your turn."), name=Span(isolate_name(player_to_call[1]), "call", player_to_call[0]))
    else:
        page.line(turn_line(snapshot, words) if is_pictured else _next_step(lines, view.deal), "bold")
    for line in lines.robot_lines():
        page.line(line)
    for person, name in unreachable:
        mention = Span(isolate_name(name), "mention", person)
        page.line(_("{name}, I can’t write to you: press below for your cards."), name=mention)
    if is_pictured:
        _write_declarations(page, lines, view.deal)
    page.fold()
    if is_pictured:
        lines.write_trick(page, view.deal)
        lines.write_packets(page, view.deal)
        if stock := lines.stock_text(view.deal):
            page.line(stock)
    _write_deal(page, lines, view.deal, with_declarations=not is_pictured)
    if not view.deal.last_trick and (cut := cut_news(snapshot, words)):
        page.line(cut)
    page.gap()
    page.line(lines.totals(view.totals))
    if sum(view.deal.tricks):
        page.line(_("Tricks: {sides}"), sides=lines.side_figures(view.deal.tricks))
    lines.write_heading(page, view.deal_number)
    rows: list[Row] = []
    hand = Button(_("My hand"), snapshot.code, "good", "private")
    links: Row = (Button(_("👁 Watch"), watch, "", "link"),) if watch else ()
    if plays_here:
        links = (Button(_("🃏 Play here"), actions.table(snapshot.code, "browser"), kind="browser"), *links)
    if unreachable or ephemeral:
        here_button = Button(_("My hand, here"), actions.table(snapshot.code, "aside"), "", "aside")
        rows += [(hand, here_button), links]
    else:
        rows.append((hand, *links))
    if seal:
        line = _("🔒 Seal {seal}: it proves afterwards that nobody changed the shuffle.")
        page.line(line, "small", seal=short_seal(seal))
    return page.panel(*rows)


def _next_step(lines: TableLines, deal: DealView) -> str:
    """Return who acts next, or who plays first in the trick: a board of text does not change during a trick."""
    _ = lines.text
    steps = {
        "take": _("{name} chooses packets."),
        "hold": _("{name} chooses packets."),
        "draft": _("{name} draws."),
        "exchange": _("{name} exchanges cards."),
        "bid": _("{name} bids."),
        "over": "",
    }
    step = steps.get(deal.phase, _("Trick {number}: {name} plays first."))
    seat = deal.trick[0].seat if deal.trick else deal.turn
    name = lines.names[(deal.dealer + 1) % len(lines.names) if seat is None else seat]
    return step.format(name=name, number=sum(deal.tricks) + 1)


def _write_declarations(page: Writer, lines: TableLines, deal: DealView) -> None:
    """Write all declarations, which pictures do not show."""
    _ = lines.text
    template = _("{name} declared {combination}: {points}")
    declarations = deal.declarations if isinstance(deal, TressetteView) else ()
    for number, (seat, move, thirds) in enumerate(declarations):
        combination = lines.words.combination(move) + lines.words.again(declarations[:number], seat, move)
        points = shown_points(lines.snapshot, thirds)
        page.line(template, name=lines.names[seat], combination=combination, points=points)


def _write_deal(page: Writer, lines: TableLines, deal: DealView, *, with_declarations: bool) -> None:
    """Write the deal up to the previous trick. Hands and pictures show the current one."""
    _ = lines.text
    if deal.last_trick:
        trick = Span(lines.trick_text(deal.last_trick), "bold")
        page.line(_("Previous trick: {trick}"), trick=trick)
    lines.write_drawn_cards(page, deal)
    if with_declarations:
        _write_declarations(page, lines, deal)
    lines.write_known_cards(page, deal)
    lines.write_bids(page, deal)


def _write_result(page: Writer, words: Wording, finished_deal: FinishedDeal) -> None:
    headline, *lines = deal_lines(words, finished_deal.record, finished_deal.number)
    page.line(headline, "bold")
    for line in (*lines, total_line(words, finished_deal.record, finished_deal.number)):
        page.line(line)


def finished_deal_panel(snapshot: TableSnapshot, finished_deal: FinishedDeal, language: str, suits: str) -> Panel:
    """Return the score of a finished deal."""
    words = table_words(snapshot, language, suits)
    page = Writer()
    _write_result(page, words, finished_deal)
    if snapshot.cutting.seat is not None and snapshot.view and finished_deal.number == snapshot.view.deal_number:
        page.line(turn_line(snapshot, words))
    page.fold()
    TableLines(snapshot, words).write_heading(page, finished_deal.number)
    return page.panel()


class RatingChange(NamedTuple):
    """A rating before and after a game. ``is_provisional``: its player has too few games for a rank."""

    name: str
    before: int
    after: int
    is_provisional: bool = False


UNRATED = {
    "trial": _("Not rated: a guest’s games count after choosing a name and finishing three games against people."),
    "given up": _("The game was given up, so the winner gains nothing this time."),
}
"""Reasons why a finished game raises no rating (`bot.finished.unrated_games`)."""


def result_panel(
    snapshot: TableSnapshot,
    record: Record,
    language: str,
    suits: str,
    game_id: str,
    changes: Sequence[RatingChange],
    summaries: Sequence[Summary] = (),
    *,
    in_private: bool = False,
    unrated: str = "",
    leaderboard: bool = False,
    strangers: Sequence[tuple[int, str]] = (),
    pages: str = "",
) -> Panel:
    """Return the result of a game, from its ``record``.

    ``summaries`` say how well each seat played, if known; seats without decisions are left out. ``in_private``: only
    one player reads it, the one in the seat of ``snapshot``. ``unrated`` is a key of `UNRATED`, or empty.
    ``leaderboard`` adds a button to the chat's leaderboard, which has no command in chats without the bot.
    ``strangers`` are the seats and names that the reader can block. ``pages`` is the base address of our web pages, or
    empty.
    """
    words = table_words(snapshot, language, suits)
    _ = words.text
    lines, page = TableLines(snapshot, words), Writer()
    view = snapshot.view
    assert view
    if snapshot.seat is not None and view.winner and in_private:
        side = snapshot.seat & 1
        sign = "🏆 " if snapshot.seat in view.winner else ""
        page.line(with_course(f"{sign}{lines.own_result()}", words, record, side), "bold")
    else:
        page.line(result_line(words, record), "bold")
    if changes:
        page.line(_("Rating: {ratings}"), ratings=" · ".join(_change_text(words, change) for change in changes))
    if unrated:
        page.line(_(UNRATED[unrated]))
    page.fold()
    page.gap()
    for line in (decisive_line(words, record), declared_totals_line(words, record)):
        if line:
            page.line(line)
    shares = [
        f"{name} {summary.accuracy} % ({summary.good}/{summary.decisions})"
        for name, summary in zip(lines.names, summaries, strict=False)
        if summary.decisions
    ]
    if shares:
        page.line(_("Good decisions: {shares}"), shares=" · ".join(shares))
    page.line(_("{game} · {code}"), game=Span(_(snapshot.kind.name), "bold"), code=Span(snapshot.code, "code"))
    lines.write_fixture(page)
    [(*again_buttons, analysis, share)] = private_result_rows(snapshot, game_id, language)
    fair, replay = Button(_("Is it fair?"), actions.page("fair", game_id, 1)), replay_button(words, game_id, pages)
    rows: tuple[Row, ...]
    if in_private and pages:
        rows = (tuple(again_buttons), (replay, analysis), (share, fair))
    elif in_private:
        rows = (tuple(again_buttons), (analysis, share, fair))
    else:
        board = Button(_("🏆 Leaderboard"), actions.page("leaderboard", "chat", "all", snapshot.kind.id))
        watch = (replay, analysis)
        rows = (tuple(again_buttons), watch, (board,) if leaderboard else (), (share, fair))
    return page.panel(
        *rows, farewell_row(language, game_id) if strangers else (), deed_row(language, game_id, strangers)
    )


def _change_text(words: Wording, change: RatingChange) -> str:
    _ = words.text
    text = _("{name} {rating} ({change}, provisional)") if change.is_provisional else _("{name} {rating} ({change})")
    difference = signed_text(change.after - change.before)
    return text.format(name=isolate_name(change.name), rating=change.after, change=difference)


def private_result_rows(snapshot: TableSnapshot, game_id: str, language: str, pages: str = "") -> tuple[Row, ...]:
    """Return the buttons at the end of a game in a player's private chat. The replay needs an address of ``pages``."""
    words = table_words(snapshot, language, "italian")
    _ = words.text
    replay = ((replay_button(words, game_id, pages),),) if pages else ()
    analysis = Button(_("Analysis"), actions.page("analysis", game_id, actions.SEPARATE))
    share = Button(_("Share"), game_id, kind="share")
    if snapshot.fixture:
        # The tournament decides who plays again.
        return ((analysis, share), *replay)
    rematch = Button(_("Rematch"), actions.page("rematch", game_id), "good", role=Role.REMATCH)
    return ((rematch, analysis, share), *replay)


def duplicate_panel(snapshot: TableSnapshot, language: str) -> Panel:
    """Return the result of a tournament deal that other tables still play: its points without its cards."""
    words = table_words(snapshot, language, "italian")
    _ = words.text
    lines, page, view = TableLines(snapshot, words), Writer(), snapshot.view
    assert view
    lines.write_heading(page, view.deal_number)
    if snapshot.is_cut_short:
        page.line(words.ending(view.winner, view.ending), "bold")
    else:
        page.line(_("The deal is over."), "bold")
        page.line(lines.totals(view.totals))
    if snapshot.is_cut_short and view.ending == "cancelled":
        # The tournament was cancelled, or the host stopped this table while others play on.
        page.line(_("Other tables had the same cards: everyone can see them once all tables have finished."))
    else:
        page.line(_("Other tables have the same cards: everyone can see them when the round is over or called off."))
    return page.panel()
