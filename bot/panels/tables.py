"""Pages that list a person's tables, or the open tables of a chat, and the panel of an unreadable table."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot import actions
from bot.panel import Button, Panel, Span, Writer
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


def tables_page(language: str, tables: Sequence[SeatedTable]) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("Your tables"))
    states = {"open": _("waiting for players"), "mine": _("your turn"), "theirs": _("the others’ turn")}
    if not tables:
        page.line(_("You’re at no table: open one with /challenge."))
    for table in tables:
        page.line(
            _("{code}: {game} with {others}, {state}") if table.others else _("{code}: {game}, {state}"),
            code=Span(table.code, "code"),
            game=_(GAMES[table.game].name),
            others=table.others,
            state=states[table.state],
        )
    buttons = []
    for table in tables:
        if table.state != "open":
            label = ("▶ " if table.state == "mine" else "") + table.code
            buttons.append(Button(label, actions.page("hand", table.code)))
    rows = [tuple(buttons[start : start + 4]) for start in range(0, len(buttons), 4)]
    return page.panel(*rows) if tables else page.panel((share_button(language),))


def open_tables_page(language: str, tables: Sequence[Table], notes: Sequence[str]) -> Panel:
    """Return a chat's open challenges, each with a button to sit down, and the features' notes."""
    words = Wording(language, ())
    _ = words.text
    page = Writer(_("Open here"))
    if not tables:
        page.line(_("There’s no open challenge here: open one with /challenge."))
    for table in tables:
        free = len(free_chairs(table))
        page.line(
            _("{code}: {game} with {others}, {chairs}"),
            code=Span(table.code, "code"),
            game=_(GAMES[table.game_id].name),
            others=", ".join(isolate_name(chair.name) for chair in table.chairs if chair),
            chairs=words.ngettext("{count} seat free", "{count} seats free", free).format(count=free),
        )
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
