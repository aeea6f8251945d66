"""The layout of a scene: cards, boxes and texts in pixels, in painting order.

The order from the top is points, the others' cards, the mat with the trick, the turn, and the viewer's cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Literal, NamedTuple

from bot.panel_picture import CardStyle
from bot.pictures.canvas import CARD, INNER, MARGIN, SMALL, WIDTH, Canvas, Layout, height_of
from bot.pictures.colours import Colour
from bot.pictures.hand_rows import EASY_CARD, GAP, overlapping_rows, row_step, row_width, separate_rows
from bot.pictures.lettering import drawable_text
from bot.pictures.scene import Card, Holder, Light, Pile, PlayedCard, Scene, Side
from bot.pictures.seats_around import add_seats_around

OPEN_WIDTH = 112  # width of the cards in a known hand of another player
OPEN_STEP = 68  # visible width of each card in a known hand; with less room its cards are smaller

STRIP = 88  # height of the strip with the points
TALL_STRIP = 116  # height of the strip with another line for names or notes
LINE = 50  # height of the line that says what to do or whose turn it is
TITLE = 28  # height of a title

# width of a side's name and notes next to points of two digits, next to three digits, and below the points
BESIDE_POINTS, BESIDE_MANY_POINTS, BELOW_POINTS = 230, 200, 330

POINTS, LONG_POINTS, FRACTION_POINTS = 52, 38, 32  # font sizes of points such as 31, −200 and 4 1/3
MIN_LETTER = 0.4  # average letter width per font size, in a text shrunk as far as possible
TARGET_LETTERS = 10  # letters per line of the target
BACKS_VISIBLE, MIN_BACK_STEP = 74, 4  # visible height of the others' backs, and visible width if there is little room
EDGE = 18  # height of an empty mat

# Widths of the mat's side, which has the previous trick, drawn cards and the stock. The second one is for a trick of
# more than two easy cards.
MAT_SIDE_WIDTH, WIDE_MAT_SIDE_WIDTH = 180, 260

NAME_WIDTH = 130  # width of the others' names
NEW_MARK = 8  # height of the bar above a card that has just been drawn
RAISED = 14  # how far chosen and playable cards are raised
ROW_STEP = 104  # visible height of a row of cards under the next one


class Measures(NamedTuple):
    """Sizes that depend on the card style."""

    card: int  # width of cards in the trick
    opposite: int  # width of the others' packets
    shown: int  # visible height of the others' cards, if some were shown
    packets: int  # visible height of the others' packets
    own: int  # visible height of the viewer's last row, which the picture's edge cuts off
    shown_step: int  # visible width of a card that was shown
    chip: int  # width of a packet's chip
    overhang: int  # how far a chip extends past the packet's right side
    plate: int  # top of the player's name on a played card, relative to the card's lower edge
    below: int  # extra height of the mat for this name


MEASURES: dict[CardStyle, Measures] = {
    # A player's name on the card covers the lower rank but not the suit sign.
    "classic": Measures(
        card=CARD,
        opposite=160,
        shown=BACKS_VISIBLE,
        packets=104,
        own=240,
        shown_step=24,
        chip=88,
        overhang=4,
        plate=-48,
        below=0,
    ),
    # The suit sign is below the rank and reaches far down. The rank is wider than on a classic card.
    "easy": Measures(
        card=EASY_CARD,
        opposite=116,
        shown=118,
        packets=150,
        own=330,
        shown_step=50,
        chip=72,
        overhang=20,
        plate=-24,
        below=8,
    ),
}

COMPACT_MEASURES: dict[CardStyle, Measures] = {
    "classic": MEASURES["classic"]._replace(card=140, own=180),
    "easy": MEASURES["easy"]._replace(card=140, own=250),
}


def lay_out(scene: Scene) -> Layout:
    return _SceneLayout(scene).layout()


class _SceneLayout(Canvas):
    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene
        self.last_trick = scene.last_trick or scene.final_trick
        self.is_easy = scene.deck.style == "easy"
        self.measures = (COMPACT_MEASURES if scene.is_compact else MEASURES)[scene.deck.style]
        self.card_width = self.measures.card
        self.strip = TALL_STRIP if any(map(_needs_tall_strip, scene.sides)) else STRIP
        self.y = self.strip

    def layout(self) -> Layout:
        scene = self.scene
        if scene.is_compact and len(scene.others) == 3:
            add_seats_around(self, scene)
        else:
            self._add_others()
            self._add_table()
        if scene.line:
            colour: Colour = "gold" if scene.is_my_turn else "white"
            self.add_text(scene.line, WIDTH // 2, self.y + LINE // 2, 30, colour, "felt", INNER, "middle")
            self.y += LINE
        self._add_own()
        self._add_strip()
        return Layout(self.y, tuple(self.items))

    def _add_table(self) -> None:
        scene = self.scene
        if scene.tally:
            if scene.final_trick:
                self._add_mat()
                self.y += 14
            self._add_tally()
        elif scene.middle:
            self._add_middle()
        else:
            self._add_mat()

    # Points

    def _add_strip(self) -> None:
        is_tall = self.strip == TALL_STRIP
        self.add_box(0, 0, WIDTH, self.strip, "strip")
        for number, side in enumerate(self.scene.sides):
            is_left = number == 0
            name_x, points_x = (MARGIN, 318) if is_left else (WIDTH - MARGIN, WIDTH - 318)
            anchor: Literal["left", "right"] = "left" if is_left else "right"
            colour: Colour = "gold" if side.is_to_move else "white"
            max_width = _name_width(side)
            if not side.players:
                self.add_text(side.name, name_x, 30, 30, colour, "strip", max_width, anchor)
            for index, name in enumerate(side.players):
                self.add_text(name, name_x, 26 + 34 * index, 26, colour, "strip", max_width, anchor)
            notes, y = " · ".join(side.notes), 94 if is_tall else 66
            self.add_text(notes, name_x, y, 24, "soft", "strip", BELOW_POINTS if is_tall else max_width, anchor)
            points = drawable_text(side.points)
            size = POINTS if len(points) < 4 else LONG_POINTS if len(points) < 5 else FRACTION_POINTS
            self.add_text(points, points_x, 44, size, "white", "strip", 90, "right" if is_left else "left")
        target = wrap(self.scene.target, TARGET_LETTERS)
        for index, text in enumerate(target):
            size, y = 22 if len(target) < 2 else 18, 46 + 13 * (2 * index + 1 - len(target))
            self.add_text(text, WIDTH // 2, y, size, "soft", "strip", 80, "middle")

    # The others

    def _add_others(self) -> None:
        """Add the others, each with a name, a hand and packets. The cards nearest to the mat are tucked under it."""
        self.y += 14
        for holder in self.scene.others:
            self.add_text(holder.name, MARGIN, self.y + 36, 26, "white", "felt", NAME_WIDTH)
            left = MARGIN + (NAME_WIDTH + MARGIN if holder.name else 0)
            room = WIDTH - left - 2 * MARGIN - self._add_others_packets(holder.packets)
            width = _other_card_width(holder, room)
            visible = self.measures.shown if any(card.code for card in holder.cards) else BACKS_VISIBLE
            height = (self.measures.packets if holder.packets else visible) * width // SMALL
            x = left
            steps = _card_steps(holder.cards, room, self.measures.shown_step, width)
            for card, step in zip(holder.cards, steps, strict=True):
                self._add_card(card, x, self.y, width, height)
                x += step
            self.y += height
            if holder is not self.scene.others[-1]:
                self.y += 10

    def _add_others_packets(self, packets: Sequence[Pile]) -> int:
        """Add another player's packets on the right. Return their width."""
        card_width = self.measures.opposite
        step = card_width + 14 if len(packets) < 3 else 100
        width = card_width + (len(packets) - 1) * step if packets else 0
        for number, packet in enumerate(packets):
            x = WIDTH - MARGIN - width + number * step
            self._add_packet(packet, x, self.y, card_width, self.measures.packets)
        return width

    # The mat

    def _add_mat(self) -> None:
        """Add the mat. The most important cards, usually the trick, are large. The rest goes to the side."""
        scene, top = self.scene, self.y
        tricks = [("", scene.trick), (scene.last_title, self.last_trick), (scene.drawn_title, scene.drawn)]
        main, *side = [(title, trick) for title, trick in tricks if trick] or [("", ())]
        if self.is_easy and len(main[1]) > 2:
            # Easy cards must not cover each other's suit signs, so the trick needs the whole mat.
            side = []
        is_wide = self.is_easy and any(len(trick) > 2 for _title, trick in side)
        side_width = WIDE_MAT_SIDE_WIDTH if is_wide else MAT_SIDE_WIDTH
        # The cards of the player opposite are tucked under the mat's edge, even if the mat is empty.
        height = EDGE if scene.others else 0
        if main[1]:
            height = height_of(self.card_width) + 28 + self.measures.below
        elif scene.stock:
            height = height_of(SMALL) + TITLE + 28
        if height:
            self.add_box(MARGIN // 2, top, WIDTH - MARGIN, height, "mat", min(26, height // 2))
        y = top + 12
        for title, played in side:
            self._add_small_trick(title, played, y, side_width)
            y += TITLE + height_of(SMALL) + 14
        left, right = MARGIN + (side_width if side or scene.stock else 0), WIDTH - MARGIN
        if scene.stock:
            is_on_right = len(side) > 1
            stock_left = right - MAT_SIDE_WIDTH
            x, right = (stock_left + MARGIN, stock_left) if is_on_right else (MARGIN + 6, right)
            self._add_stock(scene.stock, x, top + height - height_of(SMALL) - TITLE - 14)
        self._add_trick(*main, left, right, top + 14)
        self.y += height

    def _add_trick(self, title: str, trick: Sequence[PlayedCard], left: int, right: int, y: int) -> None:
        """Add a trick's cards in order of play, with the players' names. The winning card has a golden frame."""
        if not trick:
            return
        is_over = trick is self.last_trick
        room = right - left
        step = min(self.card_width + 14, (room - self.card_width) // max(1, len(trick) - 1))
        x = left + (room - self.card_width - (len(trick) - 1) * step) // 2
        for number, played_card in enumerate(trick):
            card_x = x + number * step
            if played_card.wins:
                self._add_frame(card_x, y, self.card_width)
            light: Light = "dim" if is_over and not played_card.wins else ""
            self._add_card(played_card.card._replace(light=light), card_x, y, self.card_width)
        for number, played_card in enumerate(trick):
            colour: Colour = "gold" if played_card.wins else "strip"
            is_last = number == len(trick) - 1
            width = self.card_width if is_last else min(step - 6, self.card_width)
            plate_y = y + height_of(self.card_width) + self.measures.plate
            self._add_chip(played_card.by, x + number * step, plate_y, width, colour)
            if played_card.said:
                # On a classic card the signal covers the lower part. An easy card has its suit sign there, so the
                # signal is on its upper edge.
                signal_y = y - 24 if self.is_easy else y + height_of(self.card_width) - 90
                self._add_chip(f"{played_card.said}!", x + number * step, signal_y, width, "gold")
        if title:
            self._add_chip(title, x + (len(trick) - 1) * step + self.card_width - 180, y - 4, 196, "strip")

    def _add_small_trick(self, title: str, trick: Sequence[PlayedCard], y: int, width: int) -> None:
        self.add_text(title, MARGIN + 6, y + 12, 22, "soft", "mat", 168)
        step = min(SMALL + 4, (width - 16 - SMALL) // max(1, len(trick) - 1))
        for number, played_card in enumerate(trick):
            x = MARGIN + 6 + number * step
            if played_card.wins and len(trick) > 1:
                self.add_box(x - 4, y + TITLE - 4, SMALL + 8, height_of(SMALL) + 8, "gold", 10)
            self._add_card(played_card.card, x, y + TITLE, SMALL)

    def _add_stock(self, stock: Pile, x: int, y: int) -> None:
        self.add_text(stock.label, x, y + 12, 22, "soft", "mat", 168)
        for shift in range(min(3, stock.size)):
            self._add_card(stock.top, x + 3 * shift, y + TITLE - 3 * shift, SMALL)
        self.add_text(str(stock.size), x + SMALL + 20, y + TITLE + height_of(SMALL) // 2, 40, "white", "mat", 70)

    def _add_middle(self) -> None:
        """Add the packets on the table, in two rows like their buttons."""
        width, gap = 104, 16
        height = 2 * height_of(width) + 3 * gap
        self.add_box(MARGIN // 2, self.y, WIDTH - MARGIN, height, "mat", 26)
        left = (WIDTH - 4 * width - 3 * gap) // 2
        for packet in self.scene.middle:
            row, column = divmod(int(packet.label) - 1, 4)
            x, y = left + column * (width + gap), self.y + gap + row * (height_of(width) + gap)
            self._add_packet(packet, x, y, width)
        self.y += height

    def _add_tally(self) -> None:
        lines, row = self.scene.tally, 52
        self.add_text(self.scene.tally_title, WIDTH // 2, self.y + TITLE // 2, 26, "soft", "felt", INNER, "middle")
        self.y += TITLE + 8
        self.add_box(MARGIN // 2, self.y, WIDTH - MARGIN, len(lines) * row + 28, "mat", 26)
        for number, line in enumerate(lines):
            self.add_tally_line(line, self.y + 14 + row * number + row // 2, 34)
        self.y += len(lines) * row + 28

    # The viewer's cards

    def _add_own(self) -> None:
        """Add the viewer's cards in the order of the buttons, packets last, in as many rows as they need."""
        slots: list[Card | Pile] = [*self.scene.hand, *self.scene.packets]
        if not slots:
            self.y += MARGIN
            return
        if not self.scene.hand and len(slots) > 2:
            # Packets without a hand, to choose from: all side by side.
            width, rows = (INNER + GAP) // len(slots) - GAP, [slots]
        else:
            width, rows = separate_rows(slots) if self.is_easy else (CARD, overlapping_rows(slots))
        row_height = height_of(width) + RAISED + 2 if self.is_easy else ROW_STEP
        self.y += RAISED
        for row in rows[:-1]:
            self._add_row(row, width)
            self.y += row_height
        self._add_row(rows[-1], width)
        self.y += min(height_of(width) + MARGIN, self.measures.own)

    def _add_row(self, row: Sequence[Card | Pile], width: int) -> None:
        step = min(width + GAP, row_step(row, width))
        x = (WIDTH - row_width(row, step, width)) // 2
        for slot in row:
            if isinstance(slot, Pile):
                self._add_packet(slot, x, self.y, width, label_at=54)
                x += width + GAP
            else:
                y = self.y - (RAISED if slot.light in ("playable", "chosen") else 0)
                if slot.is_new:
                    self.add_box(x + 4, y - NEW_MARK - 2, min(step, width) - 8, NEW_MARK, "gold", NEW_MARK // 2)
                self._add_card(slot, x, y, width)
                x += step

    # Parts

    def _add_chip(self, text: str, x: int, y: int, width: int, colour: Colour) -> None:
        if not text:
            return
        self.add_box(x + 8, y, width - 16, 38, colour, 19)
        ink: Colour = "ink" if colour == "gold" else "white"
        self.add_text(text, x + width // 2, y + 19, 24, ink, colour, width - 36, "middle")

    def _add_frame(self, x: int, y: int, width: int) -> None:
        self.add_box(x - 7, y - 7, width + 14, height_of(width) + 14, "gold", 20)

    def _add_card(self, card: Card, x: int, y: int, width: int, visible_height: int = 0) -> None:
        """Add a card. If ``visible_height`` is 0, all of it is visible."""
        if card.light == "chosen":
            self._add_frame(x, y, width)
        self.add_card(card.code, x, y, width, visible_height, is_dim=card.light == "dim")

    def _add_packet(
        self, packet: Pile, x: int, y: int, width: int, visible_height: int = 0, label_at: int = 40
    ) -> None:
        """Add a packet: the lower cards stick out, and a chip has its name or number of cards."""
        for shift in range(min(packet.size, 4) - 1, 0, -1):
            self._add_card(Card(), x + 5 * shift, y - 4 * shift, width, visible_height)
        self._add_card(packet.top, x, y, width, visible_height)
        # The chip is on the right, because the index on the left must stay visible. A back has no index. Its chip is
        # on the left, because packets overlap on the right.
        chip = self.measures.chip
        chip_x = x + width + self.measures.overhang - chip if packet.top.code else x - 4
        self._add_chip(packet.label or f"×{packet.size}", chip_x, y + label_at - 26, chip, "strip")


def _name_width(side: Side) -> int:
    return BESIDE_POINTS if len(side.points) < 3 else BESIDE_MANY_POINTS


def _needs_tall_strip(side: Side) -> bool:
    """Return whether partners or long notes need another line below the points."""
    return bool(side.players) or MIN_LETTER * 24 * len(" · ".join(side.notes)) > _name_width(side)


def _other_card_width(holder: Holder, room: int) -> int:
    """Return the width of another player's cards. A known hand gets larger cards if there is room."""
    is_open = bool(holder.cards) and not holder.packets and all(card.code for card in holder.cards)
    return OPEN_WIDTH if is_open and OPEN_WIDTH + (len(holder.cards) - 1) * OPEN_STEP <= room else SMALL


def _card_steps(cards: Sequence[Card], room: int, min_visible: int, width: int) -> list[int]:
    """Return the distance from each card to the next.

    If room is short, backs overlap more, so that ``min_visible`` pixels of each shown card stay visible if possible.
    """
    step = min(width - 20, (room - width) // max(1, len(cards) - 1))
    shown_count = sum(bool(card.code) for card in cards)
    back_count = len(cards) - shown_count
    if step >= min_visible or not shown_count or not back_count:
        return [step] * len(cards)
    visible_width = max(step, min(min_visible, (room - width - MIN_BACK_STEP * back_count) // shown_count))
    back_step = max(0, room - width - visible_width * shown_count) // max(1, back_count - 1)
    return [visible_width if card.code else back_step for card in cards]
