"""The challenge card in a group: the players, the game, its options, and the free chairs."""

from collections.abc import Sequence
from dataclasses import replace

from bot import actions
from bot.meetings import block_button
from bot.notification import Notification
from bot.panel import Button, Panel, Role, Row, Span, Writer
from bot.panels.cutting import cut_row, stand_button, write_cut_task
from bot.panels.tables import free_chairs
from bot.tables.clock import CLOCKS
from bot.tables.limits import HOURS_TO_ACCEPT, MAX_REFUSALS
from bot.tables.snapshot import TableSnapshot, isolate_name, take_snapshot
from bot.tables.table import Table
from bot.texts import texts
from bot.words.rules import GAME_LINES
from bot.words.table_lines import (
    capitalize,
    clock_line,
    level_names,
    option_lines,
    option_names,
    ordered_games,
    short_clock,
    table_words,
    value_name,
    write_unusual_terms,
)
from bot.words.wording import Wording, target_text
from engine import GAMES, GameKind, game_kind
from engine.options import format_value

INVITED = "invited"  # the menu while the opener waits for an invited friend
MENUS = ("game", "games", "robot", "rules", INVITED)


def challenge_panel(
    table: Table, snapshot: TableSnapshot, language: str, suits: str, *, menu: str, reader: str, has_link: bool = False
) -> Panel:
    """Return the card of a table, before and after the start of its game; ``menu`` is the open menu, or empty.

    ``reader`` is the only person who sees the card, or empty. A seated reader gets no buttons for chairs.
    ``has_link``: a page shows the table's link next to the card.
    """
    words = table_words(snapshot, language, suits)
    _ = words.text
    page = Writer()
    if table.phase != "open":
        page.line(_outcome_text(table, words, reader), "bold")
        _write_terms(page, snapshot, words)
        page.gap()
        _write_chairs(page, table, words)
        # The button stays after the game, so that the card does not depend on whether it is updated once more.
        has_hands = table.phase in ("playing", "over") and not reader
        return page.panel((Button(_("My hand"), table.code, "good", "private"),) if has_hands else ())
    if table.awaits_cut:
        write_cut_task(page, snapshot, words)
        _write_terms(page, snapshot, words)
        page.gap()
        _write_chairs(page, table, words)
        is_cutter = not reader or table.seat_of(reader) == table.cutter
        return page.panel(cut_row(snapshot, words, is_for_cutter=is_cutter), _leaving_row(table, words, reader))
    is_own = reader == table.opener.person and table.invited is None
    if menu in ("game", "games"):
        opener = isolate_name(table.opener.name)
        page.line(_("Which game?") if reader else _("{name}, which game?").format(name=opener), "bold")
        for line in game_lines(language, is_full=menu == "games"):
            page.line(line)
        page.gap()
    elif is_own and menu == INVITED:
        page.line(_("Forward the invitation below to a friend. The game begins when they sit down."), "bold")
    elif is_own and menu != "rules":
        line = _("Send the link to a friend, or add a robot.") if has_link else _("Who do you want to play?")
        page.line(line, "bold")
    # The private card has a button for each level of robots.
    _write_offer(page, table, snapshot, words, is_own=is_own, chooses_robot=menu == "robot" or (is_own and not menu))
    if len(table.chairs) > 2:
        page.gap()
        _write_chairs(page, table, words)
    # The seats of a group's card follow the choice of the game.
    chairs = [] if reader in table.people or menu in ("game", "games") else _chair_rows(table, words)
    code = table.code
    match menu:
        case "rules":
            return page.panel(*chairs, *_options_menu(snapshot, words, is_own=is_own))
        case "game":
            return page.panel(*chairs, *_game_menu(table, words, reader))
        case "games":
            game_rows = _game_rows(table, words, ordered_games(language))
            return page.panel(*chairs, *game_rows, _back_row(code, words, "game"))
        case "robot":
            return page.panel(*chairs, _robot_row(code, words), _back_row(code, words))
    if is_own and menu == INVITED:
        return page.panel(_change_row(code, words), (_cancel_button(code, words), *_back_row(code, words)))
    card = page.panel(*chairs, *(_own_buttons(table, words) if is_own else _buttons(table, words)))
    if not reader or table.invited is None or reader != table.invited.person:
        return card
    card = replace(card, rows=(*card.rows, (block_button(language, "table", code),)))
    text = _("{name} challenges you: {game}.").format(name=isolate_name(table.opener.name), game=_(snapshot.kind.name))
    return replace(card, notification=Notification("challenge", text, f"/t/{table.code}", (table.opener.person,)))


def invitee_panel(table: Table, language: str, nickname: str = "", *, has_buttons: bool = False) -> Panel:
    """Return the panel for a person who opened the link to an open table, before they sit down.

    A page has its own buttons. ``has_buttons`` adds those of a chat. ``nickname`` is the name that the others will see
    instead of the person's own; empty for the own one.
    """
    snapshot = take_snapshot(table, None)
    words = table_words(snapshot, language, "italian")
    _ = words.text
    page = Writer()
    inviter = Span(isolate_name(table.opener.name), "bold")
    page.line(_("{name} invites you to play {game}."), name=inviter, game=Span(_(snapshot.kind.name), "bold"))
    points, clock = target_text(snapshot.rules), clock_line(words, snapshot.clock, snapshot.strict)
    page.line(_("To {points} points · {clock}"), points=points, clock=clock)
    for line in option_lines(words, snapshot.kind, snapshot.rules, unusual=True):
        page.line(capitalize(line))
    if len(table.chairs) == 4:
        page.gap()
        _write_chairs(page, table, words)
    if nickname:
        page.gap()
        page.line(_("The others see you as {name}."), name=Span(isolate_name(nickname), "bold"))
        page.line(_("Change your name with /nickname."), "small")
    if not has_buttons:
        return page.panel()
    sit = Button(_("Sit down"), actions.page("join", table.code, table.terms_at), "good")
    return page.panel((sit, Button(_("Rules"), actions.rules(table.game_id))))


def invitation_panel(table: Table, name: str, address: str, language: str) -> Panel:
    """Return an invitation to an open table, for ``name`` to forward. ``address`` is the table's link, or empty."""
    _ = texts(language).gettext
    page, game = Writer(), GAMES[table.game_id]
    inviter, game_name = Span(isolate_name(name), "bold"), Span(_(game.name), "bold")
    page.line(_("{name} invites you to play {game}."), name=inviter, game=game_name)
    page.line(_("Write me /join {code} to sit down"), code=Span(table.code, "code"))
    if address:
        page.line(_("Or open {address}"), address=Span(address, "code"))
    return page.panel(
        (Button(_("Sit down"), table.code, "good", "join"), Button(_("Into another group"), table.code, "", "group"))
    )


def _write_offer(
    page: Writer, table: Table, snapshot: TableSnapshot, words: Wording, *, is_own: bool, chooses_robot: bool
) -> None:
    """Write who offers which game, what is unusual about it, and with ``chooses_robot`` how robots differ."""
    _ = words.text
    opener, game = Span(isolate_name(table.opener.name), "bold"), Span(_(snapshot.kind.name), "bold")
    count, points = snapshot.kind.seats, target_text(snapshot.rules)
    players = words.ngettext("{count} player", "{count} players", count).format(count=count)
    invited = table.invited
    if is_own:
        page.line(_("{game}, {players}, to {points}."), game=game, players=players, points=points)
    elif invited is None:
        line = _("{name}: {game}, {players}, to {points}.")
        page.line(line, name=opener, game=game, players=players, points=points)
    else:
        name = f"@{invited.handle}" if invited.handle else isolate_name(invited.name)
        # The card must not show anyone, not even its opener, whether the person is notified.
        other = Span(name, "call" if invited.is_notified else "quiet", invited.person)
        line = _("{name} challenges {other}: {game}, to {points}.")
        page.line(line, name=opener, other=other, game=game, points=points)
        page.line(_("I’m waiting for {name}."), name=name)
    free_count = 0 if is_own or invited else len(free_chairs(table))
    name = isolate_name(table.opener.name)
    write_unusual_terms(
        page, words, snapshot.kind, snapshot.rules, snapshot.clock, snapshot.strict, opener=name, free_seats=free_count
    )
    if chooses_robot and snapshot.rules.get("signals"):
        page.line(_("Of robots, only the strong ones answer busso."))
    if snapshot.cutting.is_on:
        page.line(_("Cut the pack before each deal"))


def _write_terms(page: Writer, snapshot: TableSnapshot, words: Wording) -> None:
    """Write the game, the code, the target, the clock and unusual options."""
    _ = words.text
    points = target_text(snapshot.rules)
    game, clock = Span(_(snapshot.kind.name), "bold"), clock_line(words, snapshot.clock, snapshot.strict)
    template = _("{game} · {code} · to {points} points · {clock}")
    page.line(template, game=game, code=Span(snapshot.code, "code"), points=points, clock=clock)
    for line in option_lines(words, snapshot.kind, snapshot.rules, unusual=True):
        page.line(capitalize(line))


def _write_chairs(page: Writer, table: Table, words: Wording) -> None:
    _ = words.text
    if len(table.chairs) == 2:
        names = [isolate_name(chair.name) if chair else _("free seat") for chair in table.chairs]
        page.line(" — ".join(names))
        return
    for side in (0, 1):
        partners = []
        for seat in (side, side + 2):
            chair, asking_chair = table.chairs[seat], table.asking.get(seat)
            name = isolate_name(chair.name) if chair else _("free seat")
            if asking_chair:
                chair = table.chairs[(seat + 2) % 4]
                ruler = isolate_name(chair.name) if chair else "…"
                name = _("{name} asks {ruler}").format(name=isolate_name(asking_chair.name), ruler=ruler)
            partners.append(f"{seat_label(words, seat)}: {name}")
        page.line(_("Pair {number}: {partners}"), number=side + 1, partners=" · ".join(partners))
        if count := table.refusals[side]:
            refusals = words.ngettext("{count} refusal of {most}", "{count} refusals of {most}", count)
            page.line(refusals.format(count=count, most=MAX_REFUSALS))


def seat_label(words: Wording, seat: int) -> str:
    _ = words.text
    return (_("South"), _("East"), _("North"), _("West"))[seat]


def _outcome_text(table: Table, words: Wording, reader: str) -> str:
    _ = words.text
    name = isolate_name(table.invited.name) if table.invited else "?"
    match table.closed:
        case "cancelled":
            return _("The challenge was withdrawn.")
        case "expired":
            line = _("The challenge has expired: a seat was still free after {hours} hours.")
            return line.format(hours=HOURS_TO_ACCEPT)
        case "declined":
            return _("{name} declined.").format(name=name)
    if reader:
        return _("The game has begun.")
    if game_kind(table.game_id).has_dealer:
        return _("The cards are dealt: open our private chat to see yours.")
    return _("The game has begun: open our private chat to see your cards.")


def _buttons(table: Table, words: Wording) -> list[Row]:
    _ = words.text
    code = table.code
    stand = (stand_button(code, words),) if len(table.chairs) == 4 else ()
    invite, change = (
        Button(_("Invite"), actions.table(code, "invite"), role=Role.INVITE),
        _terms_button(code, _("Change"), "menu", "rules"),
    )
    return [
        (*stand, _rules_button(code, words), invite),
        (_add_robot_button(code, words), change, _cancel_button(code, words)),
    ]


def _own_buttons(table: Table, words: Wording) -> list[Row]:
    _ = words.text
    code = table.code
    return [
        _robot_row(code, words),
        (
            Button(_("Invite a friend"), actions.table(code, "invite"), role=Role.INVITE),
            Button(_("Find someone"), actions.table(code, "find", table.game_id), role=Role.INVITE),
        ),
        _change_row(code, words),
    ]


def _change_row(code: str, words: Wording) -> Row:
    _ = words.text
    return (_terms_button(code, _("Change game or options"), "menu", "rules"),)


def _leaving_row(table: Table, words: Wording, reader: str) -> Row:
    """Return the buttons to leave a table whose first pack waits for a cut."""
    cancel, is_opener = _cancel_button(table.code, words), reader == table.opener.person
    return (cancel,) if is_opener else (stand_button(table.code, words), *(() if reader else (cancel,)))


def _rules_button(code: str, words: Wording) -> Button:
    _ = words.text
    return Button(_("Rules"), actions.table(code, "rules"), role=Role.RULES)


def _cancel_button(code: str, words: Wording) -> Button:
    _ = words.text
    return _terms_button(code, _("Cancel"), "cancel")._replace(style="danger")


def _add_robot_button(code: str, words: Wording) -> Button:
    _ = words.text
    return _terms_button(code, _("Add robot"), "menu", "robot")


def _robot_row(code: str, words: Wording) -> Row:
    return tuple(_terms_button(code, label, "robot", level) for level, label in level_names(words.language).items())


def _terms_button(code: str, label: str, *words: object) -> Button:
    return Button(label, actions.table(code, *words), role=Role.TERMS)


def _chair_rows(table: Table, words: Wording) -> list[Row]:
    """Return buttons for free chairs. Open menus of options show them too, because the opener can leave one open."""
    _ = words.text
    code, terms = table.code, table.terms_at
    if len(table.chairs) > 2:
        labels = [(seat, _seat_text(table, words, seat)) for seat in free_chairs(table)]
        return [(Button(label, actions.sit(code, terms, seat), "good", role=Role.SIT),) for seat, label in labels]
    join = Button(_("Join"), actions.sit(code, terms), "good", role=Role.SIT)
    decline = Button(_("No, thanks"), actions.table(code, "decline"), role=Role.SIT)
    return [(join, decline) if table.invited else (join,)]


def _seat_text(table: Table, words: Wording, seat: int) -> str:
    """Return the label of a free seat in a game for four. It names the partner or, without a partner, an opponent."""
    _, label = words.text, seat_label(words, seat)
    if partner := table.chairs[(seat + 2) % 4]:
        return _("Sit {seat} with {name}").format(seat=label, name=isolate_name(partner.name))
    if opponent := table.chairs[(seat + 1) % 4] or table.chairs[(seat + 3) % 4]:
        return _("Sit {seat} against {name}").format(seat=label, name=isolate_name(opponent.name))
    return _("Sit {seat}").format(seat=label)


def game_lines(language: str, *, is_full: bool = False) -> list[str]:
    """Return a line about each game suggested to newcomers, or about every game with ``is_full``."""
    _ = texts(language).gettext
    kinds = [kind for kind in ordered_games(language) if is_full or kind.is_suggested]
    return [f"{_(kind.name)}: {_(GAME_LINES[kind.id])}" for kind in kinds]


def _game_menu(table: Table, words: Wording, reader: str) -> list[Row]:
    _ = words.text
    suggested = [kind for kind in ordered_games(words.language) if kind.is_suggested]
    more_button = _terms_button(table.code, _("More games"), "menu", "games")
    # The private card has a button for each level of robots.
    robot = (_add_robot_button(table.code, words),) if not reader else ()
    label = _("Continue with {game}").format(game=_(GAMES[table.game_id].name))
    # Choosing the same game again would reset its options.
    choice = ("menu",) if table.rules else ("game", table.game_id)
    continue_button = _terms_button(table.code, label, *choice)._replace(style="good")
    return [*_game_rows(table, words, suggested), (continue_button,), (more_button, *robot)]


def _game_rows(table: Table, words: Wording, kinds: Sequence[GameKind]) -> list[Row]:
    labels = {kind.id: ("• " if kind.id == table.game_id else "") + words.text(kind.name) for kind in kinds}
    return [(_terms_button(table.code, label, "game", game),) for game, label in labels.items()]


def _options_menu(snapshot: TableSnapshot, words: Wording, *, is_own: bool) -> list[Row]:
    """Return the button to other games, a row of values for each option with a choice, and rows for clock and cuts.

    On the opener's private card (``is_own``) the buttons *Rules* and *Cancel* are here too. Each choice applies at
    once, so the last button only closes the menu.
    """
    _ = words.text
    names = option_names(words)
    code, is_cut = snapshot.code, snapshot.cutting.is_on
    rows: list[Row] = [(_terms_button(code, _("Game: {game}").format(game=_(snapshot.kind.name)), "menu", "game"),)]
    for name, values in snapshot.kind.rules.choices().items():
        if len(values) < 2:
            continue
        buttons = []
        for value in values:
            if name == "target":
                label = _("to {points}").format(points=target_text(snapshot.rules | {"target": value}))
            else:
                label = f"{names[name]}: {value_name(words, value)}"
            mark = "• " if snapshot.rules[name] == value else ""
            buttons.append(_terms_button(code, f"{mark}{label}", "rule", f"{name}={format_value(value)}"))
        rows.append(tuple(buttons))
    clocks = []
    for seconds in CLOCKS:
        label = ("• " if snapshot.clock == seconds else "") + short_clock(words, seconds)
        clocks.append(_terms_button(code, label, "clock", seconds, int(snapshot.strict)))
    cuts = ("✓ " if is_cut else "") + _("Cut the pack before each deal")
    cuts_button = _terms_button(code, cuts, "cutting", format_value(not is_cut))
    strict = ("✓ " if snapshot.strict else "") + _("Strict: a robot plays late moves, three in a row lose")
    strict_button = _terms_button(code, strict, "clock", snapshot.clock, int(not snapshot.strict))
    last_row: Row = (_rules_button(code, words), _cancel_button(code, words)) if is_own else ()
    done_button = _terms_button(code, _("Done"), "menu")
    return [*rows, tuple(clocks[:3]), tuple(clocks[3:]), (strict_button,), (cuts_button,), last_row, (done_button,)]


def _back_row(code: str, words: Wording, *menu: str) -> Row:
    """Return a button to the card or to its ``menu``."""
    _ = words.text
    return (_terms_button(code, _("◀ Back"), "menu", *menu),)
