"""A tournament's card, and the announcement of the winner."""

from collections.abc import Sequence
from typing import Literal

from bot import actions
from bot.document_writer import DocumentWriter
from bot.features.tournaments.registration import teams_of
from bot.features.tournaments.standings import TIE_BREAKS, TeamStanding, standings, winners
from bot.features.tournaments.texts import PLAYING, TournamentText, deciding_tie_breaks, time_left
from bot.features.tournaments.tournament import MIN_TEAMS, Match, Tournament
from bot.panel import Button, Panel, Row, Writer
from bot.words.wording import NO_BREAK

MAX_PLACES = 16  # lines of the standings on the card and in the final picture
MAX_ENTERED = 30  # names of players on the card
MAX_MATCHES = 8  # matches of the round on the card, open ones first


def card_panel(
    language: str, tournament: Tournament, seconds_left: int | None, *, has_room: bool = True, maintenance: bool = False
) -> Panel:
    """Return a tournament's card for its chat.

    ``seconds_left`` is the time left of the round, or None without a round. ``has_room``: the store has room for new
    tables. ``maintenance``: the host allows no new tables now.
    """
    text = TournamentText(language, tournament)
    page = text.start_page()
    if tournament.phase == "open":
        return _open_card(page, text)
    if tournament.phase == "cancelled":
        page.line(text.gettext("{name}’s tournament was called off."), name=text.organiser)
        return page.panel(_seal_row(text))
    table = standings(tournament)
    if tournament.phase == "over":
        page.line(winners_line(text), "bold")
        page.gap()
        _write_heading(page, text, table)
        _write_standings(page, text, table, with_tie_breaks=True)
        page.gap()
        write_tie_breaks(page, text)
        return page.panel(*_page_rows(text, table))
    return _playing_card(page, text, table, seconds_left, has_room=has_room, maintenance=maintenance)


def payload(tournament: Tournament, *words: object) -> str:
    return actions.page("tournament", tournament.code, *words)


def button(label: str, tournament: Tournament, *words: object, style: Literal["", "good", "danger"] = "") -> Button:
    return Button(label, payload(tournament, *words), style)


# Before it starts


def _open_card(page: Writer, text: TournamentText) -> Panel:
    tournament, _ = text.tournament, text.gettext
    page.line(_("Organised by {name}"), name=text.organiser)
    for line in text.terms():
        page.line(line)
    page.gap()
    _write_entered(page, text)
    return page.panel((button(_("Sign up"), tournament, "enter", style="good"),))


def organiser_row(text: TournamentText) -> Row:
    """Return the organiser's buttons for a tournament that is not over."""
    tournament, _ = text.tournament, text.gettext
    cancel_button = button(_("Call off"), tournament, "off", style="danger")
    if tournament.phase == "playing":
        return (cancel_button,)
    return (button(_("Start"), tournament, "start"), button(_("Options"), tournament, "options"), cancel_button)


def partner_rows(text: TournamentText, numbers: Sequence[int]) -> list[Row]:
    """Return buttons that make a person the partner of one of these players."""
    buttons = [
        button(text.gettext("With {name}").format(name=text.player_names([number])), text.tournament, "with", number)
        for number in numbers
    ]
    return [tuple(buttons[index : index + 2]) for index in range(0, len(buttons), 2)]


def _write_entered(page: Writer, text: TournamentText) -> None:
    """Write the players. Those without a partner come last."""
    tournament, _ = text.tournament, text.gettext
    teams, count, players_alone = teams_of(tournament), len(tournament.entered_players), tournament.players_alone
    missing_text = _missing_text(text, MIN_TEAMS[tournament.form] - len(teams))
    if not count:
        page.line(" ".join(filter(None, [_("No players yet."), missing_text])))
    elif missing_text and not players_alone:
        *names, last_name = map(text.player_names, teams)
        line = text.ngettext("{names} is in. {missing}", "{names} are in. {missing}", count)
        page.line(line, names=_(" and ").join([*filter(None, [", ".join(names)]), last_name]), missing=missing_text)
    else:
        page.line(text.ngettext("{count} player:", "{count} players:", count).format(count=count), "bold")
        if complete_teams := [team for team in teams if team[0] not in players_alone]:
            page.line(_list_names(text, complete_teams))
        if players_alone:
            alone_names = _list_names(text, [(number,) for number in players_alone])
            page.line(_("Looking for a partner: {names}"), names=alone_names)
            page.line(_("Players without a partner are paired at the start."), "small")
        if missing_text:
            page.line(missing_text, "italic")


def _missing_text(text: TournamentText, count: int) -> str:
    """Return how many more teams are needed to start, in words; empty if there are enough."""
    _ = text.gettext
    if count < 1:
        return ""
    if text.tournament.team_size == 1:
        line = _("One more player and it can start.") if count == 1 else _("{count} more players and it can start.")
    else:
        line = _("One more pair and it can start.") if count == 1 else _("{count} more pairs and it can start.")
    return line.format(count=count)


def _list_names(text: TournamentText, teams: Sequence[Sequence[int]]) -> str:
    return text.join_names(list(map(text.player_names, teams)), MAX_ENTERED // len(teams[0]))


# While it is played


def _playing_card(
    page: DocumentWriter,
    text: TournamentText,
    table: Sequence[TeamStanding],
    seconds_left: int | None,
    *,
    has_room: bool,
    maintenance: bool,
) -> Panel:
    tournament, _ = text.tournament, text.gettext
    page.line(round_line(text, seconds_left))
    is_waiting = any(not match.is_over and not match.table for match in tournament.matches)
    if not has_room and is_waiting:
        page.line(
            _("There’s no room for new tables right now, so some matches must wait: tell the bot’s host."), "bold"
        )
    elif maintenance and is_waiting:
        page.line(_("No new tables for now, so some matches must wait."), "bold")
    page.gap()
    if has_results(tournament):
        _write_heading(page, text, table)
        _write_standings(page, text, table, with_tie_breaks=False)
    page.gap()
    _write_matches(page, text)
    write_single_table(page, text)
    page.gap()
    write_tie_breaks(page, text)
    return page.panel((button(_("My match"), tournament, "hand", style="good"),), *_page_rows(text, table))


def has_results(tournament: Tournament) -> bool:
    """Return whether any match counts yet. In a duplicate, matches count only after their round."""
    return any(match.is_over and not match.is_bye and tournament.is_public(match.round) for match in tournament.matches)


def write_single_table(page: Writer, text: TournamentText) -> None:
    """Explain how a duplicate round with only one table is scored."""
    tournament, _ = text.tournament, text.gettext
    if not (tournament.is_duplicate and tournament.phase == "playing" and tournament.rounds):
        return
    if sum(not match.is_bye for match in tournament.rounds[-1]) == 1:
        page.line(
            _("Only one table, so there’s nothing to compare. Only deals given up or lost on time count."), "italic"
        )


def round_line(text: TournamentText, seconds_left: int | None) -> str:
    if not text.tournament.rounds:
        return text.gettext("The first round is starting.")
    time = "" if seconds_left is None else time_left(text.language, seconds_left)
    return " · ".join(filter(None, [text.round_name(len(text.tournament.rounds)), time]))


def _write_heading(page: Writer, text: TournamentText, table: Sequence[TeamStanding]) -> None:
    if table:
        unit = text.gettext(table[0].score.name)
        page.line(text.gettext("Standings ({what}):").format(what=unit), "bold")


def _write_standings(
    page: DocumentWriter, text: TournamentText, table: Sequence[TeamStanding], *, with_tie_breaks: bool
) -> None:
    shown_standings = table[:MAX_PLACES]
    tie_breaks_by_team = [
        deciding_tie_breaks(table, index) if with_tie_breaks else () for index in range(len(shown_standings))
    ]
    for standing, tie_breaks in zip(shown_standings, tie_breaks_by_team, strict=True):
        page.text_line(text.standing_line(standing, *tie_breaks))
    if shown_standings:
        page.block(text.standings_table(shown_standings, max(map(len, tie_breaks_by_team))))
    if len(table) > MAX_PLACES:
        page.line(text.more_text(len(table) - MAX_PLACES))


def _write_matches(page: Writer, text: TournamentText) -> None:
    """Write the round's matches, those with a table first. The others are left out if there are too many."""
    tournament, _ = text.tournament, text.gettext
    if not tournament.rounds:
        return
    matches = tournament.rounds[-1]
    played_matches = [match for match in matches if not match.is_bye]
    finished_count = sum(match.is_over for match in played_matches)
    page.line(_("Matches over: {over} of {count}").format(over=finished_count, count=len(played_matches)), "bold")
    shown_matches = [match for match in matches if match.table]
    other_matches = [match for match in matches if not match.table and (match.is_over or tournament.form != "league")]
    shown_matches += other_matches if len(shown_matches) + len(other_matches) <= MAX_MATCHES else []
    for match in shown_matches[:MAX_MATCHES]:
        page.line(match_line(text, match))
    if len(shown_matches) > MAX_MATCHES:
        page.line(text.more_text(len(shown_matches) - MAX_MATCHES))


def match_line(text: TournamentText, match: Match) -> str:
    pairing, outcome = text.pairing(match), text.outcome(match)
    return f"{pairing}{NO_BREAK}{outcome}" if outcome == PLAYING else " ".join(filter(None, [pairing, outcome]))


def write_tie_breaks(page: Writer, text: TournamentText) -> None:
    if names := [text.gettext(name) for name in TIE_BREAKS[text.tournament.form]]:
        page.line(text.gettext("Ties are broken by: {names}."), "small", names=", ".join(names))


def _page_rows(text: TournamentText, table: Sequence[TeamStanding]) -> list[Row]:
    tournament, _ = text.tournament, text.gettext
    results, rules = button(_("All results"), tournament, "results", 0), button(_("How it works"), tournament, "rules")
    if len(table) > MAX_PLACES:
        return [(results, button(_("Whole table"), tournament, "table", 1)), (rules,)]
    return [(results, rules)]


# When it is over


def winners_line(text: TournamentText) -> str:
    return f"🥇 {text.winners_text([text.team_name(team) for team in winners(text.tournament)])}"


def write_seals(page: Writer, text: TournamentText) -> None:
    """Write the seal of a duplicate that has begun. Once it is over, its secret lets people verify the deals."""
    tournament, _ = text.tournament, text.gettext
    if tournament.is_duplicate and tournament.root:
        page.line(_("🔒 Seal: {seal}"), "small", seal=tournament.seal)
        if not tournament.is_live:
            page.line(_("🔓 Secret: {secret}"), "small", secret=tournament.root.hex())


def _seal_row(text: TournamentText) -> Row:
    """Return the button to the seal and secret of a duplicate that was called off, if it had begun."""
    tournament = text.tournament
    has_seal = tournament.is_duplicate and tournament.root
    return (button(text.gettext("How it works"), tournament, "rules"),) if has_seal else ()


def winner_panel(language: str, tournament: Tournament) -> Panel:
    text, table = TournamentText(language, tournament), standings(tournament)
    page = DocumentWriter(winners_line(text))
    page.line("{title} · {by}", title=text.title, by=text.gettext("organised by {name}").format(name=text.organiser))
    page.fold()
    page.gap()
    _write_standings(page, text, table, with_tie_breaks=True)
    return page.panel((button(text.gettext("All results"), tournament, "results", 0),))


def back_row(text: TournamentText) -> Row:
    """Return a button to the reader's page about the tournament."""
    return (button(text.gettext("◀ Back"), text.tournament, "mine"),)


def hand_row(text: TournamentText, matches: Sequence[Match], team: int | None) -> Row:
    """Return buttons for a team's hands in matches that have a table.

    If there are several, each button names the opponent.
    """
    open_matches = [match for match in matches if match.table]
    label = text.gettext("▶ My hand") if len(open_matches) == 1 else "▶ {name}"
    return tuple(
        Button(label.format(name=text.opponent(match, team)), actions.page("hand", match.table), "good")
        for match in open_matches
    )
