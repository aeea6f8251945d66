"""Pages about a tournament that one person reads: options, how it goes, the whole table, results, one's own matches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot import actions
from bot.features.tournaments.duplicate import DealScore, scores_of
from bot.features.tournaments.panel import (
    alone,
    back_row,
    button,
    hand_row,
    has_counted,
    lonely_line,
    match_line,
    organising,
    partner_rows,
    payload,
    round_line,
    seals,
    tie_break_line,
    won_line,
)
from bot.features.tournaments.standings import standings
from bot.features.tournaments.texts import ON, Told, score_text
from bot.features.tournaments.tournament import Form, Key, Match, Tournament
from bot.panel import Button, Panel, Row, Span, Writer
from bot.tables.snapshot import isolated
from bot.words.verdicts import replay_button
from bot.words.wording import NO_BREAK, minus

LINES = 20
"""So many lines stand on a page of the table."""

MATCHES = 12
"""So many matches stand on a page of results."""

MOST_TOLD = 8
"""So many of somebody's last matches stand on their page."""

LISTED = 10
"""So many of somebody's tournaments stand on a page."""

HANDS_LISTED = 18
"""So many hands have a button there: with the others these are as many as any platform shows."""


# Table and results


def table_panel(language: str, t: Tournament, number: int) -> Panel:
    """A page of the whole table, counted from 1."""
    told, table = Told(language, t), standings(t)
    pages = max(1, -(-len(table) // LINES))
    number = min(max(1, number), pages)
    page = Writer()
    page.line(f"🏆 {told.title}", "bold")
    for one in table[(number - 1) * LINES : number * LINES]:
        page.line(told.place(one, *(one.tie_breaks if has_counted(t) else ())))
    page.gap()
    tie_break_line(page, told)
    return page.panel(_turning(number, pages, t.code, "table"), back_row(told))


def _turning(number: int, pages: int, *words: str) -> Row:
    """The way to the pages before and after one, which have these ``words`` and a number."""
    row = []
    if number > 1:
        row.append(Button("◀", actions.page("tournament", *words, number - 1)))
    if number < pages:
        row.append(Button("▶", actions.page("tournament", *words, number + 1)))
    return tuple(row)


class Part(NamedTuple):
    """Some of a round's matches, and of which deal: 0 for whole games."""

    round: int
    deal: int
    matches: tuple[Match, ...]


def parts(t: Tournament) -> list[Part]:
    """All that has been paired, in pages: round by round, at a duplicate deal by deal where that may be told."""
    found = []
    for number, matches in enumerate(t.rounds, 1):
        shown = [one for one in matches if t.form != "league" or one.seats or one.is_over]
        deals = t.deals if t.is_told(number) else (0,)
        for deal in deals:
            of_deal = [one for one in shown if not (deal and one.is_bye)]
            found += [Part(number, deal, tuple(of_deal[at : at + MATCHES])) for at in range(0, len(of_deal), MATCHES)]
    return found


def results_panel(language: str, t: Tournament, number: int, replays: Mapping[Key, str], pages: str) -> Panel:
    """A page of results by `parts`, counted from 1; 0 is the latest. ``replays`` are the ids of finished games,
    ``pages`` where our pages are, empty if they cannot be reached.
    """
    told, all_parts = Told(language, t), parts(t)
    page = Writer()
    page.line(f"🏆 {told.title}", "bold")
    if not all_parts:
        page.line(told.gettext("Nothing has been played yet."))
        return page.panel(back_row(told))
    number = min(number, len(all_parts)) or len(all_parts)
    part = all_parts[number - 1]
    heading = [*filter(None, [told.round_name(part.round)])]
    if part.deal:
        heading.append(told.gettext("deal {number}").format(number=part.deal))
    if heading:
        page.line(" · ".join(heading), "bold")
    if part.deal:
        page.line(told.gettext("Who had the first seat stands first; in brackets what it counts for them."), "small")
    scores = {(one.round, one.match, one.deal): one for one in scores_of(t, part.round)} if part.deal else {}
    for match in part.matches:
        score = scores.get((match.round, match.number, part.deal))
        page.line(deal_line(told, match, part.deal, score) if part.deal else match_line(told, match))
    if not t.is_told(part.round):
        page.gap()
        page.line(told.gettext("How the deals went is told when the round is over."), "italic")
    if number == len(all_parts) and t.phase == "over":
        # Of one that was called off the card tells it, once what was on has been stopped.
        page.gap()
        seals(page, told)
    rows = [
        (replay_button(told.words, id_, pages)._replace(label=f"▶ {told.pairing(match)}"),)
        for match in part.matches
        if (id_ := replays.get((match.round, match.number, part.deal)))
    ]
    return page.panel(*rows, _turning(number, len(all_parts), t.code, "results"), back_row(told))


def deal_line(told: Told, match: Match, deal: int, score: DealScore | None) -> str:
    """How one deal of a duplicate went at a table, the first seat's team first, and what it counts for that one."""
    assert match.other is not None
    first = match.first_team(deal)
    one, other = (told.team(match.teams[side]) for side in (first, 1 - first))
    result = match.results.get(deal)
    if result is None:
        return f"{one} – {other} {ON}"
    ours, theirs = (result.ours, result.theirs) if first == 0 else (result.theirs, result.ours)
    words = [score_text(ours, theirs), *filter(None, [told.how(match, result)])]
    counted = f" ({told.counted(score.scores[first])})" if score else ""
    return f"{one} – {other} {', '.join(words)}{counted}"


def partners_panel(language: str, t: Tournament, number: int) -> Panel:
    """Those who have no partner, each with a button."""
    told, numbers = Told(language, t), alone(t)
    pages = max(1, -(-len(numbers) // LINES))
    number = min(max(1, number), pages)
    page = Writer()
    page.line(f"🏆 {told.title}", "bold")
    page.line(told.gettext("Whose partner do you want to be?"))
    return page.panel(
        *partner_rows(told, numbers[(number - 1) * LINES : number * LINES]),
        _turning(number, pages, t.code, "partners"),
    )


# One's own


class OwnPage(NamedTuple):
    """Some of somebody's tournaments, and of how many ``pages`` this is which, counted from 1. ``groups`` is what the
    chats are called where they are played, by tournament, as far as that is known.
    """

    tournaments: Sequence[Tournament]
    number: int
    pages: int
    groups: Mapping[str, str] = {}


def own_page(all_own: Sequence[Tournament], number: int) -> OwnPage:
    """A page of somebody's tournaments, which are given the newest first: those come first that are not over."""
    pages = max(1, -(-len(all_own) // LISTED))
    number = min(max(1, number), pages)
    in_order = sorted(all_own, key=lambda one: not one.is_live)
    return OwnPage(in_order[(number - 1) * LISTED : number * LISTED], number, pages)


def own_panel(language: str, person: str, own: OwnPage, lefts: Sequence[int | None]) -> Panel:
    """A page of somebody's tournaments, each with what is left of its round in seconds, and the way to their hands."""
    if (own.pages, len(own.tournaments)) == (1, 1):
        return mine_panel(language, person, own.tournaments[0], lefts[0])
    _ = Told(language, Tournament("")).gettext
    page = Writer()
    rows: list[Row] = []
    hands = HANDS_LISTED
    page.line(_("Your tournaments"), "bold")
    if not own.tournaments:
        page.line(_("You have entered none. Tournaments are opened in groups: write /tournament there."))
    first = (own.number - 1) * LISTED + 1
    for number, (t, left) in enumerate(zip(own.tournaments, lefts, strict=True), first):
        told = Told(language, t)
        # Several may be of one form and game, in one group: the number tells the buttons apart.
        title = f"🏆 {number}. {told.title}"
        page.gap()
        page.line(title, "bold")
        group = own.groups.get(t.code, "")
        page.line(" · ".join([*([isolated(group)] if group else []), organised(told)]))
        page.line(_state(told, left))
        if t.phase == "over":
            _write_place(page, told, person)
        is_on = [one for one in _matches_of(told, person) if not one.is_over]
        _write_seated(page, told, person, is_on)
        row = hand_row(told, is_on, _team_of(told, person))[:hands] if is_on else ()
        hands -= len(row)
        rows += [row, (button(title, t, "mine"),)]
    return page.panel(*rows, _turning(own.number, own.pages, "own"))


def mine_panel(language: str, person: str, t: Tournament, left: int | None, *, has_others: bool = False) -> Panel:
    """A tournament for one of its players: their matches, how they stand, the way to their hands, and out of it; for
    its organiser, what they may do with it. ``has_others`` is whether its reader has more of them.
    """
    told = Told(language, t)
    _ = told.gettext
    page = Writer()
    page.line(f"🏆 {told.title}", "bold")
    page.line(organised(told))
    page.line(_state(told, left))
    _write_withdrawn(page, told, person)
    _write_place(page, told, person)
    lonely_line(page, told)
    matches = _matches_of(told, person)
    if matches:
        page.gap()
        page.line(_("Your matches"), "bold")
    is_on = [one for one in matches if not one.is_over]
    for match in [one for one in matches if one.is_over][-MOST_TOLD:]:
        page.line(_own_line(told, person, match))
    _write_seated(page, told, person, is_on)
    _write_waiting(page, told, person, is_on)
    rows: list[Row] = [hand_row(told, is_on, _team_of(told, person)) if is_on else ()]
    if t.rounds:
        rows.append((button(_("All results"), t, "results", 0), button(_("Whole table"), t, "table", 1)))
    own = t.player_of(person)
    last = [button(_("How it goes"), t, "rules")]
    if t.phase == "open":
        last.append(button(_("Enter"), t, "enter", style="good") if own is None else button(_("Leave"), t, "withdraw"))
    elif t.phase == "playing" and own is not None and not t.has_withdrawn(_team_of(told, person)):
        last.append(button(_("Withdraw"), t, "withdraw"))
    rows.append(tuple(last))
    if t.is_live and t.opener.person == person:
        rows.append(organising(told))
    if has_others:
        rows.append((Button(_("◀ All my tournaments"), actions.page("tournament", "own", 1)),))
    return page.panel(*rows)


def organised(told: Told) -> str:
    """By whom it is organised."""
    return told.gettext("organised by {name}").format(name=told.organiser)


def _write_withdrawn(page: Writer, told: Told, person: str) -> None:
    """That somebody plays no more, where they or their partner have withdrawn."""
    t, _ = told.t, told.gettext
    own = t.player_of(person)
    if any(player and player.person == person and number in t.withdrawn for number, player in enumerate(t.players)):
        page.line(_("You have withdrawn."))
    elif own is not None and t.teams and t.has_withdrawn(_team_of(told, person)):
        page.line(_("Your partner has withdrawn, and you play no more."))


def _write_place(page: Writer, told: Told, person: str) -> None:
    """Where somebody stands, once anything counts."""
    t, own = told.t, told.t.player_of(person)
    team = None if own is None else t.team_of(own)
    if team is None or t.phase not in ("playing", "over") or not has_counted(t):
        return
    [standing] = [one for one in standings(t) if one.team == team]
    place = told.gettext("Your place: {place} of {count} ({what}: {score})")
    counted = told.gettext(standing.score.counts)
    page.line(place, place=standing.place, count=len(t.teams), score=minus(standing.score.text), what=counted)


def _state(told: Told, left: int | None) -> str:
    t = told.t
    if t.phase == "open":
        count = len(t.present)
        entered = told.ngettext("{count} has entered", "{count} have entered", count).format(count=count)
        return told.gettext("It has not begun: {entered}.").format(entered=entered)
    if t.phase == "playing":
        return round_line(told, left)
    return told.gettext("It was called off.") if t.phase == "cancelled" else won_line(told)


def _matches_of(told: Told, person: str) -> list[Match]:
    """Somebody's matches; none once it was called off, for they count for nothing."""
    if told.t.phase == "cancelled":
        return []
    own = told.t.player_of(person)
    return [] if own is None or told.t.team_of(own) is None else told.t.matches_of(_team_of(told, person))


def _team_of(told: Told, person: str) -> int:
    """The team in which somebody plays."""
    own = told.t.player_of(person)
    team = None if own is None else told.t.team_of(own)
    assert team is not None
    return team


def _is_seated(match: Match) -> bool:
    return match.next_deal in match.seats


def _write_seated(page: Writer, told: Told, person: str, matches: Sequence[Match]) -> None:
    """Those of somebody's matches that have a table."""
    for match in filter(_is_seated, matches):
        page.line(_own_line(told, person, match))


def _write_waiting(page: Writer, told: Told, person: str, matches: Sequence[Match]) -> None:
    """Against whom there will be one, of those matches that have none."""
    waiting = [told.other_team(match, _team_of(told, person)) for match in matches if not _is_seated(match)]
    if waiting:
        names = ", ".join(waiting[:MOST_TOLD])
        if len(waiting) > MOST_TOLD:
            names += " " + told.gettext("… and {count} more").format(count=len(waiting) - MOST_TOLD)
        page.line(told.gettext("Yet to play, when both are free: {names}"), names=names)


def _own_line(told: Told, person: str, match: Match) -> str:
    """A match as one of its players reads it."""
    _, team = told.gettext, _team_of(told, person)
    if match.is_bye:
        return _("Round {number}: you have a bye.").format(number=match.round)
    state = told.outcome(match, team)
    if not match.is_over:
        state = ON
        if len(match.deals) > 1:
            state = f"{told.deals_played(match)}{NO_BREAK}{ON}"
    elif match.winner is not None:
        state = f"{'✅' if match.winner == team else '❌'}{NO_BREAK}{state}"
    return _("Against {name}: {state}").format(name=told.other_team(match, team), state=state)


# In a group


def others_panel(language: str, form: Form, there: Sequence[Tournament]) -> Panel:
    """What a group reads that has tournaments already, when one is asked for: if there is one its card comes below."""
    _ = Told(language, Tournament("")).gettext
    page = Writer()
    rows: list[Row] = []
    if len(there) == 1:
        page.line(_("{title} is on here."), title=Span(Told(language, there[0]).title, "bold"))
    else:
        page.line(_("Which one do you want to see?"))
        for t in there:
            told = Told(language, t)
            rows.append((button(f"🏆 {told.title} · {told.organiser}", t, "show"),))
    label = _("Open another league") if form == "league" else _("Open another tournament")
    usual = "league" if form == "league" else "knockout"
    return page.panel(*rows, (Button(label, actions.page("tournament", "new", usual)),))


# Asking first


def ask_panel(language: str, t: Tournament, verb: str) -> Panel:
    """Whether somebody really wants to call a tournament "off", or to "withdraw"."""
    told = Told(language, t)
    _ = told.gettext
    page = Writer()
    page.line(f"🏆 {told.title}", "bold")
    page.line(organised(told))
    if verb == "off":
        page.line(_("Do you want to call this tournament off?"))
        if t.phase == "playing":
            page.line(
                _("Deals that are on are stopped at once, and nothing counts.")
                if t.is_duplicate
                else _("Games that are on are played on, and count for nothing here.")
            )
        label = _("Call it off")
    else:
        page.line(_("Do you want to withdraw?"))
        page.line(
            _("All your matches that are not over are lost, also those to come.")
            if t.form in ("roundrobin", "league")
            else _("The match that is on is lost, and you are paired no more.")
        )
        if t.team_size > 1:
            page.line(_("Your partner goes out with you."))
        label = _("Withdraw")
    yes = button(label, t, verb, "yes", style="danger")
    return page.panel((yes, Button(_("No"), payload(t, "mine"))))
