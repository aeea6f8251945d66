"""Pages that one person reads: the whole table, results, their own tournaments and matches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot import actions
from bot.features.tournaments.card_panel import (
    back_row,
    button,
    hand_row,
    has_results,
    match_line,
    organiser_row,
    partner_rows,
    round_line,
    winners_line,
    write_seals,
    write_single_table,
    write_tie_breaks,
)
from bot.features.tournaments.duplicate import DealScore, deal_scores
from bot.features.tournaments.rules_page import leaving_lines
from bot.features.tournaments.standings import standings
from bot.features.tournaments.texts import PLAYING, TournamentText, score_text
from bot.features.tournaments.tournament import Form, Key, Match, Tournament
from bot.panel import Button, Panel, Row, Span, Writer
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from bot.words.table_lines import capitalize
from bot.words.verdicts import replay_button
from bot.words.wording import NO_BREAK, decimal_text

MAX_PARTNERS = 6  # possible partners with a button on a player's page; another page shows all
LINES_PER_PAGE = 20  # teams in the standings, and players without a partner
MATCHES_PER_PAGE = 12  # matches on a page of results
MATCHES_LISTED = 8  # latest matches on a player's page
TOURNAMENTS_PER_PAGE = 10  # tournaments on a page of a person's own
MAX_HANDS = 18  # buttons for hands on that page; every platform can show them with the page's other buttons


# Table and results


def _split(count: int, size: int, number: int) -> tuple[int, int, slice]:
    """Return ``number`` limited to existing pages, the number of pages, and the slice of the page's items."""
    pages = max(1, -(-count // size))
    number = min(max(1, number), pages)
    return number, pages, slice((number - 1) * size, number * size)


def table_panel(language: str, tournament: Tournament, number: int) -> Panel:
    """Return a page of the whole table, counted from 1."""
    text, table = TournamentText(language, tournament), standings(tournament)
    number, pages, page_slice = _split(len(table), LINES_PER_PAGE, number)
    page = text.start_page()
    for standing in table[page_slice]:
        page.text_line(text.standing_line(standing, *(standing.tie_breaks if has_results(tournament) else ())))
    if table:
        page.block(text.standings_table(table[page_slice], len(table[0].tie_breaks) if has_results(tournament) else 0))
    page.gap()
    write_tie_breaks(page, text)
    return page.panel(_turn_row(number, pages, tournament.code, "table"), back_row(text))


def _turn_row(number: int, pages: int, *words: str) -> Row:
    """Return buttons to the previous and next page. ``words`` are the page's payload without its number."""
    turns = [("◀", number - 1), ("▶", number + 1)]
    return tuple(
        Button(label, actions.page("tournament", *words, target)) for label, target in turns if 1 <= target <= pages
    )


class ResultPage(NamedTuple):
    """Some matches of a round, and the deal that the page shows: 0 for whole games."""

    round: int
    deal: int
    matches: tuple[Match, ...]


def result_pages(tournament: Tournament) -> list[ResultPage]:
    """Return all paired matches, by round and page. A finished duplicate round has pages for each deal."""
    pages = []
    for number, matches in enumerate(tournament.rounds, 1):
        shown_matches = [match for match in matches if tournament.form != "league" or match.seats or match.is_over]
        for deal in tournament.deals if tournament.is_public(number) else (0,):
            listed_matches = [match for match in shown_matches if not (deal and match.is_bye)]
            pages += [
                ResultPage(number, deal, tuple(listed_matches[start : start + MATCHES_PER_PAGE]))
                for start in range(0, len(listed_matches), MATCHES_PER_PAGE)
            ]
    return pages


def results_panel(language: str, tournament: Tournament, number: int, replays: Mapping[Key, str], pages: str) -> Panel:
    """Return a page of `result_pages`, counted from 1; 0 is the latest.

    ``replays`` are the ids of archived games. ``pages`` is the address of the bot's web pages, empty if they cannot be
    reached.
    """
    text, parts = TournamentText(language, tournament), result_pages(tournament)
    _ = text.gettext
    page = text.start_page()
    if not parts:
        page.line(_("Nothing has been played yet."))
        return page.panel(back_row(text))
    number = min(number, len(parts)) or len(parts)
    result_page = parts[number - 1]
    deal = _("deal {number}").format(number=result_page.deal) if result_page.deal else ""
    if heading := " · ".join(filter(None, [text.round_name(result_page.round), deal])):
        page.line(heading, "bold")
    if result_page.deal:
        page.line(_("The first seat’s team comes first, with its score in brackets."), "small")
    all_scores = deal_scores(tournament, result_page.round) if result_page.deal else []
    scores = {score.match: score for score in all_scores if score.deal == result_page.deal}
    for match in result_page.matches:
        score = scores.get(match.number)
        page.line(deal_line(text, match, result_page.deal, score) if result_page.deal else match_line(text, match))
    if not tournament.is_public(result_page.round):
        page.gap()
        page.line(_("You’ll see the deals when the round is over."), "italic")
    if number == len(parts) and tournament.phase == "over":
        # If the tournament is called off, the card shows the seals once all tables are closed.
        page.gap()
        write_seals(page, text)
    rows = [
        (replay_button(text.words, id_, pages)._replace(label=f"▶ {text.pairing(match)}"),)
        for match in result_page.matches
        if (id_ := replays.get((match.round, match.number, result_page.deal)))
    ]
    return page.panel(*rows, _turn_row(number, len(parts), tournament.code, "results"), back_row(text))


def deal_line(text: TournamentText, match: Match, deal: int, score: DealScore | None) -> str:
    """Return a table's result of a duplicate deal. The team in the first seat comes first."""
    assert match.second is not None
    first_seat = match.first_seat(deal)
    first_team, second_team = (text.team_name(match.teams[side]) for side in (first_seat, 1 - first_seat))
    result = match.results.get(deal)
    if result is None:
        return f"{first_team} – {second_team} {PLAYING}"
    first_points, second_points = (
        (result.first_points, result.second_points) if first_seat == 0 else (result.second_points, result.first_points)
    )
    words = [score_text(first_points, second_points), *filter(None, [text.ending(match, result)])]
    deal_score = f" ({text.deal_score_text(score.scores[first_seat])})" if score else ""
    return f"{first_team} – {second_team} {', '.join(words)}{deal_score}"


def partners_panel(language: str, person: str, tournament: Tournament, number: int) -> Panel:
    text, numbers = TournamentText(language, tournament), possible_partners(tournament, person)
    number, pages, page_slice = _split(len(numbers), LINES_PER_PAGE, number)
    page = text.start_page()
    page.line(text.gettext("Choose your partner:"))
    return page.panel(
        *partner_rows(text, numbers[page_slice]), _turn_row(number, pages, tournament.code, "partners"), back_row(text)
    )


def possible_partners(tournament: Tournament, person: str) -> list[int]:
    """Return the players who could become a person's partner."""
    own_number = tournament.player_of(person)
    if own_number in tournament.partners:
        return []
    return [number for number in tournament.players_alone if number != own_number]


# A person's own


class OwnPage(NamedTuple):
    """A page of a person's tournaments, counted from 1. ``groups`` are the known names of their chats, by code."""

    tournaments: Sequence[Tournament]
    number: int
    pages: int
    groups: Mapping[str, str] = {}


def own_page(tournaments: Sequence[Tournament], number: int) -> OwnPage:
    """Return a page of a person's tournaments. Those that are not over come first, then the newest."""
    number, pages, page_slice = _split(len(tournaments), TOURNAMENTS_PER_PAGE, number)
    return OwnPage(sorted(tournaments, key=lambda tournament: not tournament.is_live)[page_slice], number, pages)


def own_panel(language: str, person: str, page_data: OwnPage, times_left: Sequence[int | None]) -> Panel:
    """Show a page of a person's tournaments, with buttons for hands.

    ``times_left`` are the seconds left of each tournament's round, or None.
    """
    if (page_data.pages, len(page_data.tournaments)) == (1, 1):
        return player_panel(language, person, page_data.tournaments[0], times_left[0])
    _ = texts(language).gettext
    page = Writer()
    rows: list[Row] = []
    hands = MAX_HANDS
    page.line(_("Your tournaments"), "bold")
    if not page_data.tournaments:
        page.line(_("None yet. In a group, /tournament opens one, and /league opens a league."))
    first_number = (page_data.number - 1) * TOURNAMENTS_PER_PAGE + 1
    for number, (tournament, seconds_left) in enumerate(
        zip(page_data.tournaments, times_left, strict=True), first_number
    ):
        text = TournamentText(language, tournament)
        # A group can have several of one form and game. The number distinguishes the buttons.
        title = f"🏆 {number}. {text.title}"
        page.gap()
        page.line(title, "bold")
        group = page_data.groups.get(tournament.code, "")
        page.line(" · ".join([*([isolate_name(group)] if group else []), organiser_line(text)]))
        page.line(state_line(text, seconds_left))
        team = tournament.team_with(person)
        if tournament.phase == "over":
            _write_place(page, text, team)
        matches = _counted_matches(tournament, team)
        _write_open_matches(page, text, team, matches)
        row = hand_row(text, matches, team)[:hands]
        hands -= len(row)
        rows += [row, (button(title, tournament, "mine"),)]
    return page.panel(*rows, _turn_row(page_data.number, page_data.pages, "own"))


def player_panel(
    language: str, person: str, tournament: Tournament, seconds_left: int | None, *, has_others: bool = False
) -> Panel:
    """Show a tournament to one of its people: their matches, place and hands, with buttons.

    ``has_others``: the person has other tournaments.
    """
    text, team = TournamentText(language, tournament), tournament.team_with(person)
    is_out = team is not None and tournament.has_withdrawn(team)
    has_entered = tournament.player_of(person) is not None
    _ = text.gettext
    page = text.start_page()
    page.line(capitalize(organiser_line(text)))
    page.line(state_line(text, seconds_left))
    withdrawn_players = [tournament.players[number] for number in tournament.withdrawn]
    if any(player and player.person == person for player in withdrawn_players):
        page.line(_("You’ve withdrawn."))
    elif is_out:
        page.line(_("Your partner has withdrawn, so you’re out."))
    _write_place(page, text, team)
    write_single_table(page, text)
    matches = _counted_matches(tournament, team)
    if matches:
        page.gap()
        page.line(_("Your matches"), "bold")
    for match in [match for match in matches if match.is_over][-MATCHES_LISTED:]:
        page.line(_own_line(text, team, match))
    _write_open_matches(page, text, team, matches)
    waiting = [text.opponent(match, team) for match in matches if not match.is_over and not match.table]
    if waiting:
        page.line(_("Still to play: {names}"), names=text.join_names(waiting, MATCHES_LISTED))
    rows: list[Row] = [hand_row(text, matches, team)]
    if tournament.phase == "open":
        partners = possible_partners(tournament, person)
        rows += partner_rows(text, partners[:MAX_PARTNERS])
        if len(partners) > MAX_PARTNERS:
            rows.append((button(_("All without a partner"), tournament, "partners"),))
    if tournament.rounds:
        rows.append(
            (button(_("All results"), tournament, "results", 0), button(_("Whole table"), tournament, "table", 1))
        )
    last_row = [button(_("How it works"), tournament, "rules")]
    if tournament.phase == "open":
        last_row.append(
            button(_("Leave"), tournament, "withdraw")
            if has_entered
            else button(_("Sign up"), tournament, "enter", style="good")
        )
    elif tournament.phase == "playing" and has_entered and not is_out:
        last_row.append(button(_("Withdraw"), tournament, "withdraw"))
    rows.append(tuple(last_row))
    if tournament.is_live and tournament.opener.person == person:
        rows.append(organiser_row(text))
    if has_others:
        rows.append((Button(_("◀ All my tournaments"), actions.page("tournament", "own", 1)),))
    return page.panel(*rows)


def organiser_line(text: TournamentText) -> str:
    return text.gettext("organised by {name}").format(name=text.organiser)


def _write_place(page: Writer, text: TournamentText, team: int | None) -> None:
    tournament = text.tournament
    if team is None or tournament.phase not in ("playing", "over") or not has_results(tournament):
        return
    standing = next(standing for standing in standings(tournament) if standing.team == team)
    line = text.gettext("Your place: {place} of {count} ({what}: {score})")
    score, score_name = decimal_text(standing.score.value, text.language), text.gettext(standing.score.name)
    page.line(line, place=standing.rank, count=len(tournament.teams), score=score, what=score_name)


def state_line(text: TournamentText, seconds_left: int | None) -> str:
    tournament = text.tournament
    if tournament.phase == "open":
        count = len(tournament.entered_players)
        players = text.ngettext("{count} player", "{count} players", count).format(count=count)
        return text.gettext("Not started yet · {players}").format(players=players)
    if tournament.phase == "playing":
        return round_line(text, seconds_left)
    return text.gettext("It was called off.") if tournament.phase == "cancelled" else winners_line(text)


def _counted_matches(tournament: Tournament, team: int | None) -> list[Match]:
    """Return a team's matches; none if the tournament was called off, because they do not count."""
    return [] if team is None or tournament.phase == "cancelled" else tournament.matches_of(team)


def _write_open_matches(page: Writer, text: TournamentText, team: int | None, matches: Sequence[Match]) -> None:
    for match in matches:
        if match.table:
            page.line(_own_line(text, team, match))


def _own_line(text: TournamentText, team: int | None, match: Match) -> str:
    _ = text.gettext
    if match.is_bye:
        return _("Round {number}: you have a bye.").format(number=match.round)
    state = text.outcome(match, team)
    if not match.is_over:
        state = f"{text.deals_played(match)}{NO_BREAK}{PLAYING}" if len(match.deals) > 1 else PLAYING
    elif match.winner is not None:
        state = f"{'✅' if match.winner == team else '❌'}{NO_BREAK}{state}"
    return _("Against {name}: {state}").format(name=text.opponent(match, team), state=state)


# In a group


def existing_panel(language: str, form: Form, tournaments: Sequence[Tournament]) -> Panel:
    """Answer /tournament in a group with tournaments. If there is only one, its card follows."""
    _ = texts(language).gettext
    page = Writer()
    rows: list[Row] = []
    if len(tournaments) == 1:
        page.line(
            _("{title} is already open here."), title=Span(TournamentText(language, tournaments[0]).title, "bold")
        )
    else:
        page.line(_("Which one do you want to see?"))
        for tournament in tournaments:
            text = TournamentText(language, tournament)
            rows.append((button(f"🏆 {text.title} · {text.organiser}", tournament, "show"),))
    label = _("Open another league") if form == "league" else _("Open another tournament")
    usual_form = "league" if form == "league" else "knockout"
    return page.panel(*rows, (Button(label, actions.page("tournament", "new", usual_form)),))


# Confirmation


def confirm_panel(language: str, tournament: Tournament, verb: str) -> Panel:
    """Ask whether the person really wants to call a tournament off ("off") or to leave it ("withdraw")."""
    text = TournamentText(language, tournament)
    _ = text.gettext
    page = text.start_page()
    page.line(capitalize(organiser_line(text)))
    if verb == "off":
        page.line(_("Call off this tournament?"))
        if tournament.phase == "playing":
            page.line(
                _("Deals in progress stop at once, and nothing counts.")
                if tournament.is_duplicate
                else _("Games in progress go on, but don’t count here.")
            )
        label = _("Call it off")
    else:
        page.line(_("Withdraw from this tournament?"))
        for line in leaving_lines(text):
            page.line(line)
        if tournament.team_size > 1:
            page.line(_("Your partner is out too."))
        label = _("Withdraw")
    yes_button = button(label, tournament, verb, "yes", style="danger")
    return page.panel((yes_button, button(_("No"), tournament, "mine")))
