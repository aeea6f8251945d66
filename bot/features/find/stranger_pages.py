"""Pages to block and report strangers, and a report for the host."""

from collections.abc import Sequence

from bot import actions
from bot.features.find.reports import Report
from bot.panel import Button, Panel, Span, Writer
from bot.panels.strangers import Deed, deed_question, phrase_text
from bot.tables.blocks import Block
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from engine import GAMES


def phrase_panel(language: str, name: str, phrase: str) -> Panel:
    page = Writer()
    page.line("💬 {name}: {phrase}", name=isolate_name(name), phrase=phrase_text(language, phrase))
    return page.panel()


def confirm_page(language: str, deed: Deed, name: str, game_id: str, seat: int) -> Panel:
    page = Writer()
    asked, comes_to, yes = deed_question(language, deed, isolate_name(name))
    page.line(asked, "bold")
    page.line(comes_to)
    no = Button(texts(language).gettext("No"), actions.page(deed, "no"))
    return page.panel((Button(yes, actions.page(deed, "yes", game_id, seat), "danger"), no))


def done_page(language: str, deed: Deed, name: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    if deed == "block":
        page.line(_("You have blocked {name}."), name=Span(isolate_name(name), "bold"))
        page.line(_("/block shows whom you have blocked, and lets you unblock them."))
    else:
        page.line(_("You have reported {name}."), name=Span(isolate_name(name), "bold"))
        page.line(_("Your report is filed: the host of this bot can read it. To avoid meeting them again: /block."))
    return page.panel()


def not_done_page(language: str) -> Panel:
    page = Writer()
    page.line(texts(language).gettext("Good: everything stays as it is."))
    return page.panel()


def blocks_page(language: str, blocks: Sequence[Block]) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Whom you have blocked"), "bold")
    if not blocks:
        page.line(_("Nobody. There is a button for it beside a stranger's game, or write /block @name."))
    else:
        page.line(
            _(
                "I match you with none of them. They sit down at a table of yours only if you challenge them by name, "
                "and where they challenge you I do not call you."
            )
        )
    rows = [
        (Button(_("Unblock {name}").format(name=isolate_name(block.name)), actions.page("block", "undo", block.token)),)
        for block in reversed(blocks)
    ]
    return page.panel(*rows, (Button(_("My own settings"), actions.page("settings")),))


def report_panel(language: str, id: str, report: Report) -> Panel:  # noqa: A002
    """Return a report with the ids of its people. Only the host can read it."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("A report"), "bold")
    page.line(_("{game} · {code}"), game=Span(_(GAMES[report.game].name), "bold"), code=Span(report.code, "code"))
    page.line(_("About {name}: {person}"), name=isolate_name(report.about_name), person=Span(report.about, "code"))
    page.line(_("By {name}: {person}"), name=isolate_name(report.by_name), person=Span(report.by, "code"))
    page.line(
        _("When the game is over you can read it here, and by: {command}"),
        command=Span(f"buongioco reports show {id}", "code"),
    )
    return page.panel((Button(_("Replay"), actions.page("report", "show", id)),))
