"""Invariants that every kill must preserve: functions of a `StateAtRest` that raise `Disagreement`."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Protocol

from bot.delivery.message_state import MessageState
from bot.delivery.surface_names import Hand
from bot.delivery.surface_panels import draw_surface
from bot.delivery.table_sync import NO_EXTRAS
from bot.features.daily.feature import DailyPolicy
from bot.features.duels.feature import DuelPolicy
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.panels.drafts import Draft
from bot.panels.hand_buttons import VOLO_WITH
from bot.store.entries import Move, decode
from bot.store.log import strip_stamp
from bot.table_policy import ORDINARY, TablePolicy
from bot.tables.table import Table
from bot.viewers import Viewer
from tests.kills.groups import ExpectedMessage

Moves = Mapping[str, Counter[tuple[str, str]]]
"""Moves by table: how often each person made or pressed each move."""

CardOffers = Mapping[str, list[set[str]]]
"""The chair buttons on each card of an open challenge, by table. The oldest card comes first."""


class Disagreement(AssertionError):
    """A broken invariant."""


class Screen(Protocol):
    """The messages that people see, as invariants read them."""

    messages: dict[str, dict[int, dict[str, Any]]]

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        """Return the bot's messages about a table in a person's private chat."""

    def buttons(self, person: str) -> list[tuple[int, str]]:
        """Return message and payload of the buttons for moves and table actions in a person's private chat."""

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        """Return whether a message has this picture."""

    def text(self, message: dict[str, Any]) -> str:
        """Return a message's text."""

    def complaints(self) -> list[str]:
        """Return the platform's complaints, such as presses answered too late."""


@dataclass
class StateAtRest:
    """The state once nothing is in progress: the store, the messages, and people's actions.

    ``made_moves`` are the moves in logs and in records of finished games, ``pressed_moves`` all that were pressed,
    ``acknowledged`` the pressed ones that were answered as done. ``changed`` are tables marked as changed. ``at_risk``
    counts messages that were in flight at a kill. ``can_be_duplicated`` names the kinds that the platform cannot
    recognise when they are sent again: "cards", "hands", "boards". ``may_lack_pictures`` is true if texts can be sent
    without their pictures. ``in_groups`` are the messages that groups should contain.
    """

    tables: list[Table]
    changed: Collection[str]
    made_moves: Moves
    pressed_moves: Moves
    acknowledged: Moves
    screen: Screen
    at_risk: int = 0
    can_be_duplicated: Collection[str] = ()
    may_lack_pictures: bool = False
    in_groups: Sequence[ExpectedMessage] = ()


def no_move_is_made_twice(state: StateAtRest) -> None:
    """No press is in a log twice."""
    stamps: Counter[bytes] = Counter()
    for table in state.tables:
        for entry in table.log.entries:
            stamp = entry.partition(b"\t")[2]
            if stamp and isinstance(decode(strip_stamp(entry).decode()), Move):
                stamps[stamp] += 1
    if repeated := [stamp for stamp, count in stamps.items() if count > 1]:
        raise Disagreement(f"made twice: {repeated}")


def no_acknowledged_move_is_lost(state: StateAtRest) -> None:
    """Every acknowledged move is in its table's log, or in the record of its finished game."""
    for code, moves in state.acknowledged.items():
        if code not in state.made_moves:
            raise Disagreement(f"table {code} is lost")
        if lost_moves := moves - state.made_moves[code]:
            raise Disagreement(f"table {code} lost {lost_moves}")


def no_move_comes_from_nowhere(state: StateAtRest) -> None:
    """Every move was pressed."""
    for code, moves in state.made_moves.items():
        if unpressed := moves - state.pressed_moves.get(code, Counter()):
            raise Disagreement(f"table {code} has moves that nobody made: {unpressed}")


def nothing_is_left_to_deliver(state: StateAtRest) -> None:
    if state.changed:
        raise Disagreement(f"tables are still marked as changed: {state.changed}")


def open_tables_offer_their_free_chairs(state: StateAtRest) -> None:
    """The last card of an open table offers the seats that nobody has taken or asked for."""
    cards = _find_challenge_cards(state.screen)
    for table in _find_open_tables(state):
        free = [seat for seat, chair in enumerate(table.chairs) if not chair and seat not in table.asking]
        sit = f"{table.code}:{table.terms_at}:sit"
        chairs = {sit} if len(table.chairs) == 2 else {f"{sit} {seat}" for seat in free}
        offered = cards.get(table.code, [set()])[-1]
        if table.code not in cards or offered != chairs:
            raise Disagreement(f"table {table.code} has chairs {chairs}, and its card offers {offered}")


def hands_offer_the_legal_cards(state: StateAtRest) -> None:
    """The last panel of the player to move offers exactly the legal cards. Others offer none.

    Instead it can ask about a volo with more cards of the suit: with a button for that move, and one that goes back.
    """
    for table, seat, person in _find_hands(state):
        assert table.game
        panels = state.screen.panels(person, table.code)
        if not panels:
            raise Disagreement(f"no panel of table {table.code} for person {person}")
        payloads = [button["payload"] for row in panels[-1]["rows"] for button in row]
        offered = move_payloads(table.code, payloads)
        offered_cards = find_offered_cards(offered)
        legal = {move for move in table.game.legal_moves(seat) if move.startswith("play") and move.count(" ") == 1}
        asks = len(offered) == 2 and any(payload.endswith(" volo") for payload in offered) and offered_cards < legal
        if table.game.turn == seat and legal != offered_cards and not asks:
            raise Disagreement(f"table {table.code}, seat {seat}: legal {sorted(legal)}, shown {sorted(offered_cards)}")
        if table.game.turn != seat and offered_cards:
            raise Disagreement(f"table {table.code}, seat {seat}: cards are offered out of turn")


def pictures_of_hands_match_their_buttons(state: StateAtRest) -> None:
    """The last panel of each player shows the current table, with the choice that its buttons imply.

    On a platform an upload can be late. Its text is then sent alone.
    """
    for table, seat, person in _find_hands(state):
        message = state.screen.panels(person, table.code)[-1]
        offered = move_payloads(table.code, [button["payload"] for row in message["rows"] for button in row])
        drawn_hands = [draw_hand(table, seat, choice) for choice in list_choices(offered)]
        fitting = [panel for panel in drawn_hands if move_payloads(table.code, payloads_of(panel)) == offered]
        if not fitting:
            raise Disagreement(f"table {table.code}, seat {seat}: no panel of version {table.version} offers {offered}")
        if message["picture"] is None and state.may_lack_pictures:
            continue
        if not any(panel.picture and state.screen.has_picture(message, panel.picture.subject) for panel in fitting):
            raise Disagreement(
                f"table {table.code}, seat {seat}: not the picture of version {table.version}: {message}"
            )


class DailyWords(TablePolicy):
    """The texts of the deal of the day. Its hands differ from others in nothing else."""

    own_texts = DailyPolicy.own_texts


class DuelWords(TablePolicy):
    own_texts = DuelPolicy.own_texts


def draw_hand(table: Table, seat: int, choice: str) -> Panel:
    """Return the panel that a seat should see with a partial choice (`bot.panels.drafts`), with the usual settings."""
    message_state = MessageState(draft=Draft(table.oldest_panel(seat), choice))
    policy = DailyWords() if table.day else DuelWords() if table.duel else ORDINARY
    return draw_surface(table, Hand(seat), message_state, Viewer("en", deck="classic"), NO_EXTRAS, None, policy)


def payloads_of(panel: Panel) -> list[str]:
    return [button.payload for row in panel.rows for button in row]


def move_payloads(code: str, payloads: Collection[str]) -> frozenset[str]:
    """Return the payloads that make a move at a table, or a part of one."""
    return frozenset(payload for payload in payloads if payload.startswith((f"1m{code}:", f"1t{code}:draft ")))


def find_offered_cards(payloads: Collection[str]) -> set[str]:
    """Return the moves ``play <card>`` of payloads, with those that first ask a question (`VOLO_WITH`)."""
    moves = [payload.split(":", 2)[2] for payload in payloads if payload.startswith("1m")]
    choices = [payload.rpartition(" ")[2] for payload in payloads if payload.startswith("1t")]
    played = {" ".join(move.split(" ")[:2]) for move in moves if move.startswith("play ")}
    return played | {f"play {choice.removeprefix(VOLO_WITH)}" for choice in choices if choice.startswith(VOLO_WITH)}


def list_choices(offered: Collection[str]) -> set[str]:
    """Return the partial choices of panels that can have these buttons.

    A button makes a move of the whole choice, or adds or removes one item.
    """
    choices = {""}
    for payload in offered:
        parts = payload.rpartition(":")[2].split(" ")
        signal, packets, cards = parts[-1], "".join(parts[1:]), parts[1:]
        if parts[0] == "draft":
            packets, cards = parts[-1], parts[-1].split(",")
        if parts[0] == "exchange":
            # The move can list the cards in a different order from the choice.
            choices |= {",".join(order) for order in permutations(cards)}
        choices |= {signal, packets, ",".join(cards), f"{VOLO_WITH}{parts[1]}" if len(parts) > 1 else ""}
        if signal.startswith(VOLO_WITH):
            choices.add(VOLO_WITH.removesuffix("-"))
        choices |= {packets[:index] + packets[index + 1 :] for index in range(len(packets))}
        choices |= {",".join(cards[:index] + cards[index + 1 :]) for index in range(len(cards))}
    return choices


def boards_show_the_current_state(state: StateAtRest) -> None:
    """A live table has all its messages in each group, with text and picture of the current state.

    If boards can be duplicated, one of two copies can stay outdated. Its text can still be true when its picture is
    not, because texts only list whole tricks.
    """
    messages, remaining = _group_messages_by_table(state), _count_allowed_old_boards(state)
    for expected in state.in_groups:
        if not expected.text:
            continue
        matching = [
            message for message in messages[expected.code] if _is_same_text(state.screen.text(message), expected.text)
        ]
        if not matching:
            texts = [state.screen.text(message) for message in messages[expected.code]]
            raise Disagreement(f"table {expected.code}: no message says {expected.text!r}, only {texts}")
        wrong = [message for message in matching if not _is_consistent(state, message, expected)]
        remaining -= len(wrong)
        if len(wrong) == len(matching) or remaining < 0:
            raise Disagreement(
                f"table {expected.code}: the picture does not match the text: {wrong}, not {expected.subjects};"
                f" all messages: {messages[expected.code]}"
            )


def pictures_in_groups_are_of_their_tables(state: StateAtRest) -> None:
    """Each picture in a group is one that its table has there now, or had when it ended.

    If boards can be duplicated, one of two copies keeps its old text and picture.
    """
    messages, remaining = _group_messages_by_table(state), _count_allowed_old_boards(state)
    for code in {expected.code for expected in state.in_groups}:
        subjects = [subject for message in state.in_groups if message.code == code for subject in message.subjects]
        for message in messages[code]:
            if message["picture"] is None or any(state.screen.has_picture(message, subject) for subject in subjects):
                continue
            remaining -= 1
            if remaining < 0:
                raise Disagreement(f"table {code}: outdated picture {message}, not one of {subjects}")


def results_have_their_pictures(state: StateAtRest) -> None:
    """Each finished deal and game has its result in the group, with a picture."""
    messages = _group_messages_by_table(state)
    for expected in state.in_groups:
        if expected.text or state.may_lack_pictures:
            continue
        if not _find_messages_showing(state, messages[expected.code], expected):
            raise Disagreement(f"table {expected.code}: no message has the picture of {expected.subjects[0]}")


def only_messages_in_flight_are_duplicated(state: StateAtRest) -> None:
    """Only messages that were in flight at a kill are duplicated, and only kinds that the platform cannot recognise."""
    duplicated = count_duplicates(state)
    if duplicated.total() > state.at_risk or duplicated.keys() - set(state.can_be_duplicated):
        raise Disagreement(f"{state.at_risk} messages were at risk, and {dict(duplicated)} are duplicated")


def platforms_have_no_complaints(state: StateAtRest) -> None:
    """Presses are answered in time, and no chat got more messages than its platform allows."""
    if complaints := state.screen.complaints():
        raise Disagreement(f"{len(complaints)} complaints: {complaints[:20]}")


INVARIANTS = (
    no_move_is_made_twice,
    no_acknowledged_move_is_lost,
    no_move_comes_from_nowhere,
    nothing_is_left_to_deliver,
    open_tables_offer_their_free_chairs,
    hands_offer_the_legal_cards,
    pictures_of_hands_match_their_buttons,
    boards_show_the_current_state,
    pictures_in_groups_are_of_their_tables,
    results_have_their_pictures,
    only_messages_in_flight_are_duplicated,
    platforms_have_no_complaints,
)


def check_invariants(state: StateAtRest) -> None:
    for invariant in INVARIANTS:
        invariant(state)


def count_duplicates(state: StateAtRest) -> Counter[str]:
    """Count surplus "hands", "cards" and "boards" (with results)."""
    cards = sum(map(len, _find_challenge_cards(state.screen).values())) - len(_find_open_tables(state))
    hands = sum(max(0, len(state.screen.panels(person, table.code)) - 1) for table, _seat, person in _find_hands(state))
    messages = _group_messages_by_table(state)
    boards = sum(
        max(0, len(_find_messages_showing(state, messages[expected.code], expected)) - 1)
        for expected in state.in_groups
        if expected.subjects
    )
    return +Counter(cards=cards, hands=hands, boards=boards)


def _find_open_tables(state: StateAtRest) -> list[Table]:
    return [table for table in state.tables if table.phase == "open" and not table.awaits_cut]


def _find_hands(state: StateAtRest) -> list[tuple[Table, int, str]]:
    """Return the table, the seat, and the person's id on the platform, for each hand that should exist."""
    return [
        (table, seat, chair.person.partition(":")[2])
        for table in state.tables
        if table.game is not None
        for seat, chair in enumerate(table.chairs)
        if chair and not chair.is_robot
    ]


def _group_messages_by_table(state: StateAtRest) -> dict[str, list[dict[str, Any]]]:
    """Return the bot's messages in groups, by the table they name. Tables without expected messages are left out."""
    messages: dict[str, list[dict[str, Any]]] = {expected.code: [] for expected in state.in_groups}
    for message in _iter_group_messages(state.screen):
        if message["by"] == "bot":
            for code in set(re.findall(r"\b[0-9A-Z]{6}\b", state.screen.text(message))) & messages.keys():
                messages[code].append(message)
    return messages


def _count_allowed_old_boards(state: StateAtRest) -> int:
    """Return how many outdated boards can exist next to the right ones."""
    return state.at_risk if "boards" in state.can_be_duplicated else 0


def _is_consistent(state: StateAtRest, message: dict[str, Any], expected: ExpectedMessage) -> bool:
    """Return whether a message's picture matches its text, or can be missing."""
    if message["picture"] is None and (state.may_lack_pictures or not expected.subjects):
        return True
    return any(state.screen.has_picture(message, subject) for subject in expected.subjects)


def _find_messages_showing(
    state: StateAtRest, messages: Sequence[dict[str, Any]], expected: ExpectedMessage
) -> list[dict[str, Any]]:
    return [
        message
        for message in messages
        if any(state.screen.has_picture(message, subject) for subject in expected.subjects)
    ]


def _is_same_text(screen_text: str, text: str) -> bool:
    """Return whether letters and digits are the same, up to the platform's ellipsis."""
    letters, expected = (re.sub(r"[\W_]", "", string) for string in (screen_text, text))
    return letters == expected or (screen_text.endswith("…") and expected.startswith(letters))


def _iter_group_messages(screen: Screen) -> Iterator[dict[str, Any]]:
    for chat, messages in screen.messages.items():
        if not chat.startswith("@"):
            yield from messages.values()


def _find_challenge_cards(screen: Screen) -> CardOffers:
    cards: dict[str, list[set[str]]] = {}
    for message in _iter_group_messages(screen):
        pressed_payloads = {
            button["payload"][2:]
            for row in message.get("rows", ())
            for button in row
            if button["payload"].startswith("1t")
        }
        # A full table that waits for a cut offers no seats.
        is_open = not any(payload.endswith(":cut") for payload in pressed_payloads)
        if is_open and (
            code := next((text.partition(":")[0] for text in pressed_payloads if text.endswith(":cancel")), "")
        ):
            cards.setdefault(code, []).append({payload for payload in pressed_payloads if ":sit" in payload})
    return cards
