"""Invariants that every kill must preserve: functions of a `StateAtRest` that raise `Disagreement`."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Protocol

from bot.delivery.drawing import draw_surface
from bot.delivery.message_state import MessageState
from bot.delivery.names import Hand
from bot.delivery.table_sync import NO_EXTRAS
from bot.features.daily.feature import DailyPolicy
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.panels.drafts import Draft
from bot.store.entries import Move, decode
from bot.store.log import strip_stamp
from bot.table_policy import ORDINARY, TablePolicy
from bot.tables.table import Table
from bot.viewers import Viewer
from tests.kills.groups import ExpectedMessage

Moves = Mapping[str, Counter[tuple[str, str]]]
"""Moves by table: how often each person made or asked for which move."""

CardOffers = Mapping[str, list[set[str]]]
"""By table, the buttons of each of its challenge cards that has any, oldest first."""


class Disagreement(AssertionError):
    """A broken invariant."""


class Screen(Protocol):
    """The messages that people see, as invariants read them."""

    messages: dict[str, dict[int, dict[str, Any]]]

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        """Return the bot's messages about a table in a person's private chat."""

    def buttons(self, person: str) -> list[tuple[int, str]]:
        """Return message and payload of each button that makes a move."""

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        """Return whether a message has this picture."""

    def text(self, message: dict[str, Any]) -> str:
        """Return a message's text."""

    def complaints(self) -> list[str]:
        """Return the platform's complaints, such as presses answered too late."""


@dataclass
class StateAtRest:
    """The state once nothing is in progress: the store, the messages, and people's actions.

    ``made`` are the moves in logs and in records of finished games, ``asked`` all that were pressed, ``acknowledged``
    the pressed ones that were answered as done. ``changed`` are tables marked as changed. ``at_risk`` counts messages
    that were in flight at a kill. ``may_double`` names the kinds that the platform cannot recognise when they are sent
    again: "cards", "hands", "boards". ``may_lack_pictures`` is true if texts can go without their pictures.
    ``in_groups`` are the messages that groups should contain.
    """

    tables: list[Table]
    changed: Collection[str]
    made: Moves
    asked: Moves
    acknowledged: Moves
    seen: Screen
    at_risk: int = 0
    may_double: Collection[str] = ()
    may_lack_pictures: bool = False
    in_groups: Sequence[ExpectedMessage] = ()


def no_move_is_made_twice(rest: StateAtRest) -> None:
    """No press is in a log twice."""
    stamps: Counter[bytes] = Counter()
    for table in rest.tables:
        for entry in table.log.entries:
            stamp = entry.partition(b"\t")[2]
            if stamp and isinstance(decode(strip_stamp(entry).decode()), Move):
                stamps[stamp] += 1
    if twice := [stamp for stamp, count in stamps.items() if count > 1]:
        raise Disagreement(f"made twice: {twice}")


def no_acknowledged_move_is_lost(rest: StateAtRest) -> None:
    """Every acknowledged move is in its table's log, or in the record of its finished game."""
    for code, moves in rest.acknowledged.items():
        if code not in rest.made:
            raise Disagreement(f"table {code} is lost")
        if lost := moves - rest.made[code]:
            raise Disagreement(f"table {code} lost {lost}")


def no_move_comes_from_nowhere(rest: StateAtRest) -> None:
    """Every move was pressed."""
    for code, moves in rest.made.items():
        if more := moves - rest.asked.get(code, Counter()):
            raise Disagreement(f"table {code} has moves that nobody made: {more}")


def nothing_is_left_to_deliver(rest: StateAtRest) -> None:
    if rest.changed:
        raise Disagreement(f"tables are still marked as changed: {rest.changed}")


def open_tables_offer_their_free_chairs(rest: StateAtRest) -> None:
    """The last card of an open table offers the seats that are neither taken nor asked for."""
    cards = _challenge_cards(rest.seen)
    for table in _open_tables(rest):
        free = [seat for seat, chair in enumerate(table.chairs) if not chair and seat not in table.asking]
        sit = f"{table.code}:{table.terms_at}:sit"
        chairs = {sit} if len(table.chairs) == 2 else {f"{sit} {seat}" for seat in free}
        offered = cards.get(table.code, [set()])[-1]
        if table.code not in cards or offered != chairs:
            raise Disagreement(f"table {table.code} has chairs {chairs}, and offered are {offered}")


def hands_offer_the_legal_cards(rest: StateAtRest) -> None:
    """The last panel of the player to move offers exactly the legal cards. Other panels offer none."""
    for table, seat, person in _hands(rest):
        assert table.game
        panels = rest.seen.panels(person, table.code)
        if not panels:
            raise Disagreement(f"no panel of table {table.code} for person {person}")
        offered = {
            payload.partition(":")[2].partition(":")[2]
            for message, payload in rest.seen.buttons(person)
            if payload.startswith(f"1m{table.code}:") and message == panels[-1]["id"]
        }
        shown = {" ".join(move.split(" ")[:2]) for move in offered if move.startswith("play")}
        legal = {move for move in table.game.legal_moves(seat) if move.startswith("play") and move.count(" ") == 1}
        if table.game.turn == seat and legal != shown:
            raise Disagreement(f"table {table.code}, seat {seat}: legal {sorted(legal)}, shown {sorted(shown)}")
        if table.game.turn != seat and shown:
            raise Disagreement(f"table {table.code}, seat {seat}: cards are offered out of turn")


def pictures_of_hands_match_their_buttons(rest: StateAtRest) -> None:
    """The last panel of each player shows the current table, with the choice that its buttons imply.

    On a platform an upload can be late, and then the text goes alone.
    """
    for table, seat, person in _hands(rest):
        message = rest.seen.panels(person, table.code)[-1]
        offered = move_payloads(table.code, [button["payload"] for row in message["rows"] for button in row])
        drawn = [hand_of(table, seat, choice) for choice in possible_choices(offered)]
        fitting = [panel for panel in drawn if move_payloads(table.code, payloads_of(panel)) == offered]
        if not fitting:
            raise Disagreement(f"table {table.code}, seat {seat}: no panel of version {table.version} offers {offered}")
        if message["picture"] is None and rest.may_lack_pictures:
            continue
        if not any(panel.picture and rest.seen.has_picture(message, panel.picture.subject) for panel in fitting):
            raise Disagreement(
                f"table {table.code}, seat {seat}: not the picture of version {table.version}: {message}"
            )


class DailyWords(TablePolicy):
    """The texts of the deal of the day. Its hands have no other peculiarity."""

    own_texts = DailyPolicy.own_texts


def hand_of(table: Table, seat: int, choice: str) -> Panel:
    """Return the panel that a seat should see with a partial choice (`bot.panels.drafts`), with the usual settings."""
    known = MessageState(draft=Draft(table.oldest_panel(seat), choice))
    policy = DailyWords() if table.day else ORDINARY
    return draw_surface(table, Hand(seat), known, Viewer("en", deck="classic"), NO_EXTRAS, None, policy)


def payloads_of(panel: Panel) -> list[str]:
    return [button.payload for row in panel.rows for button in row]


def move_payloads(code: str, payloads: Collection[str]) -> frozenset[str]:
    """Return the payloads that make a move at a table, or a part of one."""
    return frozenset(one for one in payloads if one.startswith((f"1m{code}:", f"1t{code}:draft ")))


def possible_choices(offered: Collection[str]) -> set[str]:
    """Return the partial choices that fit these payloads, with one item more or less, or as a whole move."""
    found = {""}
    for payload in offered:
        words = payload.rpartition(":")[2].split(" ")
        signal, packets, cards = words[-1], "".join(words[1:]), words[1:]
        if words[0] == "draft":
            packets, cards = words[-1], words[-1].split(",")
        if words[0] == "exchange":
            # The move can list them in another order than they were chosen.
            found |= {",".join(order) for order in permutations(cards)}
        found |= {signal, packets, ",".join(cards)}
        found |= {packets[:at] + packets[at + 1 :] for at in range(len(packets))}
        found |= {",".join(cards[:at] + cards[at + 1 :]) for at in range(len(cards))}
    return found


def boards_show_the_current_state(rest: StateAtRest) -> None:
    """A live table has all its messages in each group, with text and picture of the current state.

    If boards can be doubled, one of two stays as it was. Its text can still be true when its picture is not, because
    texts only list whole tricks.
    """
    about, left = _messages_by_table(rest), _older_boards(rest)
    for expected in rest.in_groups:
        if not expected.text:
            continue
        found = [one for one in about[expected.code] if _is_same_text(rest.seen.text(one), expected.text)]
        if not found:
            there = [rest.seen.text(one) for one in about[expected.code]]
            raise Disagreement(f"table {expected.code}: nothing reads like {expected.text!r}, but {there}")
        wrong = [one for one in found if not _is_consistent(rest, one, expected)]
        left -= len(wrong)
        if len(wrong) == len(found) or left < 0:
            raise Disagreement(
                f"table {expected.code}: not the picture that belongs to its text: {wrong}, not {expected.subjects};"
                f" all there is about it: {about[expected.code]}"
            )


def pictures_in_groups_are_of_their_tables(rest: StateAtRest) -> None:
    """Each picture in a group is one that its table has there now, or had when it ended.

    If boards can be doubled, one of two keeps its old text and picture.
    """
    about, left = _messages_by_table(rest), _older_boards(rest)
    for code in {expected.code for expected in rest.in_groups}:
        subjects = [subject for one in rest.in_groups if one.code == code for subject in one.subjects]
        for message in about[code]:
            if message["picture"] is None or any(rest.seen.has_picture(message, subject) for subject in subjects):
                continue
            left -= 1
            if left < 0:
                raise Disagreement(f"table {code}: a picture of something that was: {message}, not one of {subjects}")


def results_have_their_pictures(rest: StateAtRest) -> None:
    """Each finished deal and game has its result in the group, with a picture."""
    about = _messages_by_table(rest)
    for expected in rest.in_groups:
        if expected.text or rest.may_lack_pictures:
            continue
        if not _messages_showing(rest, about[expected.code], expected):
            raise Disagreement(f"table {expected.code}: no message has the picture of {expected.subjects[0]}")


def only_messages_in_flight_are_doubled(rest: StateAtRest) -> None:
    """Only messages that were in flight at a kill are doubled, and only kinds that the platform cannot recognise."""
    doubled = count_doubles(rest)
    if doubled.total() > rest.at_risk or doubled.keys() - set(rest.may_double):
        raise Disagreement(f"{rest.at_risk} messages were at risk, and doubled are {dict(doubled)}")


def platforms_have_no_complaints(rest: StateAtRest) -> None:
    """Presses are answered in time, and no chat got more messages than its platform allows."""
    if found := rest.seen.complaints():
        raise Disagreement(f"{len(found)} complaints: {found[:20]}")


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
    only_messages_in_flight_are_doubled,
    platforms_have_no_complaints,
)


def check(rest: StateAtRest) -> None:
    """Check all invariants."""
    for invariant in INVARIANTS:
        invariant(rest)


def count_doubles(rest: StateAtRest) -> Counter[str]:
    """Count surplus "hands", "cards" and "boards" (with results)."""
    cards = sum(map(len, _challenge_cards(rest.seen).values())) - len(_open_tables(rest))
    hands = sum(max(0, len(rest.seen.panels(person, table.code)) - 1) for table, _seat, person in _hands(rest))
    about = _messages_by_table(rest)
    boards = sum(
        max(0, len(_messages_showing(rest, about[one.code], one)) - 1) for one in rest.in_groups if one.subjects
    )
    return +Counter(cards=cards, hands=hands, boards=boards)


def _open_tables(rest: StateAtRest) -> list[Table]:
    return [table for table in rest.tables if table.phase == "open"]


def _hands(rest: StateAtRest) -> list[tuple[Table, int, str]]:
    """Return the table, the seat, and the person's id on the platform, for each hand that should exist."""
    return [
        (table, seat, chair.person.partition(":")[2])
        for table in rest.tables
        if table.game is not None
        for seat, chair in enumerate(table.chairs)
        if chair and not chair.is_robot
    ]


def _messages_by_table(rest: StateAtRest) -> dict[str, list[dict[str, Any]]]:
    """Return the bot's messages in groups, by the table they name. Tables without expected messages are left out."""
    about: dict[str, list[dict[str, Any]]] = {expected.code: [] for expected in rest.in_groups}
    for message in _group_messages(rest.seen):
        if message["by"] == "bot":
            for word in set(re.findall(r"\b[0-9A-Z]{6}\b", rest.seen.text(message))) & about.keys():
                about[word].append(message)
    return about


def _older_boards(rest: StateAtRest) -> int:
    """Return how many outdated boards can exist next to the right ones."""
    return rest.at_risk if "boards" in rest.may_double else 0


def _is_consistent(rest: StateAtRest, message: dict[str, Any], expected: ExpectedMessage) -> bool:
    """Return whether a message's picture matches its text, or is rightly missing."""
    if message["picture"] is None and (rest.may_lack_pictures or not expected.subjects):
        return True
    return any(rest.seen.has_picture(message, subject) for subject in expected.subjects)


def _messages_showing(
    rest: StateAtRest, messages: Sequence[dict[str, Any]], expected: ExpectedMessage
) -> list[dict[str, Any]]:
    return [one for one in messages if any(rest.seen.has_picture(one, subject) for subject in expected.subjects)]


def _is_same_text(shown: str, text: str) -> bool:
    """Return whether letters and digits are the same, up to the platform's ellipsis."""
    letters, wanted = (re.sub(r"[\W_]", "", one) for one in (shown, text))
    return letters == wanted or (shown.endswith("…") and wanted.startswith(letters))


def _group_messages(seen: Screen) -> Iterator[dict[str, Any]]:
    for chat, messages in seen.messages.items():
        if not chat.startswith("@"):
            yield from messages.values()


def _challenge_cards(seen: Screen) -> CardOffers:
    cards: dict[str, list[set[str]]] = {}
    for message in _group_messages(seen):
        pressed = {
            button["payload"][2:]
            for row in message.get("rows", ())
            for button in row
            if button["payload"].startswith("1t")
        }
        if code := next((one.partition(":")[0] for one in pressed if one.endswith(":cancel")), ""):
            cards.setdefault(code, []).append({one for one in pressed if ":sit" in one})
    return cards
