"""Panels of matches."""

from collections.abc import Sequence

from bot import actions
from bot.features.duels.duel import DEALS, SIDES, Duel
from bot.features.duels.matches.match import MIN_PAIRS, Match, total_score
from bot.features.duels.matches.texts import group_names, heading, names_of, pair_texts, result_text
from bot.features.duels.texts import time_until
from bot.panel import Button, Panel, Row, Span, Writer
from bot.texts import texts
from engine import GAMES

PAGE = "match"


def match_payload(match: Match, *words: object) -> str:
    return actions.page(PAGE, match.code, *words)


def board_panel(
    match: Match, duels: Sequence[Duel], known_groups: Sequence[str], language: str, now: int, pages_url: str = ""
) -> Panel:
    """Return a match as both groups see it. ``known_groups`` are their names, empty if unknown."""
    _ = texts(language).gettext
    page = Writer()
    write_match(page, match, duels, known_groups, language, now)
    page_link = Button(_("Deal by deal"), f"{pages_url}/match/{match.code}", kind="link")
    link_rows: list[Row] = [(page_link,)] if pages_url and match.begun_at else []
    if match.closing:
        return page.panel(*link_rows)
    rules = Button(_("Rules"), actions.page("rules", match.game, actions.SEPARATE))
    if match.begun_at:
        return page.panel((Button(_("Play"), match_payload(match, "play"), "good"), rules), *link_rows)
    rows: list[Row] = [
        (Button(_("Sign up"), match_payload(match, "enter"), "good"), Button(_("Leave"), match_payload(match, "leave")))
    ]
    last_button = Button(_("Call the match off"), match_payload(match, "off"), "danger")
    if match.is_accepted:
        rows.append((rules, last_button))
    else:
        rows += [(Button(_("Invite"), match_payload(match, "invite")), rules), (last_button,)]
    if match.is_ready:
        rows.append((Button(_("Start"), match_payload(match, "begin"), "good"),))
    return page.panel(*rows)


def write_match(
    page: Writer,
    match: Match,
    duels: Sequence[Duel],
    known_groups: Sequence[str],
    language: str,
    now: int,
    *,
    on_site: bool = False,
) -> None:
    """Write who plays, the score, and the pairs or those who have entered. Our own page has the heading already."""
    _ = texts(language).gettext
    groups = group_names(known_groups, language)
    if not on_site:
        page.line(heading(match, language), "bold")
    if match.closing:
        page.line(result_text(match, duels, groups, language), "bold")
    elif match.begun_at:
        score = total_score(duels).text()
        page.line("{first} {score} {second}", "bold", first=groups[0], score=score, second=groups[1])
        page.line(time_until(match.ends, language, now))
    else:
        _write_entries(page, match, groups, language, now)
        return
    page.gap()
    for line in pair_texts(duels, language):
        page.line(line)
    unpaired_names = [entrant.name for side in match.entrants for entrant in side]
    if match.begun_at and unpaired_names:
        page.line(_("Without an opponent: {names}").format(names=", ".join(names_of(unpaired_names, language))))
    if match.begun_at and not match.closing:
        page.gap()
        explanation = _("Each deal won counts for the group. If only one of a pair plays a deal, that player wins it.")
        page.line(explanation, "small")


def _write_entries(page: Writer, match: Match, groups: Sequence[str], language: str, now: int) -> None:
    _ = texts(language).gettext
    time = time_until(match.ends, language, now)
    if match.is_accepted:
        page.line("{first} – {second}", "bold", first=groups[0], second=groups[1])
    else:
        page.line(_("{group} challenges another group."), group=Span(groups[0], "bold"))
        # The code comes last on its line, so that it can be copied.
        page.line(_("Send this to the other group: /match {code}"), code=Span(match.code, "code"))
    explanation = _(
        "You play {deals} deals when you like, against robots. An opponent gets the same cards: better points win."
    )
    page.line(explanation, deals=DEALS)
    page.gap()
    people = names_of([entrant.name for side in match.entrants for entrant in side], language)
    for side in SIDES if match.is_accepted else SIDES[:1]:
        count, start = len(match.entrants[side]), len(match.entrants[0]) * side
        names = ", ".join(people[start : start + count]) or _("nobody yet")
        label = "{group} ({count}): {names}" if count else "{group}: {names}"
        page.line(label, group=groups[side], count=count, names=names)
    page.gap()
    if match.is_accepted:
        page.line(_("{time} to sign up. It takes {least} on each side."), time=time, least=MIN_PAIRS)
    else:
        page.line(_("{time} to accept"), time=time)
    page.line(_("If you sign up, both groups and everyone with the match’s link see your name."), "small")


def games_panel(usual_game: str, language: str) -> Panel:
    """Return the question which game to play. The group's usual game comes first."""
    _ = texts(language).gettext
    page = Writer(_("🏟️ New match: which game?"))
    rows = [
        (Button(_(GAMES[game].name), actions.page(PAGE, "new", game), "good" if game == usual_game else ""),)
        for game in sorted(GAMES, key=lambda game: game != usual_game)
    ]
    return page.panel(*rows)


def invitation_panel(match: Match, group: str, language: str) -> Panel:
    """Return an invitation to hand to the other group."""
    _ = texts(language).gettext
    page, game = Writer(), Span(_(GAMES[match.game].name), "bold")
    [name] = group_names([group], language)
    page.line(_("🏟️ {group} challenges your group to a match of {game}."), group=Span(name, "bold"), game=game)
    page.line(_("Each plays {deals} deals with the same cards as someone of the other group."), deals=DEALS)
    page.line(_("To accept, write in your group: /match {code}"), code=Span(match.code, "code"))
    return page.panel()
