"""Finished games for web readers: the engine's positions, without addresses."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.finished.analysis_pool import Analysis, AnalysisPool
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.robots.pool import RobotPool
from bot.site import game_reader
from bot.site.api_models import ReplayedAnalysis, ReplayedDeal, ReplayedGame, replayed_analysis, replayed_deal
from bot.site.game_reader import AnalysisBusy, GameReader, Reader
from bot.store import Store, keys
from engine import GAMES, Record, load, verify
from engine.robots.verdicts import Verdict
from engine.views import PacketsView, SpadesView
from tests.bot.finished.games import finished_game, store_game
from tests.long import mostly_long

ENGLISH, ITALIAN = Reader("en"), Reader("it", "french")


class FakeAnalyser(RobotPool):
    """A robot pool that returns given verdicts without processes."""

    def __init__(self, verdicts: Sequence[Verdict] = ()) -> None:
        self._verdicts, self.calls = list(verdicts), 0

    async def verdicts(self, record: Record, deal: int) -> list[Verdict]:
        self.calls += 1
        return [verdict for verdict in self._verdicts if verdict.deal == deal]


def make_reader(store: Store, verdicts: Sequence[Verdict] = ()) -> GameReader:
    return GameReader(Archive(store.client), AnalysisPool(store.client, FakeAnalyser(verdicts)))


def name_players(game: FinishedGame) -> FinishedGame:
    names = ["Anna", "Bruno", "Carla", "Dino"][: len(game.record.seats)]
    return replace(game, record=game.record.model_copy(update={"seats": names}))


@pytest.mark.parametrize("game_id", mostly_long(GAMES, "pizzichino", "spades"))
def test_steps_are_the_engines_positions_for_each_seat(game_id: str) -> None:
    record = finished_game(1, game_id).record
    game = name_players(finished_game(1, game_id))
    for number, deal in enumerate(record.deals, 1):
        replayed = replayed_deal(game, number, "en", "italian")
        assert ReplayedDeal.model_validate_json(replayed.model_dump_json()) == replayed
        assert [(step.seat, step.move) for step in replayed.steps[1:]] == [move[:2] for move in deal.moves]
        for index, step in enumerate(replayed.steps):
            position = load(record, number, index)
            assert step.view == position.view(None).deal
            for seat, seat_view in enumerate(step.seats):
                view = position.view(seat).deal
                assert view
                assert tuple(seat_view.hand) == view.hand
                if isinstance(view, PacketsView):
                    assert seat_view.packets == list(view.packets)
                if isinstance(view, SpadesView):
                    assert (seat_view.drawn, tuple(seat_view.discarded or ())) == (view.drawn, view.discarded)
            assert step.text


@pytest.mark.parametrize(("game_id", "verb"), [("spades", "draws first"), ("testa", "deals")])
def test_first_step_names_the_dealer_or_first_to_draw(game_id: str, verb: str) -> None:
    step = replayed_deal(name_players(finished_game(1, game_id)), 1, "en", "italian").steps[0]
    assert step.text == f"{['Anna', 'Bruno'][step.view.dealer]} {verb}"


def test_public_view_shows_no_hand() -> None:
    replayed = replayed_deal(finished_game(1, "metamazzo"), 1, "en", "italian")
    first_step = replayed.steps[0]
    assert [len(own.hand) for own in first_step.seats] == [10, 10]
    assert not set(first_step.seats[0].hand) & set(first_step.seats[1].hand)
    assert first_step.view.hand is None
    assert not [card for own in first_step.seats for card in own.hand if card in first_step.view.__repr__()]


async def test_answers_use_the_readers_language_and_suits(store: Store) -> None:
    game = name_players(finished_game(1, "metamazzo"))
    await store_game(store, game)
    reader = make_reader(store)
    english, italian = [await reader.get_deal(game.id, 1, viewer) for viewer in (ENGLISH, ITALIAN)]
    assert english
    assert italian
    steps = [json.loads(answer.body)["steps"] for answer in (english, italian)]
    card = steps[0][1]["move"].split(" ")[1]
    assert "plays" in steps[0][1]["text"]
    assert "gioca" in steps[1][1]["text"]
    assert {"D": "🪙", "C": "🏆", "S": "⚔️", "B": "🪵"}[card[1]] in steps[0][1]["text"]
    assert {"D": "♦️", "C": "♥️", "S": "♠️", "B": "♣️"}[card[1]] in steps[1][1]["text"]
    overview = await reader.get_game(game.id, ITALIAN)
    assert overview
    assert ReplayedGame.model_validate_json(overview.body).title == "Metà Mazzo"
    assert english.tag != italian.tag


async def test_analysis_of_a_later_release_is_readable(store: Store) -> None:
    game = name_players(finished_game(1, "spizzichino"))
    await store_game(store, game)
    move = game.record.deals[0].moves[0]
    stored_verdict = [1, 0, move[0], move[1], move[1], 0.0, True, "", "what a later release says"]
    await store.client.set(keys.analysis(game.id), json.dumps([stored_verdict]))
    answer = await make_reader(store).get_analysis(game.id, ENGLISH)
    assert answer
    [judgement] = json.loads(answer.body)["judgements"]
    assert (judgement["seat"], judgement["unseen"]) == (move[0], False)


async def test_answers_contain_no_address(store: Store) -> None:
    game = name_players(finished_game(1, "spizzichino"))
    await store_game(store, game)
    reader = make_reader(store)
    answers = [
        await reader.get_game(game.id, ENGLISH),
        await reader.get_record(game.id),
        await reader.get_deal(game.id, 1, ENGLISH),
    ]
    for answer in answers:
        assert answer
        assert b"Anna" in answer.body
        assert b"paper:" not in answer.body


async def test_record_can_be_verified(store: Store) -> None:
    game = finished_game(1, "spades")
    await store_game(store, game)
    answer = await make_reader(store).get_record(game.id)
    assert answer
    record = type(game.record).model_validate_json(answer.body)
    assert record == game.record
    verify(record)


async def test_next_answer_hides_a_forgotten_person(store: Store) -> None:
    game = name_players(finished_game(1, "testa"))
    await store_game(store, game)
    reader = make_reader(store)
    before = await reader.get_deal(game.id, 1, ITALIAN)
    assert before
    assert b"Anna" in before.body
    await Archive(store.client).rewrite(
        game.id, lambda stored_game: stored_game.redact(stored_game.people[0], "somebody:1")
    )
    after = await reader.get_deal(game.id, 1, ITALIAN)
    assert after
    assert b"Anna" not in after.body
    assert b"qualcuno" in after.body
    assert after.tag != before.tag


async def test_deal_is_computed_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    game = finished_game(1, "testa")
    await store_game(store, game)
    reader = make_reader(store)
    first = await reader.get_deal(game.id, 1, ENGLISH)

    def fail(*_: object) -> None:
        raise AssertionError("the deal was computed again")

    monkeypatch.setattr(game_reader, "replayed_deal", fail)
    assert await reader.get_deal(game.id, 1, ENGLISH) == first


async def test_cache_is_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    game = finished_game(1, "testa")
    await store_game(store, game)
    monkeypatch.setattr(game_reader, "CACHE_BYTES", 30_000)
    reader = make_reader(store)
    for number in range(1, len(game.record.deals) + 1):
        assert await reader.get_deal(game.id, number, ENGLISH)
    assert len(game.record.deals) == 3
    assert 0 < reader._bodies.currsize <= 30_000


async def test_missing_games_and_deals_are_none(store: Store) -> None:
    game = finished_game(1, "testa")
    await store_game(store, game)
    await store.client.set(keys.game("T999-00000a"), b"no game")
    reader = make_reader(store)
    for id_ in ("T001-00000b", "T999-00000a", ""):
        assert await reader.get_game(id_, ENGLISH) is None
        assert await reader.get_record(id_) is None
        assert await reader.get_deal(id_, 1, ENGLISH) is None
        assert await reader.get_analysis(id_, ENGLISH, begin=True) is None
    for number in (0, -1, len(game.record.deals) + 1):
        assert await reader.get_deal(game.id, number, ENGLISH) is None


async def test_record_with_illegal_moves_is_none(store: Store) -> None:
    game = finished_game(1, "testa")
    deal = game.record.deals[0]
    broken = deal.model_copy(update={"moves": [*deal.moves[:3], deal.moves[2]]})
    await store_game(store, replace(game, record=game.record.model_copy(update={"deals": [broken]})))
    assert await make_reader(store).get_deal(game.id, 1, ENGLISH) is None


def make_verdicts(game: FinishedGame) -> list[Verdict]:
    verdicts = []
    for number, deal in enumerate(game.record.deals, 1):
        for index, (seat, move, *_legal) in enumerate(deal.moves):
            if seat is not None and move.startswith("play "):
                lost_points = float(index % 7) if index % 2 else 0.0
                verdicts.append(
                    Verdict(
                        number, index, seat, move, "play 3D", lost_points, True, "takes_points" if lost_points else ""
                    )
                )
    return verdicts


async def test_reading_does_not_begin_an_analysis(store: Store) -> None:
    game = finished_game(1, "testa")
    await store_game(store, game)
    verdicts = make_verdicts(game)
    analyser = FakeAnalyser(verdicts)
    reader = GameReader(Archive(store.client), AnalysisPool(store.client, analyser))

    async def load_analysis(*, begin: bool = False) -> ReplayedAnalysis:
        answer = await reader.get_analysis(game.id, ENGLISH, begin=begin)
        assert answer
        return ReplayedAnalysis.model_validate_json(answer.body)

    before = await load_analysis()
    assert (before.is_begun, before.deals_done, before.judgements, analyser.calls) == (False, 0, [], 0)
    after = await load_analysis(begin=True)
    assert after.deals_done == after.deals == len(game.record.deals)
    assert await load_analysis() == after
    assert len(after.judgements) == len(verdicts)


def test_analysis_names_better_moves_and_reasons() -> None:
    game = name_players(finished_game(1, "testa"))
    verdicts = make_verdicts(game)
    replayed = replayed_analysis(game, Analysis(verdicts, len(game.record.deals)), "en", "italian")
    assert [mistake.lost for mistake in replayed.costliest] == [6.0, 6.0, 6.0]
    assert [mistake.deal for mistake in replayed.costliest] == sorted(mistake.deal for mistake in replayed.costliest)
    assert "3" in replayed.costliest[0].text
    assert "it takes a trick that is worth having" in replayed.costliest[0].text
    assert not [judgement for judgement in replayed.judgements if judgement.text and not judgement.lost]
    assert [player.seat for player in replayed.players] == [0, 1]
    assert sum(player.decisions for player in replayed.players) == len(verdicts)
    assert all((player.accuracy is None) == (player.decisions == 0) for player in replayed.players)
    assert all(player.accuracy is None or 0 <= player.accuracy <= 100 for player in replayed.players)


def test_player_without_decisions_has_no_accuracy() -> None:
    game = name_players(finished_game(1, "testa"))
    verdicts = [verdict for verdict in make_verdicts(game) if verdict.seat == 0]
    replayed = replayed_analysis(game, Analysis(verdicts, len(game.record.deals)), "en", "italian")
    decided, idle = replayed.players
    assert (decided.decisions, decided.accuracy is None) == (len(verdicts), False)
    assert (idle.decisions, idle.accuracy) == (0, None)
    assert '"decisions":0,"accuracy":null' in replayed.model_dump_json()


def test_costliest_move_keeps_all_its_verdicts() -> None:
    game = name_players(finished_game(1, "testa"))
    moves = [
        (index, seat, move) for index, (seat, move, *_) in enumerate(game.record.deals[0].moves) if seat is not None
    ]
    verdicts = [Verdict(1, index, seat, move, "play 3D", float(index), exact=True) for index, seat, move in moves[:3]]
    index, seat, move = moves[3]
    verdicts += [Verdict(1, index, seat, move, f"declare napoletana {suit}", 3.0, exact=True) for suit in "DC"]
    replayed = replayed_analysis(game, Analysis(verdicts, len(game.record.deals)), "en", "italian")
    assert [(mistake.place, mistake.lost) for mistake in replayed.costliest] == [(3, 3.0), (3, 3.0), (2, 2.0), (1, 1.0)]


def test_unfinished_analysis_has_no_players() -> None:
    game = finished_game(1, "testa")
    replayed = replayed_analysis(
        game, Analysis([verdict for verdict in make_verdicts(game) if verdict.deal == 1], 1), "en", "italian"
    )
    assert (replayed.is_begun, replayed.deals_done, replayed.players) == (True, 1, [])
    assert replayed.judgements


async def test_full_analysis_queue_refuses_requests(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    game = finished_game(1, "testa")
    await store_game(store, game)
    reader = make_reader(store)

    async def return_none(_game: Any) -> None:
        return None

    monkeypatch.setattr(reader._analysis_pool, "analyse", return_none)
    with pytest.raises(AnalysisBusy):
        await reader.get_analysis(game.id, ENGLISH, begin=True)
