"""Panels of the deal of the day and its results."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from bot import actions
from bot.command_names import FAIR
from bot.days.chosen_hours import OFF, hour_row
from bot.feature import Lesson
from bot.features.daily.ranking import RankedResult
from bot.features.daily.streaks import Streak
from bot.notification import Notification
from bot.panel import Button, Panel, Row, Span, Writer
from bot.solo_deals.lines import SoloLine
from bot.solo_deals.results import SoloResult
from bot.solo_deals.words import squares_text
from bot.tables.snapshot import isolate_name
from bot.texts import day_name, texts
from bot.texts import gettext_noop as _
from bot.words.wording import Wording, faces_of, score_pair, signed_text
from engine import GAMES, game_kind

MAX_RESULTS = 15  # results in a list
LONG_STREAK = 3  # from this streak on, results no longer explain their squares
TOO_LATE = _("It doesn’t count: its day ended first, and everyone could see the cards.")


class NamedResult(NamedTuple):
    name: str
    line: RankedResult


def shareable_text(day: date, game: str, result: SoloResult, par: SoloResult | None, language: str) -> str:
    """Return a result as text to send to friends. It reveals no cards."""
    _ = texts(language).gettext
    head = f"Buongioco {day_name(day, language)} · {_(GAMES[game].name)}"
    if result.points is None:
        given_up = _("given up")
        return f"{head} · {given_up}"
    score = score_pair(*result.points)
    if par and par.points:
        robot = _("robot")
        score += f" ({robot} {score_pair(*par.points)})"
    return f"{head}\n{score}\n{squares_text(result)}"


def shareable_panel(text: str) -> Panel:
    """Return a message with only a text to forward or copy."""
    return Panel((Span(text),))


def _add_result(
    page: Writer, language: str, result: SoloResult, par: SoloResult | None, *, has_legend: bool = True
) -> None:
    _, ngettext = texts(language)
    page.line(_("You gave up.") if result.points is None else _result_text(language, result.points), "bold")
    if result.margin is not None and par and par.points and par.margin is not None:
        page.line(_("The robot with your cards: {par}"), par=_score_and_margin(*par.points))
        gain = result.margin - par.margin
        line = _("You’re level with the robot.")
        if gain > 0:
            line = ngettext("You beat the robot by {count}.", "You beat the robot by {count}.", gain)
        elif gain < 0:
            line = ngettext("You’re {count} behind the robot.", "You’re {count} behind the robot.", -gain)
        page.line(line, count=abs(gain))
    page.line(squares_text(result))
    if has_legend and result.tricks:
        page.line(_("🟩 trick taken, ⬜ trick lost"))


def _result_text(language: str, points: tuple[int, int]) -> str:
    _, margin = texts(language).gettext, points[0] - points[1]
    line = _("You win {score}.") if margin > 0 else _("You lose {score}.") if margin < 0 else _("A draw, {score}.")
    return line.format(score=_score_and_margin(*points))


def _score_and_margin(own_points: int, other_points: int) -> str:
    """Return a score with its margin, by which players and robot are compared."""
    return f"{score_pair(own_points, other_points)} ({signed_text(own_points - other_points)})"


def _share_button(language: str) -> Button:
    return Button(texts(language).gettext("Share"), actions.page("daily", "share"))


def day_result_panel(
    language: str, day: date, game: str, result: SoloResult, par: SoloResult | None, *, is_late: bool = False
) -> Panel:
    """Return the result of a deal that has just ended. ``is_late`` means that its day ended first."""
    _ = texts(language).gettext
    page = Writer()
    add_heading(page, language, day, game)
    _add_result(page, language, result, par)
    results = Button(_("🏆 Today’s results"), actions.page("daily", "today"))
    if is_late:
        page.line(_(TOO_LATE))
        return page.panel((results,))
    return page.panel((_share_button(language), results))


def add_heading(page: Writer, language: str, day: date, game: str) -> None:
    _ = texts(language).gettext
    page.line(
        _("☀️ Deal of the day · {day} · {game}"), day=day_name(day, language), game=Span(_(GAMES[game].name), "bold")
    )


def with_reminder_hours(panel: Panel, language: str, chosen_hour: int | None) -> Panel:
    """Add buttons to choose the hour of a daily reminder."""
    _ = texts(language).gettext
    row = hour_row(language, chosen_hour, lambda hour: actions.page("daily", "remind", hour))
    line = Span("\n\n" + _("⏰ Choose an hour for a daily reminder."))
    return replace(panel, text=(*panel.text, line), rows=(*panel.rows, row))


def reminder_panel(language: str, day: date, game: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    add_heading(page, language, day, game)
    sentence = _("Your cards are ready. Play before midnight.")
    page.line(sentence)
    panel = page.panel(
        (Button(_("Play"), actions.page("daily", "play"), "good"),),
        (Button(_("Stop reminders"), actions.page("daily", "remind", OFF)),),
    )
    return replace(panel, notification=Notification("daily", f"{_('Deal of the day')}. {sentence}", "/daily"))


def time_left_text(language: str, time_left: timedelta) -> str:
    _ = texts(language).gettext
    hours, minutes = divmod(int(time_left.total_seconds()) // 60, 60)
    time = _("{count} h").format(count=hours) if hours else _("{count} min").format(count=minutes)
    return _("{time} left").format(time=time)


def day_panel(
    language: str,
    day: date,
    game: str,
    lines: Sequence[NamedResult] = (),
    *,
    has_seal: bool = False,
    had_cards: bool = False,
    time_left: timedelta | None = None,
    lessons: Sequence[Lesson] = (),
) -> Panel:
    """Return today's deal.

    ``has_seal`` adds the button to its seal. With ``had_cards`` the deal cannot be played again. A group's panel does
    not show ``time_left``, because the message stays for hours. ``lessons`` are about the deal's game.
    """
    _ = texts(language).gettext
    page = Writer()
    add_heading(page, language, day, game)
    if had_cards:
        page.line(_("You’ve already had today’s cards. A new deal comes at midnight."))
    else:
        is_pair = game_kind(game).seats > 2
        page.line(_("Your partner and opponents are strong robots.") if is_pair else _("You play a strong robot."))
        line = _("Everyone gets the same cards, and plays them once, by midnight.")
        if time_left:
            line = _("Everyone gets the same cards, and plays them once ({time}).")
        page.line(line, time=time_left_text(language, time_left) if time_left else "")
    _add_results(page, language, lines)
    rows: list[Row] = []
    if not had_cards:
        play = Button(_("Play"), actions.page("daily", "play"), "good")
        rows.append((play, Button(_("Rules"), actions.rules(game, "daily", "today"))))
        rows.append(tuple(Button(lesson.label, lesson.payload) for lesson in lessons))
    last_row: Row = (Button(_("Yesterday"), actions.page("daily", "yesterday")),)
    if has_seal:
        last_row = (*last_row, Button(_("🔒 Fair shuffle"), actions.page("daily", "seal")))
    return page.panel(*rows, last_row)


def seal_panel(language: str, day: date, game: str, seal: str) -> Panel:
    """Return the whole seal of today's deal."""
    _ = texts(language).gettext
    page = Writer()
    add_heading(page, language, day, game)
    page.line(_("Seal, fixed before the first card:"))
    page.line("{seal}", seal=Span(seal, "code"))
    page.gap()
    page.line(_("Tomorrow you get the secret: its SHA-256 must be this seal."))
    help_button = Button(_("How it works"), actions.page("rules", FAIR))
    return page.panel((Button(_("☀️ Today"), actions.page("daily", "today")), help_button))


def played_panel(
    language: str,
    day: date,
    game: str,
    own_line: RankedResult,
    player_count: int,
    par: SoloResult | None,
    streak: Streak,
    friends: Sequence[NamedResult],
) -> Panel:
    _, ngettext = texts(language)
    page = Writer()
    add_heading(page, language, day, game)
    _add_result(page, language, own_line.result, par, has_legend=streak.longest < LONG_STREAK)
    page.gap()
    line = ngettext(
        "🔥 {count} day in a row (best: {longest})", "🔥 {count} days in a row (best: {longest})", streak.now
    )
    page.line(line, count=streak.now, longest=streak.longest)
    if own_line.rank is not None and player_count > 1:
        line = ngettext("Place {rank} of {count} player", "Place {rank} of {count} players", player_count)
        page.line(line, rank=own_line.rank, count=player_count)
    if any(friend.line.person != own_line.person for friend in friends):
        _add_results(page, language, friends)
    page.gap()
    page.line(_("A new deal comes at midnight, and you can see how everyone played this one."))
    return page.panel((_share_button(language), Button(_("Yesterday"), actions.page("daily", "yesterday"))))


class PastDay(NamedTuple):
    day: date
    game: str
    par: SoloResult | None
    best: SoloLine | None  # the best line of all players
    secret: str  # in hex; empty before the first day of the chain
    replay: str  # id of the reader's own game, or empty
    lines: str  # payload of the button for all lines side by side, or empty


def yesterday_panel(language: str, suits: str, past_day: PastDay, lines: Sequence[NamedResult]) -> Panel:
    day, game, par, best, secret, replay, side_by_side = past_day
    _ = texts(language).gettext
    page = Writer()
    add_heading(page, language, day, game)
    if not lines:
        page.line(_("Nobody you know played it."))
    _add_results(page, language, lines)
    if par and par.points:
        page.line(_("The robot with your cards: {par}"), par=score_pair(*par.points))
    if best and best.result.margin is not None:
        page.gap()
        page.line(_("Best play of the day, {margin}:"), margin=signed_text(best.result.margin))
        words = Wording(language, [_("you")], faces_of(game_kind(game), suits))
        moves = [words.card(move.card) if move.card else f"({words.move(0, move.move)})" for move in best.decisions]
        page.line(" ".join(moves))
    if secret:
        page.gap()
        page.line(_("🔓 Secret: {secret}"), "small", secret=secret)
    rows: list[Row] = [(Button(_("Side by side"), side_by_side, "good"),)] if side_by_side else []
    if replay:
        analysis = Button(_("Analysis"), actions.page("analysis", replay))
        rows.append((Button(_("Replay"), actions.page("replay", replay, 1)), analysis))
    return page.panel(*rows, (Button(_("☀️ Today"), actions.page("daily", "today")),))


def _add_results(page: Writer, language: str, lines: Sequence[NamedResult]) -> None:
    _ = texts(language).gettext
    if lines:
        page.gap()
    for name, line in lines[:MAX_RESULTS]:
        if line.rank is None:
            page.line(_("{name}: given up"), name=isolate_name(name))
        else:
            assert line.result.margin is not None
            rank, margin = f"{line.rank}. " if len(lines) > 1 else "", signed_text(line.result.margin)
            page.line(f"{rank}{isolate_name(name)} {margin} {squares_text(line.result)}")
    if len(lines) > MAX_RESULTS:
        page.line(_("… and {count} more"), count=len(lines) - MAX_RESULTS)
