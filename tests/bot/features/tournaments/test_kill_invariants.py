"""What must hold of tournaments after kills (`tests.kills.tournaments`): each invariant notices a fault that is planted."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from bot.features.tournaments import director
from bot.features.tournaments.entries import Result, encode
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.tournament import Tournament
from bot.finished.game import FinishedGame
from bot.store import Store
from tests.bot.features.tournaments.field import field, open_tables
from tests.kills import tournaments as kills
from tests.kills.invariants import Disagreement
from tests.kills.tournaments import TournamentsAtRest, at_rest

Fault = Callable[[TournamentsAtRest], TournamentsAtRest]


@pytest.fixture
async def rest(store: Store, monkeypatch: pytest.MonkeyPatch) -> TournamentsAtRest:
    """A knock-out that is over, and a duplicate of which two of four deals of the first round have been played."""
    monkeypatch.setattr(director, "POLL_SECONDS", 1e6)
    monkeypatch.setattr(director, "ADVANCE_SECONDS", 0.0)
    async with field(store) as some:
        over = await some.played((await some.started("testa", "knockout", 4, 11)).code)
    async with field(store, 7) as some:
        code = (await some.started("testa", "duplicate", 4)).code
        for _ in range(2):
            await some.tended()
            first, _second = open_tables(await some.worker.feature(TournamentsFeature).director.tournaments.load(code))
            await some.play_out(first)
        await some.tended()
    return await at_rest(store, {over.code: 1, code: 1}, {over.code: 1}, "nothing")


def changed(tournament: Tournament, rest: TournamentsAtRest) -> list[Tournament]:
    return [tournament if one.code == tournament.code else one for one in rest.tournaments]


def of_form(rest: TournamentsAtRest, form: str) -> Tournament:
    [found] = [one for one in rest.tournaments if one.form == form]
    return found


def but_first(games: Sequence[FinishedGame], game: FinishedGame) -> list[FinishedGame]:
    return [game, *games[1:]]


def played_twice(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, archived=[*rest.archived, replace(rest.archived[0], id="another")])


def played_at_two_tables(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, tables=[*rest.tables, rest.tables[0]])


def without_a_game(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, archived=rest.archived[1:])


def of_another_winner(rest: TournamentsAtRest) -> TournamentsAtRest:
    game = rest.archived[0]
    winner = [1 - seat for seat in game.record.winner or ()]
    other = replace(game, record=game.record.model_copy(update={"winner": winner}))
    return replace(rest, archived=but_first(rest.archived, other))


def of_other_people(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, archived=but_first(rest.archived, replace(rest.archived[0], people=["paper:1", "paper:2"])))


def of_another_name(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, archived=but_first(rest.archived, replace(rest.archived[0], id="another")))


def noted_twice(rest: TournamentsAtRest) -> TournamentsAtRest:
    tournament = of_form(rest, "knockout")
    again = encode(Result(1, 0, 0, 0, 11, 0, "played")).encode()
    return replace(rest, tournaments=changed(tournament.after([again]), rest))


def sits_twice(rest: TournamentsAtRest) -> TournamentsAtRest:
    there = rest.tables[0].chairs
    people = [chair.person for chair in there if chair]
    return replace(rest, held=[replace(one, people=people) for one in rest.held])


def has_other_cards(rest: TournamentsAtRest) -> TournamentsAtRest:
    one, other = rest.held
    return replace(rest, held=[replace(one, record=other.record), replace(other, record=one.record)])


def told_too_early(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, held=rest.held[1:], archived=[*rest.archived, rest.held[0]])


def leads_to_a_game(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, seen=f"/g/{rest.held[0].id}")


def tells_a_secret(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, seen=of_form(rest, "duplicate").secret(1, 2).hex())


def has_two_cards(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, cards={**rest.cards, of_form(rest, "duplicate").code: 2})


def has_no_card(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, cards={})


def is_told_twice(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, winners=dict.fromkeys(rest.winners, 2))


def is_not_told(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, winners={})


def has_no_table(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, tables=rest.tables[1:])


def has_not_begun(rest: TournamentsAtRest) -> TournamentsAtRest:
    tournament = of_form(rest, "duplicate")
    until_start = [one for one in tournament.entries if not one.startswith((b"round", b"seat", b"result"))]
    return replace(rest, tournaments=changed(Tournament(tournament.code).after(until_start), rest))


def was_won_by_others(rest: TournamentsAtRest) -> TournamentsAtRest:
    return replace(rest, archived=[replace(one, people=one.people[::-1]) for one in rest.archived])


FAULTS: list[tuple[Callable[[TournamentsAtRest], None], Fault]] = [
    (kills.each_fixture_is_played_once, played_twice),
    (kills.each_fixture_is_played_once, played_at_two_tables),
    (kills.each_result_is_what_its_record_says, without_a_game),
    (kills.each_result_is_what_its_record_says, of_another_winner),
    (kills.each_result_is_what_its_record_says, of_other_people),
    (kills.each_result_is_what_its_record_says, of_another_name),
    (kills.each_result_is_what_its_record_says, noted_twice),
    (kills.nobody_sits_twice_with_one_pack, sits_twice),
    (kills.nobody_sits_twice_with_one_pack, has_other_cards),
    (kills.a_round_is_told_when_it_is_over, told_too_early),
    (kills.a_round_is_told_when_it_is_over, leads_to_a_game),
    (kills.a_round_is_told_when_it_is_over, tells_a_secret),
    (kills.there_is_one_card_and_one_word_of_who_won, has_two_cards),
    (kills.there_is_one_card_and_one_word_of_who_won, has_no_card),
    (kills.there_is_one_card_and_one_word_of_who_won, is_told_twice),
    (kills.there_is_one_card_and_one_word_of_who_won, is_not_told),
    (kills.matches_that_are_due_have_a_table, has_no_table),
    (kills.matches_that_are_due_have_a_table, has_not_begun),
    (kills.who_is_ahead_is_who_the_records_say, was_won_by_others),
]


async def test_each_invariant_detects_its_planted_faults(rest: TournamentsAtRest) -> None:
    assert (len(rest.archived), len(rest.held), len(rest.tables)) == (3, 2, 1)
    for holds in kills.INVARIANTS:
        holds(rest)
    for invariant, fault in FAULTS:
        with pytest.raises(Disagreement):
            invariant(fault(rest))
    assert {invariant for invariant, _fault in FAULTS} == set(kills.INVARIANTS)
