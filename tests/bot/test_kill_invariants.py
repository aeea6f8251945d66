"""Each invariant of the kill harness finds a planted fault and accepts a consistent state."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from bot import actions
from bot.panel_picture import Subject
from bot.panels.hand_buttons import VOLO_WITH
from bot.store import Store
from bot.store.entries import FirstDeal, Move, Open, Sit
from bot.tables.table import Table
from engine import GAMES
from engine.options import RELEASE, resolve
from tests.bot.fake_platform import FakePlatform, code_of, open_worker, seat_players
from tests.kills import invariants
from tests.kills.groups import ExpectedMessage, expected_messages
from tests.kills.harness import count_moves_in_log
from tests.kills.invariants import Disagreement, StateAtRest, check_invariants, count_duplicates, draw_hand, payloads_of

Plant = Callable[[StateAtRest], StateAtRest]


class Screen:
    """A screen with the correct messages of some tables."""

    def __init__(self, tables: list[Table], expected_messages: list[ExpectedMessage]) -> None:
        self.messages: dict[str, dict[int, dict[str, Any]]] = {"1": {}}
        self.complaint_texts: list[str] = []
        for table in tables:
            if table.game is None:
                chairs = [
                    actions.sit(table.code, table.terms_at, seat)
                    for seat, chair in enumerate(table.chairs)
                    if not chair
                ]
                self.show("1", f"challenge {table.code}", [*chairs, f"1t{table.code}:cancel"])
                continue
            for seat, chair in enumerate(table.chairs):
                assert chair
                panel = draw_hand(table, seat, "")
                assert panel.picture
                self.show(
                    f"@{chair.person.partition(':')[2]}",
                    f"hand {table.code}",
                    payloads_of(panel),
                    panel.picture.subject,
                )

        for expected in expected_messages:
            picture = expected.subjects[0] if expected.subjects else None
            self.show("1", expected.text or f"result {expected.code}", [], picture)

    def show(self, chat: str, text: str, payloads: list[str], picture: Subject | None = None) -> None:
        messages = self.messages.setdefault(chat, {})
        number = 1 + sum(map(len, self.messages.values()))
        rows = [[{"payload": payload}] for payload in payloads]
        digest = picture and picture.digest
        messages[number] = {"id": number, "by": "bot", "text": text, "rows": rows, "picture": digest}

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        return bool(message["picture"] == subject.digest)

    def text(self, message: dict[str, Any]) -> str:
        return str(message["text"])

    def complaints(self) -> list[str]:
        return self.complaint_texts

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        return [message for message in self.messages[f"@{person}"].values() if code in message["text"]]

    def buttons(self, person: str) -> list[tuple[int, str]]:
        messages = self.messages[f"@{person}"].items()
        return [
            (number, button["payload"]) for number, message in messages for row in message["rows"] for button in row
        ]


@pytest.fixture
async def rest(store: Store) -> AsyncIterator[StateAtRest]:
    """Return the state of a table for two after one move, an open table for four, and a finished game."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        finished = await worker.room.table(await code_of(worker, (await seat_players(worker, fake, "spades"))[0]))
        await worker.room.make_move(finished.code, "paper:1", finished.version, "resign", "a resignation")
        await worker.wait_until_idle()
        games = [game async for game in worker.archive.games()]
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        table = await worker.room.table(code)
        assert table.game
        assert table.game.turn is not None
        player = table.chairs[table.game.turn]
        assert player
        move = next(move for move in table.game.legal_moves(table.game.turn) if move.startswith("play"))
        await worker.room.make_move(code, player.person, table.version, move, "a press")
        challenge = await worker.challenges.open_table("tressette", "paper:9", "Ivo", "a challenge", host="paper:100")
        tables = [Table.from_log(code, await store.load(code)) for code in (code, challenge.code)]
        moves = {table.code: count_moves_in_log(table) for table in tables}
        expected = await expected_messages(store, tables, games)
        yield StateAtRest(tables, (), moves, dict(moves), dict(moves), Screen(tables, expected), in_groups=expected)


def screen(rest: StateAtRest) -> Screen:
    assert isinstance(rest.screen, Screen)
    return rest.screen


def has_play_button(message: dict[str, Any]) -> bool:
    return any(":play " in row[0]["payload"] for row in message["rows"])


def hand_to_move(rest: StateAtRest) -> dict[str, Any]:
    """Return the hand message of the player to move."""
    [hand] = [
        message
        for chat, messages in screen(rest).messages.items()
        if chat.startswith("@")
        for message in messages.values()
        if has_play_button(message)
    ]
    return hand


def add_move(moves: invariants.Moves, move: str) -> dict[str, Counter[tuple[str, str]]]:
    code = next(code for code, count in moves.items() if count)
    return {**moves, code: moves[code] + Counter({("paper:1", move): 1})}


def duplicate_log(rest: StateAtRest) -> StateAtRest:
    return replace(rest, tables=[*rest.tables, rest.tables[0]])


def lose_move(rest: StateAtRest) -> StateAtRest:
    return replace(rest, acknowledged=add_move(rest.acknowledged, "play 2D"))


def lose_table(rest: StateAtRest) -> StateAtRest:
    return replace(rest, acknowledged={**rest.acknowledged, "GONE42": Counter()})


def invent_move(rest: StateAtRest) -> StateAtRest:
    return replace(rest, made_moves=add_move(rest.made_moves, "play 2D"))


def leave_table_changed(rest: StateAtRest) -> StateAtRest:
    return replace(rest, changed=[rest.tables[0].code])


def challenge_message(rest: StateAtRest) -> dict[str, Any]:
    return next(message for message in screen(rest).messages["1"].values() if message["text"].startswith("challenge"))


def remove_challenge(rest: StateAtRest) -> StateAtRest:
    del screen(rest).messages["1"][challenge_message(rest)["id"]]
    return rest


def remove_chair_button(rest: StateAtRest) -> StateAtRest:
    card = challenge_message(rest)
    del card["rows"][0]
    return rest


def remove_hand(rest: StateAtRest) -> StateAtRest:
    screen(rest).messages["@1"].clear()
    return rest


def remove_play_buttons(rest: StateAtRest) -> StateAtRest:
    hand = hand_to_move(rest)
    hand["rows"] = [row for row in hand["rows"] if ":play " not in row[0]["payload"]]
    return rest


def add_play_button(rest: StateAtRest) -> StateAtRest:
    hand = hand_to_move(rest)
    first = next(row[0]["payload"] for row in hand["rows"] if ":play " in row[0]["payload"])
    hand["rows"].append([{"payload": f"{first.rpartition(' ')[0]} XX"}])
    return rest


def offer_cards_out_of_turn(rest: StateAtRest) -> StateAtRest:
    for chat, messages in screen(rest).messages.items():
        for message in messages.values():
            if chat.startswith("@") and not has_play_button(message):
                message["rows"] = hand_to_move(rest)["rows"]
                return rest
    raise AssertionError


def duplicate_hand(rest: StateAtRest) -> StateAtRest:
    hand = hand_to_move(rest)
    chat = next(chat for chat, messages in screen(rest).messages.items() if hand in messages.values())
    screen(rest).show(chat, hand["text"], [row[0]["payload"] for row in hand["rows"]])
    list(screen(rest).messages[chat].values())[-1]["picture"] = hand["picture"]
    return replace(rest, can_be_duplicated=("hands",))


def remove_hand_picture(rest: StateAtRest) -> StateAtRest:
    hand_to_move(rest)["picture"] = None
    return rest


def show_older_hand_picture(rest: StateAtRest) -> StateAtRest:
    """Show the hand pictures from before the last move."""
    table = rest.tables[0]
    before = Table.from_log(table.code, table.log._replace(entries=table.log.entries[:-1]))
    for seat, chair in enumerate(table.chairs):
        picture = draw_hand(before, seat, "").picture
        assert chair
        assert picture
        screen(rest).panels(chair.person.partition(":")[2], table.code)[-1]["picture"] = picture.subject.digest
    return rest


def board_message(rest: StateAtRest) -> dict[str, Any]:
    text = next(expected.text for expected in rest.in_groups if expected.text and expected.subjects)
    return next(message for message in screen(rest).messages["1"].values() if message["text"] == text)


def result_message(rest: StateAtRest) -> dict[str, Any]:
    """Return the result of the game, which comes after the results of its deals."""
    return [message for message in screen(rest).messages["1"].values() if message["text"].startswith("result")][-1]


def remove_board(rest: StateAtRest) -> StateAtRest:
    board = board_message(rest)
    del screen(rest).messages["1"][board["id"]]
    return rest


def change_board_text(rest: StateAtRest) -> StateAtRest:
    board_message(rest)["text"] += " Another sentence."
    return rest


def remove_board_picture(rest: StateAtRest) -> StateAtRest:
    board_message(rest)["picture"] = None
    return rest


def show_older_board_picture(rest: StateAtRest) -> StateAtRest:
    board_message(rest)["picture"] = "an older picture"
    return rest


def add_older_board(rest: StateAtRest) -> StateAtRest:
    """Add a board with the same text, as within a trick, and an older picture."""
    screen(rest).show("1", board_message(rest)["text"], [])
    list(screen(rest).messages["1"].values())[-1]["picture"] = "an older picture"
    return replace(rest, can_be_duplicated=("boards",))


def show_two_older_boards(rest: StateAtRest) -> StateAtRest:
    """Make the pictures of both boards older, although one of the boards must be correct."""
    return replace(add_older_board(show_older_board_picture(rest)), at_risk=2)


def swap_result_picture(rest: StateAtRest) -> StateAtRest:
    result_message(rest)["picture"] = board_message(rest)["picture"]
    return rest


def remove_result_picture(rest: StateAtRest) -> StateAtRest:
    result_message(rest)["picture"] = None
    return rest


def duplicate_board(rest: StateAtRest) -> StateAtRest:
    board = board_message(rest)
    screen(rest).show("1", board["text"], [])
    list(screen(rest).messages["1"].values())[-1]["picture"] = board["picture"]
    return replace(rest, at_risk=1, can_be_duplicated=("hands", "cards"))


def duplicate_challenge(rest: StateAtRest) -> StateAtRest:
    card = challenge_message(rest)
    screen(rest).show("1", card["text"], [row[0]["payload"] for row in card["rows"]])
    return replace(rest, at_risk=1, can_be_duplicated=("hands",))


def leave_press_open(rest: StateAtRest) -> StateAtRest:
    screen(rest).complaint_texts.append("query 1 is open")
    return rest


FAULTS: list[tuple[Plant, Callable[[StateAtRest], None]]] = [
    (duplicate_log, invariants.no_move_is_made_twice),
    (lose_move, invariants.no_acknowledged_move_is_lost),
    (lose_table, invariants.no_acknowledged_move_is_lost),
    (invent_move, invariants.no_move_comes_from_nowhere),
    (leave_table_changed, invariants.nothing_is_left_to_deliver),
    (remove_challenge, invariants.open_tables_offer_their_free_chairs),
    (remove_chair_button, invariants.open_tables_offer_their_free_chairs),
    (remove_hand, invariants.hands_offer_the_legal_cards),
    (remove_play_buttons, invariants.hands_offer_the_legal_cards),
    (add_play_button, invariants.hands_offer_the_legal_cards),
    (offer_cards_out_of_turn, invariants.hands_offer_the_legal_cards),
    (remove_hand_picture, invariants.pictures_of_hands_match_their_buttons),
    (show_older_hand_picture, invariants.pictures_of_hands_match_their_buttons),
    (remove_board, invariants.boards_show_the_current_state),
    (change_board_text, invariants.boards_show_the_current_state),
    (remove_board_picture, invariants.boards_show_the_current_state),
    (show_older_board_picture, invariants.boards_show_the_current_state),
    (add_older_board, invariants.boards_show_the_current_state),
    (show_two_older_boards, invariants.boards_show_the_current_state),
    (swap_result_picture, invariants.pictures_in_groups_are_of_their_tables),
    (remove_result_picture, invariants.results_have_their_pictures),
    (duplicate_board, invariants.only_messages_in_flight_are_duplicated),
    (duplicate_hand, invariants.only_messages_in_flight_are_duplicated),
    (duplicate_challenge, invariants.only_messages_in_flight_are_duplicated),
    (leave_press_open, invariants.platforms_have_no_complaints),
]


async def test_consistent_state_passes(rest: StateAtRest) -> None:
    check_invariants(rest)
    assert not count_duplicates(rest)


async def test_open_questions_about_signals_pass(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        table = await worker.room.table(await code_of(worker, (await seat_players(worker, fake, "tressette"))[0]))
    state = StateAtRest([table], (), {}, {}, {}, Screen([table], []))
    for choice in ("volo", "busso", f"{VOLO_WITH}{false_volo_card(table)}"):
        for seat, chair in enumerate(table.chairs):
            assert chair
            panel = draw_hand(table, seat, choice)
            assert panel.picture
            person = chair.person.partition(":")[2]
            screen(state).show(f"@{person}", f"hand {table.code}", payloads_of(panel), panel.picture.subject)
        invariants.hands_offer_the_legal_cards(state)
        invariants.pictures_of_hands_match_their_buttons(state)


def false_volo_card(table: Table) -> str:
    """Return a card that the player to move can lead with a volo although the hand has others of its suit."""
    assert table.game
    assert table.game.turn is not None
    payloads = payloads_of(draw_hand(table, table.game.turn, "volo"))
    return next(payload.partition(VOLO_WITH)[2] for payload in payloads if VOLO_WITH in payload)


@pytest.mark.long
@pytest.mark.parametrize(("plant", "invariant"), FAULTS, ids=lambda function: function.__name__)
async def test_planted_fault_is_found(
    rest: StateAtRest, plant: Plant, invariant: Callable[[StateAtRest], None]
) -> None:
    planted = plant(rest)
    with pytest.raises(Disagreement):
        invariant(planted)
    with pytest.raises(Disagreement):
        check_invariants(planted)


async def test_message_in_flight_at_a_kill_can_be_duplicated(rest: StateAtRest) -> None:
    planted = replace(duplicate_hand(rest), at_risk=1)
    check_invariants(planted)
    assert count_duplicates(planted) == Counter(hands=1)


async def test_board_duplicated_at_a_kill_can_stay_older(rest: StateAtRest) -> None:
    """Within a trick, the older board has the correct text and a wrong picture."""
    check_invariants(replace(add_older_board(rest), at_risk=1))


def test_every_invariant_has_a_planted_fault() -> None:
    planted = {invariant for _plant, invariant in FAULTS}
    assert planted == set(invariants.INVARIANTS), "plant a fault in FAULTS for each of tests/kills/invariants.py"


def test_choice_is_recovered_from_buttons_in_any_order() -> None:
    table = table_at_exchange()
    assert table.game
    seat = table.game.turn
    assert seat is not None
    hand = table.game.view(seat).deal
    assert hand
    assert hand.hand
    for count in range(4):
        for cards in permutations(hand.hand[3:6], count):
            offered = invariants.move_payloads(table.code, payloads_of(draw_hand(table, seat, ",".join(cards))))
            fitting = {
                choice
                for choice in invariants.list_choices(offered)
                if invariants.move_payloads(table.code, payloads_of(draw_hand(table, seat, choice))) == offered
            }
            assert ",".join(cards) in fitting


def table_at_exchange() -> Table:
    """Return a Spades table at the exchange, after drawing and bidding."""
    rules = resolve(GAMES["spades"].rules, {}).model_dump()
    chairs = [Sit(seat, f"telegram:{seat + 1}", "Anna") for seat in range(2)]
    table = Table("ABCDEF").with_entries(
        [Open("spades", "telegram:1", "Anna"), *chairs, FirstDeal(bytes(32), RELEASE, rules)], "u"
    )
    while table.game and not any(move.startswith("exchange") for move in table.game.legal_moves(table.game.turn or 0)):
        seat = table.game.turn
        assert seat is not None
        table = table.with_entries([Move(seat, next(iter(table.game.legal_moves(seat))))], "u")
    return table
