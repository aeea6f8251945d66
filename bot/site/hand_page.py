"""A player's hand for a web page: the cards, the payload of a tap on each, and the panel with its buttons.

It is built from the same snapshot, panel and scene as a message. A tap on a card or packet sends the payload of the
panel's button for it, so a page knows no rules. A card without a button has the payload that plays it, and the engine
says why that is not possible. An honour on a packet also has the payload that picks it up.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from bot import actions
from bot.finished.archive import game_id
from bot.panel import Panel, Role, Row, Span
from bot.panels.board import UNRATED, result_panel
from bot.panels.challenge import challenge_panel
from bot.panels.hand import hand_panel, task_text
from bot.panels.hand_buttons import RESIGN
from bot.panels.hand_news import step_line
from bot.panels.tables import set_aside_panel
from bot.people import Profile
from bot.pictures.scene import Card, Light, Pile, PlayedCard, Scene
from bot.pictures.scene_builder import deal_end, hand_scene
from bot.site.advice import advised_parts
from bot.site.deal_count import deal_count
from bot.site.deal_log import deal_log, finished_log
from bot.site.game_end import NOT_RATED, Rated, game_end
from bot.site.page_models import HandPage, PageCard, PagePlayer, PageSide, TapCard
from bot.site.portraits import choose_portraits
from bot.site.seat_events import seat_events, taker_text
from bot.table_policy import ORDINARY, Outcome, TablePolicy
from bot.tables.snapshot import TableSnapshot, deal_to_report, isolate_name, take_snapshot
from bot.tables.table import Table
from bot.words.phrases import phrase_text
from bot.words.rules import order_lines
from bot.words.spoken import spell_out, spoken_card, spoken_names
from bot.words.table_lines import TableLines, cut_news, rank_legend, table_words, turn_line
from bot.words.verdicts import NO_HINT, ShownHint, shown_hint_text
from bot.words.wording import Wording, target_about
from engine.views import DealView, Packet, PacketsView

LOCAL_ACTIONS = ("draft", "menu")  # kept by the page alone: the chosen parts of a move, and which menu is open


def hand_page(
    table: Table,
    person: str,
    profile: Profile,
    choice: str = "",
    menu: str = "",
    *,
    rematch_opener: str = "",
    rated: Rated = NOT_RATED,
    policy: TablePolicy = ORDINARY,
    outcome: Outcome | None = None,
    hint: ShownHint = NO_HINT,
    is_beginner: bool = False,
    away: Collection[str] = (),
) -> HandPage:
    """Return the page of a player, or of a person who asks for a seat.

    ``choice`` is the chosen part of a move, ``menu`` the open menu before the game. After the game, ``rematch_opener``
    is the name of the player who asks for a rematch, and ``rated`` is the game's rating. ``outcome`` has the facts of
    the finished game that the table's ``policy`` shows to this person. ``hint`` is the hint to show. ``is_beginner``
    adds the order of the ranks, their letters, and what to know at this step. ``away`` are the people who have no page
    open.
    """
    table = table.localize(profile.language)
    snapshot = take_snapshot(table, table.seat_of(person), policy.own_texts)
    outcome = outcome or Outcome("", ())
    if table.phase in ("playing", "over") and snapshot.seat is not None and not table.error:
        panel = _game_panel(table, snapshot, profile, choice, policy, outcome, hint)
    else:
        panel = _waiting_panel(table, snapshot, person, profile, menu, policy)
    # A page cuts the pack itself, and shows the whole seal.
    panel = replace(panel, rows=_rows_without(panel, {Role.CUT, Role.SEAL}))
    words = table_words(snapshot, profile.language, profile.suits)
    builder = _PageBuilder(table, snapshot, profile, panel, choice, policy, hint, away)
    page = _with_spoken_cards(builder.build(outcome, rematch_opener, rated), words)
    if not is_beginner or snapshot.view is None or snapshot.view.deal is None:
        return page
    letters = rank_legend(words, snapshot.kind.pack.codes)
    step = step_line(snapshot, words) if snapshot.view.deal_number == 1 and not snapshot.view.ending else ""
    return replace(page, legend=letters, order=order_lines(words, snapshot.kind), news=page.news or step)


def _with_spoken_cards(page: HandPage, words: Wording) -> HandPage:
    """Return the page with its texts for screen readers."""
    labels = [button.label for row in page.rows for button in row]
    shown_texts = (page.line, page.hint, *labels, *(text for text, _ in page.text))
    spoken = {text: spoken_text for text in shown_texts if (spoken_text := spell_out(words, text)) != text}
    return replace(page, says=spell_out(words, page.says), spoken=spoken)


def _game_panel(
    table: Table,
    snapshot: TableSnapshot,
    profile: Profile,
    choice: str,
    policy: TablePolicy,
    outcome: Outcome,
    hint: ShownHint,
) -> Panel:
    """Return the panel of a player's hand. After the game it ends with the result."""
    language, suits = profile.language, profile.suits
    visible_snapshot = snapshot if profile.wants_phrases else snapshot._replace(phrases=())
    panel = hand_panel(visible_snapshot, language, suits, choice, hint=hint, last_deal=deal_to_report(table, snapshot))
    if table.phase != "over" or table.game is None:
        return panel
    if result := policy.result_panel(table, outcome, language):
        return Panel((*panel.text, Span("\n\n"), *result.text))
    result = result_panel(snapshot, table.game.record(live=False), language, suits, game_id(table), ())
    rematch_rows = [row for row in result.rows if row[0].role is Role.REMATCH]
    return Panel((*panel.text, Span("\n\n"), *result.text), tuple(rematch_rows))


def _waiting_panel(
    table: Table, snapshot: TableSnapshot, person: str, profile: Profile, menu: str, policy: TablePolicy
) -> Panel:
    """Return the panel of a table whose game has not begun, or that cannot be read."""
    if table.error:
        return set_aside_panel(table.code, profile.language)
    if card := policy.card_panel(table, snapshot, person, profile.language):
        return card
    panel = challenge_panel(table, snapshot, profile.language, profile.suits, menu=menu, reader=person, has_link=True)
    asking_rows = hand_panel(snapshot, profile.language, profile.suits).rows if snapshot.asking else ()
    # The person has a seat, the page has the rules and a link to share, and only the opener can change the terms.
    hidden_roles = {Role.SIT, Role.INVITE, Role.RULES} | ({Role.TERMS} if person != table.opener.person else set())
    return Panel(panel.text, (*asking_rows, *_rows_without(panel, hidden_roles)))


def _rows_without(panel: Panel, hidden_roles: set[Role]) -> tuple[Row, ...]:
    """Return a panel's rows without buttons of these roles."""
    rows = (tuple(button for button in row if button.role not in hidden_roles) for row in panel.rows)
    return tuple(filter(None, rows))


@dataclass
class _PageBuilder:
    table: Table
    snapshot: TableSnapshot
    profile: Profile
    panel: Panel
    chosen: str
    policy: TablePolicy
    hint: ShownHint
    away: Collection[str]

    def __post_init__(self) -> None:
        view = self.snapshot.view
        self.words = table_words(self.snapshot, self.profile.language, self.profile.suits)
        self.deal = view.deal if view else None
        self.playable = {move.split(" ")[1] for move in (view.moves if view else ()) if move.startswith("play ")}
        self.pressed = {button.about: button for row in self.panel.rows for button in row if button.about}

    def build(self, outcome: Outcome, rematch_opener: str, rated: Rated) -> HandPage:
        table, snapshot, profile, panel, _ = self.table, self.snapshot, self.profile, self.panel, self.words.text
        rows = (tuple(b for b in row if not b.about and b.role is not Role.STRANGER) for row in panel.rows)
        results, results_label = self.policy.results_link(table, profile.language)
        is_for_others = table.matched or table.awaits_cut or (table.invited and len(table.chairs) == 2)
        page = HandPage(
            code=snapshot.code,
            phase=snapshot.phase,
            game=_(snapshot.kind.name),
            rules=f"/rules/{snapshot.kind.id}",
            deck=f"{self.words.faces.deck}-{profile.deck}",
            version=table.version,
            says=panel.plain,
            text=tuple((text, style) for text, style, _person in panel.text),
            rows=panel.rows,
            extra=tuple(filter(None, rows)),
            clock=0 if snapshot.is_practice else snapshot.clock,
            alarm=snapshot.alarm,
            by_link=snapshot.phase == "open" and not is_for_others,
        )
        if table.awaits_cut:
            page = self._with_cut(page)
        scene = hand_scene(snapshot, profile.language, profile.suits, profile.deck, self.chosen, any_letters=True)
        deal, view = self.deal, snapshot.view
        if table.error or scene is None or deal is None or view is None:
            return page
        notes = [_(UNRATED[rated.unrated])] if rated.unrated else []
        if rematch_opener:
            line = _("{name} asks for a rematch, and waits a minute.")
            notes.append(line.format(name=isolate_name(rematch_opener)))
        note = self.policy.outcome_note(outcome, profile.language) or " ".join(notes)
        is_over = bool(view.ending)
        # A sealed pack belongs to the next deal.
        page = replace(page, deal=view.deal_number + bool(page.seal))
        line = task_text(snapshot, profile.language, profile.suits, self.chosen)
        if is_over:
            ending = TableLines(snapshot, self.words).ending_reason() if snapshot.is_cut_short and view.winner else ""
            line = " ".join(filter(None, (scene.line, ending, note)))
        is_new_deal = view.result is not None and view.result.deal < page.deal and snapshot.since == 0
        is_fresh = is_new_deal or (view.result is not None and bool(page.seal))
        finished = deal_end(snapshot, profile.language, profile.suits) if is_over or is_fresh else None
        last_trick = deal.last_trick.cards if deal.last_trick and scene.last_trick else ()
        status = "".join(span.text for span in panel.text[: panel.fold])
        target = int(snapshot.rules["target"])
        hand_cards = zip(deal.hand or (), scene.hand, strict=True) if scene.hand else ()
        return replace(
            page,
            says=page.says if page.seal else f"{status.strip()} {note}".strip(),
            is_mine=page.is_mine or (scene.is_my_turn and not is_over),
            events=() if is_over or page.seal else seat_events(snapshot, self.words),
            takes=taker_text(snapshot, self.words),
            end=game_end(table, snapshot, self.words, rated),
            log=deal_log(table, snapshot, self.words),
            finished_log=finished_log(table, snapshot, self.words) if finished and not is_over else None,
            news="" if is_over or snapshot.since else cut_news(snapshot, self.words),
            line=line,
            hint="" if self.chosen == RESIGN else shown_hint_text(self.hint, self.words),
            advised=() if self.chosen == RESIGN else advised_parts(self.hint, snapshot, self.words),
            target=scene.target,
            has_row=bool(snapshot.rules.get("signals")) or snapshot.rules.get("declare", "none") != "none",
            target_about="" if snapshot.is_duplicate else target_about(profile.language, snapshot.kind, target),
            sides=self._sides(scene, deal),
            sitting=() if is_over else self._players(deal),
            trick=self._page_cards(scene.trick, (card.seat for card in deal.trick)) if scene.trick else (),
            last_trick=self._page_cards(scene.last_trick, (card.seat for card in last_trick)) if last_trick else (),
            last_title=scene.last_title,
            stock=scene.stock.size if scene.stock else 0,
            drawn=self._page_cards(scene.drawn, [snapshot.seat or 0] * len(scene.drawn)),
            drawn_title=scene.drawn_title,
            middle=self._piles(scene.middle, None),
            hand=tuple(self._tap_card(card, code, card.light) for code, card in hand_cards),
            packets=self._piles(scene.packets, snapshot.seat),
            count=deal_count(snapshot, self.words) if finished else None,
            tally_title=_("deal {number}").format(number=finished.number) if finished else "",
            end_trick=self._page_cards(finished.trick, finished.seats) if finished else (),
            results=results,
            results_label=results_label,
            resign="" if is_over else actions.table(snapshot.code, "draft", snapshot.version, RESIGN),
            # Others still have to play the cards of a duplicate, so it has no replay yet.
            replay=game_id(table) if table.phase == "over" and not table.is_duplicate else "",
        )

    def _with_cut(self, page: HandPage) -> HandPage:
        """Return the page while a player can cut the pack."""
        cutting, task = self.snapshot.cutting, turn_line(self.snapshot, self.words)
        is_mine = cutting.seat == self.snapshot.seat
        cut = actions.cut(self.snapshot.code, cutting.sealed_at) if is_mine else ""
        # The text for screen readers leaves out the seal's digits, which nobody wants to hear.
        size = len(self.snapshot.kind.pack.codes)
        return replace(page, says=task, line=task, is_mine=is_mine, seal=cutting.seal, cut=cut, pack=size)

    def _sides(self, scene: Scene, deal: DealView) -> tuple[PageSide, ...]:
        """Return both sides. Sides of two players are called "We" and "They"."""
        _, first = self.words.text, (self.snapshot.seat or 0) % 2
        names = [_("We"), _("They")] if scene.sides[0].players else [side.name for side in scene.sides]
        return tuple(
            PageSide(name, side.points, side.notes, side.is_to_move, tricks)
            for name, side, tricks in zip(names, scene.sides, (deal.tricks[first], deal.tricks[1 - first]), strict=True)
        )

    def _tap_card(self, card: Card, code: str | None, light: Light, packet: Packet | None = None) -> TapCard:
        """Return a card or a packet's top card with the payload of a tap on it."""
        number = str(packet.number) if packet else ""
        press, role = "", Role.NONE
        of_packet = self.pressed.get(number)
        pick = of_packet.payload if of_packet and of_packet.role is Role.PICK else ""
        if button := self.pressed.get(code or "") or (None if pick else of_packet):
            press, role = button.payload, button.role
        elif packet and (hold := self._hold_press(packet)):
            press, role = hold, Role.CHOOSE
        elif code and self.playable:
            # The engine refuses a card that cannot be played, and says why.
            press, role = actions.move(self.snapshot.code, self.snapshot.version, f"play {code}"), Role.PLAY
        rank = self.snapshot.kind.pack.ranks.index(code[0]) if code else 0
        size = packet.left if packet else 1
        return TapCard(card.code, self._name(code), light, press, size, number, role, rank, pick)

    def _name(self, code: str | None) -> str:
        return spoken_card(self.words, code) if code else ""

    def _piles(self, piles: tuple[Pile, ...], owner: int | None) -> tuple[TapCard, ...]:
        """Return the packets of an owner, or for None those in the middle. Those with a use for a tap are raised.

        An honour that can only be picked up is dim like any unplayable card: only its own button picks it up.
        """
        cards = []
        for pile, packet in zip(piles, self._packets_of(owner) if piles else (), strict=True):
            light = pile.top.light or ("playable" if self._hold_press(packet) else "")
            if pile.top.light == "playable" and packet.top not in self.playable:
                light = "dim"
            cards.append(self._tap_card(pile.top, packet.top, light, packet))
        return tuple(cards)

    def _packets_of(self, owner: int | None) -> list[Packet]:
        packets = self.deal.packets if isinstance(self.deal, PacketsView) else ()
        return [packet for packet in packets if packet.owner == owner and packet.place != "hand" and packet.left]

    def _hold_press(self, packet: Packet) -> str:
        """Return a tap's payload while the player takes two packets in hand, otherwise an empty string.

        A tap chooses the first packet, or undoes that choice. A tap on a second one is the move.
        """
        snapshot, number = self.snapshot, str(packet.number)
        moves = snapshot.view.moves if snapshot.view and snapshot.is_my_turn else ()
        can_hold = any(number in move.split(" ")[1:] for move in moves if "hold" in move)
        if packet.owner != snapshot.seat or not can_hold:
            return ""
        if self.chosen == number:
            return actions.table(snapshot.code, "draft", snapshot.version)
        if not any(str(other.number) == self.chosen for other in self._packets_of(packet.owner)):
            # The draft can be an open question instead of a choice.
            return actions.table(snapshot.code, "draft", snapshot.version, number)
        return actions.move(snapshot.code, snapshot.version, f"hold {' '.join(sorted((self.chosen, number)))}")

    def _page_cards(self, played_cards: Iterable[PlayedCard], seats: Iterable[int]) -> tuple[PageCard, ...]:
        names, cards = spoken_names(self.words), []
        for played_card, seat in zip(played_cards, seats, strict=True):
            card, name, said, wins = played_card
            cards.append(PageCard(card.code, names[card.code], name, self._relative_seat(seat), said, wins))
        return tuple(cards)

    def _relative_seat(self, seat: int) -> int:
        return (seat - (self.snapshot.seat or 0)) % len(self.snapshot.chairs)

    def _players(self, deal: DealView) -> tuple[PagePlayer, ...]:
        _, drawn_code = self.words.text, self.words.faces.drawn_code
        phrases = self.snapshot.phrases if self.profile.wants_phrases else ()
        phrases_by_seat = {seat: phrase_text(self.profile.language, phrase) for seat, phrase in phrases}
        players, faces = [], choose_portraits(self.snapshot.chairs)
        for seat, chair in enumerate(self.snapshot.chairs):
            is_reader = seat == self.snapshot.seat
            known_cards = () if is_reader else deal.known[seat]
            if self.snapshot.kind.has_dealer:
                dealing = _("You deal the cards") if is_reader else _("deals the cards")
            else:
                dealing = _("You draw first") if is_reader else _("draws first")
            packets = []
            for packet in () if is_reader else self._packets_of(seat):
                code, label = drawn_code(packet.top) if packet.top else "", str(packet.number)
                packets.append(TapCard(code, self._name(packet.top), size=packet.left, label=label))
            players.append(
                PagePlayer(
                    at=self._relative_seat(seat),
                    name=_("you") if is_reader else isolate_name(chair.name) if chair else "…",
                    face=faces[seat],
                    is_robot=chair is not None and chair.is_robot,
                    is_to_move=self.snapshot.turn == seat,
                    dealing=dealing if deal.dealer == seat else "",
                    hidden=0 if is_reader else deal.counts[seat] - len(known_cards),
                    shown=tuple(TapCard(drawn_code(code), self._name(code)) for code in known_cards),
                    packets=tuple(packets),
                    said=phrases_by_seat.get(seat, ""),
                    away=_("away") if chair and chair.person in self.away and not is_reader else "",
                )
            )
        return tuple(sorted(players, key=lambda player: player.at))
