"""What people see who look for an opponent, until the cards are dealt."""

from bot import actions
from bot.panel import Button, Panel, Row, Span, Writer
from bot.panels.phrases import clock_line, in_points
from bot.panels.snapshot import TableSnapshot, isolated
from bot.tables.table import TIME_TO_BE_READY, Table
from bot.texts import texts
from engine import GAMES


def looking_page(language: str, game: str, usual: str, nickname: str) -> Panel:
    """Somebody looks; ``game`` is the one they want, or empty for any, and ``usual`` the one that they would choose."""
    _ = texts(language).gettext
    page = Writer()
    what = Span(_(GAMES[game].name), "bold") if game else _("any game for two")
    page.line(_("I look for somebody to play {game}."), game=what)
    page.line(_("When there is somebody I ask you here whether you are ready."))
    page.line(_("I look for half an hour."))
    page.line(_("They read the name {name}: /nickname changes it."), name=Span(isolated(nickname), "bold"))
    page.line(_("Meanwhile you may play against a robot."))
    return page.panel(robots_row(language, game or usual), (Button(_("Stop looking"), actions.page("find", "stop")),))


def robots_page(language: str, game: str) -> Panel:
    """What there is at a game for four, where nobody is looked for."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("I find opponents for two only."))
    page.line(
        _("{game} you play here with robots, or with friends in a group: /challenge."),
        game=Span(_(GAMES[game].name), "bold"),
    )
    return page.panel(robots_row(language, game))


def robots_row(language: str, game: str) -> Row:
    """Buttons that open a table with robots in all other chairs, by how well they play."""
    _ = texts(language).gettext
    labels = {"easy": _("🤖 Easy robot"), "medium": _("🤖 Medium robot"), "strong": _("🤖 Strong robot")}
    return tuple(Button(label, actions.page("find", "robot", game, level)) for level, label in labels.items())


def not_looking_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("I look for nobody any more. /find begins again."))
    return page.panel()


def nickname_page(language: str, nickname: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    if nickname:
        page.line(_("Strangers read the name {name}."), name=Span(isolated(nickname), "bold"))
    page.line(_("Another one: /nickname and the name, 2 to 16 letters."))
    return page.panel()


def ready_panel(table: Table, seen: TableSnapshot, person: str, language: str) -> Panel:
    """Asks one of two who were matched whether they are ready, and says what came of it."""
    words = seen.words(language, "italian")
    _ = words.text
    page = Writer()
    other = next((isolated(one.name) for one in table.matched if one.person != person), "?")
    has_sat = any(chair and chair.person == person for chair in table.chairs)
    if table.phase == "open":
        page.line(_("{name} plays with you."), "bold", name=other)
    elif table.closed == "expired" and has_sat:
        page.line(_("{name} does not answer. Whoever came by /find is looked for still."), "bold", name=other)
    elif table.closed == "expired":
        page.line(_("You did not answer. /find looks again."), "bold")
    elif table.closed:
        page.line(_("No game came of it. Whoever came by /find and wanted to play is looked for still."), "bold")
    else:
        page.line(_("The cards are dealt."), "bold")
    points, clock = in_points(seen, int(seen.rules["target"])), clock_line(words, seen.clock, seen.strict)
    game = Span(_(seen.kind.name), "bold")
    page.line(_("{game} · to {points} points · {clock}"), game=game, points=points, clock=clock)
    if table.phase != "open":
        return page.panel()
    no = Button(_("Not now"), actions.table(table.code, "decline"))
    if has_sat:
        page.line(_("You are ready; {name} is asked."), name=other)
        return page.panel((no,))
    page.line(_("Ready? You have {seconds} seconds."), seconds=TIME_TO_BE_READY)
    return page.panel((Button(_("Ready"), actions.table(table.code, "sit"), "good"), no))
