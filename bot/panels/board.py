"""The boards in a group: one for each deal, edited after each trick, and one for the end of the game."""

from collections.abc import Sequence

from bot import actions
from bot.panel import Button, Panel, Role, Row, Span, Writer
from bot.panels.offer import share_button
from bot.panels.strangers import deed_row, farewell_row
from bot.tables.snapshot import FinishedDeal, TableSnapshot, isolate_name
from bot.texts import gettext_noop as _
from bot.words.course import course_line, decisive_line, declared_lines, declared_totals_line
from bot.words.phrases import Phrases, shown_points, table_words, turn_line
from bot.words.verdicts import replay_button
from bot.words.wording import signed_text
from engine import Record
from engine.robots.findings import Summary
from engine.views import DealView, StockView, TressetteView


def board_panel(
    seen: TableSnapshot,
    language: str,
    suits: str,
    unreachable: Sequence[tuple[str, str]] = (),
    *,
    ephemeral: bool = False,
    called: tuple[str, str] | None = None,
    watch: str = "",
    is_pictured: bool = False,
) -> Panel:
    """Return the public view of a deal; ``unreachable`` are players who cannot be sent their hand.

    ``ephemeral`` is whether a hand is shown in the group to its player alone; such messages can vanish. ``called`` is
    the person and name of the player to move, if they want to be notified. ``watch`` is the address of the page for
    spectators, or empty. ``is_pictured`` is whether a picture shows each card, so that the text describes the trick.
    """
    words = table_words(seen, language, suits)
    _ = words.text
    phrases, page = Phrases(seen, words), Writer()
    view = seen.view
    assert view
    assert view.deal
    phrases.write_heading(page, view.deal_number)
    turn = view.turn
    if seen.alarm == "flagged" and turn is not None and not seen.is_practice:
        page.line(_("{name}'s time is up."), "bold", name=seen.name(turn))
    elif called:
        page.line(_("{name}, it is your turn."), name=Span(isolate_name(called[1]), "call", called[0]))
    for line in phrases.robot_lines():
        page.line(line)
    for person, name in unreachable:
        mention = Span(isolate_name(name), "mention", person)
        page.line(_("{name}, I can’t write to you: press below for your cards."), name=mention)
    page.fold()
    page.line(phrases.totals(view.totals))
    page.gap()
    if is_pictured:
        _write_trick(page, phrases, view.deal)
    _write_deal(page, phrases, view.deal)
    if view.commitment and not sum(view.deal.tricks):
        page.gap()
        page.line(_("🔒 The shuffle is sealed. Is it fair? /rules fair"), "small")
        page.line(_("Seal: {seal}"), "small", seal=view.commitment)
    rows: list[Row] = []
    if unreachable or ephemeral:
        here = Button(_("My hand, here"), actions.table(seen.code, "aside"), "", "aside")
        rows.append((Button(_("My hand"), seen.code, "good", "private"), here))
    if watch:
        rows.append((Button(_("👁 Watch"), watch, "", "link"),))
    return page.panel(*rows)


def _write_trick(page: Writer, phrases: Phrases, deal: DealView) -> None:
    """Write the lines that change with each card."""
    if turn := turn_line(phrases.seen, phrases.words):
        page.line(turn)
    phrases.write_trick(page, deal)
    phrases.write_packets(page, deal)
    if stock := phrases.stock_text(deal):
        page.line(stock)


def _write_deal(page: Writer, phrases: Phrases, deal: DealView) -> None:
    """Write the deal up to the last trick. Hands and pictures show the current one."""
    _ = phrases.text
    words = phrases.words
    if not sum(deal.tricks) and deal.phase != "over":
        steps = {
            "take": _("{name} chooses packets."),
            "hold": _("{name} chooses packets."),
            "draft": _("{name} draws."),
            "exchange": _("{name} exchanges cards."),
            "bid": _("{name} bids."),
        }
        begins = steps.get(deal.phase) or _("The cards are dealt: {name} begins.")
        first = deal.turn if deal.turn is not None else (deal.dealer + 1) % len(phrases.names)
        page.line(begins.format(name=phrases.names[deal.trick[0].seat if deal.trick else first]))
    phrases.write_bids(page, deal)
    if deal.last_trick:
        trick = Span(phrases.trick_text(deal.last_trick), "bold")
        page.line(_("Trick {number}: {trick}"), number=sum(deal.tricks), trick=trick)
    if isinstance(deal, StockView) and deal.drawn:
        page.line(_("Drawn: {cards}"), cards=" · ".join(phrases.played_card(by, card) for by, card, _s in deal.drawn))
    if isinstance(deal, TressetteView):
        for seat, move, points in deal.declarations:
            page.line(
                _("{name} declared {combination}: {points}"),
                name=phrases.names[seat],
                combination=words.combination(move),
                points=shown_points(phrases.seen, points),
            )
    for seat, known in enumerate(deal.known):
        if known:
            page.line(_("{name} has shown {cards}"), name=phrases.names[seat], cards=words.cards(known))
    if sum(deal.tricks):
        page.line(_("Tricks: {sides}"), sides=phrases.side_figures(deal.tricks))
        tricks = phrases.seen.kind.cards_per_deal // phrases.seen.kind.seats
        left = (tricks - sum(deal.tricks)) * len(deal.counts)  # including the current trick
        page.line(words.ngettext("{count} card left", "{count} cards left", left), count=left)


def finished_deal_panel(seen: TableSnapshot, past: FinishedDeal, language: str, suits: str) -> Panel:
    """Return the score of a finished deal, and how to check its shuffle."""
    words = table_words(seen, language, suits)
    _ = words.text
    phrases, page = Phrases(seen, words), Writer()
    phrases.write_heading(page, past.number)
    page.fold()
    page.gap()
    phrases.write_score(page, past.entries, past.totals)
    for line in declared_lines(words, past.record, past.number):
        page.line(line)
    if line := course_line(words, past.record, past.number):
        page.line(line)
    if past.secret:
        page.gap()
        page.line(_("🔓 The shuffle's secret is out. Is it fair? /rules fair"), "small")
        page.line(_("Seal: {seal}"), "small", seal=past.commitment)
        page.line(_("Secret: {secret}"), "small", secret=past.secret)
    return page.panel()


UNRATED = {
    "trial": _("Not rated: a guest’s games count after choosing a name and finishing three games against people."),
    "given up": _("The game was given up, so the winner gains nothing this time."),
}
"""Reasons why a finished game raises no rating (`bot.finished.unrated_games`)."""


def result_panel(
    seen: TableSnapshot,
    record: Record,
    language: str,
    suits: str,
    game_id: str,
    changes: Sequence[tuple[str, int, int]],
    summaries: Sequence[Summary] = (),
    *,
    unrated: str = "",
    leaderboard: bool = False,
    strangers: Sequence[tuple[int, str]] = (),
    pages: str = "",
) -> Panel:
    """Return the result of a game, from its ``record``.

    ``changes`` are names with their rating before and after. ``summaries`` say how well each seat played, if known;
    seats without decisions are left out. ``unrated`` is a key of `UNRATED`, or empty. ``leaderboard`` adds a button to
    the chat's leaderboard, which has no command in chats without the bot. ``strangers`` are the seats and names that
    the reader can block. ``pages`` is the base address of our web pages, or empty.
    """
    words = table_words(seen, language, suits)
    _ = words.text
    phrases, page = Phrases(seen, words), Writer()
    view = seen.view
    assert view
    page.line(_("{game} · {code}"), game=Span(_(seen.kind.name), "bold"), code=Span(seen.code, "code"))
    phrases.write_fixture(page)
    page.line(words.ending(view.winner, view.ending), "bold")
    if changes:
        page.gap()
        page.line(_("Ratings in {game}:"), game=_(seen.kind.name))
        for name, before, after in changes:
            page.line(f"{isolate_name(name)}: {before} → {after} ({signed_text(after - before)})")
    if unrated:
        page.line(_(UNRATED[unrated]))
    page.fold()
    page.gap()
    page.line(phrases.totals(view.totals))
    for line in (course_line(words, record), decisive_line(words, record), declared_totals_line(words, record)):
        if line:
            page.line(line)
    shares = [
        f"{name} {summary.accuracy} % ({summary.good}/{summary.decisions})"
        for name, summary in zip(phrases.names, summaries, strict=False)
        if summary.decisions
    ]
    if shares:
        page.line(_("Good decisions: {shares}"), shares=" · ".join(shares))
    return page.panel(
        # The tournament decides who plays again.
        () if seen.fixture else (Button(_("Rematch"), actions.page("rematch", game_id), "good", role=Role.REMATCH),),
        (
            replay_button(words, game_id, pages),
            Button(_("Analysis"), actions.page("analysis", game_id)),
            Button(_("Is it fair?"), actions.page("fair", game_id, 1)),
        ),
        (Button(_("🏆 Leaderboard"), actions.page("leaderboard", "chat", "all", seen.kind.id)),) if leaderboard else (),
        (share_button(language, _(seen.kind.name)),),
        farewell_row(language, game_id) if strangers else (),
        deed_row(language, game_id, strangers),
    )


def duplicate_panel(seen: TableSnapshot, language: str) -> Panel:
    """Return the result of a tournament deal that other tables still play: its points without its cards."""
    words = table_words(seen, language, "italian")
    _ = words.text
    phrases, page, view = Phrases(seen, words), Writer(), seen.view
    assert view
    phrases.write_heading(page, view.deal_number)
    if seen.is_cut_short:
        page.line(words.ending(view.winner, view.ending), "bold")
    else:
        page.line(_("The deal is over."), "bold")
        page.line(phrases.totals(view.totals))
    if seen.is_cut_short and view.ending == "cancelled":
        # The tournament was cancelled, or the host stopped this table while others play on.
        page.line(_("Other tables had the same cards: everybody can see them once no table plays them any more."))
    else:
        page.line(_("Other tables have the same cards: all may look at them when the round is over or called off."))
    return page.panel()
