"""The page that explains a tournament's rules."""

from bot.features.tournaments.card_panel import back_row, button, write_seals
from bot.features.tournaments.duplicate import PENALTY, PENALTY_STEPS
from bot.features.tournaments.texts import TournamentText
from bot.features.tournaments.tournament import Tournament
from bot.panel import Panel
from engine import game_kind


def rules_panel(language: str, tournament: Tournament, topic: str = "") -> Panel:
    """Return the terms with a button for each topic, or the page of one topic."""
    text = TournamentText(language, tournament)
    _ = text.gettext
    topics = {
        "pairing": (_("Pairings"), _pairing),
        "match": (_("A match"), _match),
        "time": (_("Time and no-shows"), _time),
        "leaving": (_("If you withdraw"), leaving_lines),
        "ties": (_("Ties"), tie_break_lines),
    }
    page = text.start_page()
    if topic in topics:
        heading, lines_of = topics[topic]
        page.line(heading, "bold")
        for line in lines_of(text):
            page.line(line)
        return page.panel((button(_("◀ Back"), tournament, "rules"),))
    for line in text.terms():
        page.line(line)
    page.gap()
    write_seals(page, text)
    buttons = [button(heading, tournament, "rules", name) for name, (heading, _lines) in topics.items()]
    return page.panel(tuple(buttons[:2]), tuple(buttons[2:4]), tuple(buttons[4:]), back_row(text))


def _pairing(text: TournamentText) -> list[str]:
    _ = text.gettext
    pairs = [
        _("Players without a partner are paired at the start, in the order of joining. A player left over stays out.")
    ]
    seeds = _("Seeds follow the ratings at this game.")
    lines = {
        "knockout": [
            _("If you lose, you’re out. The first seed meets the last, and the best seeds get the byes."),
            seeds,
        ],
        "roundrobin": [_("Everyone plays everyone once, one match a round. A win is worth one.")],
        "swiss": [
            _("Nobody is knocked out. Each round pairs players with equal scores (Dutch system), never twice."),
            _("A win is worth one. A bye counts as a win, at most once per player."),
            seeds,
        ],
        "duplicate": [
            _("Nobody is knocked out. Each round pairs players with as many wins, never twice."),
            _("All tables of a round get the same cards, so only your play counts."),
        ],
        "league": [_("Everyone plays everyone once, at your own pace, up to three matches at a time.")],
    }[text.tournament.form]
    return [*lines, *(pairs if text.tournament.team_size > 1 else [])]


def _match(text: TournamentText) -> list[str]:
    tournament, _ = text.tournament, text.gettext
    opening_line = _("Your table opens automatically, and your cards come to our private chat.")
    if not tournament.is_duplicate:
        return [_("A match is one whole game."), opening_line]
    if tournament.options["scoring"] == "steps":
        penalty_line = _("A deal given up or lost on time costs {count} steps or more.").format(count=PENALTY_STEPS)
        scoring_lines = [_("It counts in steps: each further step takes more points."), penalty_line]
    else:
        penalty = PENALTY * game_kind(tournament.game).duplicate_unit
        scoring_lines = [_("A deal given up or lost on time costs {count} points or more.").format(count=penalty)]
    return [
        text.deals_and_scoring + ".",
        _("You change seats after each deal, and never get the same cards twice."),
        _("Your score for a deal is the difference from the average of all tables in your seat."),
        *scoring_lines,
        _("You see the results of the deals when the round is over, and the secret of all cards at the end."),
        opening_line,
    ]


def _time(text: TournamentText) -> list[str]:
    tournament, _ = text.tournament, text.gettext
    lines = [_("I remind you when little time is left. If I’m offline, the clock stops.")]
    if tournament.choice.clock:
        lines.append(_("If a move takes too long, I play it. The third in a row loses the game."))
    if tournament.form == "league":
        lines.append(_("When time is up, the player to move loses an open game. Games that never began don’t count."))
        return lines
    line = _("At the end of the round, the player to move loses an open game. Games that never began don’t count.")
    return [*lines, line, _("The next round starts as soon as all matches are over.")]


def leaving_lines(text: TournamentText) -> list[str]:
    _ = text.gettext
    if text.tournament.form in ("roundrobin", "league"):
        return [_("You lose all matches that aren’t over, including those to come.")]
    return [_("You lose the match in progress, and play no further ones.")]


def tie_break_lines(text: TournamentText) -> list[str]:
    _ = text.gettext
    if text.tournament.form == "knockout":
        return [_("The player who went out later is ahead. Others share a place.")]
    tie_breaks = {
        "swiss": _(
            "Buchholz (the opponents’ scores), then Sonneborn-Berger (the scores of beaten opponents), then card "
            "points won minus lost."
        ),
        "duplicate": _("Matches won, then the best single round."),
    }
    usual_tie_breaks = _(
        "The matches between tied players, then Sonneborn-Berger (the scores of beaten opponents), then card points "
        "won minus lost."
    )
    return [tie_breaks.get(text.tournament.form, usual_tie_breaks), _("Players equal in all of these share a place.")]
