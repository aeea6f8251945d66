"""Each invariant of the kill harness notices a fault that is planted, and passes where all is well."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from bot import actions
from bot.picture import Subject
from bot.store import Store
from bot.store.entries import FirstDeal, Move, Open, Sit
from bot.tables.table import Table
from engine import GAMES
from engine.rules import RELEASE, resolve
from tests.bot.fake_platform import FakePlatform, code_of, open_worker, seated
from tests.kills import invariants
from tests.kills.groups import ExpectedMessage, expected_messages
from tests.kills.harness import moves_in_log
from tests.kills.invariants import Disagreement, StateAtRest, check, count_doubles, hand_of, payloads_of

Plant = Callable[[StateAtRest], StateAtRest]


class Screen:
    """What people see, made from tables as they are."""

    def __init__(self, tables: list[Table], expected_messages: list[ExpectedMessage]) -> None:
        self.messages: dict[str, dict[int, dict[str, Any]]] = {"1": {}}
        self.held_against_the_bot: list[str] = []
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
                panel = hand_of(table, seat, "")
                assert panel.picture
                self.show(
                    f"@{chair.person.partition(':')[2]}",
                    f"hand {table.code}",
                    payloads_of(panel),
                    panel.picture.subject,
                )

        for one in expected_messages:
            self.show("1", one.text or f"result {one.code}", [], one.subjects[0] if one.subjects else None)

    def show(self, chat: str, text: str, payloads: list[str], picture: Subject | None = None) -> None:
        messages = self.messages.setdefault(chat, {})
        number = 1 + sum(map(len, self.messages.values()))
        rows = [[{"payload": one}] for one in payloads]
        shown = picture and picture.digest
        messages[number] = {"id": number, "by": "bot", "text": text, "rows": rows, "picture": shown}

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        return bool(message["picture"] == subject.digest)

    def text(self, message: dict[str, Any]) -> str:
        return str(message["text"])

    def complaints(self) -> list[str]:
        return self.held_against_the_bot

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        return [one for one in self.messages[f"@{person}"].values() if code in one["text"]]

    def buttons(self, person: str) -> list[tuple[int, str]]:
        found = self.messages[f"@{person}"].items()
        return [(number, button["payload"]) for number, one in found for row in one["rows"] for button in row]


@pytest.fixture
async def rest(store: Store) -> AsyncIterator[StateAtRest]:
    """A table for two in its first deal with a move made, an open one for four, and a finished game."""
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        finished = await worker.room.table(await code_of(worker, (await seated(worker, fake, "spades"))[0]))
        await worker.room.press(finished.code, "paper:1", finished.version, "resign", "a resignation")
        await worker.settled()
        games = [game async for game in worker.archive.all()]
        players = await seated(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        table = await worker.room.table(code)
        assert table.game
        assert table.game.turn is not None
        mover = table.chairs[table.game.turn]
        assert mover
        move = next(one for one in table.game.legal_moves(table.game.turn) if one.startswith("play"))
        await worker.room.press(code, mover.person, table.version, move, "a press")
        opened = await worker.challenges.open_table("tressette", "paper:9", "Ivo", "a challenge", host="paper:100")
        tables = [Table.from_log(one, await store.load(one)) for one in (code, opened.code)]
        made = {one.code: moves_in_log(one) for one in tables}
        expected = await expected_messages(store, tables, games)
        yield StateAtRest(tables, (), made, dict(made), dict(made), Screen(tables, expected), in_groups=expected)


def screen(rest: StateAtRest) -> Screen:
    assert isinstance(rest.seen, Screen)
    return rest.seen


def offers_cards(message: dict[str, Any]) -> bool:
    return any(":play " in row[0]["payload"] for row in message["rows"])


def mover(rest: StateAtRest) -> dict[str, Any]:
    """The hand of whoever is to move."""
    [found] = [
        one
        for chat, messages in screen(rest).messages.items()
        if chat.startswith("@")
        for one in messages.values()
        if offers_cards(one)
    ]
    return found


def one_more(moves: invariants.Moves, move: str) -> dict[str, Counter[tuple[str, str]]]:
    code = next(code for code, counted in moves.items() if counted)
    return {**moves, code: moves[code] + Counter({("paper:1", move): 1})}


def a_log_twice(rest: StateAtRest) -> StateAtRest:
    return replace(rest, tables=[*rest.tables, rest.tables[0]])


def a_lost_move(rest: StateAtRest) -> StateAtRest:
    return replace(rest, acknowledged=one_more(rest.acknowledged, "play 2D"))


def a_lost_table(rest: StateAtRest) -> StateAtRest:
    return replace(rest, acknowledged={**rest.acknowledged, "GONE42": Counter()})


def a_made_up_move(rest: StateAtRest) -> StateAtRest:
    return replace(rest, made=one_more(rest.made, "play 2D"))


def a_changed_table(rest: StateAtRest) -> StateAtRest:
    return replace(rest, changed=[rest.tables[0].code])


def the_card(rest: StateAtRest) -> dict[str, Any]:
    return next(one for one in screen(rest).messages["1"].values() if one["text"].startswith("challenge"))


def no_card(rest: StateAtRest) -> StateAtRest:
    del screen(rest).messages["1"][the_card(rest)["id"]]
    return rest


def a_chair_too_few(rest: StateAtRest) -> StateAtRest:
    card = the_card(rest)
    del card["rows"][0]
    return rest


def no_hand(rest: StateAtRest) -> StateAtRest:
    screen(rest).messages["@1"].clear()
    return rest


def a_card_too_few(rest: StateAtRest) -> StateAtRest:
    hand = mover(rest)
    hand["rows"] = [row for row in hand["rows"] if ":play " not in row[0]["payload"]]
    return rest


def a_card_too_many(rest: StateAtRest) -> StateAtRest:
    hand = mover(rest)
    first = next(row[0]["payload"] for row in hand["rows"] if ":play " in row[0]["payload"])
    hand["rows"].append([{"payload": f"{first.rpartition(' ')[0]} XX"}])
    return rest


def cards_out_of_turn(rest: StateAtRest) -> StateAtRest:
    for chat, messages in screen(rest).messages.items():
        for one in messages.values():
            if chat.startswith("@") and not offers_cards(one):
                one["rows"] = mover(rest)["rows"]
                return rest
    raise AssertionError


def a_second_hand(rest: StateAtRest) -> StateAtRest:
    hand = mover(rest)
    chat = next(chat for chat, messages in screen(rest).messages.items() if hand in messages.values())
    screen(rest).show(chat, hand["text"], [row[0]["payload"] for row in hand["rows"]])
    list(screen(rest).messages[chat].values())[-1]["picture"] = hand["picture"]
    return replace(rest, may_double=("hands",))


def no_picture(rest: StateAtRest) -> StateAtRest:
    mover(rest)["picture"] = None
    return rest


def an_older_picture(rest: StateAtRest) -> StateAtRest:
    """What stood there before the last move."""
    table = rest.tables[0]
    before = Table.from_log(table.code, table.log._replace(entries=table.log.entries[:-1]))
    for seat, chair in enumerate(table.chairs):
        picture = hand_of(before, seat, "").picture
        assert chair
        assert picture
        screen(rest).panels(chair.person.partition(":")[2], table.code)[-1]["picture"] = picture.subject.digest
    return rest


def the_board(rest: StateAtRest) -> dict[str, Any]:
    text = next(one.text for one in rest.in_groups if one.text and one.subjects)
    return next(one for one in screen(rest).messages["1"].values() if one["text"] == text)


def the_result(rest: StateAtRest) -> dict[str, Any]:
    """The one of the game, after those of its deals."""
    return [one for one in screen(rest).messages["1"].values() if one["text"].startswith("result")][-1]


def no_board(rest: StateAtRest) -> StateAtRest:
    board = the_board(rest)
    del screen(rest).messages["1"][board["id"]]
    return rest


def an_older_board(rest: StateAtRest) -> StateAtRest:
    the_board(rest)["text"] += " And what was not so."
    return rest


def no_picture_on_the_board(rest: StateAtRest) -> StateAtRest:
    the_board(rest)["picture"] = None
    return rest


def an_older_picture_on_the_board(rest: StateAtRest) -> StateAtRest:
    the_board(rest)["picture"] = "what stood there before"
    return rest


def an_older_board_beside_the_one_that_should(rest: StateAtRest) -> StateAtRest:
    """The same text, for no trick is over since, with the picture of before the last card."""
    screen(rest).show("1", the_board(rest)["text"], [])
    list(screen(rest).messages["1"].values())[-1]["picture"] = "what stood there before"
    return replace(rest, may_double=("boards",))


def two_older_boards(rest: StateAtRest) -> StateAtRest:
    """Neither of the two is as it should be, though one may have been on its way."""
    return replace(an_older_board_beside_the_one_that_should(an_older_picture_on_the_board(rest)), at_risk=2)


def another_games_picture_on_a_result(rest: StateAtRest) -> StateAtRest:
    the_result(rest)["picture"] = the_board(rest)["picture"]
    return rest


def no_picture_on_a_result(rest: StateAtRest) -> StateAtRest:
    the_result(rest)["picture"] = None
    return rest


def a_second_board(rest: StateAtRest) -> StateAtRest:
    board = the_board(rest)
    screen(rest).show("1", board["text"], [])
    list(screen(rest).messages["1"].values())[-1]["picture"] = board["picture"]
    return replace(rest, at_risk=1, may_double=("hands", "cards"))


def a_second_card(rest: StateAtRest) -> StateAtRest:
    card = the_card(rest)
    screen(rest).show("1", card["text"], [row[0]["payload"] for row in card["rows"]])
    return replace(rest, at_risk=1, may_double=("hands",))


def an_open_press(rest: StateAtRest) -> StateAtRest:
    screen(rest).held_against_the_bot.append("query 1 is open")
    return rest


FAULTS: list[tuple[Plant, Callable[[StateAtRest], None]]] = [
    (a_log_twice, invariants.no_move_is_made_twice),
    (a_lost_move, invariants.no_acknowledged_move_is_lost),
    (a_lost_table, invariants.no_acknowledged_move_is_lost),
    (a_made_up_move, invariants.no_move_comes_from_nowhere),
    (a_changed_table, invariants.nothing_is_left_to_deliver),
    (no_card, invariants.open_tables_offer_their_free_chairs),
    (a_chair_too_few, invariants.open_tables_offer_their_free_chairs),
    (no_hand, invariants.hands_offer_the_legal_cards),
    (a_card_too_few, invariants.hands_offer_the_legal_cards),
    (a_card_too_many, invariants.hands_offer_the_legal_cards),
    (cards_out_of_turn, invariants.hands_offer_the_legal_cards),
    (no_picture, invariants.pictures_of_hands_match_their_buttons),
    (an_older_picture, invariants.pictures_of_hands_match_their_buttons),
    (no_board, invariants.boards_show_the_current_state),
    (an_older_board, invariants.boards_show_the_current_state),
    (no_picture_on_the_board, invariants.boards_show_the_current_state),
    (an_older_picture_on_the_board, invariants.boards_show_the_current_state),
    (an_older_board_beside_the_one_that_should, invariants.boards_show_the_current_state),
    (two_older_boards, invariants.boards_show_the_current_state),
    (another_games_picture_on_a_result, invariants.pictures_in_groups_are_of_their_tables),
    (no_picture_on_a_result, invariants.results_have_their_pictures),
    (a_second_board, invariants.only_messages_in_flight_are_doubled),
    (a_second_hand, invariants.only_messages_in_flight_are_doubled),
    (a_second_card, invariants.only_messages_in_flight_are_doubled),
    (an_open_press, invariants.platforms_have_no_complaints),
]


async def test_where_all_is_well_nothing_is_said(rest: StateAtRest) -> None:
    check(rest)
    assert not count_doubles(rest)


@pytest.mark.parametrize(("plant", "invariant"), FAULTS, ids=lambda one: one.__name__)
async def test_a_planted_fault_is_noticed(
    rest: StateAtRest, plant: Plant, invariant: Callable[[StateAtRest], None]
) -> None:
    planted = plant(rest)
    with pytest.raises(Disagreement):
        invariant(planted)
    with pytest.raises(Disagreement):
        check(planted)


async def test_a_message_that_was_on_its_way_may_be_doubled_where_the_platform_cannot_tell(rest: StateAtRest) -> None:
    planted = replace(a_second_hand(rest), at_risk=1)
    check(planted)
    assert count_doubles(planted) == Counter(hands=1)


async def test_a_board_that_was_doubled_at_a_kill_stays_as_it_was(rest: StateAtRest) -> None:
    """Its text is still true as long as no trick is over, and its picture is not."""
    check(replace(an_older_board_beside_the_one_that_should(rest), at_risk=1))


def test_each_invariant_has_a_fault_that_it_notices() -> None:
    assert {invariant for _plant, invariant in FAULTS} == set(invariants.INVARIANTS)


def test_what_is_chosen_is_found_by_what_is_offered_in_whichever_order_it_was_chosen() -> None:
    table = at_the_exchange()
    assert table.game
    seat = table.game.turn
    assert seat is not None
    hand = table.game.view(seat).deal
    assert hand
    assert hand.hand
    for count in range(4):
        for chosen in permutations(hand.hand[3:6], count):
            offered = invariants.move_payloads(table.code, payloads_of(hand_of(table, seat, ",".join(chosen))))
            fitting = {
                one
                for one in invariants.possible_choices(offered)
                if invariants.move_payloads(table.code, payloads_of(hand_of(table, seat, one))) == offered
            }
            assert ",".join(chosen) in fitting


def at_the_exchange() -> Table:
    """Spades, drawn and bid, where cards may be exchanged."""
    rules = resolve(GAMES["spades"].rules, {}).model_dump()
    sits = [Sit(seat, f"telegram:{seat + 1}", "Anna") for seat in range(2)]
    table = Table("ABCDEF").after(
        [Open("spades", "telegram:1", "Anna"), *sits, FirstDeal(bytes(32), RELEASE, rules)], "u"
    )
    while table.game and not any(move.startswith("exchange") for move in table.game.legal_moves(table.game.turn or 0)):
        seat = table.game.turn
        assert seat is not None
        table = table.after([Move(seat, next(iter(table.game.legal_moves(seat))))], "u")
    return table
