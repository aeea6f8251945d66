"""Cutting the pack: the secret is fixed first, an opponent of the dealer cuts, and nobody waits longer than 20 s."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from bot.identity.programs import PREFIX
from bot.identity.pseudonyms import NAME, new_pseudonym
from bot.panels.board import result_panel
from bot.panels.hand import hand_panel
from bot.people import Profile
from bot.pictures.scene_builder import hand_scene
from bot.site.api_models import own_table, public_table
from bot.site.hand_page import hand_page
from bot.store import Store
from bot.store.entries import Close, CutOption, CutPack, Deal, Entry, FirstDeal, Late, Move, Seal, Setup, Sit, Stand
from bot.store.log import Log
from bot.store.people_in_logs import redact
from bot.tables import Room, Table
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges
from bot.tables.clock import CUT_SECONDS, next_alarm
from bot.tables.cutting import find_cutter
from bot.tables.errors import AlreadyPlaying, NotAtThisTable, NotYoursToCut, OldPanel
from bot.tables.forgetting import remove_person
from bot.tables.limits import HOURS_TO_ACCEPT
from bot.tables.snapshot import deal_to_report, take_snapshot
from bot.words.wording import score_unit
from engine import GAMES, shuffle
from engine.errors import BadDeal, EngineError
from engine.options import RELEASE, resolve
from engine.shuffle import Cut, first_dealer, shuffle_pack
from tests.bot.tables.test_table import ADA, BEA, open_table, start_game

ROBOT, PROGRAM = "robot:easy", f"{PREFIX}1"
SECRET = bytes(range(32))


def person(seat: int) -> str:
    return f"p:{seat}"


async def seat_players(room: Room, game: str = "testa", *setup: Setup) -> Table:
    """Open a table with cuts and seat its players. The person in seat n is ``p:n``."""
    challenges = Challenges(room)
    table = await challenges.open_table(game, person(0), "P0", "open", setup=[CutOption(True), *setup])
    for seat in range(1, GAMES[game].seats):
        if table.chairs[seat] is None:
            table = await challenges.sit(table.code, person(seat), f"P{seat}", f"sit {seat}", seat)
            if seat in table.asking:
                table = await challenges.answer(table.code, person(seat - 2), seat, True, f"accept {seat}")
    return table


def proof_of(table: Table) -> dict[str, Any]:
    assert table.game
    proof: dict[str, Any] = json.loads(table.game.record().to_json())["deals"][-1]["proof"]
    return proof


async def play_deal(room: Room, table: Table) -> Table:
    """Play the first legal move until the deal is over."""
    assert table.game
    number, deal = 0, table.game.deal_number
    while table.game.turn is not None and table.game.deal_number == deal:
        seat = table.game.turn
        move = engine.legal_moves_for_record(table.game, seat)[0]
        table = await room.make_move(table.code, person(seat), table.version, move, f"move {deal} {number}")
        assert table.game
        number += 1
    return table


@pytest.mark.parametrize("game", GAMES)
async def test_full_table_seals_a_pack_and_waits_for_the_cut(store: Store, game: str) -> None:
    table = await seat_players(Room(store), game)
    assert (table.phase, table.game, table.is_full) == ("open", None, True)
    assert table.awaits_cut
    dealer = first_dealer(len(table.chairs), table.sealed)
    assert table.cutter == (dealer - 1) % len(table.chairs)


@pytest.mark.parametrize("game", GAMES)
@given(text=st.text("0123456789abcdef", min_size=1, max_size=64), seed=st.integers(0, 2**32))
def test_cut_and_secret_decide_every_pack(game: str, text: str, seed: int) -> None:
    secret = Random(seed).randbytes(32)
    kind = GAMES[game]
    chairs = [Sit(seat, person(seat), f"P{seat}") for seat in range(1, kind.seats)]
    table = open_table(game, CutOption(True), *chairs, Seal(secret))
    assert table.cutter is not None
    first = FirstDeal(secret, RELEASE, resolve(kind.rules, {}).model_dump())
    dealt = table.with_entries([CutPack(table.cutter, text), first], "u")
    assert dealt.game
    assert dealt.game.record().deals[0].pack == list(shuffle_pack(kind.pack, secret, Cut(text, table.cutter)))
    assert (dealt.cut_by, dealt.is_uncut, dealt.awaits_cut) == (table.cutter, False, False)


async def test_each_deal_is_cut_by_the_dealers_opponent(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    for number in (1, 2, 3):
        assert table.cutter is not None
        secret, cutter = table.sealed, table.cutter
        table = await room.cut(table.code, person(cutter), table.sealed_at, "c0ffee", f"cut {number}")
        assert table.game
        assert table.game.deal_number == number
        assert table.game.current
        assert table.game.current.dealer == 1 - cutter
        assert proof_of(table) == {
            "commitment": shuffle.commitment(secret),
            "secret": secret.hex(),
            "cut": "c0ffee",
            "cut_by": cutter,
        }
        table = await play_deal(room, table)
        if table.phase == "over":
            break
        assert table.awaits_cut
    assert table.game
    engine.verify(engine.read(table.game.record(live=False).to_json()))


async def test_pack_that_nobody_cuts_in_time_is_dealt(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    sealed = table.sealed
    table = await room.handle_alarm(table.code, table.version)
    assert (table.phase, table.is_uncut, table.cut_by) == ("playing", True, None)
    assert proof_of(table) == {"commitment": shuffle.commitment(sealed), "secret": sealed.hex()}
    table = await play_deal(room, table)
    assert table.awaits_cut
    table = await room.handle_alarm(table.code, table.version)
    assert table.game
    assert table.game.deal_number == 2
    assert table.game.turn is not None


async def test_only_the_cutter_cuts_and_only_once(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    cutter, sealed_at = table.cutter, table.sealed_at
    assert cutter is not None
    with pytest.raises(NotYoursToCut):
        await room.cut(table.code, person(1 - cutter), sealed_at, "00", "other")
    with pytest.raises(NotAtThisTable):
        await room.cut(table.code, "p:9", sealed_at, "00", "stranger")
    with pytest.raises(OldPanel):
        await room.cut(table.code, person(cutter), sealed_at - 1, "00", "old")
    with pytest.raises(EngineError, match="1 to 64"):
        await room.cut(table.code, person(cutter), sealed_at, "XY", "bad")
    table = await room.cut(table.code, person(cutter), sealed_at, "00", "cut")
    again = await room.cut(table.code, person(cutter), sealed_at, "00", "cut")
    assert again.version == table.version
    with pytest.raises(OldPanel):
        await room.cut(table.code, person(cutter), sealed_at, "01", "late")
    assert proof_of(table)["cut"] == "00"


async def test_page_of_spades_says_who_cut_before_the_first_draw(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room, "spades")
    cutter = table.cutter
    assert cutter is not None
    table = await room.cut(table.code, person(cutter), table.sealed_at, "c0ffee", "cut")
    assert table.game
    assert table.game.turn is not None
    news = hand_page(table, person(table.game.turn), Profile(person(table.game.turn))).news
    assert "cut the pack." in news


async def test_another_worker_sees_the_same_sealed_pack(store: Store) -> None:
    """After a crash the table waits for the cut of the same pack, with the time that was left."""
    table = await seat_players(Room(store))
    again = await Room(store).table(table.code)
    assert (again.sealed, again.sealed_at, again.cutter) == (table.sealed, table.sealed_at, table.cutter)
    assert again.awaits_cut
    seconds_left = await store.leases.clock_rings_in(table.code)
    assert seconds_left is not None
    assert 0 < seconds_left <= CUT_SECONDS


def sealed_table(people: Sequence[str] = (ADA, BEA), *, cuts: bool = True, secret: bytes = SECRET) -> Table:
    chairs = [Sit(seat, player, f"P{seat}") for seat, player in enumerate(people)]
    return open_table("testa", CutOption(cuts), *chairs[1:], Seal(secret))


def alarm_after(before: Table, *entries: Entry) -> float | None:
    return next_alarm(before.with_entries(entries, "u"), before, 1.0)


def test_cut_has_20_seconds() -> None:
    assert CUT_SECONDS == 20
    full = open_table("testa", CutOption(True), Sit(1, BEA, "Bea"))
    assert alarm_after(full, Seal(SECRET)) == 20
    assert alarm_after(sealed_table(), Stand(1)) == HOURS_TO_ACCEPT * 3600
    assert alarm_after(sealed_table(), Close("cancelled")) == float("inf")


def test_sealed_pack_is_dropped_if_a_player_leaves() -> None:
    table = sealed_table().with_entries([Stand(1)], "u")
    assert not table.awaits_cut
    again = table.with_entries([Sit(1, BEA, "Bea"), Seal(bytes(32))], "u")
    assert again.sealed == bytes(32)


async def test_challenge_cannot_change_while_its_pack_is_sealed(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    challenges, code = Challenges(room), table.code
    for act in (
        challenges.choose_rule(code, person(0), "target=11", "rule"),
        challenges.choose_clock(code, person(0), 60, True, "clock"),
        challenges.choose_cuts(code, person(0), False, "cuts"),
        challenges.choose_game(code, person(0), "metamazzo", "game"),
        challenges.sit(code, "p:9", "P9", "sit"),
    ):
        with pytest.raises(AlreadyPlaying):
            await act
    assert (await room.table(code)).version == table.version


async def test_players_can_leave_before_the_first_cut(store: Store) -> None:
    room = Room(store)
    challenges, table = Challenges(room), await seat_players(room)
    code, sealed = table.code, table.sealed
    table = await challenges.stand_up(code, person(1), "stand")
    assert (table.phase, table.awaits_cut, table.chairs[1]) == ("open", False, None)
    left = await store.leases.clock_rings_in(code)
    assert left is not None
    assert left > CUT_SECONDS
    table = await challenges.sit(code, "p:9", "P9", "sit again")
    assert table.awaits_cut
    assert table.sealed != sealed
    table = await challenges.cancel(code, person(0), "cancel")
    assert (table.closed, table.awaits_cut) == ("cancelled", False)


async def test_matched_player_can_decline_before_the_first_cut(store: Store) -> None:
    room = Room(store)
    challenges, matched = Challenges(room), [Chair(ADA, "Ada"), Chair(BEA, "Bea")]
    table = await challenges.open_matched("testa", matched, "open", setup=[CutOption(True)])
    for chair in matched:
        table = await challenges.sit(table.code, chair.person, chair.name, f"sit {chair.name}")
    assert table.awaits_cut
    table = await challenges.decline(table.code, BEA, "", "no")
    assert (table.closed, table.awaits_cut) == ("declined", False)


async def test_forgotten_player_frees_the_chair_before_the_cut(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    await remove_person(room, table.code, person(1), "", "somebody:1a")
    table = await room.table(table.code)
    assert (table.phase, table.awaits_cut, table.chairs[1]) == ("open", False, None)


async def test_resignation_between_two_deals_ends_the_game(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    table = await play_deal(room, await room.handle_alarm(table.code, table.version))
    assert table.awaits_cut
    table = await room.make_move(table.code, person(0), table.version, "resign", "resign")
    assert (table.phase, table.awaits_cut) == ("over", False)
    assert table.game
    engine.verify(engine.read(table.game.record(live=False).to_json()))


@pytest.mark.parametrize("game", ["testa", "spades"])
async def test_deal_before_a_resignation_counts_in_the_result(store: Store, game: str) -> None:
    room = Room(store)
    table = await seat_players(room, game)
    table = await play_deal(room, await room.handle_alarm(table.code, table.version))
    assert table.awaits_cut
    table = await room.make_move(table.code, person(0), table.version, "resign", "resign")
    assert table.game
    table_snapshot, record = take_snapshot(table, 0), table.game.record(live=False)
    hand = hand_panel(
        table_snapshot, "en", "italian", last_deal=deal_to_report(table, table_snapshot), has_result_below=True
    )
    assert "doesn’t count" not in hand.plain
    first_points, second_points = (points * score_unit(record.rules) for points in record.deals[0].totals)
    for in_private in (False, True):
        result = result_panel(
            table_snapshot, record, "en", "italian", "", (), in_private=in_private
        ).plain.splitlines()[0]
        assert [int(figure.replace("−", "-")) for figure in re.findall(r" ([−\d]+)(?=[,)])", result)] == [
            first_points,
            second_points,
        ]


async def test_host_can_close_a_table_that_waits_for_a_cut(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    table = await room.close(table.code, "close")
    assert (table.phase, table.awaits_cut) == ("closed", False)


def test_robots_do_not_cut() -> None:
    people = [(ADA, ROBOT, ROBOT, ROBOT), (ADA, BEA, ROBOT, ROBOT), (ADA, ROBOT, BEA, ROBOT), (ADA, BEA, "p:3", "p:4")]
    for chairs in people:
        table = open_table("tressette", *(Sit(seat, person, f"P{seat}") for seat, person in enumerate(chairs) if seat))
        for number in range(20):
            secret = bytes([number]) * 32
            dealer, cutter = first_dealer(4, secret), find_cutter(table, secret)
            opponents = [seat for seat in range(4) if seat & 1 != dealer & 1 and chairs[seat] != ROBOT]
            assert cutter in opponents if opponents else cutter is None


def test_player_whose_moves_a_robot_makes_does_not_cut() -> None:
    for game in ("testa", "tressette"):
        table = start_game(game, people=(ADA, BEA, "p:3", "p:4"))
        cutter = find_cutter(table, SECRET)
        assert cutter is not None
        away = table.with_entries([Late(cutter)], "u")
        assert find_cutter(away, SECRET) == (None if game == "testa" else (cutter + 2) % 4)


def test_program_that_misses_a_cut_is_not_asked_again() -> None:
    entries: list[Entry] = [Seal(SECRET), FirstDeal(SECRET, RELEASE, resolve(GAMES["testa"].rules, {}).model_dump())]
    for people, is_asked in (((PROGRAM, BEA), True), ((BEA, PROGRAM), False)):
        table = open_table("testa", CutOption(True), Sit(0, people[0], "P0"), Sit(1, people[1], "P1"), *entries)
        # Seat 0 deals first, so seat 1 was asked.
        assert table.is_uncut
        assert (1 in table.never_cut) is not is_asked


def play_out_deal(table: Table, late: int | None = None) -> Table:
    """Play the first legal move until the deal is over. A robot moves for the ``late`` seat."""
    assert table.game
    while (seat := table.game.turn) is not None:
        move = Move(seat, engine.legal_moves_for_record(table.game, seat)[0])
        table = table.with_entries([Late(seat), move] if seat == late else [move], "u")
        assert table.game
    return table


def test_log_in_which_a_late_player_cut_stays_readable() -> None:
    table = start_game("testa", CutOption(True))
    assert table.game
    assert table.game.current
    late = table.game.current.dealer
    table = play_out_deal(table, late)
    assert table.late_counts[late]
    assert find_cutter(table, SECRET) is None
    table = table.with_entries([Seal(SECRET), CutPack(late, "c0ffee"), Deal(SECRET)], "u")
    reloaded = Table.from_log("CODE", table.log)
    assert (reloaded.error, reloaded.cut_by) == ("", late)


def test_log_with_a_forgotten_program_stays_readable() -> None:
    secret = next(bytes([n]) * 32 for n in range(99) if first_dealer(4, bytes([n]) * 32) == 3)
    chairs = [Sit(seat, PROGRAM if seat == 2 else person(seat), f"P{seat}") for seat in (1, 2, 3)]
    rules = resolve(GAMES["tressette"].rules, {"target": 31}).model_dump()
    table = open_table("tressette", CutOption(True), *chairs, Seal(secret), FirstDeal(secret, RELEASE, rules))
    for _number in range(3):
        table = play_out_deal(table).with_entries([Deal(SECRET)], "u")
    table = play_out_deal(table).with_entries([Seal(SECRET)], "u")
    assert table.cutter == 0
    table = table.with_entries([CutPack(0, "c0ffee"), Deal(SECRET)], "u")
    for pseudonym in ("somebody:1a", new_pseudonym(PROGRAM)):
        redacted = [redact(entry, PROGRAM, "", pseudonym, NAME) for entry in table.log.entries]
        read = Table.from_log("CODE", Log(redacted))
        assert (read.error, read.cut_by) == ("", 0)


@pytest.mark.parametrize("cuts", [False, True])
async def test_without_the_option_or_a_person_the_deal_is_immediate(store: Store, cuts: bool) -> None:
    room = Room(store, lambda _size: SECRET)
    dealer = first_dealer(2, SECRET)
    robot = Sit(1, ROBOT, "Robot")
    opened = await Challenges(room).open_table("testa", person(0), "P0", "open", seat=0, setup=[CutOption(cuts), robot])
    assert opened.awaits_cut is (cuts and dealer == 1)
    assert not opened.is_uncut


@pytest.mark.parametrize(
    "entries",
    [
        [CutPack(0, "00")],
        [CutPack(1, "00"), CutPack(1, "01")],
        [FirstDeal(bytes(32), RELEASE, resolve(GAMES["testa"].rules, {}).model_dump())],
    ],
)
def test_log_with_another_cut_or_secret_is_refused(entries: list[Entry]) -> None:
    secret = next(bytes([n]) * 32 for n in range(1, 99) if first_dealer(2, bytes([n]) * 32) == 0)
    table = sealed_table(secret=secret)
    assert table.cutter == 1
    with pytest.raises((BadDeal, AssertionError)):
        table.with_entries(entries, "u")
    read = table.with_stored_entries([b"cut 0 00"])
    assert read.error


def test_old_logs_have_no_cuts() -> None:
    table = open_table("testa", Sit(1, BEA, "Bea"))
    assert not table.has_cuts
    assert not table.awaits_cut


async def test_no_viewer_learns_the_secret_of_a_sealed_pack(store: Store) -> None:
    room = Room(store)
    table = await seat_players(room)
    for _deal in range(2):
        assert table.awaits_cut
        assert table.cutter is not None
        seal = shuffle.commitment(table.sealed)
        for seat in (0, 1):
            page = hand_page(table, person(seat), Profile(person(seat)))
            assert (page.seal, bool(page.cut), page.is_mine) == (seal, seat == table.cutter, seat == table.cutter)
            assert page.deal == (table.game.deal_number + 1 if table.game else 0)
            assert bool(page.count) == bool(page.end_trick) == (table.game is not None)
            seen = take_snapshot(table, seat)
            views = [page, seen, own_table(table, person(seat)), hand_scene(seen, "en", "italian", "classic")]
            assert table.sealed.hex() not in repr(views)
            assert repr(table.sealed) not in repr(views)
        assert table.sealed.hex() not in public_table(table).model_dump_json()
        table = await play_deal(room, await room.handle_alarm(table.code, table.version))
