"""Records: writing, strict reading, replay and verification; bad input gives a specific error."""

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from bot.robots.simulation import simulate
from engine import GAMES, Game
from engine.errors import BadRecord, ClaimNeedsLead, FaultyRecord
from engine.shuffle import Cut
from tests.engine.tables import (
    play_any_card,
    play_out,
    play_random_step,
    random_game,
    random_rules,
    stock_table,
    tie_break_game,
)
from tests.long import mostly_long

SHORT = {"testa": {"target": 11}, "tavolo": {"target": 11}, "spades": {"target": 200}}


def make_record(game: str, seed: str = "record", *, legal: bool = False) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(
        simulate(game, SHORT.get(game, {}), ["random"] * GAMES[game].seats, seed, legal=legal).to_json()
    )
    return record


def verify_json(record: object) -> None:
    engine.verify(engine.read(json.dumps(record)))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("legal", [False, True])
def test_written_record_reads_back_and_verifies(game: str, legal: bool) -> None:
    text = simulate(game, {}, ["random"] * GAMES[game].seats, "same", legal=legal).to_json()
    record = engine.read(text)
    assert record.to_json() == text
    engine.verify(record)


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32))
def test_replaying_a_record_gives_the_same_record(game: str, seed: int) -> None:
    random = Random(seed)
    table = random_game(game, random, random_rules(game, random), deals=2)
    record = engine.read(table.record().to_json())
    assert engine.load(record).record() == table.record()
    assert engine.load(record).view(0) == table.view(0)


@pytest.mark.parametrize("game", GAMES)
def test_every_prefix_of_a_record_loads_the_same_game(game: str) -> None:
    random = Random(game)
    table = Game(game)
    states: list[Game] = []
    while table.deal_number < 2 or not (table.needs_deal or table.is_over):
        if table.needs_deal:
            table.deal(random.randbytes(32))
        elif table.turn is not None:
            table.play(
                table.turn, random.choice([m for m in table.legal_moves(table.turn) if m not in ("claim", "resign")])
            )
        states.append(table.copy())
        if table.is_over:
            break
    record = engine.read(table.record().to_json())
    for state in states:
        loaded = engine.load(record, state.deal_number, len(state.moves))
        assert loaded.record() == state.record()
        assert [loaded.view(seat) for seat in (None, 0, 1)] == [state.view(seat) for seat in (None, 0, 1)]
        live = engine.load(engine.read(state.record().to_json()))
        assert live.record() == state.record()


def test_replay_steps_through_a_deal() -> None:
    record = engine.read(json.dumps(make_record("metamazzo")))
    steps = [len(game.moves) for game in engine.replay(record, 1)]
    assert steps == list(range(len(record.deals[0].moves) + 1))


def test_deal_0_loads_a_game_before_its_first_deal() -> None:
    record = engine.read(json.dumps(make_record("testa")))
    game = engine.load(record, 0)
    assert (game.deal_number, game.current, game.totals, game.needs_deal) == (0, None, (0, 0), True)
    assert game.next_dealer == record.deals[0].dealer


def test_deal_beyond_the_record_is_refused() -> None:
    record = engine.read(json.dumps(make_record("testa")))
    with pytest.raises(FaultyRecord, match=r"^the game: there is no deal 99"):
        engine.load(record, 99)


def test_record_can_leave_out_the_running_deal() -> None:
    table = Game("metamazzo", dealer=0)
    table.deal(bytes(32))
    assert table.record(live=False).deals == []
    assert len(table.record().deals) == 1
    engine.verify(table.record(live=False))


CUTS = st.text("0123456789abcdef", min_size=1, max_size=64)


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32), cuts=st.lists(CUTS | st.none(), min_size=2, max_size=2))
def test_record_with_cuts_reads_back_and_verifies(game: str, seed: int, cuts: list[str | None]) -> None:
    random = Random(seed)
    table = Game(game)
    for cut in cuts:
        if table.is_over:
            break
        secret = random.randbytes(32)
        cut_by = (table.dealer_for(secret) + random.choice([1, -1])) % len(table.names)
        table.deal(secret, Cut(cut, cut_by) if cut else None)
        proof = json.loads(table.record().to_json())["deals"][-1]["proof"]
        assert (proof.get("cut"), "cut_by" in proof) == (cut, cut is not None)
        while table.turn is not None:
            play_random_step(table, random)
    table.stop("cancelled") if not table.is_over else None
    record = engine.read(table.record().to_json())
    engine.verify(record)
    assert record.to_json() == table.record().to_json()
    assert engine.load(record).record() == table.record()


def cut_record() -> dict[str, Any]:
    """Return a record whose second deal was cut by the dealer's opponent."""
    table, random = Game("testa", {"target": 21}), Random("cut")
    table.deal(bytes(32))
    play_out(table)
    secret = bytes(range(32))
    table.deal(secret, Cut("00ff", 1 - table.dealer_for(secret)))
    while not table.is_over:
        play_random_step(table, random)
    record: dict[str, Any] = json.loads(table.record().to_json())
    verify_json(record)
    return record


FALSE_CUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "another cut": ("deal 2: the pack does not follow from the secret and the cut", {"cut": "00fe"}),
    "no digit": (r"deals\.1\.proof\.cut\b", {"cut": ""}),
    "a null cut": (r"deals\.1\.proof\.cut\b", {"cut": None}),
    "too many digits": (r"deals\.1\.proof\.cut\b", {"cut": "0" * 65}),
    "upper case": (r"deals\.1\.proof\.cut\b", {"cut": "00FF"}),
    "a newline": (r"deals\.1\.proof\.cut\b", {"cut": "00ff\n"}),
    "no seat": (r"deals\.1\.proof\.cut_by: there is no seat 2", {"cut_by": 2}),
    "a null seat": (r"deals\.1\.proof\.cut_by", {"cut_by": None}),
    "an unknown key": (r"deals\.1\.proof\.cuts: is not a key", {"cuts": "00"}),
}


@pytest.mark.parametrize("name", FALSE_CUTS)
def test_false_cut_is_refused(name: str) -> None:
    path, change = FALSE_CUTS[name]
    record = cut_record()
    record["deals"][1]["proof"].update(change)
    with pytest.raises((BadRecord, FaultyRecord), match=path):
        verify_json(record)


@pytest.mark.parametrize("key", ["cut", "cut_by"])
def test_cut_without_its_seat_is_refused_and_vice_versa(key: str) -> None:
    record = cut_record()
    del record["deals"][1]["proof"][key]
    with pytest.raises(BadRecord, match=rf"deals\.1\.proof\.{key}: is missing"):
        verify_json(record)


def test_record_with_a_removed_cut_is_refused() -> None:
    record = cut_record()
    for key in ("cut", "cut_by"):
        del record["deals"][1]["proof"][key]
    with pytest.raises(FaultyRecord, match="deal 2: the pack does not follow from the secret"):
        verify_json(record)


def test_cut_by_the_dealers_own_side_is_refused() -> None:
    record = cut_record()
    record["deals"][1]["proof"]["cut_by"] = record["deals"][1]["dealer"]
    with pytest.raises(FaultyRecord, match="only an opponent can cut"):
        verify_json(record)


def test_pack_laid_out_by_hand_does_not_verify() -> None:
    table = stock_table("metamazzo", "3D", "4D")
    record = engine.read(table.record().to_json())
    assert engine.load(record).record() == table.record()
    with pytest.raises(FaultyRecord, match="no proof"):
        engine.verify(record)


# Shape

Change = Callable[[dict[str, Any]], object]

MALFORMED_RECORDS: dict[str, tuple[str, Change]] = {
    "format": ("format", lambda r: r.update(format="buongioco/2")),
    "no format": ("format: is missing", lambda r: r.pop("format")),
    "unknown game": ("game: 'briscola' is not one of", lambda r: r.update(game="briscola")),
    "game of a wrong type": ("game", lambda r: r.update(game=7)),
    "another family's game": ("deals.0", lambda r: r.update(game="spades")),
    "unknown key": ("colour: is not a key", lambda r: r.update(colour="red")),
    "unknown key in a deal": ("deals.0.colour: is not a key", lambda r: r["deals"][0].update(colour="red")),
    "option out of range": ("rules.target: target: 12 is not one of: 11, 21, 31", lambda r: r["rules"].update(target=12)),
    "option of a wrong type": ("rules.target", lambda r: r["rules"].update(target="21")),
    "option true for 1": ("rules.score_unit", lambda r: r["rules"].update(score_unit=True)),
    "unknown option": ("rules.jokers", lambda r: r["rules"].update(jokers=2)),
    "missing option": ("rules.declare: is missing", lambda r: r["rules"].pop("declare")),
    "too many seats": ("seats: 3 names", lambda r: r["seats"].append("Third")),
    "a seat without a name": ("seats.0", lambda r: r.update(seats=["", "B"])),
    "a card twice": ("deals.0.pack", lambda r: r["deals"][0]["pack"].__setitem__(0, r["deals"][0]["pack"][1])),
    "a card too few": ("deals.0.pack", lambda r: r["deals"][0]["pack"].pop()),
    "a card of the other pack": ("deals.0.pack", lambda r: r["deals"][0]["pack"].__setitem__(0, "KH")),
    "a dealer that is not a seat": ("deals.0.dealer: there is no seat 3", lambda r: r["deals"][0].update(dealer=3)),
    "a negative dealer": ("deals.0.dealer", lambda r: r["deals"][0].update(dealer=-1)),
    "a dealer in words": ("deals.0.dealer", lambda r: r["deals"][0].update(dealer="0")),
    "a dealer that is true": ("deals.0.dealer", lambda r: r["deals"][0].update(dealer=True)),
    "a secret that is not hex": ("deals.0.proof.secret", lambda r: r["deals"][0]["proof"].update(secret="x" * 64)),
    "a secret too short": ("deals.0.proof.secret", lambda r: r["deals"][0]["proof"].update(secret="00")),
    "a move that is a string": ("deals.0.moves.0", lambda r: r["deals"][0]["moves"].__setitem__(0, "play 3D")),
    "a move without a text": ("deals.0.moves.0", lambda r: r["deals"][0]["moves"].__setitem__(0, [0])),
    "a move with four parts": ("deals.0.moves.0", lambda r: r["deals"][0]["moves"].__setitem__(0, [0, "x", [], 1])),
    "a move that is too long": ("deals.0.moves.0", lambda r: r["deals"][0]["moves"].__setitem__(0, [0, "x" * 999])),
    "thirds below zero": ("deals.0.thirds", lambda r: r["deals"][0].update(thirds=[-1, 36])),
    "three sides": ("deals.0.points", lambda r: r["deals"][0].update(points=[1, 2, 3])),
    "points with fractions": ("deals.0.points", lambda r: r["deals"][0].update(points=[1.5, 2])),
    "an unknown ending": ("ending", lambda r: r.update(ending="victory")),
    "a winner that is not a seat": ("winner: there is no seat 3", lambda r: r.update(winner=[3])),
    "an ending without a winner": ("winner", lambda r: r.update(winner=None)),
    "no deals": ("deals", lambda r: r.update(deals=None)),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED_RECORDS)
def test_malformed_record_is_refused_with_the_path(name: str) -> None:
    path, change = MALFORMED_RECORDS[name]
    record = make_record("testa")
    change(record)
    with pytest.raises(BadRecord) as caught:
        engine.read(json.dumps(record))
    assert path in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '"x"', "{}", "nonsense", "[" * 100_000, b"\xff\xfe", b"\x00",
                                  '{"format": NaN}', '{"seats": ["\\ud800"]}', "9" * 10_000])  # fmt: skip
def test_text_that_is_not_a_record_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadRecord):
        engine.read(text)


def test_fixed_option_can_be_left_out() -> None:
    record = make_record("testa")
    del record["rules"]["layout"]
    verify_json(record)


def test_record_without_a_newer_option_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    record = json.loads(simulate("testa", {"target": 11, "declare": "none"}, ["random"] * 2, "old").to_json())
    del record["rules"]["declare"]
    monkeypatch.setattr(GAMES["testa"].rules, "BEFORE", {"declare": "none"})
    verify_json(record)
    assert engine.read(json.dumps(record)).rules["declare"] == "none"


# False records


def play_other_card(record: dict[str, Any]) -> None:
    move = record["deals"][0]["moves"][10]
    move[1] = record["deals"][0]["moves"][12][1]


FALSE_RECORDS: dict[str, tuple[str, Change]] = {
    "an illegal move": ("deal 1, move 1", play_other_card),
    "a move out of turn": ("deal 1, move 11", lambda r: r["deals"][0]["moves"][10].__setitem__(0, 1 - r["deals"][0]["moves"][10][0])),
    "a move without a seat": ("deal 1, move 11", lambda r: r["deals"][0]["moves"][10].__setitem__(0, None)),
    "a move of no seat": ("deal 1, move 11", lambda r: r["deals"][0]["moves"][10].__setitem__(0, 3)),
    "a move too few": ("deal 1: the deal is not played to its end", lambda r: r["deals"][0]["moves"].pop()),
    "a move too many": ("deal 1, move", lambda r: r["deals"][0]["moves"].append([0, "play 3D"])),
    "a commitment of another secret": ("deal 1: the commitment", lambda r: r["deals"][0]["proof"].update(commitment="0" * 64)),
    "another pack": ("deal 1: the pack", lambda r: r["deals"][0]["pack"].reverse()),
    "another dealer": ("deal 2: seat", lambda r: r["deals"][1].update(dealer=1 - r["deals"][1]["dealer"])),
    "another score": ("deal 1: points are recorded", lambda r: r["deals"][0].update(points=[11, 0])),
    "other thirds": ("deal 1: thirds are recorded", lambda r: r["deals"][0].update(thirds=[35, 0])),
    "other totals": ("deal 2: totals are recorded", lambda r: r["deals"][1].update(totals=[1, 1])),
    "another ending": ("the game: the ending", lambda r: r.update(ending="resign")),
    "a timeout after the end": ("the game: the ending", lambda r: r.update(ending="timeout")),
    "not ended": ("the game: the ending", lambda r: r.update(ending=None, winner=None)),
    "another winner": ("the game: the winner", lambda r: r.update(winner=[1 - r["winner"][0]])),
    "a winner twice": ("the game: the winner", lambda r: r.update(winner=r["winner"] * 2)),
    "a deal too many": ("deal 3: the game was over", lambda r: r["deals"].append(r["deals"][0])),
    "a deal too few": ("the game: the ending", lambda r: r["deals"].pop()),
    "a legal move not listed": ("deal 1, move 1: ", lambda r: r["deals"][0]["moves"][0][2].pop()),
    "a move listed that is not legal": ("is listed as legal, but is not", lambda r: r["deals"][0]["moves"][0][2].append("play XX")),
    "a list not sorted": ("not sorted", lambda r: r["deals"][0]["moves"][0][2].reverse()),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE_RECORDS)
def test_false_record_is_refused_with_deal_and_move(name: str) -> None:
    path, change = FALSE_RECORDS[name]
    record = make_record("testa", "untrue", legal=True)
    assert len(record["deals"]) >= 2
    verify_json(record)
    before = deepcopy(record)
    change(record)
    assert record != before
    with pytest.raises(FaultyRecord) as caught:
        verify_json(record)
    assert path in str(caught.value)


@pytest.mark.parametrize("later", [1, 2, 3])
def test_only_the_next_seat_may_deal(later: int) -> None:
    """Wrong dealers with higher and lower seat numbers are refused."""
    record = make_record("tressette", "dealers")
    assert len(record["deals"]) == 3
    for number in (1, 2):
        changed = deepcopy(record)
        changed["deals"][number]["dealer"] = (record["deals"][number]["dealer"] + later) % 4
        with pytest.raises(FaultyRecord, match=f"deal {number + 1}: seat"):
            verify_json(changed)


def test_only_verify_checks_lists_of_legal_moves() -> None:
    """The lists are for readers without the rules; loading a record does not use them."""
    record = make_record("testa", "lists", legal=True)
    right = engine.load(engine.read(json.dumps(record)))
    record["deals"][0]["moves"][0][2].append("play XX")
    wrong = engine.read(json.dumps(record))
    assert engine.load(wrong, 1).moves == engine.load(engine.read(right.record().to_json()), 1).moves
    assert len(list(engine.replay(wrong, 1))) == len(record["deals"][0]["moves"]) + 1
    with pytest.raises(FaultyRecord, match="listed as legal"):
        engine.verify(wrong)


@pytest.mark.parametrize(
    ("bid", "good"), [(1, True), (13, True), ("nil", True), (0, False), (14, False), ("blind", False)]
)
def test_bid_is_recorded_as_tricks_or_nil(bid: int | str, good: bool) -> None:
    record = make_record("spades", "bids")
    record["deals"][0]["bids"] = [bid, 4]
    if good:
        assert json.loads(engine.read(json.dumps(record)).to_json())["deals"][0]["bids"] == [bid, 4]
    else:
        with pytest.raises(BadRecord, match=r"deals\.0\.bids"):
            engine.read(json.dumps(record))


def test_given_cards_must_follow_from_the_secret() -> None:
    for seed in range(300):
        record = make_record("spades", f"gifts {seed}")
        for number, deal in enumerate(record["deals"]):
            gifts = [index for index, move in enumerate(deal["moves"]) if move[0] is None]
            if gifts:
                deal["moves"][gifts[0]][1] = "gives 2C"
                with pytest.raises(
                    FaultyRecord,
                    match=f"deal {number + 1}, move {gifts[0] + 1}: gives 2C: according to the deal's secret",
                ):
                    verify_json(record)
                return
    pytest.fail("no exchange in 300 games")


def test_record_errors_quote_little() -> None:
    record = make_record("testa")
    record["x" * 5000 + "\x1b[2J"] = 1
    with pytest.raises(BadRecord) as caught:
        engine.read(json.dumps(record))
    assert len(str(caught.value)) < 200
    assert "\x1b" not in str(caught.value)


# 100,000 mutations

JUNK: list[Any] = [
    None,
    True,
    -1,
    0,
    3,
    10**30,
    1.5,
    "",
    "play 3D",
    "gives 3D",
    "resign",
    "claim",
    "exchange",
    "\x00",
    "é" * 300,
    [],
    {},
    [[]],
    {"a": 1},
]


def mutate_structure(record: Any, random: Random) -> Any:
    """Replace, remove, duplicate or swap a random part of a record."""
    node, key = record, random.choice(list(record))
    while isinstance(node[key], dict | list) and node[key] and random.random() < 0.85:
        node = node[key]
        key = random.choice(list(node)) if isinstance(node, dict) else random.randrange(len(node))
    match random.randrange(4):
        case 0:
            node[key] = random.choice(JUNK)
        case 1:
            del node[key]
        case 2 if isinstance(node, list):
            node.insert(key, deepcopy(random.choice(node)))
        case 3 if isinstance(node, list):
            other = random.randrange(len(node))
            node[key], node[other] = node[other], node[key]
        case _:
            node[str(random.random()) if isinstance(node, dict) else key] = random.choice(JUNK)
    return record


def mutate_bytes(text: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(text)) for _ in range(2))
    match random.randrange(5):
        case 0:
            return text[:start]
        case 1:
            return text[:start] + bytes([random.randrange(256)]) + text[start + 1 :]
        case 2:
            return text[:start] + text[end:]
        case 3:
            return text[:end] + text[start:]
        case _:
            return (
                text[:start]
                + random.choice([b'"', b"[", b"]", b"{", b"}", b",", b"1", b"null", b"\xff"])
                + text[start:]
            )


@pytest.mark.parametrize("chunk", mostly_long(range(40), 0))
def test_mutated_records_give_specific_errors(chunk: int) -> None:
    random = Random(chunk)
    records = [make_record(game, f"mutant {chunk}") for game in ("testa", "tavolo")]
    spades = make_record("spades", f"mutant {chunk}")
    spades["deals"] = spades["deals"][:1]
    records.append(spades)
    outcomes = {"bad": 0, "faulty": 0, "true": 0}
    texts = [json.dumps(record).encode() for record in records]
    for number in range(2500):
        if number % 2:
            text = mutate_bytes(random.choice(texts), random)
        else:
            text = json.dumps(mutate_structure(json.loads(random.choice(texts)), random)).encode()
        try:
            engine.verify(engine.read(text))
            outcomes["true"] += 1
        except BadRecord:
            outcomes["bad"] += 1
        except FaultyRecord:
            outcomes["faulty"] += 1
    assert outcomes["bad"] > 250
    assert outcomes["faulty"] > 125


# Earlier releases of the rules


def early_claim_record() -> engine.Record:
    """Return a record with a claim before the first card of a tie-break deal, as release 1 allowed."""
    table = tie_break_game(release=1)
    table.play(0, "claim")
    return engine.read(table.record().to_json())


def test_claim_of_an_earlier_release_verifies_with_a_note() -> None:
    record = early_claim_record()
    assert engine.verify(record) == (
        "deal 5, move 1: claimed in a tie-break deal without a lead; the rules allowed this only before release 2"
    )
    game = engine.load(record)
    assert (game.ending, game.winner, game.release) == ("claim", (0, 2), 1)
    assert [step.ending for step in engine.replay(record, 5)][-1] == "claim"
    assert game.record().to_json() == record.to_json()


def test_record_valid_under_current_rules_has_no_note() -> None:
    table = tie_break_game()
    while not table.is_over:
        try:
            table.play(table.turn or 0, "claim")
        except ClaimNeedsLead:
            play_any_card(table)
    assert table.ending == "claim"
    assert engine.verify(engine.read(table.record().to_json())) == ""


def test_claim_that_no_release_allowed_is_a_fault() -> None:
    record = json.loads(early_claim_record().to_json())
    del record["deals"][1:]
    record["deals"][0]["moves"] = [[0, "claim"]]
    with pytest.raises(FaultyRecord, match="hasn’t reached the target"):
        verify_json(record)


def test_earlier_release_does_not_excuse_other_faults() -> None:
    record = json.loads(early_claim_record().to_json())
    record["winner"] = [1, 3]
    with pytest.raises(FaultyRecord, match="winner"):
        verify_json(record)
