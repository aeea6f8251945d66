"""Invariants of tournaments after kills (`tests.kills.tournaments`): each detects planted faults."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from bot.features.tournaments import director
from bot.features.tournaments.log_entries import Result, encode
from bot.features.tournaments.tournament import Tournament
from bot.finished.game import FinishedGame
from bot.store import Store
from tests.bot.features.tournaments.field import find_open_tables, open_field
from tests.kills import tournaments as kills
from tests.kills.invariants import Disagreement
from tests.kills.tournaments import TournamentsAtRest, load_state

Fault = Callable[[TournamentsAtRest], TournamentsAtRest]


@pytest.fixture
async def state(store: Store, monkeypatch: pytest.MonkeyPatch) -> TournamentsAtRest:
    """A finished knock-out, and a duplicate with two of the first round's four deals played."""
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 1e6)
    monkeypatch.setattr(director, "ADVANCE_SECONDS", 0.0)
    async with open_field(store) as field:
        finished = await field.play((await field.start_tournament("testa", "knockout", 4, 11)).code)
    async with open_field(store, 7) as field:
        code = (await field.start_tournament("testa", "duplicate", 4)).code
        for _ in range(2):
            await field.settle()
            first, _second = find_open_tables(await field.tournaments.load(code))
            await field.play_out(first)
        await field.settle()
    return await load_state(store, {finished.code: 1, code: 1}, {finished.code: 1}, "nothing")


def replace_tournament(tournament: Tournament, state: TournamentsAtRest) -> list[Tournament]:
    return [tournament if current.code == tournament.code else current for current in state.tournaments]


def find_tournament(state: TournamentsAtRest, form: str) -> Tournament:
    [tournament] = [tournament for tournament in state.tournaments if tournament.form == form]
    return tournament


def replace_first(games: Sequence[FinishedGame], game: FinishedGame) -> list[FinishedGame]:
    return [game, *games[1:]]


def archive_a_game_twice(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, archived=[*state.archived, replace(state.archived[0], id="another")])


def open_a_second_table(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, tables=[*state.tables, state.tables[0]])


def lose_a_game(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, archived=state.archived[1:])


def swap_the_winner(state: TournamentsAtRest) -> TournamentsAtRest:
    game = state.archived[0]
    winner = [1 - seat for seat in game.record.winner or ()]
    other = replace(game, record=game.record.model_copy(update={"winner": winner}))
    return replace(state, archived=replace_first(state.archived, other))


def replace_the_players(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(
        state, archived=replace_first(state.archived, replace(state.archived[0], people=["paper:1", "paper:2"]))
    )


def change_the_game_id(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, archived=replace_first(state.archived, replace(state.archived[0], id="another")))


def record_a_result_twice(state: TournamentsAtRest) -> TournamentsAtRest:
    tournament = find_tournament(state, "knockout")
    entry = encode(Result(1, 0, 0, 0, 11, 0, "played")).encode()
    return replace(state, tournaments=replace_tournament(tournament.with_stored_entries([entry]), state))


def seat_players_twice(state: TournamentsAtRest) -> TournamentsAtRest:
    chairs = state.tables[0].chairs
    people = [chair.person for chair in chairs if chair]
    return replace(state, pending=[replace(game, people=people) for game in state.pending])


def swap_the_cards(state: TournamentsAtRest) -> TournamentsAtRest:
    first, second = state.pending
    return replace(state, pending=[replace(first, record=second.record), replace(second, record=first.record)])


def archive_too_early(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, pending=state.pending[1:], archived=[*state.archived, state.pending[0]])


def link_to_a_held_game(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, page_text=f"/g/{state.pending[0].id}")


def reveal_a_secret(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, page_text=find_tournament(state, "duplicate").secret(1, 2).hex())


def show_two_cards(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, cards={**state.cards, find_tournament(state, "duplicate").code: 2})


def show_no_card(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, cards={})


def announce_the_winner_twice(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, winners=dict.fromkeys(state.winners, 2))


def announce_no_winner(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, winners={})


def lose_a_table(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, tables=state.tables[1:])


def lose_the_rounds(state: TournamentsAtRest) -> TournamentsAtRest:
    tournament = find_tournament(state, "duplicate")
    until_start = [entry for entry in tournament.entries if not entry.startswith((b"round", b"seat", b"result"))]
    return replace(
        state, tournaments=replace_tournament(Tournament(tournament.code).with_stored_entries(until_start), state)
    )


def reverse_the_players(state: TournamentsAtRest) -> TournamentsAtRest:
    return replace(state, archived=[replace(game, people=game.people[::-1]) for game in state.archived])


FAULTS: list[tuple[Callable[[TournamentsAtRest], None], Fault]] = [
    (kills.each_fixture_is_played_once, archive_a_game_twice),
    (kills.each_fixture_is_played_once, open_a_second_table),
    (kills.results_match_their_records, lose_a_game),
    (kills.results_match_their_records, swap_the_winner),
    (kills.results_match_their_records, replace_the_players),
    (kills.results_match_their_records, change_the_game_id),
    (kills.results_match_their_records, record_a_result_twice),
    (kills.nobody_plays_the_same_cards_twice, seat_players_twice),
    (kills.nobody_plays_the_same_cards_twice, swap_the_cards),
    (kills.games_are_published_after_their_round, archive_too_early),
    (kills.games_are_published_after_their_round, link_to_a_held_game),
    (kills.games_are_published_after_their_round, reveal_a_secret),
    (kills.each_tournament_has_one_card_and_one_winner_message, show_two_cards),
    (kills.each_tournament_has_one_card_and_one_winner_message, show_no_card),
    (kills.each_tournament_has_one_card_and_one_winner_message, announce_the_winner_twice),
    (kills.each_tournament_has_one_card_and_one_winner_message, announce_no_winner),
    (kills.due_matches_have_a_table, lose_a_table),
    (kills.due_matches_have_a_table, lose_the_rounds),
    (kills.standings_follow_from_the_records, reverse_the_players),
]


@pytest.mark.long
async def test_each_invariant_detects_its_planted_faults(state: TournamentsAtRest) -> None:
    assert (len(state.archived), len(state.pending), len(state.tables)) == (3, 2, 1)
    for holds in kills.INVARIANTS:
        holds(state)
    for invariant, fault in FAULTS:
        with pytest.raises(Disagreement):
            invariant(fault(state))
    mismatch = set(kills.INVARIANTS) ^ {invariant for invariant, _fault in FAULTS}
    assert not mismatch, f"FAULTS in this file must have a fault for each of tournaments.INVARIANTS: {mismatch}"
