"""The state of a hand's widget: a panel with its scene as JSON of at most 1,024 bytes.

Limit: core.telegram.org/bots/api/methods/editmessagewidgetdata. `hand.js` draws the state. It has only what the panel
and its picture show, so it has no hidden card.
"""

import json
from collections.abc import Iterable
from os.path import commonprefix
from typing import Any

from bot.panel import Button, Panel
from bot.panel_picture import Live
from bot.pictures.scene import Card, Pile, PlayedCard, Scene
from bot.words.wording import IN_FRENCH

LONGEST_STATE = 1_024  # bytes
SHORT_NAME = 8  # letters of a name in a state that is too long
ISOLATES = str.maketrans("", "", "\u2066\u2067\u2068\u2069")
FACE_DOWN = "."
LIGHTS = {"": "", "playable": "p", "dim": "d", "chosen": "c"}
ITALIAN = {"D": "d", "C": "c", "S": "s", "B": "b"}  # the signs of Italian suits have small letters


def hand_state(panel: Panel) -> str | None:
    """Return the state; None without a scene, or if it is too long.

    A state that is too long loses its less important parts first: the previous trick, then the ends of names, then the
    text after its first line.
    """
    if panel.picture is None or not isinstance(panel.picture.subject, Scene):
        return None
    state = _State(panel, panel.picture.subject, panel.picture.live).build()
    for shorten in (_keep_all, _drop_earlier_cards, _shorten_names, _drop_text):
        shorten(state)
        if text := _encode(state):
            return text
    return None


def has_move(state: str, payload: str) -> bool:
    """Return whether a state has a card, packet or button with this payload."""
    return bool(state) and payload in moves_of(json.loads(state))


def moves_of(fields: dict[str, Any]) -> list[str]:
    """Return the payloads of a state's cards, packets and buttons."""
    taps = [tap for _card, *move in fields["hand"] for tap in move]
    taps += [tap for _card, _size, _label, *move in (*fields["middle"], *fields["packets"]) for tap in move]
    taps += [button[1] for row in fields["rows"] for button in row]
    return [fields["prefix"] + tap for tap in taps]


def with_toast(state: str, toast: str) -> str:
    """Return a state with a short text for the person. The state can be empty.

    If they are too long together, the state loses its previous trick and the ends of names. Then the text is cut. A
    state that has no room even then is returned alone.
    """
    fields = json.loads(state) if state else {}
    for shorten in (_keep_all, *((_drop_earlier_cards, _shorten_names) if fields else ())):
        shorten(fields)
        if toast and (text := _encode({**fields, "toast": toast})):
            return text
    while toast := toast[: len(toast) // 2]:
        if text := _encode({**fields, "toast": toast}):
            return text
    return state


def _encode(state: dict[str, Any]) -> str | None:
    """Return the state as JSON, or None if it is too long."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return text if len(text.encode()) <= LONGEST_STATE else None


class _State:
    def __init__(self, panel: Panel, scene: Scene, live: Live | None) -> None:
        self.panel, self.scene, self.live = panel, scene, live
        self.names: list[str] = []
        buttons = [button for row in panel.rows for button in row if button.kind in ("press", "aside")]
        # Each payload keeps at least its last letter.
        self.prefix = commonprefix([button.payload[:-1] for button in buttons])  # noqa: RUF071 - these are no paths
        visible_codes = {card.code for card in (*scene.hand, *(pile.top for pile in (*scene.packets, *scene.middle)))}
        moves: dict[str, list[Button]] = {}
        for button in buttons:
            code = IN_FRENCH.get(button.about, "") if scene.italian_as_french else button.about
            if code in visible_codes:
                moves.setdefault(code, []).append(button)
        # A card with two moves has a button for each.
        self.taps = {
            code: self._end(buttons_of_card[0]) for code, buttons_of_card in moves.items() if len(buttons_of_card) == 1
        }
        self.tapped = {buttons_of_card[0] for buttons_of_card in moves.values() if len(buttons_of_card) == 1}

    def build(self) -> dict[str, Any]:
        scene, panel = self.scene, self.panel
        text = "".join(span.text for span in panel.text[: panel.fold])
        earlier_cards = [[scene.last_title, self._played(scene.last_trick)]] if scene.last_trick else []
        earlier_cards += [[scene.last_title, self._played(scene.final_trick)]] if scene.final_trick else []
        earlier_cards += [[scene.drawn_title, self._played(scene.drawn)]] if scene.drawn else []
        middle = [*scene.middle, *([scene.stock] if scene.stock else [])]
        rows = [[self._button(button) for button in row if self._is_shown(button)] for row in panel.rows]
        return {
            "text": _plain(text).strip(),
            "foot": _plain(panel.plain).rpartition("\n")[2],
            "sides": [
                [_plain(side.name), side.points, ", ".join(side.notes), int(side.is_to_move)] for side in scene.sides
            ],
            "target": scene.target,
            "others": [
                part
                for other_hand in scene.others
                for part in (
                    [_plain(other_hand.name), [self._card(card) for card in other_hand.cards]],
                    ["", [self._card(pile.top) for pile in other_hand.packets]],
                )
                if part[1]
            ],
            "middle": [self._pile(pile) for pile in middle],
            "packets": [self._pile(pile) for pile in scene.packets],
            "trick": self._played(scene.trick),
            "more": earlier_cards,
            "tally": [[line.label, *line.figures] for line in scene.tally],
            "hand": [[self._card(card), *self._tap(card)] for card in scene.hand],
            "look": self._look(),
            "clock": self._clock(),
            "rows": [row for row in rows if row],
            "prefix": self.prefix,
            "names": self.names,
        }

    def _look(self) -> str:
        """Return the classes of the widget, as in `hand.css`."""
        is_large = self.live is not None and self.live.is_large
        return " ".join(["easy"] * (self.scene.deck.style == "easy") + ["large"] * is_large)

    def _clock(self) -> list[Any]:
        """Return the name of the time for a move, its seconds, and the Unix time of its end if the clock runs."""
        if self.live is None or not self.live.clock:
            return []
        ends = [] if self.live.ends_at is None else [self.live.ends_at]
        return [self.live.clock, self.live.seconds, *ends]

    def _end(self, button: Button) -> str:
        return button.payload.removeprefix(self.prefix)

    def _is_shown(self, button: Button) -> bool:
        return button.kind in ("press", "aside") and button not in self.tapped

    def _button(self, button: Button) -> list[str]:
        return [_plain(button.label), self._end(button), *([button.style] if button.style else [])]

    def _tap(self, card: Card) -> list[str]:
        return [self.taps[card.code]] if card.code in self.taps else []

    def _pile(self, pile: Pile) -> list[Any]:
        return [self._card(pile.top), pile.size, _plain(pile.label), *self._tap(pile.top)]

    def _card(self, card: Card, *, wins: bool = False) -> str:
        code = card.code or FACE_DOWN
        if self.scene.deck.suits == "italian" and card.code:
            code = code[0] + ITALIAN[code[1]]
        return code + LIGHTS[card.light] + ("n" if card.is_new else "") + ("w" if wins else "")

    def _played(self, cards: Iterable[PlayedCard]) -> list[list[Any]]:
        taps = []
        for card in cards:
            name = _plain(card.by)
            if name not in self.names:
                self.names.append(name)
            drawn_card = [self._card(card.card, wins=card.wins), self.names.index(name)]
            taps.append([*drawn_card, card.said] if card.said else drawn_card)
        return taps


def _plain(text: str) -> str:
    return text.translate(ISOLATES)


def _keep_all(_state: dict[str, Any]) -> None:
    pass


def _drop_earlier_cards(state: dict[str, Any]) -> None:
    state["more"] = []


def _shorten_names(state: dict[str, Any]) -> None:
    state["names"] = [name[:SHORT_NAME] for name in state["names"]]
    for side in state["sides"]:
        side[0] = side[0][: 2 * SHORT_NAME]


def _drop_text(state: dict[str, Any]) -> None:
    state["text"] = state["text"].partition("\n")[0]
    state["others"] = []
