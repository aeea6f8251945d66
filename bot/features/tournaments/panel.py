"""A tournament's card in its chat, the word of who has won, and the reminder of a match."""

from collections.abc import Sequence
from typing import Literal

from bot import actions
from bot.features.tournaments.registration import teams_of
from bot.features.tournaments.standings import TIE_BREAKS, Standing, standings, winners
from bot.features.tournaments.texts import ON, Told, deciding, time_left
from bot.features.tournaments.tournament import LEAST_TEAMS, Match, Tournament
from bot.panel import Button, Panel, Row, Span, Writer
from bot.words.wording import NO_BREAK

MOST_PLACES = 16
"""So many lines of the table stand on the card, and in the picture of a tournament that is over; more are counted."""

MOST_ENTERED = 30
"""So many who have entered are named on the card."""

MOST_MATCHES = 8
"""So many of a round's matches stand on the card, those first that are on."""

SEAL_BEGINS = 16
"""So many digits of a seal stand on the card while it is played; all of them are on the page of how it goes."""

MOST_PARTNERS = 6
"""So many who have no partner have a button on the card; all of them stand on a page."""


def card_panel(language: str, t: Tournament, left: int | None, pages: str, *, has_room: bool = True) -> Panel:
    """The card of a tournament, which all of a chat read and press.

    ``left`` is how many seconds are left of the round, None if no round is played. ``pages`` is the address of our
    pages. ``has_room`` is whether the store has room for new tables.
    """
    told = Told(language, t)
    page = Writer()
    page.line(f"🏆 {told.title}", "bold")
    if t.phase == "open":
        return _open(page, told)
    if t.phase == "cancelled":
        page.line(told.gettext("{name}’s tournament was called off."), name=told.organiser)
        seals(page, told)
        return page.panel()
    table = standings(t)
    if t.phase == "over":
        return _over(page, told, table)
    return _playing(page, told, table, left, has_room=has_room)


def payload(t: Tournament, *words: object) -> str:
    """What a button about a tournament carries."""
    return actions.page("tournament", t.code, *words)


def button(label: str, t: Tournament, *words: object, style: Literal["", "good", "danger"] = "") -> Button:
    """A press on something of a tournament's."""
    return Button(label, payload(t, *words), style)


# Before it starts


def _open(page: Writer, told: Told) -> Panel:
    t, _ = told.t, told.gettext
    page.line(_("Organised by {name}"), name=told.organiser)
    for line in told.terms():
        page.line(line)
    page.gap()
    _entered(page, told)
    rows: list[Row] = [
        (button(_("Enter"), t, "enter", style="good"), button(_("Leave"), t, "leave")),
        *partner_rows(told, alone(t)[:MOST_PARTNERS]),
    ]
    if len(alone(t)) > MOST_PARTNERS:
        rows.append((button(_("All without a partner"), t, "partners"),))
    return page.panel(*rows, (button(_("How it goes"), t, "rules"),), organising(told))


def organising(told: Told) -> Row:
    """What the organiser may press of a tournament that is not over."""
    t, _ = told.t, told.gettext
    off = button(_("Call off"), t, "off", style="danger")
    if t.phase == "playing":
        return (off,)
    return (button(_("Start"), t, "start"), button(_("Options"), t, "options"), off)


def alone(t: Tournament) -> list[int]:
    """The players of a game for four who have no partner."""
    return [] if t.team_size == 1 else [number for number in t.present if number not in t.partners]


def partner_rows(told: Told, numbers: Sequence[int]) -> list[Row]:
    """Buttons that make whoever presses them these players' partner."""
    buttons = [
        button(told.gettext("With {name}").format(name=told.players([number])), told.t, "with", number)
        for number in numbers
    ]
    return [tuple(buttons[at : at + 2]) for at in range(0, len(buttons), 2)]


def _entered(page: Writer, told: Told) -> None:
    t, _ = told.t, told.gettext
    count, least = len(t.present), LEAST_TEAMS[t.form]
    if not count:
        page.line(_("Nobody has entered yet."))
    else:
        page.line(told.ngettext("{count} has entered:", "{count} have entered:", count).format(count=count), "bold")
        lone = alone(t)
        if t.team_size == 1:
            page.line(_listed(told, [(number,) for number in t.present]))
        elif pairs := [team for team in teams_of(t) if team[0] not in lone]:
            page.line(_listed(told, pairs))
        if lone:
            page.line(_("Without a partner: {names}"), names=_listed(told, [(number,) for number in lone]))
            page.line(_("Who has no partner when it begins gets one."), "small")
    if len(teams_of(t)) < least:
        short = (
            _("It begins with {least} players or more.")
            if t.team_size == 1
            else _("It begins with {least} pairs or more.")
        )
        page.line(short, "italic", least=least)


def _listed(told: Told, teams: Sequence[Sequence[int]]) -> str:
    most = MOST_ENTERED if len(teams[0]) == 1 else MOST_ENTERED // 2
    names = ", ".join(map(told.players, teams[:most]))
    if len(teams) <= most:
        return names
    more = told.gettext("… and {count} more").format(count=len(teams) - most)
    return f"{names} {more}"


# While it is played


def _playing(page: Writer, told: Told, table: Sequence[Standing], left: int | None, *, has_room: bool) -> Panel:
    t, _ = told.t, told.gettext
    page.line(round_line(told, left))
    if not has_room and any(not one.is_over and one.next_deal not in one.seats for one in t.matches):
        page.line(
            _("There is no room for new tables just now, so some matches wait. Tell the host of this bot."), "bold"
        )
    page.gap()
    if has_counted(t):
        _table(page, told, table)
    page.gap()
    _matches(page, told)
    lonely_line(page, told)
    page.gap()
    tie_break_line(page, told)
    if t.is_duplicate:
        page.line(_("🔒 Seal: {seal}"), "small", seal=f"{t.seal[:SEAL_BEGINS]}…")
    return page.panel((button(_("My match"), t, "hand", style="good"),), *_pages(told, table))


def has_counted(t: Tournament) -> bool:
    """Whether anything that was played counts yet: at a duplicate a round must be over."""
    return any(match.is_over and not match.is_bye and t.is_told(match.round) for match in t.matches)


def lonely_line(page: Writer, told: Told) -> None:
    """That a duplicate's round has but one table, if it is so, and what counts then."""
    t = told.t
    if t.is_duplicate and t.phase == "playing" and t.rounds and sum(not one.is_bye for one in t.rounds[-1]) == 1:
        _ = told.gettext
        page.line(
            _("One table: there is nothing to compare with, so only what is given up or lost on time counts."), "italic"
        )


def round_line(told: Told, left: int | None) -> str:
    """Which round is being played, and what is left of its time."""
    t, _ = told.t, told.gettext
    if not t.rounds:
        return _("The first round begins.")
    time = [] if left is None else [time_left(told.language, left)]
    return " · ".join([*filter(None, [told.round_name(len(t.rounds))]), *time])


def _table(page: Writer, told: Told, table: Sequence[Standing], *, with_tie_breaks: bool = False) -> None:
    _ = told.gettext
    if table:
        page.line(_("Standings ({what}):").format(what=_(table[0].score.counts)), "bold")
    for at, one in enumerate(table[:MOST_PLACES]):
        page.line(told.place(one, *(deciding(table, at) if with_tie_breaks else ())))
    if len(table) > MOST_PLACES:
        page.line(_("… and {count} more").format(count=len(table) - MOST_PLACES))


def _matches(page: Writer, told: Told) -> None:
    """The round's matches: those that are on come first, and those of which there is something to say."""
    t, _ = told.t, told.gettext
    if not t.rounds:
        return
    matches = t.rounds[-1]
    over = [one for one in matches if one.is_over and not one.is_bye]
    counted = [one for one in matches if not one.is_bye]
    page.line(_("Matches over: {over} of {count}").format(over=len(over), count=len(counted)), "bold")
    is_on = [one for one in matches if not one.is_over and one.next_deal in one.seats]
    rest = [one for one in matches if one not in is_on and (one.is_over or t.form != "league")]
    shown = [*is_on, *(rest if len(is_on) + len(rest) <= MOST_MATCHES else [])]
    for match in shown[:MOST_MATCHES]:
        page.line(match_line(told, match))
    if len(shown) > MOST_MATCHES:
        page.line(_("… and {count} more").format(count=len(shown) - MOST_MATCHES))


def match_line(told: Told, match: Match) -> str:
    """Who plays whom, and how it has gone."""
    outcome = told.outcome(match)
    if outcome == ON:
        return f"{told.pairing(match)}{NO_BREAK}{outcome}"
    return " ".join([told.pairing(match), *([outcome] if outcome else [])])


def tie_break_line(page: Writer, told: Told) -> None:
    """What decides between those of the same score."""
    if names := [told.gettext(name) for name in TIE_BREAKS[told.t.form]]:
        page.line(told.gettext("When level: {names}."), "small", names=", ".join(names))


def _pages(told: Told, table: Sequence[Standing]) -> list[Row]:
    t, _ = told.t, told.gettext
    results, rules = button(_("All results"), t, "results", 0), button(_("How it goes"), t, "rules")
    if len(table) > MOST_PLACES:
        return [(results, button(_("Whole table"), t, "table", 1)), (rules,)]
    return [(results, rules)]


# When it is over


def _over(page: Writer, told: Told, table: Sequence[Standing]) -> Panel:
    page.line(won_line(told), "bold")
    page.gap()
    _table(page, told, table, with_tie_breaks=True)
    page.gap()
    tie_break_line(page, told)
    seals(page, told)
    return page.panel(*_pages(told, table))


def won_line(told: Told) -> str:
    """Who has won."""
    return f"🥇 {told.won([told.team(team) for team in winners(told.t)])}"


def seals(page: Writer, told: Told) -> None:
    """What the packs of a duplicate followed from, for whoever checks them once none of them is played any more."""
    t, _ = told.t, told.gettext
    if t.is_duplicate and t.root and not t.is_live:
        page.line(_("🔒 Seal: {seal}"), "small", seal=t.seal)
        page.line(_("🔓 Secret: {secret}"), "small", secret=t.root.hex())


def winner_panel(language: str, t: Tournament, pages: str) -> Panel:
    """The word of who has won, to be read below a table of results. ``pages`` is where our pages are."""
    told, table = Told(language, t), standings(t)
    page = Writer()
    page.line(won_line(told), "bold")
    page.line("{title} · {by}", title=told.title, by=told.gettext("organised by {name}").format(name=told.organiser))
    page.fold()
    page.gap()
    for at, one in enumerate(table[:MOST_PLACES]):
        page.line(told.place(one, *deciding(table, at)))
    if len(table) > MOST_PLACES:
        page.line(told.gettext("… and {count} more").format(count=len(table) - MOST_PLACES))
    return page.panel((button(told.gettext("All results"), t, "results", 0),))


# For one player


def back_row(told: Told) -> Row:
    """From a page to what the tournament is for its reader."""
    return (button(told.gettext("◀ Back"), told.t, "mine"),)


def reminder_panel(language: str, t: Tournament, match: Match, player: int, left: int) -> Panel:
    """What a player is sent who has not finished a match when little time is left; ``left`` in seconds."""
    told, team = Told(language, t), t.team_of(player)
    assert team is not None
    page = Writer()
    page.line(
        told.gettext("⏰ Your match against {other} in {organiser}’s tournament: {time}"),
        other=Span(told.other_team(match, team), "bold"),
        organiser=told.organiser,
        time=time_left(language, left),
    )
    return page.panel(hand_row(told, [match], team), (button(told.gettext("My tournament"), t, "mine"),))


def hand_row(told: Told, matches: Sequence[Match], team: int) -> Row:
    """The way to a team's hands in these matches, where there is a table; several are told apart by whom it plays."""
    there = [
        (match, code) for match in matches if match.next_deal is not None and (code := match.seats.get(match.next_deal))
    ]
    label = told.gettext("▶ My hand") if len(there) == 1 else "▶ {name}"
    return tuple(
        Button(label.format(name=told.other_team(match, team)), actions.page("hand", code), "good")
        for match, code in there
    )
