"""Pages of the search, the ready check and blocks, and the question before a report."""

from collections.abc import Sequence

from bot import actions
from bot.meetings import block_button
from bot.panel import Button, Panel, Row, Span, Writer
from bot.panels.cutting import cut_row, write_cut_task
from bot.panels.strangers import Deed, deed_question
from bot.robots.names import STAND_IN_LEVEL
from bot.tables.blocks import Block
from bot.tables.clock import READY_SECONDS
from bot.tables.snapshot import TableSnapshot, isolate_name
from bot.tables.table import Table
from bot.texts import texts
from bot.words.phrases import phrase_text
from bot.words.table_lines import clock_line, table_words
from bot.words.wording import target_text
from engine import GAMES

NEVER = -1
ROBOTS_AFTER_SECONDS = (0, 120, 300, NEVER)  # choices of the wait until robots take free chairs


def search_page(
    language: str, game: str, usual_game: str, nickname: str, searchers: int, robots_after: int | None
) -> Panel:
    """Return the page of a running search.

    ``game`` is the game searched for, empty for any game. ``usual_game`` is the same, or for any game the person's
    usual one. At a game for four, ``searchers`` counts the people who search for it, including the reader.
    ``robots_after`` is in seconds, or None for never.
    """
    _ = texts(language).gettext
    page = Writer()
    game_name = Span(_(GAMES[game].name), "bold") if game else _("any game for two")
    name = Span(isolate_name(nickname), "bold")
    page.line(_("Looking for {game}… You appear as {name}."), game=game_name, name=name)
    seats = GAMES[usual_game].seats
    if seats > 2:
        page.line(_("{there} of {seats} are here."), "bold", there=min(searchers, seats), seats=seats)
    page.line(_("I’ll ask you here as soon as there’s a game. I stop after half an hour."))
    page.line(_("Change your name with /nickname."), "small")
    robot = Button(_("🤖 Play a robot meanwhile"), actions.page("find", "robot", game or usual_game, STAND_IN_LEVEL))
    rows: list[Row] = [(robot,)]
    if seats > 2:
        page.line(_("Once two of you are here, robots take the free seats:"))
        chosen_wait = NEVER if robots_after is None else robots_after
        labels = {0: _("at once"), 120: _("after 2 minutes"), 300: _("after 5 minutes"), NEVER: _("never")}
        wait_buttons = []
        for wait in ROBOTS_AFTER_SECONDS:
            mark = "✓ " if wait == chosen_wait else ""
            wait_buttons.append(Button(f"{mark}{labels[wait]}", actions.page("find", "rest", usual_game, wait)))
        rows = [tuple(wait_buttons[:2]), tuple(wait_buttons[2:]), *rows]
    return page.panel(*rows, (Button(_("Stop"), actions.page("find", "stop")),))


def search_stopped_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Search stopped."))
    return page.panel((Button(_("Find someone"), actions.page("find", "look")),))


def no_room_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("I found someone, but there’s no room for new tables right now."))
    page.line(_("Tell the bot’s host, and try /find again later."))
    return page.panel()


def nickname_page(language: str, nickname: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    if nickname:
        page.line(_("Strangers see you as {name}."), name=Span(isolate_name(nickname), "bold"))
    page.line(_("Change it with /nickname and a name of 2 to 16 letters."))
    return page.panel()


def ready_panel(table: Table, snapshot: TableSnapshot, person: str, language: str) -> Panel:
    """Return the ready check of one matched person, or its outcome."""
    words = table_words(snapshot, language, "italian")
    _ = words.text
    page = Writer()
    other_names = [isolate_name(chair.name) for chair in table.matched if chair.person != person] or ["?"]
    names = other_names[0] if len(other_names) == 1 else f"{', '.join(other_names[:-1])}{_(' and ')}{other_names[-1]}"
    robots = sum(chair is not None and chair.is_robot for chair in table.chairs)
    seated_people = {chair.person for chair in table.chairs if chair}
    missing_count = sum(chair.person not in seated_people for chair in table.matched)
    has_sat = any(chair and chair.person == person for chair in table.chairs)
    no_button = Button(_("Not now"), actions.table(table.code, "decline"))
    if table.awaits_cut:
        write_cut_task(page, snapshot, words)
        return page.panel(cut_row(snapshot, words, is_for_cutter=table.seat_of(person) == table.cutter), (no_button,))
    if table.phase == "open":
        page.line(_("You’re matched with {name}."), "bold", name=names)
        if robots:
            line = words.ngettext("{count} robot takes the free seat.", "{count} robots take the free seats.", robots)
            page.line(line, count=robots)
    elif table.closed and table.rematch_origin:
        page.line(_("This challenge closed before the game began."), "bold")
    elif table.closed == "expired" and has_sat:
        if len(other_names) == 1:
            page.line(_("{name} didn’t answer. I’m still looking for you."), "bold", name=names)
        else:
            page.line(_("Not everyone answered. I’m still looking for you."), "bold")
    elif table.closed == "expired":
        page.line(_("You didn’t answer in time. Look again with /find."), "bold")
    elif table.closed:
        page.line(_("No game this time. I’m still looking for everyone who wanted to play."), "bold")
    else:
        page.line(_("The cards are dealt.") if snapshot.kind.has_dealer else _("The game has begun."), "bold")
    points, clock = target_text(snapshot.rules), clock_line(words, snapshot.clock, snapshot.strict)
    game = Span(_(snapshot.kind.name), "bold")
    page.line(_("{game} · to {points} points · {clock}"), game=game, points=points, clock=clock)
    if table.phase != "open":
        return page.panel()
    if has_sat:
        line = _("You’re ready. Waiting for {name}.")
        if len(other_names) > 1:
            line = words.ngettext(
                "You’re ready. Waiting for {count} player.", "You’re ready. Waiting for {count} players.", missing_count
            )
        page.line(line, name=names, count=missing_count)
        return page.panel((no_button,))
    page.line(_("Ready? You have {seconds} seconds."), seconds=READY_SECONDS)
    return page.panel((Button(_("Ready"), actions.table(table.code, "sit"), "good"), no_button))


def phrase_panel(language: str, name: str, phrase: str, game_id: str, seat: int) -> Panel:
    """Return a phrase that the player in a seat of a finished game says."""
    page = Writer()
    page.line("💬 {name}: {phrase}", name=isolate_name(name), phrase=phrase_text(language, phrase))
    return page.panel((block_button(language, "game", game_id, seat),))


def confirm_page(language: str, deed: Deed, name: str, *place: str) -> Panel:
    """Return the question before an action about the person met in a place (`bot.meetings`)."""
    page = Writer()
    question, effect, yes_label = deed_question(language, deed, isolate_name(name))
    page.line(question, "bold")
    page.line(effect)
    no_button = Button(texts(language).gettext("No"), actions.page(deed, "no"))
    return page.panel((Button(yes_label, actions.page(deed, "yes", *place), "danger"), no_button))


def done_page(language: str, deed: Deed, name: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    if deed == "block":
        page.line(_("You’ve blocked {name}."), name=Span(isolate_name(name), "bold"))
        page.line(_("Unblock with /block."))
        return page.panel((Button(_("Blocked players"), actions.page("block", "list")),))
    page.line(_("You’ve reported {name}."), name=Span(isolate_name(name), "bold"))
    page.line(_("The bot’s host can read your report. Use /block to never meet them again."))
    return page.panel()


def blocks_page(language: str, blocks: Sequence[Block]) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("Blocked players"))
    if not blocks:
        page.line(_("Nobody yet: press 🚫 Block in a game with a stranger, or write /block @name."))
    else:
        page.line(
            _(
                "I never match you with them, or call you when they challenge you. They can join your tables only if "
                "you challenge them by name."
            )
        )
    rows = [
        (Button(_("Unblock {name}").format(name=isolate_name(block.name)), actions.page("block", "undo", block.token)),)
        for block in reversed(blocks)
    ]
    return page.panel(*rows, (Button(_("My settings"), actions.page("settings")),))
