"""The page that explains a tournament's rules."""

from bot.features.tournaments.card_panel import back_row, button
from bot.features.tournaments.duplicate import PENALTY
from bot.features.tournaments.texts import TournamentText
from bot.features.tournaments.tournament import Tournament
from bot.panel import Panel
from engine import game_kind


def rules_panel(language: str, t: Tournament, *, is_organiser: bool = False) -> Panel:
    """Explain a tournament. ``is_organiser`` is whether the reader can call it off."""
    text = TournamentText(language, t)
    _ = text.gettext
    leaving = [_("Who withdraws has lost the match that is on, and is paired no more.")]
    if t.form in ("roundrobin", "league"):
        leaving.append(_("So are their matches to come: the others have won them."))
    page = text.start_page()
    for line in text.terms():
        page.line(line)
    for heading, lines in (
        (_("Who plays whom"), _pairing(text)),
        (_("A match"), _match(text)),
        (_("Time and no-shows"), _time(text)),
        (_("Who leaves"), leaving),
        (_("When level"), _level(text)),
    ):
        page.gap()
        page.line(heading, "bold")
        for line in lines:
            page.line(line)
    if t.is_duplicate and t.phase == "playing":
        page.gap()
        page.line(_("🔒 Seal: {seal}"), "small", seal=t.seal)
    off = (button(_("Call off"), t, "off", style="danger"),) if is_organiser and t.is_live else ()
    return page.panel(off, back_row(text))


def _pairing(text: TournamentText) -> list[str]:
    _ = text.gettext
    pairs = [_("Who has no partner when it begins gets one in the order of entering; one who is left over stays out.")]
    seeds = _("Seeds follow the ratings at this game.")
    lines = {
        "knockout": [_("Who loses is out. The first seed meets the last; byes go to the best seeds."), seeds],
        "roundrobin": [_("Everybody plays everybody once, a match a round. A win is one.")],
        "swiss": [
            _("Nobody is out. Each round pairs those who stand level, by the Dutch rules, and nobody twice."),
            _("A win is one; a bye is a win, at most once for each."),
            seeds,
        ],
        "duplicate": [
            _("Nobody is out. Each round pairs those who have won as many matches, and nobody twice."),
            _("All tables of a round are dealt the same cards, so that only play counts."),
        ],
        "league": [_("Everybody plays everybody once, at their own pace, at most three matches at a time.")],
    }[text.t.form]
    return [*lines, *(pairs if text.t.team_size > 1 else [])]


def _match(text: TournamentText) -> list[str]:
    t, _ = text.t, text.gettext
    opens = _("Your table opens by itself, and your hand comes to our private chat.")
    if not t.is_duplicate:
        return [_("A match is one whole game, at a table of its own."), opens]
    steps = t.options["scoring"] == "steps"
    lost = PENALTY * game_kind(t.game).duplicate_unit
    return [
        text.deals_and_scoring + ".",
        _("You change seats after each deal, and nobody is dealt the same cards twice."),
        _("A deal counts what you made of it beyond the average of all tables that played it in your seat."),
        *([_("The difference counts in steps: ever more points make one step more.")] if steps else []),
        _("A deal that is given up or lost on time costs {count} steps, or more.").format(count=3)
        if steps
        else _("A deal that is given up or lost on time costs {count} points, or more.").format(count=lost),
        _("What a deal came to is told when the round is over; the secret of all cards at the end."),
        opens,
    ]


def _time(text: TournamentText) -> list[str]:
    t, _ = text.t, text.gettext
    lines = [_("While I am away no time passes. I remind you when little is left.")]
    if t.choice.clock:
        lines.append(_("When a move takes too long I play it; the third in a row loses the game."))
    if t.form == "league":
        end = _("A game that is still on at the end is lost by who is to move; what never began counts for nobody.")
        return [*lines, end]
    return [
        *lines,
        _("A game that is still on at the round’s end is lost by who is to move; what never began counts for nobody."),
        _("The next round begins as soon as all matches are over."),
    ]


def _level(text: TournamentText) -> list[str]:
    _ = text.gettext
    if text.t.form == "knockout":
        return [_("Who was out later is ahead. Others share a place.")]
    tie_breaks = {
        "swiss": _(
            "Buchholz (the opponents’ scores), then Sonneborn-Berger (the scores of those whom one has beaten), "
            "then card points won less lost."
        ),
        "duplicate": _("Matches won, then the best single round."),
    }
    usual = _(
        "The matches among those who are level, then Sonneborn-Berger (the scores of those whom one has beaten), "
        "then card points won less lost."
    )
    return [tie_breaks.get(text.t.form, usual), _("Who is level in all of it shares a place.")]
