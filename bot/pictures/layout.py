"""Where everything of a scene lies: cards, boxes and texts, in pixels of the picture and in the order of painting.

A picture is `WIDTH` pixels wide, twice as many as a phone's screen has points, and as high as it must be. From above:
who plays and how it stands; what the others hold; the mat with the trick; whose turn it is; one's own cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Literal, NamedTuple

from bot.picture import CardStyle
from bot.pictures import cards
from bot.pictures.scene import Card, Holder, Pile, PlayedCard, Scene, Side, TallyLine

WIDTH = 720
MARGIN = 20
INNER = WIDTH - 2 * MARGIN

CARD, SMALL, OPEN = 220, 84, 112
"""How wide cards are: one's own; what is over, and what the others hold; and what they hold where all of it is known.
"""

OPEN_STEP = 68
"""How much must be seen of the left side of what they hold where all of it is known; otherwise it is smaller."""

STRIP, TALL_STRIP, LINE, TITLE = 88, 116, 50, 28
"""How high the strip with the points is, and where partners' names or long notes need a line more."""

BESIDE_POINTS, BESIDE_MANY_POINTS, BELOW_POINTS = 230, 200, 330
"""How wide a side's name and notes may be, beside points of two digits and of three, and below them."""

POINTS, LONG_POINTS = 52, 38
"""How large points are written, and those that are longer than three characters, as −200 is."""

MIN_LETTER = 0.4
"""How wide a letter is on average, of the size that was asked for, where a text is written as small as it may be."""

TARGET_LETTERS = 10
"""How many letters of what is played to stand in a line."""

BACKS_VISIBLE, LEAST_BACK_STEP = 74, 4
"""How much is seen of the others' backs, from above, and of their left side where it is narrow."""

EDGE = 18
"""How high the mat is when nothing lies there."""

SIDE, WIDE_SIDE = 180, 260
"""How wide the mat's sides are, where the last trick lies, what was drawn, and the stock; and for an easy trick of more
cards than two.
"""

TALLY_LABEL = 306
"""How wide what counted may be between its figures: "points with declarations" is, and a bid has room beside."""

NAME = 130
"""How wide their names may be."""

RAISED = 14
"""How far cards stand out that are chosen, or may be played where others may not."""

GAP = 12

MIN_STEP = 46
"""How much of a card's left side must be seen, so that one reads its rank and suit."""

ROW_STEP = 104
"""How much of a row of cards is seen above the row that lies on it."""

EASY_ACROSS, MOST_ACROSS = 5, 6
"""Easy cards do not lie on one another, for their signs are all over them: so many are in a row, and so many where that
saves the third row, without which picture and buttons fit on a phone's screen.
"""

EASY_CARD = 212
"""How wide they are in the trick, and where few are in hand."""


class Measures(NamedTuple):
    """What depends on how cards are drawn.

    ``card`` is how wide those of the trick are, ``opposite`` the others' packets. So much is seen from above: ``shown``
    of the others' cards, ``packets`` of their packets, ``own`` of one's last row, which the picture's edge cuts off.
    ``shown_step`` is how much is to be seen of the left side of a card that was shown. A packet's ``chip`` is so wide,
    and looks over the packet's right side by ``overhang``. ``plate`` is where the name of whoever played a card begins,
    from its lower edge, and the mat is higher by ``below`` for it.
    """

    card: int
    opposite: int
    shown: int
    packets: int
    own: int
    shown_step: int
    chip: int
    overhang: int
    plate: int
    below: int


MEASURES: dict[CardStyle, Measures] = {
    # The name hides the lower rank, and leaves its sign.
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
    # The sign is below the rank and reaches far down, and the rank is wider.
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

Colour = Literal["felt", "mat", "strip", "gold", "sky", "white", "soft", "ink"]


class CardAt(NamedTuple):
    """A card at a place; an empty ``code`` is the back. ``visible`` is how much of it is shown, from above."""

    code: str
    x: int
    y: int
    width: int
    visible: int
    is_dim: bool = False


class Box(NamedTuple):
    """A rectangle, perhaps with round corners."""

    x: int
    y: int
    width: int
    height: int
    colour: Colour
    radius: int = 0


class TextAt(NamedTuple):
    """A line of text, its middle at the height ``y``; cut where it is wider than ``most``."""

    text: str
    x: int
    y: int
    size: int
    colour: Colour
    ground: Colour
    most: int
    anchor: Literal["left", "middle", "right"] = "left"


class CurveAt(NamedTuple):
    """A line through points; ``marks``, one a point, are filled dots where they are True, and rings elsewhere."""

    points: tuple[tuple[int, int], ...]
    width: int
    colour: Colour
    ground: Colour
    marks: tuple[bool, ...] = ()


Item = CardAt | Box | TextAt


class Layout(NamedTuple):
    """A picture's height, and what is painted on the felt, one after the other; curves come last."""

    height: int
    items: tuple[Item, ...]
    curves: tuple[CurveAt, ...] = ()


def height_of(width: int) -> int:
    """How high a card is."""
    return width * cards.HEIGHT // cards.WIDTH


def lay_out(scene: Scene) -> Layout:
    """Where everything of a scene lies."""
    return _SceneLayout(scene).layout()


class Canvas:
    """Puts boxes and texts into a picture, from above; ``y`` is how far it has come."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.y = 0

    def _box(self, x: int, y: int, width: int, height: int, colour: Colour, radius: int = 0) -> None:
        self.items.append(Box(x, y, width, height, colour, radius))

    def _text(
        self,
        text: str,
        x: int,
        y: int,
        size: int,
        colour: Colour,
        ground: Colour,
        most: int,
        anchor: Literal["left", "middle", "right"] = "left",
    ) -> None:
        if text:
            self.items.append(TextAt(text, x, y, size, colour, ground, most, anchor))

    def _tally_line(self, line: TallyLine, y: int, size: int) -> None:
        """One thing that counted, between what each side made of it, in letters of this size."""
        side = (INNER - TALLY_LABEL) // 2
        self._text(line.label, WIDTH // 2, y, 26, "soft", "mat", TALLY_LABEL, "middle")
        for figure, x in zip(line.figures, (MARGIN + side // 2, WIDTH - MARGIN - side // 2), strict=True):
            self._text(figure, x, y, size, "white", "mat", side, "middle")


class _SceneLayout(Canvas):
    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene
        self.is_easy = scene.deck.style == "easy"
        self.measures = MEASURES[scene.deck.style]
        self.card = self.measures.card
        self.strip = TALL_STRIP if any(map(_needs_tall_strip, scene.sides)) else STRIP
        self.y = self.strip

    def layout(self) -> Layout:
        scene = self.scene
        self._others()
        if scene.tally:
            self._tally()
        elif scene.middle:
            self._middle()
        else:
            self._mat()
        self._line()
        self._own()
        self._strip()
        return Layout(self.y, tuple(self.items))

    # How it stands

    def _strip(self) -> None:
        is_tall = self.strip == TALL_STRIP
        self._box(0, 0, WIDTH, self.strip, "strip")
        for number, side in enumerate(self.scene.sides):
            is_left = number == 0
            name_x, points_x = (MARGIN, 318) if is_left else (WIDTH - MARGIN, WIDTH - 318)
            anchor: Literal["left", "right"] = "left" if is_left else "right"
            colour: Colour = "gold" if side.is_to_move else "white"
            most = _name_width(side)
            if not side.players:
                self._text(side.name, name_x, 30, 30, colour, "strip", most, anchor)
            for line, name in enumerate(side.players):
                self._text(name, name_x, 26 + 34 * line, 26, colour, "strip", most, anchor)
            notes, y = " · ".join(side.notes), 94 if is_tall else 66
            self._text(notes, name_x, y, 24, "soft", "strip", BELOW_POINTS if is_tall else most, anchor)
            size = POINTS if len(side.points) < 4 else LONG_POINTS
            self._text(side.points, points_x, 44, size, "white", "strip", 90, "right" if is_left else "left")
        target = wrap(self.scene.target, TARGET_LETTERS)
        for line, text in enumerate(target):
            size, y = 22 if len(target) < 2 else 18, 46 + 13 * (2 * line + 1 - len(target))
            self._text(text, WIDTH // 2, y, size, "soft", "strip", 80, "middle")

    def _line(self) -> None:
        """Whose turn it is, or what is to be done."""
        if self.scene.line:
            colour: Colour = "gold" if self.scene.is_mine else "white"
            self._text(self.scene.line, WIDTH // 2, self.y + LINE // 2, 30, colour, "felt", INNER, "middle")
            self.y += LINE

    # What the others have

    def _others(self) -> None:
        """The cards across the table, the nearest tucked under the mat: a name, a hand and packets each."""
        self.y += 14
        for holder in self.scene.others:
            self._text(holder.name, MARGIN, self.y + 36, 26, "white", "felt", NAME)
            left = MARGIN + (NAME + MARGIN if holder.name else 0)
            room = WIDTH - left - 2 * MARGIN - self._others_packets(holder.packets)
            width = _other_card_width(holder, room)
            height = self._visible_height(holder) * width // SMALL
            x = left
            steps = _card_steps(holder.cards, room, self.measures.shown_step, width)
            for card, step in zip(holder.cards, steps, strict=True):
                self._card(card, x, self.y, width, height)
                x += step
            self.y += height
            if holder is not self.scene.others[-1]:
                self.y += 10

    def _visible_height(self, holder: Holder) -> int:
        """How much is seen of somebody else's cards, from above."""
        if holder.packets:
            return self.measures.packets
        is_shown = any(card.code for card in holder.cards)
        return self.measures.shown if is_shown else BACKS_VISIBLE

    def _others_packets(self, packets: Sequence[Pile]) -> int:
        """Somebody else's packets, on the right; returns how wide they are."""
        across = self.measures.opposite
        step = across + 14 if len(packets) < 3 else 100
        width = across + (len(packets) - 1) * step if packets else 0
        for number, pile in enumerate(packets):
            x = WIDTH - MARGIN - width + number * step
            self._pile(pile, x, self.y, across, self.measures.packets)
        return width

    # The mat

    def _mat(self) -> None:
        """What matters most of what lies there is large, above all the trick; the rest stands at its side."""
        scene, top = self.scene, self.y
        lying = [
            ("", scene.trick),
            (scene.last_title, scene.last_trick),
            (scene.drawn_title, scene.drawn),
        ]
        main, *side = [one for one in lying if one[1]] or [("", ())]
        if self.is_easy and len(main[1]) > 2:
            # Large cards that must not cover one another's signs need all the room.
            side = []
        side_width = WIDE_SIDE if self.is_easy and any(len(played) > 2 for _title, played in side) else SIDE
        # Cards across the table are tucked under its edge, also where nothing lies there.
        height = EDGE if scene.others else 0
        if main[1]:
            height = height_of(self.card) + 28 + self.measures.below
        elif scene.stock:
            height = height_of(SMALL) + TITLE + 28
        if height:
            self._box(MARGIN // 2, top, WIDTH - MARGIN, height, "mat", min(26, height // 2))
        y = top + 12
        for title, played in side:
            self._small_trick(title, played, y, side_width)
            y += TITLE + height_of(SMALL) + 14
        left, right = MARGIN + (side_width if side or scene.stock else 0), WIDTH - MARGIN
        if scene.stock:
            is_on_right = len(side) > 1
            x, right = (right - SIDE + MARGIN, right - SIDE) if is_on_right else (MARGIN + 6, right)
            self._stock(scene.stock, x, top + height - height_of(SMALL) - TITLE - 14)
        self._trick(*main, left, right, top + 14)
        self.y += height

    def _trick(self, title: str, played: Sequence[PlayedCard], left: int, right: int, y: int) -> None:
        """A trick's cards in the order of play, each with who played it; what wins has a golden edge."""
        if not played:
            return
        is_over = played is self.scene.last_trick
        room = right - left
        step = min(self.card + 14, (room - self.card) // max(1, len(played) - 1))
        x = left + (room - self.card - (len(played) - 1) * step) // 2
        for number, one in enumerate(played):
            at = x + number * step
            if one.wins:
                self._frame(at, y, self.card)
            self._card(one.card._replace(light="dim" if is_over and not one.wins else ""), at, y, self.card)
        for number, one in enumerate(played):
            colour: Colour = "gold" if one.wins else "strip"
            is_last = number == len(played) - 1
            width = self.card if is_last else min(step - 6, self.card)
            self._chip(one.by, x + number * step, y + height_of(self.card) + self.measures.plate, width, colour)
            if one.said:
                # On an easy card a sign is where there is room on a classic one.
                above = y - 24 if self.is_easy else y + height_of(self.card) - 90
                self._chip(f"{one.said}!", x + number * step, above, width, "gold")
        if title:
            self._chip(title, x + (len(played) - 1) * step + self.card - 164, y - 4, 180, "strip")

    def _small_trick(self, title: str, played: Sequence[PlayedCard], y: int, width: int) -> None:
        self._text(title, MARGIN + 6, y + 12, 22, "soft", "mat", 168)
        step = min(SMALL + 4, (width - 16 - SMALL) // max(1, len(played) - 1))
        for number, one in enumerate(played):
            self._card(one.card, MARGIN + 6 + number * step, y + TITLE, SMALL)

    def _stock(self, stock: Pile, x: int, y: int) -> None:
        self._text(stock.label, x, y + 12, 22, "soft", "mat", 168)
        for shift in range(min(3, stock.size)):
            self._card(stock.top, x + 3 * shift, y + TITLE - 3 * shift, SMALL)
        self._text(str(stock.size), x + SMALL + 20, y + TITLE + height_of(SMALL) // 2, 40, "white", "mat", 70)

    def _middle(self) -> None:
        """The packets that nobody has taken, in two rows as their buttons are."""
        width, gap = 104, 16
        height = 2 * height_of(width) + 3 * gap
        self._box(MARGIN // 2, self.y, WIDTH - MARGIN, height, "mat", 26)
        left = (WIDTH - 4 * width - 3 * gap) // 2
        for pile in self.scene.middle:
            row, column = divmod(int(pile.label) - 1, 4)
            self._pile(pile, left + column * (width + gap), self.y + gap + row * (height_of(width) + gap), width)
        self.y += height

    def _tally(self) -> None:
        """A deal's score: a line for each thing that counted."""
        lines, row = self.scene.tally, 52
        self._text(self.scene.tally_title, WIDTH // 2, self.y + TITLE // 2, 26, "soft", "felt", INNER, "middle")
        self.y += TITLE + 8
        self._box(MARGIN // 2, self.y, WIDTH - MARGIN, len(lines) * row + 28, "mat", 26)
        for number, line in enumerate(lines):
            y = self.y + 14 + row * number + row // 2
            self._tally_line(line, y, 34)
        self.y += len(lines) * row + 28

    # One's own cards

    def _own(self) -> None:
        """One's cards in the order of the buttons, the packets last; in as many rows as it takes to read them all."""
        slots: list[Card | Pile] = [*self.scene.hand, *self.scene.packets]
        if not slots:
            self.y += MARGIN
            return
        if not self.scene.hand and len(slots) > 2:
            # Packets alone, to choose from: all of them beside one another.
            width, rows = (INNER + GAP) // len(slots) - GAP, [slots]
        else:
            width, rows = _separate_rows(slots) if self.is_easy else (CARD, _overlapping_rows(slots))
        covered = height_of(width) + RAISED + 2 if self.is_easy else ROW_STEP
        self.y += RAISED
        for row in rows[:-1]:
            self._row(row, width)
            self.y += covered
        self._row(rows[-1], width)
        self.y += min(height_of(width) + MARGIN, self.measures.own)

    def _row(self, row: Sequence[Card | Pile], width: int) -> None:
        step = min(width + GAP, _row_step(row, width))
        x = (WIDTH - _row_width(row, step, width)) // 2
        for slot in row:
            if isinstance(slot, Pile):
                self._pile(slot, x, self.y, width, label_at=54)
                x += width + GAP
            else:
                self._card(slot, x, self.y - (RAISED if slot.light in ("playable", "chosen") else 0), width)
                x += step

    # What all of it is made of

    def _chip(self, text: str, x: int, y: int, width: int, colour: Colour) -> None:
        """A text on a ground of its own, on top of cards; none where there is no text."""
        if not text:
            return
        self._box(x + 8, y, width - 16, 38, colour, 19)
        ink: Colour = "ink" if colour == "gold" else "white"
        self._text(text, x + width // 2, y + 19, 24, ink, colour, width - 36, "middle")

    def _frame(self, x: int, y: int, width: int) -> None:
        self._box(x - 7, y - 7, width + 14, height_of(width) + 14, "gold", 20)

    def _card(self, card: Card, x: int, y: int, width: int, visible: int = 0) -> None:
        if card.light == "chosen":
            self._frame(x, y, width)
        self.items.append(CardAt(card.code, x, y, width, visible or height_of(width), card.light == "dim"))

    def _pile(self, pile: Pile, x: int, y: int, width: int, visible: int = 0, label_at: int = 40) -> None:
        """A packet: the cards below the top one look out, and a chip has its name, or how many they are."""
        for shift in range(min(pile.size, 4) - 1, 0, -1):
            self._card(Card(), x + 5 * shift, y - 4 * shift, width, visible)
        self._card(pile.top, x, y, width, visible)
        # A back has no index that must be seen on its left, and packets overlap on their right.
        chip = self.measures.chip
        at = x + width + self.measures.overhang - chip if pile.top.code else x - 4
        self._chip(pile.label or f"×{pile.size}", at, y + label_at - 26, chip, "strip")


def _name_width(side: Side) -> int:
    """How wide a side's name and notes may be beside its points."""
    return BESIDE_POINTS if len(side.points) < 3 else BESIDE_MANY_POINTS


def _needs_tall_strip(side: Side) -> bool:
    """Whether partners or long notes need a line more than there is beside the points."""
    return bool(side.players) or MIN_LETTER * 24 * len(" · ".join(side.notes)) > _name_width(side)


def _other_card_width(holder: Holder, room: int) -> int:
    """How wide somebody else's cards are: larger where all of them are known and have room, for all of them count."""
    is_open = bool(holder.cards) and not holder.packets and all(card.code for card in holder.cards)
    return OPEN if is_open and OPEN + (len(holder.cards) - 1) * OPEN_STEP <= room else SMALL


def _card_steps(cards: Sequence[Card], room: int, least: int, width: int) -> list[int]:
    """How far from each of somebody else's cards, so wide, the next one lies. Where it is narrow, backs make way for
    cards that were shown, so that ``least`` is seen of each if there is room.
    """
    step = min(width - 20, (room - width) // max(1, len(cards) - 1))
    shown = sum(bool(card.code) for card in cards)
    backs = len(cards) - shown
    if step >= least or not shown or not backs:
        return [step] * len(cards)
    seen = max(step, min(least, (room - width - LEAST_BACK_STEP * backs) // shown))
    hidden = max(0, room - width - seen * shown) // max(1, backs - 1)
    return [seen if card.code else hidden for card in cards]


def _overlapping_rows(slots: Sequence[Card | Pile]) -> list[list[Card | Pile]]:
    """As few rows as there can be with each card's index in sight."""
    for count in range(1, len(slots) + 1):
        rows = _split(slots, -(-len(slots) // count))
        if all(_row_step(row, CARD) >= MIN_STEP for row in rows):
            return rows
    raise AssertionError("a card by itself has room")


def _separate_rows(slots: Sequence[Card | Pile]) -> tuple[int, list[list[Card | Pile]]]:
    """Cards beside one another, as many in each row, larger where they are few; their width and the rows."""
    rows = -(-len(slots) // EASY_ACROSS)
    if len(slots) <= 2 * MOST_ACROSS:
        rows = min(rows, 2)
    across = -(-len(slots) // rows)
    if len(slots) < 4:
        return EASY_CARD, [list(slots)]
    return (INNER + GAP) // (EASY_ACROSS if rows > 2 else max(4, across)) - GAP, _split(slots, across)


def _split(slots: Sequence[Card | Pile], each: int) -> list[list[Card | Pile]]:
    return [list(slots[at : at + each]) for at in range(0, len(slots), each)]


def _row_width(row: Sequence[Card | Pile], step: int, width: int) -> int:
    """How wide a row is whose cards lie so far apart."""
    piles = sum(isinstance(slot, Pile) for slot in row)
    cards = (len(row) - piles) * step
    return cards + piles * (width + GAP) - GAP if piles else cards + width - step


def _row_step(row: Sequence[Card | Pile], width: int) -> int:
    """How far apart a row's cards can lie; packets lie beside one another, after the cards. Negative without room."""
    piles = sum(isinstance(slot, Pile) for slot in row)
    in_hand = len(row) - piles
    if piles:
        room = INNER - piles * (width + GAP) + GAP
        return room // in_hand if in_hand else room
    return (INNER - width) // (in_hand - 1) if in_hand > 1 else width
