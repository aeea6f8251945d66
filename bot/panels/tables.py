"""Pages that list a person's tables, or the open tables of a chat, and the panel of an unreadable table."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot import actions
from bot.panel import Button, Panel, Row, Span, Writer
from bot.panels.offer import share_button
from bot.tables.snapshot import isolate_name
from bot.tables.table import Table
from bot.texts import texts
from bot.words.wording import Wording
from engine import GAMES


@dataclass(frozen=True)
class SeatedTable:
    code: str
    game: str
    others: str
    state: str  # "open", "mine" (it is their turn) or "theirs"
    turn: str = ""  # name of the other player to move; empty if it is the reader's or nobody's turn


def tables_page(language: str, tables: Sequence[SeatedTable]) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("Your tables"))
    states = {"open": _("waiting for players"), "mine": _("your turn"), "theirs": _("waiting for the cut")}
    if not tables:
        page.line(_("You’re at no table: open one with /challenge."))
    rows: list[Row] = []
    for table in tables:
        line = _("{code}: {game} with {others}, {state}") if table.others else _("{code}: {game}, {state}")
        game, code = _(GAMES[table.game].name), Span(table.code, "code")
        state = _("{name}’s turn").format(name=table.turn) if table.turn else states[table.state]
        page.line(line, code=code, game=game, others=table.others, state=state)
        if table.state != "open":
            mark = "▶ " if table.state == "mine" else ""
            rows.append((Button(f"{mark}{game} · {table.code}", actions.page("hand", table.code)),))
    return page.panel(*rows) if tables else page.panel((share_button(language),))


def resign_page(language: str, tables: Sequence[Table]) -> Panel:
    """Ask at which of several tables a person wants to resign."""
    _ = texts(language).gettext
    page = Writer(_("Which game do you want to give up?"))
    labels = {table.code: f"{_(GAMES[table.game_id].name)} · {table.code}" for table in tables}
    return page.panel(*((Button(label, actions.page("resign", code)),) for code, label in labels.items()))


def open_tables_page(language: str, tables: Sequence[Table], notes: Sequence[str]) -> Panel:
    """Return a chat's open challenges, each with a button to sit down, and the features' notes."""
    words = Wording(language, ())
    _ = words.text
    page = Writer(_("Open here"))
    if not tables:
        page.line(_("There’s no open challenge here: open one with /challenge."))
    for table in tables:
        free_count, code, game = len(free_chairs(table)), Span(table.code, "code"), _(GAMES[table.game_id].name)
        names = ", ".join(isolate_name(chair.name) for chair in table.chairs if chair)
        chairs = words.ngettext("{count} seat free", "{count} seats free", free_count).format(count=free_count)
        page.line(_("{code}: {game} with {others}, {chairs}"), code=code, game=game, others=names, chairs=chairs)
    page.gap()
    for note in notes:
        page.line(note)
    page.line(_("Your own tables: /tables in our private chat."), "small")
    labels = [(table, _("Sit down: {code}").format(code=table.code)) for table in tables]
    return page.panel(
        *((Button(label, actions.page("tables", "sit", table.code), "good"),) for table, label in labels),
        (Button(_("Find an opponent"), actions.page("find", "look")),),
        *([] if tables else [(share_button(language),)]),
    )


def free_chairs(table: Table) -> list[int]:
    """Return the free seats that no player has asked for."""
    return [seat for seat, chair in enumerate(table.chairs) if chair is None and seat not in table.asking]


def set_aside_panel(code: str, language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("Table {code} is on hold"), code=Span(code, "code"))
    page.gap()
    page.line(_("I can’t open it any more, but nothing is lost: tell the bot’s host."))
    page.line(_("You can play at other tables."))
    return page.panel()
