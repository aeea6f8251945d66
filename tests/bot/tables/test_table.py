"""Tables built from their logs, without a store."""

from collections.abc import Sequence

import pytest

from bot.identity.pseudonyms import NAME
from bot.store.entries import (
    Ask,
    ChangeGame,
    Close,
    Deal,
    Entry,
    FirstDeal,
    Flag,
    Host,
    Invite,
    Late,
    Move,
    Nudge,
    Open,
    Redacted,
    Refuse,
    Rehost,
    Rule,
    Sit,
    Stand,
    Stop,
    Wait,
    Withdraw,
    encode,
)
from bot.store.log import Log
from bot.tables import Table
from bot.tables.chairs import Chair
from engine import GAMES
from engine.errors import BadRules
from engine.options import RELEASE, resolve
from tests.engine.tables import tie_break_game

ADA, BEA, CLEO, DORA = "paper:1", "paper:2", "other:3", "paper:4"
FOUR = (ADA, BEA, CLEO, DORA)


def open_table(game: str, *entries: Entry) -> Table:
    """Return a table opened by Ada, with these entries in its log."""
    return Table("CODE").with_entries([Open(game, ADA, "Ada"), Sit(0, ADA, "Ada"), *entries], "u1")


def start_game(game: str, *entries: Entry, secret: int = 0, people: Sequence[str] = FOUR, **rules: str) -> Table:
    """Return a full table with the first deal dealt."""
    kind = GAMES[game]
    all_rules = resolve(kind.rules, rules).model_dump()
    chairs = [Sit(seat, people[seat], f"P{seat}") for seat in range(kind.seats)]
    return open_table(game, *chairs, FirstDeal(bytes([secret]) * 32, RELEASE, all_rules), *entries)


def at_tie_break(release: int, code: str = "CODE") -> Table:
    """Return a Tressette in Quattro at 22:22 under this release of the rules. Seat n is ``p:n``."""
    record = tie_break_game(release).record()
    entries: list[Entry] = [Open("tressette", "p:0", "P0"), *(Sit(seat, f"p:{seat}", f"P{seat}") for seat in range(4))]
    for number, deal in enumerate(record.deals):
        assert deal.proof
        secret = bytes.fromhex(deal.proof.secret)
        entries.append(Deal(secret) if number else FirstDeal(secret, release, record.rules))
        entries += [Move(seat, move) for seat, move in deal.moves]
    return Table(code).with_entries(entries, "u1")


def playable_cards(table: Table) -> list[str]:
    """Return the cards that can be played now."""
    assert table.game
    assert table.game.turn is not None
    return [
        move for move in table.game.legal_moves(table.game.turn) if move.startswith("play ") and move.count(" ") == 1
    ]


def play_cards(table: Table, count: int = 1) -> Table:
    """Play this many cards, and deal again after a deal ends."""
    for _ in range(count):
        assert table.game
        assert table.game.turn is not None
        table = table.with_entries([Move(table.game.turn, playable_cards(table)[0])], "u")
        assert table.game
        if table.game.needs_deal:
            table = table.with_entries([Deal(bytes(32))], "u")
    return table


def find_declaration() -> tuple[int, Table, Move]:
    """Return a secret, its table, and a declaration that is possible on the first turn."""
    for secret in range(256):
        table = start_game("tavolo", secret=secret)
        assert table.game
        turn = table.game.turn or 0
        if declarations := [move for move in table.game.legal_moves(turn) if move.startswith("declare ")]:
            return secret, table, Move(turn, declarations[0])
    raise AssertionError("no secret gives a declaration on the first turn: try more")


# Chairs


def test_people_of_a_table_are_seated_or_asking() -> None:
    table = open_table("tavolo", Sit(1, BEA, "Bea"), Ask(2, CLEO, "Cleo"))
    assert table.people == {ADA, BEA, CLEO}
    assert [table.seat_of(person) for person in FOUR] == [0, 1, None, None]
    assert not table.is_full


def test_seat_request_ends_when_seated_refused_or_withdrawn() -> None:
    table = open_table("tavolo", Ask(2, CLEO, "Cleo"))
    for entry in (Sit(2, CLEO, "Cleo"), Refuse(2), Withdraw(2)):
        assert table.with_entries([entry], "u2").asking == {}
    assert table.asking == {2: Chair(CLEO, "Cleo")}


def test_tavolo_partner_rules_over_the_opposite_seat() -> None:
    table = open_table("tavolo", Sit(1, BEA, "Bea"))
    assert [table.ruler_of(seat) for seat in range(4)] == [None, None, 0, 1]
    assert open_table("tressette").ruler_of(2) is None


def test_robot_is_no_ruler() -> None:
    assert open_table("tavolo", Sit(1, "robot:easy", "Gino")).ruler_of(3) is None


@pytest.mark.parametrize("side", [0, 1])
def test_three_refusals_open_the_seat_to_all(side: int) -> None:
    table, seat, other = open_table("tavolo", Sit(1, BEA, "Bea")), 2 + side, 3 - side
    for number in range(3):
        assert table.ruler_of(seat) == side
        assert table.refusals[side] == number
        table = table.with_entries([Ask(seat, CLEO, "Cleo"), Refuse(seat)], f"u{number}")
    assert (table.ruler_of(seat), table.ruler_of(other)) == (None, 1 - side)
    table = table.with_entries([Ask(other, CLEO, "Cleo"), Refuse(other)], "u9")
    assert (table.refusals[side], table.refusals[1 - side], table.ruler_of(other)) == (3, 1, 1 - side)


def test_standing_up_seats_the_asking_player() -> None:
    table = open_table("tavolo", Sit(1, BEA, "Bea"), Ask(3, CLEO, "Cleo"))
    assert table.stand_entries(1) == [Stand(1), Sit(3, CLEO, "Cleo")]
    assert table.stand_entries(0) == [Stand(0)]
    assert table.with_entries(table.stand_entries(1), "u2").chairs[1] is None


def test_practice_is_one_person_with_robots() -> None:
    robots = [Sit(seat, "robot:easy", f"R{seat}") for seat in (1, 2, 3)]
    practice = open_table("tressette", *robots)
    assert (practice.is_full, practice.is_practice) == (True, True)
    with_guest = open_table("tressette", Sit(1, BEA, "Bea"), *robots[1:])
    assert not with_guest.is_practice
    without_robots = open_table("testa", Sit(1, BEA, "Bea"))
    assert not without_robots.is_practice
    not_full = open_table("tressette", *robots[:2])
    assert not not_full.is_practice


def test_changing_the_game_keeps_only_the_seats() -> None:
    table = open_table(
        "tavolo", Rule("target", 21), Sit(1, BEA, "Bea"), Ask(2, CLEO, "Cleo"), Refuse(2), ChangeGame("testa")
    )
    assert (table.game_id, table.rules, table.asking, table.refusals) == ("testa", {}, {}, (0, 0))
    assert table.chairs == (Chair(ADA, "Ada"), Chair(BEA, "Bea"))
    assert table.moved_at == table.late_counts == (0, 0)
    assert open_table("testa", ChangeGame("tressette")).chairs == (Chair(ADA, "Ada"), None, None, None)


@pytest.mark.parametrize(
    ("entry", "person", "handle", "is_invited"),
    [
        (Invite(BEA, "", "Bea"), BEA, "", True),
        (Invite(BEA, "", "Bea"), CLEO, "", False),
        (Invite("", "Bea", "Bea"), BEA, "bea", True),
        (Invite("", "Bea", "Bea"), BEA, "beatrice", False),
        (Invite("", "Bea", "Bea"), CLEO, "bea", False),
        (Invite("", "Bea", "Bea"), BEA, "", False),
        (Invite("", "", "Bea"), BEA, "", False),
        (Host("paper:@1"), BEA, "", False),
    ],
)
def test_invitation_matches_person_or_handle(entry: Entry, person: str, handle: str, is_invited: bool) -> None:
    assert open_table("testa", entry).invites(person, handle) is is_invited


def test_moved_host_keeps_its_place_among_hosts() -> None:
    table = open_table("testa", Host("a"), Host("b"), Host("c"), Rehost(1, "B"))
    assert table.hosts == ("a", "B", "c")
    assert table.with_entries([Rehost(0, "A"), Rehost(2, "C")], "u2").hosts == ("A", "B", "C")


def test_forgotten_names_are_translated() -> None:
    table = open_table("tavolo", Sit(1, "somebody:1", NAME), Ask(2, "somebody:2", NAME), Invite("", "x", NAME))
    in_italian = table.localize("it")
    assert in_italian.chairs[:2] == (Chair(ADA, "Ada"), Chair("somebody:1", "qualcuno"))
    assert in_italian.asking == {2: Chair("somebody:2", "qualcuno")}
    assert in_italian.invited
    assert in_italian.invited.name == "qualcuno"
    assert table.chairs[1] == Chair("somebody:1", NAME)
    assert Table("CODE").with_entries([Open("testa", "somebody:1", NAME)], "u").localize("it").opener.name == "qualcuno"


def test_forgotten_invitee_and_asker_are_translated() -> None:
    invited = open_table("tavolo", Invite("", "x", NAME)).localize("it").invited
    assert invited
    assert invited.name == "qualcuno"
    assert open_table("tavolo", Ask(2, "somebody:2", NAME)).localize("it").asking[2].name == "qualcuno"


@pytest.mark.parametrize("name", ["Ada", "zoe"])
def test_translation_keeps_a_table_without_forgotten_names(name: str) -> None:
    table = Table("CODE").with_entries([Open("tavolo", ADA, name), Sit(0, ADA, name), Invite("", "x", name)], "u1")
    assert table.localize("it") is table


# The game


def test_phase_follows_from_the_entries() -> None:
    assert Table("CODE").exists is False
    assert open_table("testa").phase == "open"
    assert open_table("testa", Close("expired")).phase == "closed"
    assert start_game("testa").phase == "playing"
    assert start_game("testa", Stop("cancelled")).phase == "over"
    assert Table.unreadable("CODE", "why").phase == "unreadable"
    assert Table.unreadable("CODE", "why").exists


def test_log_decides_rules_and_release() -> None:
    table = open_table("testa", Sit(1, BEA, "Bea"))
    all_rules = resolve(GAMES["testa"].rules, {}).model_dump()
    for release in (0, RELEASE + 1):
        with pytest.raises(BadRules, match=f"release {release} of the rules; this version knows 1 to {RELEASE}"):
            table.with_entries([FirstDeal(bytes(32), release, all_rules)], "u2")
    for release in range(1, RELEASE + 1):
        game = table.with_entries([FirstDeal(bytes(32), release, all_rules)], "u2").game
        assert game
        assert game.release == release
    with pytest.raises(BadRules, match=r"the rules do not say: .*target"):
        table.with_entries([FirstDeal(bytes(32), RELEASE, {})], "u2")
    with pytest.raises(BadRules):
        table.with_entries([Rule("target", 1)], "u2")


def test_log_without_a_newer_option_gets_its_earlier_value(monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table("testa", Sit(1, BEA, "Bea"))
    rules = resolve(GAMES["testa"].rules, {}).model_dump()
    del rules["declare"]
    monkeypatch.setattr(GAMES["testa"].rules, "BEFORE", {"declare": "none"})
    started = table.with_entries([FirstDeal(bytes(32), RELEASE, rules)], "u2")
    assert started.game
    assert started.rules["declare"] == started.game.record().rules["declare"] == "none"


def test_moved_at_is_the_version_after_the_move() -> None:
    table = start_game("testa")
    assert table.game
    seat = table.game.turn
    assert seat is not None
    assert (table.moved_at, table.dealt_at) == ((0, 0), table.version)
    after = play_cards(table)
    assert after.moved_at[seat] == after.version == table.version + 1
    assert after.moved_at[1 - seat] == 0
    assert after.dealt_at == table.dealt_at


def test_panel_expires_after_its_players_move_or_a_deal() -> None:
    table = start_game("testa")
    assert table.game
    seat = table.game.turn or 0
    version = table.version
    assert not table.is_old(0, version)
    assert table.is_old(0, version - 1)
    assert table.is_old(0, version + 1)
    after = play_cards(table)
    assert after.is_old(seat, version)
    assert not after.is_old(1 - seat, version)
    next_deal = play_cards(table, 40)
    assert next_deal.game
    assert next_deal.game.deal_number == 2
    assert next_deal.dealt_at == next_deal.version
    assert next_deal.is_old(0, version + 40)


def test_boards_hide_cards_of_the_current_trick() -> None:
    table = start_game("tressette")
    offsets = [(table := play_cards(table)).board_changed_at - table.version for _ in range(8)]
    assert offsets == [-1, -2, -3, 0, -1, -2, -3, 0]
    assert table.with_entries([Nudge()], "u").board_changed_at == table.version + 1
    assert table.with_entries([Redacted()], "u").board_changed_at == table.version + 1


def test_boards_show_a_led_card_that_was_already_known() -> None:
    table = start_game("metamazzo")
    for _ in range(60):
        assert table.game
        assert table.game.current
        seat = table.game.turn
        assert seat is not None
        known_cards = [move for move in playable_cards(table) if table.game.current.has_shown(seat, move.split(" ")[1])]
        is_leading = not table.game.current.trick
        table = table.with_entries([Move(seat, (known_cards or playable_cards(table))[0])], "u")
        if is_leading:
            assert (table.board_changed_at == table.version) is bool(known_cards)
            if known_cards:
                return
    pytest.fail("no player led a drawn card: play more cards")


def test_boards_show_a_resignation_within_a_trick() -> None:
    table = play_cards(start_game("tressette"))
    assert table.board_changed_at < table.version
    assert table.with_entries([Move(3, "resign")], "u").board_changed_at == table.version + 1


# The clock


def test_alarm_follows_nudge_flag_and_wait() -> None:
    table = start_game("testa", Nudge())
    assert table.alarm == "nudged"
    flagged = table.with_entries([Flag()], "u")
    assert flagged.alarm == "flagged"
    assert flagged.with_entries([Wait()], "u").alarm == ""
    assert play_cards(flagged).alarm == ""
    assert start_game("testa", Nudge(), Stop("cancelled")).alarm == "nudged"


def test_only_the_movers_declaration_resets_the_alarm() -> None:
    """Another player's declaration keeps the alarm."""
    for secret in range(100):
        table = play_cards(start_game("tressette", secret=secret), 4).with_entries([Nudge()], "u")
        assert table.game
        declared = {
            seat: moves
            for seat in range(4)
            if (moves := [move for move in table.game.legal_moves(seat) if move.startswith("declare ")])
        }
        mover = table.game.turn
        assert mover is not None
        if mover in declared and len(declared) > 1:
            other = next(seat for seat in declared if seat != mover)
            assert table.with_entries([Move(other, declared[other][0])], "u").alarm == "nudged"
            assert table.with_entries([Move(mover, declared[mover][0])], "u").alarm == ""
            return
    pytest.fail("in no deal could the mover and another player declare: try more secrets")


def test_new_deal_resets_the_alarm() -> None:
    table = play_cards(start_game("testa"), 39).with_entries([Nudge()], "u")
    assert play_cards(table).alarm == ""


def test_late_moves_are_counted_until_the_player_moves() -> None:
    table = start_game("testa")
    assert table.game
    seat = table.game.turn or 0
    late_table = play_cards(table.with_entries([Late(seat)], "u"))
    assert late_table.late_counts[seat] == 1
    assert late_table.late_counts[1 - seat] == 0
    assert not late_table.is_move_made_for_player
    after = play_cards(late_table)
    next_turn = next(state for state in next_states(after) if state.game and state.game.turn == seat)
    assert play_cards(next_turn.with_entries([Late(seat)], "u")).late_counts[seat] == 2
    assert play_cards(next_turn).late_counts[seat] == 0


def test_late_declaration_and_card_count_as_one_move() -> None:
    _secret, table, declared = find_declaration()
    assert table.game
    seat = table.game.turn or 0
    late_table = table.with_entries([Late(seat), declared], "u")
    assert (late_table.late_counts[seat], late_table.is_move_made_for_player) == (1, True)
    late_table = play_cards(late_table)
    assert (late_table.late_counts[seat], late_table.is_move_made_for_player) == (1, False)
    assert play_cards(table.with_entries([declared], "u")).late_counts[seat] == 0


def next_states(table: Table) -> list[Table]:
    """Return the table and its states after the next four moves."""
    states = [table]
    for _ in range(4):
        states.append(play_cards(states[-1]))
    return states


# The log


def test_unreadable_entry_marks_only_the_new_table() -> None:
    table = start_game("testa")
    broken = table.with_stored_entries([b"0 play ZZ"])
    assert broken.phase == "unreadable"
    assert broken.error == f"entry {table.version + 1} or one after it: UnknownMove"
    assert broken.version == table.version + 1
    assert "ZZ" not in broken.error
    assert table.phase == "playing"
    assert broken.with_stored_entries([encode(Stop("cancelled")).encode()]).error == broken.error


def test_known_table_reads_only_newer_entries() -> None:
    table = start_game("testa")
    further = play_cards(table, 3)
    assert Table.from_log("CODE", further.log, table).log.entries == further.log.entries
    other = Table.from_log("CODE", further.log, start_game("testa", secret=1))
    assert other.game
    assert further.game
    assert other.game.record() == further.game.record()
    assert Table.from_log("CODE", Log(further.log.entries)).moved_at == further.moved_at


def test_tables_are_immutable() -> None:
    table = open_table("tavolo", Rule("target", 21))
    changed = table.with_entries([Rule("target", 31), Ask(2, CLEO, "Cleo")], "u2")
    assert (table.rules, table.asking) == ({"target": 21}, {})
    assert changed.rules == {"target": 31}
    assert table.with_entries([], "u3") is table
    game = start_game("testa")
    play_cards(game)
    assert game.game
    assert game.game.moves == []
