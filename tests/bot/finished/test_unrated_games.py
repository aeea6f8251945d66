"""Games lost on purpose raise no rating, and a rebuild gives the same ratings."""

from dataclasses import replace
from typing import Any

import pytest

from bot.features.ratings.honours import HonourTally
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.finished.rating_formula import Standing
from bot.finished.ratings import Ratings, Scope
from bot.finished.unrated_games import RULES, is_finished_by, is_given_up_early
from bot.identity.programs import PREFIX
from bot.identity.pseudonyms import ForgettingMark, new_pseudonym
from bot.robots.simulation import simulate
from bot.store import Store, keys
from engine import GAMES, Game
from tests.bot.finished.games import ENDED_AT, finished_game, store_game

DAY = 86400


def resigned_game(
    number: int, plays: int, game: str = "testa", people: tuple[str, ...] = (), **fields: Any
) -> FinishedGame:
    """Return a game in which seat 1 resigns after `plays` cards of the first deal."""
    kind = GAMES[game]
    state = Game(game, {}, [f"Name {seat}" for seat in range(kind.seats)], dealer=0)
    state.deal(bytes(32))
    while sum(move.startswith("play ") for _, move in state.moves) < plays:
        seat = state.turn
        assert seat is not None
        moves = [move for move in state.legal_moves(seat) if not move.startswith(("declare", "resign", "claim"))]
        state.play(seat, moves[0])
    state.play(1, "resign")
    usual = finished_game(number, game)
    return replace(
        usual,
        record=state.record(),
        people=list(people) or usual.people,
        rating_rules=RULES,
        **{"trial": False, **fields},
    )


async def rate_games(store: Store, *games: FinishedGame) -> tuple[Ratings, dict[str, Standing]]:
    """Store and rate the games. Return the overall standings."""
    for game in games:
        await store_game(store, game)
    ratings = Ratings(store.client, Archive(store.client))
    await ratings.catch_up()
    people = {person for game in games for person in game.people}
    return ratings, {person: await ratings.standing(Scope(), person) for person in people}


@pytest.mark.parametrize(("game", "quarter"), [("testa", 10), ("pizzichino", 10), ("tavolo", 10), ("spades", 7)])
def test_early_resignation_is_within_a_quarter_of_the_deal(game: str, quarter: int) -> None:
    assert is_given_up_early(resigned_game(1, quarter - 1, game).record)
    assert not is_given_up_early(resigned_game(1, quarter, game).record)


@pytest.mark.parametrize("game", GAMES)
def test_deal_has_as_many_plays_as_its_game_says(game: str) -> None:
    first = simulate(game, {}, ["random"] * GAMES[game].seats, "plays").deals[0]
    assert sum(entry[1].startswith("play ") for entry in first.moves) == GAMES[game].cards_per_deal


async def test_early_resignation_costs_its_player_and_raises_no_rating(store: Store) -> None:
    _, standings = await rate_games(store, resigned_game(1, 3, people=("paper:1", "paper:2")))
    assert standings["paper:1"] == Standing()
    assert standings["paper:2"].rating < Standing().rating
    assert standings["paper:2"].games == 1


async def test_early_resignations_give_no_rank(store: Store) -> None:
    people = ("paper:1", "paper:2")
    ratings, standings = await rate_games(
        store, *(resigned_game(n, 3, people=people, ended=ENDED_AT + n) for n in range(1, 5))
    )
    assert standings["paper:2"].games == 4
    assert await ratings.rank(Scope(), "paper:1") is None
    assert (await ratings.histories(Scope(), people))["paper:1"] == []
    assert not await ratings.scopes_of("paper:1")


def test_early_resignation_is_not_a_win_in_a_streak() -> None:
    people = ("paper:1", "paper:2")

    def streaks(*games: FinishedGame) -> list[int]:
        tally = HonourTally()
        for game in games:
            tally.add(game)
        return [honour.figure for honour in tally.honours() if honour.kind == "streak"]

    late, early = resigned_game(1, 20, people=people), resigned_game(1, 3, people=people)
    assert streaks(late, late, late) == [3]
    assert streaks(early, early, early) == []
    # An early resignation does not end a streak either.
    assert streaks(late, late, early, late) == [3]
    assert streaks(late, late, replace(late, winner_gains=False)) == []


async def test_rating_decision_is_stored_with_the_game(store: Store) -> None:
    pair = ("paper:1", "paper:2")
    games = [resigned_game(number, 20, people=pair, ended=ENDED_AT + number) for number in range(1, 5)]
    ratings, _ = await rate_games(store, *games, resigned_game(5, 3, people=pair, ended=ENDED_AT + 5), finished_game(6))
    stored_games = [game async for game in ratings.archive.games()]
    # Early resignations and finished games need no decision.
    assert [game.winner_gains for game in stored_games] == [True, True, True, False, None, None]
    assert [FinishedGame.parse(game.to_bytes()) for game in stored_games] == stored_games
    assert ["winner_gains" in game.fields for game in stored_games] == [True] * 4 + [False] * 2


async def test_later_resignation_raises_the_winner(store: Store) -> None:
    _, standings = await rate_games(store, resigned_game(1, 10, people=("paper:1", "paper:2")))
    assert standings["paper:1"].rating > Standing().rating


async def test_fourth_resignation_of_a_day_raises_no_rating(store: Store) -> None:
    pair, other = ("paper:1", "paper:2"), ("paper:1", "paper:3")
    games = [resigned_game(number, 20, people=pair, ended=ENDED_AT + number) for number in range(1, 4)]
    ratings, third = await rate_games(store, *games)
    _, fourth = await rate_games(store, resigned_game(4, 20, people=pair, ended=ENDED_AT + 4))
    assert fourth["paper:1"].rating == third["paper:1"].rating
    assert fourth["paper:2"].rating < third["paper:2"].rating
    # A resignation counts again against another opponent, and on the next day.
    _, fifth = await rate_games(store, resigned_game(5, 20, people=other, ended=ENDED_AT + 5))
    assert fifth["paper:1"].rating > fourth["paper:1"].rating
    _, sixth = await rate_games(store, resigned_game(6, 20, people=pair, ended=ENDED_AT + DAY))
    assert sixth["paper:1"].rating > fifth["paper:1"].rating
    # A rebuild from the games gives the same standings.
    before = [await ratings.standing(Scope(), person) for person in ("paper:1", "paper:2", "paper:3")]
    await ratings.rebuild()
    assert [await ratings.standing(Scope(), person) for person in ("paper:1", "paper:2", "paper:3")] == before


async def test_fourth_resignation_counts_per_opponent(store: Store) -> None:
    """Games against the same opponents count together, even with different partners."""
    farmer, loser = "paper:1", "paper:2"
    games = [
        resigned_game(
            number, 20, "tavolo", (farmer, loser, f"paper:3{number}", f"paper:4{number}"), ended=ENDED_AT + number
        )
        for number in range(1, 5)
    ]
    _, third = await rate_games(store, *games[:3])
    _, fourth = await rate_games(store, games[3])
    assert fourth[farmer].rating == third[farmer].rating
    assert fourth["paper:34"].rating == Standing().rating
    assert fourth[loser].rating < third[loser].rating


@pytest.mark.parametrize("loser", ["paper:2", "somebody:2"])
async def test_games_of_a_person_being_forgotten_still_count(store: Store, loser: str) -> None:
    games = [
        resigned_game(number, 20, people=("paper:1", "paper:2"), ended=ENDED_AT + number) for number in range(1, 5)
    ]
    _, third = await rate_games(store, *games[:3])
    await store.client.hset(keys.FORGETTING, "paper:2", ForgettingMark("somebody:2", 0).to_text())
    _, fourth = await rate_games(store, games[3].redact("paper:2", loser))
    assert fourth["paper:1"].rating == third["paper:1"].rating


async def test_finished_games_raise_their_winner_all_day(store: Store) -> None:
    games = [replace(finished_game(number), id=f"P{number}", people=["paper:1", "paper:2"]) for number in range(1, 6)]
    games = [replace(game, rating_rules=RULES, record=finished_game(1).record) for game in games]
    winner = games[0].people[(games[0].record.winner or [0])[0]]
    ratings = []
    for game in games:
        _, standings = await rate_games(store, game)
        ratings.append(standings[winner].rating)
    assert ratings == sorted(set(ratings))


async def test_games_of_earlier_releases_are_rated_as_before(store: Store) -> None:
    old = replace(resigned_game(1, 0, people=("paper:1", "paper:2")), rating_rules=1)
    assert b"rating_rules" not in FinishedGame.parse(old.to_bytes()).to_bytes()
    assert FinishedGame.parse(old.to_bytes()) == old
    _, standings = await rate_games(store, old)
    assert standings["paper:1"].rating > Standing().rating


async def test_game_on_trial_is_not_rated(store: Store) -> None:
    game = replace(resigned_game(1, 30, people=("web:1", "paper:2")), trial=True)
    assert FinishedGame.parse(game.to_bytes()) == game
    _, standings = await rate_games(store, game)
    assert set(standings.values()) == {Standing()}


def test_game_with_a_forgotten_program_stays_unrated() -> None:
    program = f"{PREFIX}1"
    game = resigned_game(1, 30, people=(program, "paper:2"))
    assert not game.is_rated
    assert not game.redact(program, new_pseudonym(program)).is_rated
    assert game.redact(program, new_pseudonym("paper:1")).is_rated


def test_resigned_and_robot_games_are_not_finished() -> None:
    people = ("web:1", "paper:2")
    assert is_finished_by(resigned_game(1, 10, people=people), "web:1")
    assert not is_finished_by(resigned_game(1, 9, people=people), "web:1"), "an early resignation finishes no game"
    assert not is_finished_by(resigned_game(1, 30, people=people), "paper:2"), (
        "the resigning player has not finished the game"
    )
    assert not is_finished_by(resigned_game(1, 10, people=("web:1", "robot:easy")), "web:1")
    assert not is_finished_by(resigned_game(1, 10, people=("web:1", "web:robot-1")), "web:1")


async def test_forgetting_does_not_reset_the_days_limit(store: Store) -> None:
    pair = ("paper:1", "paper:2")
    ratings, _ = await rate_games(store, *(resigned_game(n, 20, people=pair, ended=ENDED_AT + n) for n in range(1, 4)))
    await ratings.hand_over("paper:2", "somebody:1")
    before = await ratings.standing(Scope(), "paper:1")
    _, after = await rate_games(store, resigned_game(4, 20, people=pair, ended=ENDED_AT + 4))
    assert after["paper:1"].rating == before.rating


async def test_counts_of_a_days_games_contain_no_ids(store: Store) -> None:
    await rate_games(store, resigned_game(1, 20, people=("paper:1", "paper:2")))
    dump = [await store.client.hgetall(key) async for key in store.client.scan_iter("{games}:rated_today")]
    assert b"paper" not in b"".join(name for fields in dump for name in fields)
