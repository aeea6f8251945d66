"""Panels of duels."""

from collections.abc import Sequence
from dataclasses import replace

from bot import actions
from bot.features.duels.duel import DEALS, SIDES, Duel
from bot.features.duels.texts import (
    heading,
    margin_text,
    plain_names,
    player_names,
    result_text,
    shareable_text,
    time_left,
    unfinished_texts,
)
from bot.meetings import block_button
from bot.notification import Notification, NotificationKind
from bot.panel import Button, Panel, Row, Span, Writer
from bot.solo_deals.lines import SoloLine
from bot.solo_deals.results import SoloResult
from bot.solo_deals.words import fork_text, squares_text
from bot.texts import texts
from bot.words.table_lines import ordered_games
from bot.words.wording import Wording, faces_of, score_pair
from engine import GAMES, game_kind

PAGE = "duel"
MAX_LISTED = 10


def duel_payload(duel: Duel, *words: object) -> str:
    return actions.page(PAGE, duel.code, *words)


def card_panel(duel: Duel, language: str, now: int) -> Panel:
    """Return a duel for a group, and for people who do not play it."""
    _ = texts(language).gettext
    page = Writer()
    write_duel(page, duel, language, now, in_group=True)
    if duel.closing:
        rematch = Button(_("Rematch"), duel_payload(duel, "rematch"), "good")
        return page.panel((rematch,) if duel.can_rematch else ())
    play = Button(_("Play"), duel_payload(duel, "play"), "good")
    rows: list[Row] = [(play, _rules_button(duel, language))]
    if duel.is_accepted:
        rows.append((Button(_("Score"), duel_payload(duel, "show")),))
    elif duel.invited:
        rows.append((Button(_("Decline"), duel_payload(duel, "decline")),))
    return page.panel(*rows)


def own_panel(duel: Duel, side: int, language: str, now: int) -> Panel:
    """Return a duel for one of its players."""
    _ = texts(language).gettext
    page = Writer()
    write_duel(page, duel, language, now)
    rows: list[Row] = []
    deal = duel.next_deal(side)
    if not duel.closing:
        if deal is None:
            page.line(_("You’ve played all deals. The result comes when both have finished."))
        else:
            label = _("Play deal {deal}").format(deal=deal)
            rows.append((Button(label, duel_payload(duel, "play"), "good"), _rules_button(duel, language)))
        if not duel.is_accepted:
            invite = Button(_("Invite"), duel_payload(duel, "invite"))
            rows.append((invite, Button(_("Withdraw"), duel_payload(duel, "decline"), "danger")))
    if duel.has_result:
        rematch = Button(_("Rematch"), duel_payload(duel, "rematch"), "good")
        share = Button(_("Share"), duel_payload(duel, "share"))
        rows.append((rematch, share) if duel.can_rematch else (share,))
    elif duel.compared_deals:
        rows.append((Button(_("Share"), duel_payload(duel, "share")),))
    rows.append(_deal_buttons(duel, language))
    own_button = Button(_("⚔️ My duels"), actions.page(PAGE, "own"))
    can_block = duel.other_player(duel.players[side].person) is not None
    return page.panel(*rows, (own_button, *([block_button(language, PAGE, duel.code)] if can_block else [])))


def write_duel(
    page: Writer, duel: Duel, language: str, now: int, *, in_group: bool = False, on_site: bool = False
) -> None:
    """Write who plays, how far they are, and the compared deals. The site has its own title and table of deals."""
    _ = texts(language).gettext
    names = player_names(duel, language)
    if not on_site:
        page.line(heading(duel, language), "bold")
    if duel.closing:
        page.line(result_text(duel, language), "bold")
        for line in unfinished_texts(duel, language):
            page.line(line)
    elif duel.is_accepted:
        counts = [
            _("{name} {count} of {deals}").format(name=names[side], count=duel.count(side), deals=DEALS)
            for side in SIDES
        ]
        page.line(" · ".join([*counts, time_left(duel, language, now)]))
        if duel.compared_deals:
            page.line("{first} {score} {second}", "bold", first=names[0], score=duel.score.text(), second=names[1])
    else:
        _write_challenge(page, duel, language, now, in_group=in_group)
    if duel.is_accepted and not on_site:
        _write_deals(page, duel, language)


def _write_challenge(page: Writer, duel: Duel, language: str, now: int, *, in_group: bool) -> None:
    _ = texts(language).gettext
    names = player_names(duel, language)
    if duel.invited:
        # No reader must see whether the person is notified.
        is_called = duel.invited.is_notified and in_group
        other = Span(names[1], "call" if is_called else "quiet", duel.invited.person)
        page.line(_("{name} challenges {other}."), name=Span(names[0], "bold"), other=other)
    else:
        page.line(_("{name} challenges anyone."), name=Span(names[0], "bold"))
    page.line(
        _("Each plays the same {deals} deals alone, with strong robots and at any time. Better points win a deal."),
        deals=DEALS,
    )
    page.line(_("{code} · {time} to accept"), code=Span(duel.code, "code"), time=time_left(duel, language, now))


def _write_deals(page: Writer, duel: Duel, language: str) -> None:
    if duel.compared_deals:
        page.gap()
    names = player_names(duel, language)
    for deal in duel.compared_deals:
        winner = duel.deal_winner(deal)
        first, second = (
            Span(f"{names[side]} {margin_text(duel, side, deal, language)}", "bold" if side == winner else "")
            for side in SIDES
        )
        page.line("{deal}. {first} · {second}", deal=deal, first=first, second=second)


def _rules_button(duel: Duel, language: str) -> Button:
    return Button(texts(language).gettext("Rules"), actions.rules(duel.game))


def _deal_buttons(duel: Duel, language: str) -> Row:
    label = texts(language).gettext("Deal {deal}")
    return tuple(Button(label.format(deal=deal), duel_payload(duel, "deal", deal)) for deal in duel.compared_deals)


def deal_panel(duel: Duel, deal: int, lines: Sequence[SoloLine | None], language: str, suits: str) -> Panel:
    """Return a compared deal. ``lines`` are the play of both sides; None for a side without a stored game."""
    words = Wording(language, (), faces_of(game_kind(duel.game), suits))
    _ = words.text
    names, page = player_names(duel, language), Writer()
    page.line(heading(duel, language), "bold")
    page.line(_("Deal {deal}"), deal=deal)
    for side in SIDES:
        page.line(
            f"{names[side]} {margin_text(duel, side, deal, language)}", "bold" if duel.deal_winner(deal) == side else ""
        )
        result = duel.result(side, deal)
        if result and result.tricks:
            page.line(squares_text(result))
    known_lines = [line for line in lines if line]
    if len(known_lines) == len(SIDES):
        page.line(fork_text(words, known_lines))
    rows: list[Row] = []
    for name, line in zip(plain_names(duel, language), lines, strict=False):
        if line:
            label = _("Replay: {name}").format(name=name)
            rows.append((Button(label, actions.page("replay", line.game, 1, actions.SEPARATE)),))
    return page.panel(*rows, (Button(_("⚔️ Duel"), duel_payload(duel, "mine")),))


def played_panel(duel: Duel | None, side: int, deal: int, result: SoloResult, language: str, game: str) -> Panel:
    """Return the result of a deal that a player has just finished, with the other player's if both have played it."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("⚔️ Duel · {game}").format(game=_(GAMES[game].name)), "bold")
    page.line(_("Deal {deal}"), deal=deal)
    page.line(_("You gave up.") if result.points is None else score_pair(*result.points), "bold")
    if result.tricks:
        page.line(squares_text(result))
    if duel is None:
        return page.panel()
    if (side, deal) not in duel.played_deals:
        page.line(_("It doesn’t count: the duel was over."))
    elif duel.is_compared(deal) and duel.is_accepted:
        names = player_names(duel, language)
        other = _("{name}: {margin}.")
        page.line(other.format(name=names[1 - side], margin=margin_text(duel, 1 - side, deal, language)))
        if duel.closing:
            page.line(result_text(duel, language), "bold")
    else:
        page.line(_("You can compare it once both have played it."))
    next_deal = duel.next_deal(side)
    show = Button(_("⚔️ Duel"), duel_payload(duel, "mine", actions.SEPARATE))
    if duel.closing or next_deal is None:
        return page.panel((show,))
    label = _("Play deal {deal}").format(deal=next_deal)
    return page.panel((Button(label, duel_payload(duel, "play"), "good"), show))


def list_panel(duels: Sequence[Duel], person: str, language: str, now: int) -> Panel:
    """Return a person's duels, with buttons to open them or a new one."""
    _ = texts(language).gettext
    page = Writer(_("⚔️ Duels"))
    if not duels:
        page.line(
            _("You and a friend play the same {deals} deals, each alone with robots and when you like."), deals=DEALS
        )
    rows: list[Row] = []
    for duel in duels[:MAX_LISTED]:
        names, side = plain_names(duel, language), duel.side_of(person)
        other_names = [name for number, name in enumerate(names) if number != side]
        label = " · ".join([*(other_names or [_("waits for a friend")]), _(GAMES[duel.game].name)])
        if duel.has_result and side is not None:
            state = duel.score.text(side)
        elif duel.closing:
            state = result_text(duel, language)
        else:
            state = time_left(duel, language, now)
        page.line(f"{label} · {state}")
        rows.append((Button(label, duel_payload(duel, "mine")),))
    return page.panel(*rows, (Button(_("New duel"), actions.page(PAGE, "new"), "good"),))


def games_panel(language: str) -> Panel:
    """Return the question which game to play."""
    _ = texts(language).gettext
    page = Writer(_("⚔️ New duel: which game?"))
    rows = [(Button(_(kind.name), actions.page(PAGE, "new", kind.id)),) for kind in ordered_games(language)]
    return page.panel(*rows)


def invitation_panel(duel: Duel, language: str, pages_url: str) -> Panel:
    """Return an invitation to forward."""
    _ = texts(language).gettext
    page = Writer()
    name, game = Span(player_names(duel, language)[0], "bold"), Span(_(GAMES[duel.game].name), "bold")
    page.line(_("⚔️ {name} challenges you to a duel: {deals} deals of {game}."), name=name, deals=DEALS, game=game)
    page.line(_("We both play the same cards, each when we like."))
    page.line(_("Write me /duel {code} to accept"), code=Span(duel.code, "code"))
    if pages_url:
        page.line(_("Or open {address}"), address=Span(f"{pages_url}/duel/{duel.code}", "code"))
    return page.panel((Button(_("Accept"), f"{PAGE}-{duel.code}", "good", "start"),))


def share_panel(duel: Duel, side: int, language: str, pages_url: str) -> Panel:
    """Return a message with only a text to forward or copy."""
    return Panel((Span(shareable_text(duel, side, language, pages_url)),))


# Messages that nobody asked for


def called_panel(duel: Duel, language: str, now: int) -> Panel:
    panel = card_panel(duel, language, now)
    panel = replace(panel, rows=(*panel.rows, (block_button(language, PAGE, duel.code),)))
    _ = texts(language).gettext
    text = _("{name} challenges you to a duel.").format(name=plain_names(duel, language)[0])
    return _with_notification(panel, duel, text, "challenge")


def accepted_panel(duel: Duel, side: int, language: str, now: int) -> Panel:
    _ = texts(language).gettext
    text = _("{name} has accepted your duel.").format(name=plain_names(duel, language)[1 - side])
    return _own_panel_below(text, duel, side, language, now, "challenge")


def drawn_panel(duel: Duel, side: int, language: str, now: int) -> Panel:
    _ = texts(language).gettext
    text = _("The match has begun: you play against {name}.").format(name=plain_names(duel, language)[1 - side])
    return _own_panel_below(text, duel, side, language, now, "challenge")


def soon_panel(duel: Duel, side: int, language: str, now: int) -> Panel:
    ngettext = texts(language).ngettext
    deals_left = DEALS - duel.count(side)
    text = ngettext(
        "⏳ Your duel ends soon: you have {count} deal to play.",
        "⏳ Your duel ends soon: you have {count} deals to play.",
        deals_left,
    ).format(count=deals_left)
    return _own_panel_below(text, duel, side, language, now, "turn")


def over_panel(duel: Duel, side: int, language: str, now: int) -> Panel:
    return _with_notification(own_panel(duel, side, language, now), duel, result_text(duel, language), "turn")


def _own_panel_below(text: str, duel: Duel, side: int, language: str, now: int, kind: NotificationKind) -> Panel:
    panel = own_panel(duel, side, language, now)
    return _with_notification(replace(panel, text=(Span(f"{text}\n\n"), *panel.text)), duel, text, kind)


def _with_notification(panel: Panel, duel: Duel, text: str, kind: NotificationKind) -> Panel:
    people = tuple(player.person for player in duel.players)
    return replace(panel, notification=Notification(kind, text, f"/duel/{duel.code}", people))
