"""Texts about a tournament: its teams, terms and matches."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from bot.document_writer import DocumentWriter
from bot.features.tournaments.log_entries import Result
from bot.features.tournaments.rounds import rounds_in_all
from bot.features.tournaments.standings import Figure, TeamStanding
from bot.features.tournaments.tournament import DAY, HOUR, Match, Tournament
from bot.identity.names import LONGEST_NAME, distinct_names
from bot.identity.pseudonyms import NAME, localize_name
from bot.panel import Column, Grid, Span
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from bot.words.table_lines import capitalize, clock_name, option_lines
from bot.words.wording import MEDALS, NO_BREAK, Wording, decimal_text, fix_minus, score_unit, target_text
from engine import GAMES

LONGEST_ALONE, LONGEST_IN_PAIR = 24, 14  # letters of a single player's name, and of each partner's
MAX_WINNERS = 4  # names of teams that share the first place
TOLERANCE_SECONDS = 300  # added to the time left, so that a round of one day begins with "1 day left"
PLAYING = "⏳"  # mark of a match that is not over


def score_text(own_points: int, opponent_points: int) -> str:
    """Return a score that stays on one line."""
    return fix_minus(f"{own_points}{NO_BREAK}:{NO_BREAK}{opponent_points}")


def shorten(name: str, max_length: int) -> str:
    """Cut a name to this many letters.

    >>> shorten("Bartolomea", 6)
    'Barto…'
    """
    return name if len(name) <= max_length else f"{name[: max_length - 1].rstrip()}…"


def form_names(language: str) -> Mapping[str, str]:
    """Return the forms' names in lower case."""
    _ = texts(language).gettext
    return {
        "knockout": _("knock-out"),
        "roundrobin": _("round robin"),
        "swiss": _("Swiss"),
        "duplicate": _("duplicate"),
        "league": _("league"),
    }


def time_left(language: str, seconds: int) -> str:
    """Return the time left, in coarse words so that a card changes rarely."""
    _, ngettext = texts(language).gettext, texts(language).ngettext
    if seconds <= 0:
        return _("time is up")
    seconds += TOLERANCE_SECONDS
    if seconds < HOUR:
        return _("less than an hour left")
    if seconds < 2 * DAY:
        hours = seconds // HOUR
        return ngettext("{count} h left", "{count} h left", hours).format(count=hours)
    days = seconds // DAY
    return ngettext("{count} day left", "{count} days left", days).format(count=days)


def time_name(language: str, seconds: int) -> str:
    """Return the time for a round: "3 days"."""
    ngettext = texts(language).ngettext
    if seconds < DAY:
        hours = seconds // HOUR
        return ngettext("{count} hour", "{count} hours", hours).format(count=hours)
    days = seconds // DAY
    return ngettext("{count} day", "{count} days", days).format(count=days)


def unit_of(tournament: Tournament) -> int:
    """Return how many points a table shows for each point of the target."""
    return score_unit(tournament.choice.all_rules.model_dump())


class TournamentText:
    """A tournament's texts in one language."""

    def __init__(self, language: str, tournament: Tournament) -> None:
        self.language, self.tournament = language, tournament
        self.words = Wording(language, ())
        self.gettext, self.ngettext = texts(language)
        self._shortened: dict[int, dict[int, str]] = {}

    # Terms

    @property
    def title(self) -> str:
        """The form and the game: "Swiss · Metà Mazzo"."""
        form = capitalize(form_names(self.language)[self.tournament.form])
        return f"{form} · {self.gettext(GAMES[self.tournament.game].name)}"

    def start_page(self) -> DocumentWriter:
        """Return a new page with the title as its first line."""
        return DocumentWriter(f"🏆 {self.title}")

    @property
    def organiser(self) -> str:
        opener = self.tournament.opener
        for number, player in enumerate(self.tournament.players):
            if player and player.person == opener.person:
                return self.player_names([number])
        return isolate_name(shorten(localize_name(opener.name, self.language), LONGEST_ALONE))

    def terms(self) -> list[str]:
        """Return the options and times, in two to five lines."""
        tournament, _ = self.tournament, self.gettext
        rules, unit = tournament.choice.all_rules.model_dump(), unit_of(tournament)
        target = _("To {points} points").format(points=target_text(rules))
        limit = _("One round a day") if tournament.time == DAY else _("One round every {time}")
        if tournament.form == "league":
            limit = _("{time} for all matches")
        times = [limit.format(time=time_name(self.language, tournament.time))]
        if tournament.form in ("swiss", "duplicate") and tournament.options["rounds"] != "auto":
            # There can be fewer rounds if there are few teams.
            count = rounds_in_all(tournament) if tournament.teams else int(tournament.options["rounds"])
            times.append(self.ngettext("{count} round", "{count} rounds", count).format(count=count))
        clock = clock_name(self.words, tournament.choice.clock)
        lines = [f"{self.deals_and_scoring if tournament.is_duplicate else target} · {clock}", " · ".join(times)]
        if unusual_options := option_lines(self.words, GAMES[tournament.game], rules, unusual=True):
            lines.append(capitalize(" · ".join(unusual_options)))
        if tournament.is_public_on_web:
            lines.append(_("Everyone can see it on the web, and join there."))
        if unit > 1:
            line = _("Results are in whole points: {whole} here are {shown} at the table.")
            lines.append(line.format(whole=int(rules["target"]), shown=int(rules["target"]) * unit))
        return lines

    @property
    def deals_and_scoring(self) -> str:
        """The number of deals of a duplicate match, and their scoring."""
        _, tournament = self.gettext, self.tournament
        scoring = _("in steps") if tournament.options["scoring"] == "steps" else _("in points")
        return _("{count} deals a match, {scoring}").format(count=len(tournament.deals), scoring=scoring)

    def round_name(self, number: int) -> str:
        """Return a paired round's name: "Round 2 of 5"; empty for the only round of a league."""
        if self.tournament.form == "league":
            return ""
        matches = self.tournament.rounds[number - 1]
        if self.tournament.form == "knockout" and len(matches) == 1 and not matches[0].is_bye:
            # With void matches the final can come early.
            return self.gettext("Final")
        count = rounds_in_all(self.tournament)
        return self.gettext("Round {number} of {count}").format(number=number, count=count)

    def more_text(self, count: int) -> str:
        return self.gettext("… and {count} more").format(count=count)

    def join_names(self, names: Sequence[str], limit: int) -> str:
        more_texts = [self.more_text(len(names) - limit)] if len(names) > limit else []
        return " ".join([", ".join(names[:limit]), *more_texts])

    # Players

    def player_names(self, numbers: Iterable[int]) -> str:
        present_players = [number for number in numbers if self.tournament.players[number]]
        names = self._names(LONGEST_ALONE if len(present_players) < 2 else LONGEST_IN_PAIR)
        return " + ".join(isolate_name(names[number]) for number in present_players)

    def _names(self, max_length: int) -> dict[int, str]:
        """Return shortened names by player. Equal names get numbers in the order of entering."""
        if max_length not in self._shortened:
            somebody = localize_name(NAME, self.language)
            names = {
                number: shorten(localize_name(player.name, self.language), max_length)
                for number, player in enumerate(self.tournament.players)
                if player
            }
            unique_names = iter(distinct_names([name for name in names.values() if name != somebody], max_length))
            self._shortened[max_length] = {
                number: name if name == somebody else next(unique_names) for number, name in names.items()
            }
        return self._shortened[max_length]

    def team_name(self, team: int) -> str:
        return self.player_names(self.tournament.teams[team])

    def full_names(self, team: int) -> list[str]:
        """Return the whole names of a team's players, without the marks of `isolate_name`."""
        names = self._names(LONGEST_NAME)
        return [names[number] for number in self.tournament.teams[team] if number in names]

    def opponent(self, match: Match, team: int | None) -> str:
        return self.team_name(next(other for other in match.teams if other != team))

    # Results

    def winners_text(self, names: Sequence[str]) -> str:
        if not names:
            return self.gettext("Nobody has won.")
        if len(names) > 1:
            line = self.gettext("{names} share the first place!")
        elif self.tournament.team_size == 1:
            line = self.gettext("{names} has won!")
        else:
            line = self.gettext("{names} have won!")
        return line.format(names=self.gettext(" and ").join(names[:MAX_WINNERS]))

    def pairing(self, match: Match) -> str:
        if match.second is None:
            return self.gettext("{name}: bye").format(name=self.team_name(match.first))
        return f"{self.team_name(match.first)} – {self.team_name(match.second)}"

    def deals_played(self, match: Match) -> str:
        """Return the number of played deals: "1 of 2 deals"."""
        played_deals = len(match.results)
        line = self.words.ngettext("{played} of {count} deals", "{played} of {count} deals", played_deals)
        return line.format(played=played_deals, count=len(match.deals))

    def outcome(self, match: Match, team: int | None = None) -> str:
        """Return a match's score and ending.

        The points of ``team`` come first, by default those of the match's first team. The text is empty for a bye and
        `PLAYING` for a match that is not over. Until a duplicate's round is over, the text is "over" or the number of
        deals played.
        """
        if match.is_bye:
            return ""
        if not self.tournament.is_public(match.round):
            return self.gettext("over") if match.is_over else self.deals_played(match)
        if not match.is_over:
            return PLAYING
        own_points, opponent_points = match.points if team in (None, match.first) else match.points[::-1]
        endings = dict.fromkeys(self.ending(match, result) for result in match.results.values())
        return ", ".join([score_text(own_points, opponent_points), *filter(None, endings)])

    def ending(self, match: Match, result: Result) -> str:
        """Return how a game ended early, or an empty string if it was played to its end."""
        if result.ending == "played" or match.second is None:
            return ""
        if result.winner is None:
            return self.gettext("no result")
        loser = self.team_name(match.teams[1 - result.winner])
        return {
            "resign": self.gettext("{name} gave up"),
            "timeout": self.gettext("{name} lost on time"),
            "forfeit": self.gettext("{name} withdrew"),
            "void": self.gettext("no result"),
        }[result.ending].format(name=loser)

    def deal_score_text(self, score: Fraction) -> str:
        """Return the score of a duplicate deal: steps, or points in tenths."""
        if self.tournament.options["scoring"] == "steps":
            return fix_minus(f"{int(score):+}")
        return decimal_text(f"{round(score * 10) / 10:+.1f}", self.language)

    def standing_line(self, standing: TeamStanding, *deciding_tie_breaks: Figure) -> str:
        """Return a line of the standings, with the values of the given tie-breaks."""
        named_values = [
            f"{self.gettext(tie_break.name)} {decimal_text(tie_break.value, self.language)}"
            for tie_break in deciding_tie_breaks
        ]
        figures = [decimal_text(standing.score.value, self.language), *named_values]
        line = f"{self._place_text(standing)} {self.team_name(standing.team)} · {', '.join(figures)}"
        return " · ".join([line, *self._out_mark(standing)])

    def standings_table(self, table: Sequence[TeamStanding], tie_breaks: int) -> Grid:
        """Return standings with the first ``tie_breaks`` columns of tie-breaks."""
        _, rows = self.gettext, []
        for standing in table:
            team = " · ".join([self.team_name(standing.team), *self._out_mark(standing)])
            figures = (standing.score, *standing.tie_breaks[:tie_breaks])
            values = [decimal_text(figure.value, self.language) for figure in figures]
            rows.append(tuple(map(Span, (self._place_text(standing), team, *values))))
        names = [capitalize(_(figure.name)) for figure in (table[0].score, *table[0].tie_breaks[:tie_breaks])]
        team = _("Player") if self.tournament.team_size == 1 else _("Pair")
        people = (Column("#", is_figure=False), Column(team, is_figure=False))
        return Grid((*people, *map(Column, names)), tuple(rows))

    def _place_text(self, standing: TeamStanding) -> str:
        place = f"{standing.rank}."
        return MEDALS.get(standing.rank, place) if self.tournament.phase == "over" else place

    def _out_mark(self, standing: TeamStanding) -> list[str]:
        return [self.gettext("out")] if standing.is_out and self.tournament.phase == "playing" else []


def deciding_tie_breaks(table: Sequence[TeamStanding], index: int) -> tuple[Figure, ...]:
    """Return the tie-breaks that separate a team from its neighbours with the same score."""
    count = 0
    for neighbour in (index - 1, index + 1):
        if 0 <= neighbour < len(table) and table[neighbour].score == table[index].score:
            pairs = zip(table[index].tie_breaks, table[neighbour].tie_breaks, strict=True)
            differing = [number for number, (value, other) in enumerate(pairs, 1) if value.value != other.value]
            count = max(count, differing[0] if differing else len(table[index].tie_breaks))
    return table[index].tie_breaks[:count]
