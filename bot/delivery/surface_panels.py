"""Panels of surfaces, cached while nothing changes."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from bot.delivery.message_state import MessageState, State
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.surface import Surface
from bot.delivery.surface_names import Board, ChallengeCard, Hand, OnlyMessage, Result, SurfaceName
from bot.delivery.surfaces import content_of, home_of, is_open
from bot.delivery.table_sync import NO_EXTRAS, BoardExtras, TableSync
from bot.hints import Hints
from bot.panel import Panel, Span
from bot.panel_picture import Live, Subject
from bot.panels.board import board_panel, finished_deal_panel, private_result_rows, result_panel
from bot.panels.challenge import challenge_panel
from bot.panels.hand import hand_panel
from bot.panels.hand_buttons import HINT
from bot.panels.tables import set_aside_panel
from bot.people import People
from bot.pictures.pool import PicturePool
from bot.pictures.results import deal_sheet, game_sheet
from bot.pictures.scene_builder import board_scene, hand_scene
from bot.pictures.sheet import Sheet
from bot.platform import Adapter, is_private, person_of, platform_of
from bot.site.watching import Watching
from bot.store.levers import Levers
from bot.table_policy import ORDINARY, Outcome, Policies, TablePolicy
from bot.tables.clock import seconds_left
from bot.tables.snapshot import TableSnapshot, deal_to_report, finished_deal, is_new_practice_deal, take_snapshot
from bot.tables.table import Table
from bot.viewers import Viewer, Viewers, with_picture
from bot.words.table_lines import short_clock
from bot.words.verdicts import NO_HINT, ShownHint
from bot.words.wording import Wording
from engine import Record


class Drawer:
    """Draws what surfaces should show."""

    def __init__(
        self,
        people: People,
        adapters: Mapping[str, Adapter],
        limiter: SendLimiter,
        pictures: PicturePool,
        watching: Watching,
        policies: Policies,
        hints: Hints,
        is_first_game: Callable[[Table, int], Awaitable[bool]],
        levers: Levers,
        clock_rings_in: Callable[[str], Awaitable[float | None]],
    ) -> None:
        self._clock_rings_in = clock_rings_in
        self._hints, self._is_first_game, self._levers = hints, is_first_game, levers
        self._people, self._adapters, self._limiter = people, adapters, limiter
        self._pictures, self._watching, self._policies = pictures, watching, policies
        self._viewers = Viewers(people, adapters)

    async def draw(self, sync: TableSync, table: Table, surface: Surface) -> Panel:
        panel = await self._draw_cached(sync, table, surface)
        assert panel
        return panel

    async def draw_if_free(self, sync: TableSync, table: Table, surface: Surface) -> Panel | None:
        """Draw a surface, unless its place must wait and no panel is cached: a new one would soon be outdated."""
        return await self._draw_cached(sync, table, surface, only_if_free=True)

    async def player_to_call(self, table: Table) -> tuple[str, str] | None:
        """Return the player to move if they want to be notified in the group."""
        chair = table.chairs[table.game.turn] if table.game and table.game.turn is not None else None
        if chair is None or chair.is_robot or table.phase != "playing":
            return None
        return (chair.person, chair.name) if (await self._people.person(chair.person)).wants_calls else None

    async def needs_press(self, table: Table, surface: Surface) -> bool:
        """Return whether an ephemeral hand needs a press of its player first, because the platform requires it."""
        message_state, home = surface.message_state, home_of(table, surface.name)
        if not isinstance(surface.name, Hand) or message_state.state is not State.ABSENT:
            return False
        if message_state.ephemeral or surface.wants_repost or not table.game:
            return False
        if not self._adapters[platform_of(home)].has_ephemeral:
            return False
        return (await self._people.person(person_of(home))).wants_ephemeral

    async def _draw_cached(
        self, sync: TableSync, table: Table, surface: Surface, *, only_if_free: bool = False
    ) -> Panel | None:
        name, message_state = surface.name, surface.message_state
        place = message_state.ephemeral or home_of(table, name)
        viewer = await self._viewers.viewer_at(place)
        version, extras = table.version, NO_EXTRAS
        hint = NO_HINT
        if isinstance(name, Hand) and table.game:
            is_asked = message_state.draft.choice_at(table.oldest_panel(name.seat)) == HINT
            hint = await self._hints.hint_to_show(table, name.seat, is_asked=is_asked)
        if isinstance(content_of(table, name), Board):
            # Text boards show whole tricks; boards with a picture show each card.
            version = table.version if viewer.deck else table.board_changed_at
            watch_id = await self._watching.watch_id(table) if viewer.pages_url else ""
            extras = sync.board_extras(table, await self.player_to_call(table), watch_id)
        announcement = self._levers.announcement
        notice = announcement.text if announcement and not is_private(place) else ""
        key = (version, message_state.draft, viewer, extras, hint, sync.outcome, notice)
        if (panel := surface.cached_panel(key)) is not None:
            return panel
        if only_if_free and not self._limiter.is_free(place):
            return None
        if viewer.deck and table.game is None:
            self._pictures.warm_up()
        panel = draw_surface(
            table,
            name,
            message_state,
            viewer,
            extras,
            sync.outcome,
            self._policies.policy_of(table),
            hint,
            is_beginner=isinstance(name, Hand) and await self._is_beginner(sync, table, name),
            notice=notice,
            live=await self._live(table, viewer) if isinstance(name, Hand) and viewer.wants_live_hands else None,
        )
        surface.cache_panel(key, panel)
        return panel

    async def _live(self, table: Table, viewer: Viewer) -> Live:
        """Return the clock and look of a hand with cards to tap."""
        if table.is_practice or not table.clock or table.phase != "playing":
            return Live(is_large=viewer.wants_large_cards)
        left = seconds_left(table, await self._clock_rings_in(table.code))
        ends_at = None if left is None else round(time.time() + left)
        name = short_clock(Wording(viewer.language, []), table.clock)
        return Live(name, table.clock, ends_at, viewer.wants_large_cards)

    async def _is_beginner(self, sync: TableSync, table: Table, hand: Hand) -> bool:
        """Return whether a hand's player was in their first game when this worker first drew the hand."""
        chair = table.chairs[hand.seat]
        if chair is None or table.phase != "playing":
            return False
        if chair.person not in sync.first_games:
            sync.first_games[chair.person] = await self._is_first_game(table, hand.seat)
        return sync.first_games[chair.person]


def with_notice(panel: Panel, notice: str) -> Panel:
    """Return the panel with the host's announcement, above what platforms fold."""
    if not notice:
        return panel
    if panel.fold is None:
        return replace(panel, text=(*panel.text, Span(f"\n\n📢 {notice}", "host")))
    visible, folded = panel.text[: panel.fold], panel.text[panel.fold :]
    return replace(panel, text=(*visible, Span(f"📢 {notice}\n\n", "host"), *folded), fold=panel.fold + 1)


def draw_surface(
    table: Table,
    name: SurfaceName,
    message_state: MessageState,
    viewer: Viewer,
    extras: BoardExtras,
    outcome: Outcome | None,
    policy: TablePolicy = ORDINARY,
    hint: ShownHint = NO_HINT,
    *,
    is_beginner: bool = False,
    notice: str = "",
    live: Live | None = None,
) -> Panel:
    """Return a surface's panel, drawn only from what its viewer can see. A hand shows the ``hint``.

    ``is_beginner`` is whether this is the first game of a hand's player. Boards and challenge cards show the
    ``notice`` while they can still change. With ``live`` a hand can have cards to tap.
    """
    if table.error and is_open(table, name):
        return set_aside_panel(table.code, viewer.language)
    is_only, name = isinstance(name, OnlyMessage), content_of(table, name)
    table = table.localize(viewer.language)
    snapshot = take_snapshot(table, name.seat if isinstance(name, Hand) else None, policy.own_texts)
    words = (viewer.language, viewer.suits)
    subject: Subject | None = None
    match name:
        case Hand():
            choice = message_state.draft.choice_at(snapshot.version)
            snapshot = snapshot if viewer.wants_phrases else snapshot._replace(phrases=())
            has_result_below = home_of(table, name) in table.hosts and not table.is_duplicate
            has_rows = not has_result_below and not table.is_duplicate
            game_id = outcome.game_id if outcome and has_rows else ""
            # Against robots nobody waits, so a new deal begins when the player has seen the score of the last one.
            is_paused = is_new_practice_deal(snapshot) and message_state.draft.version != snapshot.version
            panel = hand_panel(
                snapshot,
                *words,
                choice,
                has_pages=bool(viewer.pages_url),
                has_resign=True,
                plays_here=viewer.plays_here,
                hint=hint,
                is_beginner=is_beginner,
                last_deal=deal_to_report(table, snapshot),
                is_paused=is_paused,
                end_rows=private_result_rows(snapshot, game_id, viewer.language, viewer.pages_url) if game_id else (),
                has_result_below=has_result_below,
            )
            subject = hand_scene(snapshot, *words, viewer.deck, choice, is_paused=is_paused) if viewer.deck else None
        case ChallengeCard():
            place = table.hosts[name.host]
            reader = person_of(place) if is_private(place) else ""
            snapshot = snapshot._replace(seat=table.seat_of(reader))
            panel = policy.card_panel(table, snapshot, reader, viewer.language) or challenge_panel(
                table, snapshot, *words, menu=message_state.draft.choice_at(0), reader=reader
            )
            panel = with_notice(panel, notice if table.phase == "open" else "")
        case Result() if own_panel := policy.result_panel(table, outcome or Outcome("", ()), viewer.language):
            panel = own_panel
        case Result():
            assert table.game
            record = table.game.record(live=False)
            details = outcome or Outcome("", ())
            panel = _result_panel(table, name, snapshot, record, viewer, details, is_only=is_only)
            if viewer.deck:
                subject = game_sheet(
                    record,
                    table.code,
                    snapshot.names,
                    viewer.language,
                    ended=details.ended,
                    summaries=details.summaries,
                    group=viewer.group,
                )
        case Board(deal):
            assert table.game
            if deal < table.game.deal_number or table.phase == "over" or table.awaits_cut:
                past = finished_deal(table, deal)
                panel = finished_deal_panel(snapshot, past, *words)
                if viewer.deck:
                    subject = deal_sheet(
                        past.record,
                        deal,
                        table.code,
                        snapshot.names,
                        viewer.language,
                        suits=viewer.suits,
                        group=viewer.group,
                    )
            else:
                panel = board_panel(
                    snapshot,
                    *words,
                    unreachable=extras.unreachable,
                    ephemeral=extras.has_ephemeral,
                    player_to_call=extras.player_to_call,
                    watch=f"{viewer.pages_url}/t/{extras.watch_id}" if extras.watch_id else "",
                    plays_here=viewer.plays_here,
                    is_pictured=bool(viewer.deck),
                    seal="" if table.is_duplicate else table.game.view(None).commitment or "",
                    last_deal=deal_to_report(table, snapshot),
                )
                panel = with_notice(panel, notice)
                subject = board_scene(snapshot, *words, viewer.deck) if viewer.deck else None
    return with_picture(panel, subject, viewer.language, is_lasting=isinstance(subject, Sheet), live=live)


def _result_panel(
    table: Table,
    name: Result,
    snapshot: TableSnapshot,
    record: Record,
    viewer: Viewer,
    outcome: Outcome,
    *,
    is_only: bool,
) -> Panel:
    host = table.hosts[name.host]
    reader, changes = person_of(host) if is_private(host) else "", outcome.changes
    strangers: list[tuple[int, str]] = []
    if table.are_strangers:
        # A rating would identify strangers in a leaderboard.
        own_names = {chair.name for chair in table.chairs if chair and chair.person == person_of(host)}
        changes = [change for change in changes if change.name in own_names]
        strangers = [(seat, chair.name) for seat, chair in snapshot.others if chair.person != person_of(host)]
    return result_panel(
        snapshot._replace(seat=table.seat_of(reader) if reader else None),
        record,
        viewer.language,
        viewer.suits,
        outcome.game_id,
        changes,
        outcome.summaries,
        in_private=bool(reader),
        unrated=outcome.unrated,
        leaderboard=is_only,
        strangers=strangers,
        pages=viewer.pages_url,
    )
