"""Registration at two workers, compared with a simple model without logs.

Long run: ``BUONGIOCO_EXAMPLES=1000 pytest -n 0 -m long tests/bot/features/tournaments/test_entering.py``.
"""

import asyncio
import os
from collections.abc import Coroutine
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bot.features.tournaments import registration
from bot.features.tournaments import store as store_module
from bot.features.tournaments.errors import (
    AlreadyEntered,
    HasBegun,
    HasPartner,
    IsFull,
    IsOver,
    NoPartners,
    NoSuchPartner,
    NotEntered,
    OnlyTheOrganiser,
    TooFewPairs,
    TooFewTeams,
)
from bot.features.tournaments.registration import Registration
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import FORMS, OPTIONS, Tournament
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings
from bot.store import EmbeddedStore, Store, open_store
from bot.tables.errors import TableError
from bot.tables.game_choice import Choice
from tests.long import long

EXAMPLES = int(os.environ.get("BUONGIOCO_EXAMPLES", "50"))
STEPS = 30
PEOPLE = tuple(f"paper:{number}" for number in range(8))
MAX_TEAMS, MIN_TEAMS = 3, 2  # limits of every form, low enough to be reached

GAMES = ("testa", "tressette", "tavolo")
CHOICES = [(name, value) for name in ("time", "deals", "form") for value in OPTIONS[name]]


class Action(NamedTuple):
    """Something that a person does. ``target`` is a partner, option or game."""

    verb: str
    person: int
    target: Any = None


ACTIONS = st.one_of(
    st.builds(Action, st.sampled_from(["enter", "enter", "enter", "leave"]), st.integers(0, 7), st.none()),
    st.builds(Action, st.just("partner"), st.integers(0, 5), st.integers(0, 6)),
    st.builds(Action, st.just("choose"), st.integers(0, 2), st.sampled_from(CHOICES)),
    st.builds(Action, st.just("play"), st.integers(0, 2), st.sampled_from(GAMES)),
    st.builds(Action, st.just("start"), st.integers(0, 5), st.none()),
    st.builds(Action, st.just("cancel"), st.integers(0, 30).map(lambda number: 30 - number), st.none()),
)
"""Cancelling mostly comes from people without permission, so tournaments live long enough."""


class Model:
    """The expected state of a tournament."""

    def __init__(self) -> None:
        self.phase, self.game = "open", "testa"
        self.options = {"form": "knockout", "time": "86400", "deals": "2"}
        self.players: list[str | None] = []
        self.pairs: set[frozenset[int]] = set()
        self.out: set[int] = set()
        self.teams: set[frozenset[int]] = set()

    @property
    def size(self) -> int:
        return 1 if self.game == "testa" else 2

    def number(self, person: str) -> int | None:
        present = [number for number, player in enumerate(self.players) if player == person and number not in self.out]
        return present[0] if present else None

    def do(self, action: Action) -> type[TableError] | None:
        """Apply an action, or return the error that refuses it."""
        if self.phase == "cancelled":
            return IsOver
        person = PEOPLE[action.person] if action.person < len(PEOPLE) else "paper:stranger"
        if self.phase != "open" and action.verb not in ("leave", "cancel"):
            return HasBegun
        if action.verb in ("choose", "play", "start", "cancel") and person != PEOPLE[0]:
            return OnlyTheOrganiser
        refusal: type[TableError] | None = getattr(self, f"_{action.verb}")(person, action.target)
        return refusal

    def _enter(self, person: str, _target: Any) -> type[TableError] | None:
        if self.number(person) is not None:
            return AlreadyEntered
        if sum(player is not None for player in self.players) >= MAX_TEAMS * self.size:
            return IsFull
        self.players.append(person)
        return None

    def _leave(self, person: str, _target: Any) -> type[TableError] | None:
        own = self.number(person)
        if own is None:
            return NotEntered
        if self.phase == "open":
            self.players[own] = None
            self.pairs = {pair for pair in self.pairs if own not in pair}
        else:
            self.out.add(own)
        return None

    def _partner(self, person: str, other: int) -> type[TableError] | None:
        own = self.number(person)
        if self.size == 1:
            return NoPartners
        if own == other or other >= len(self.players) or self.players[other] is None:
            return NoSuchPartner
        if own is not None and frozenset((own, other)) in self.pairs:
            return None
        if any({own, other} & pair for pair in self.pairs):
            return HasPartner
        if own is None:
            if refusal := self._enter(person, None):
                return refusal
            own = len(self.players) - 1
        self.pairs.add(frozenset((own, other)))
        return None

    def _choose(self, _person: str, target: tuple[str, str]) -> None:
        self.options[target[0]] = target[1]

    def _play(self, _person: str, game: str) -> None:
        self.game = game

    def _start(self, _person: str, _target: Any) -> type[TableError] | None:
        present = [number for number, player in enumerate(self.players) if player is not None]
        if self.size == 1:
            teams = [frozenset((number,)) for number in present]
        else:
            single = [number for number in present if not any(number in pair for pair in self.pairs)]
            teams = [*self.pairs, *(frozenset(single[index : index + 2]) for index in range(0, len(single) - 1, 2))]
            teams.sort(key=min)
        if len(teams) < MIN_TEAMS:
            return TooFewTeams if self.size == 1 else TooFewPairs
        self.teams = set(teams[:MAX_TEAMS])
        self.phase = "playing"
        for number in present:
            if not any(number in team for team in self.teams):
                self.players[number] = None
                self.pairs = {pair for pair in self.pairs if number not in pair}
        return None

    def _cancel(self, _person: str, _target: Any) -> None:
        self.phase = "cancelled"

    @property
    def state(self) -> tuple[Any, ...]:
        pairs = {first: second for pair in self.pairs for first, second in (sorted(pair), sorted(pair, reverse=True))}
        return self.phase, self.game, self.options, self.players, pairs, self.out, self.teams


def read_state(tournament: Tournament) -> tuple[Any, ...]:
    """Return a tournament's state in the form of `Model.state`."""
    options = {name: tournament.options[name] for name in ("form", "time", "deals")}
    players = [player.person if player else None for player in tournament.players]
    teams = {frozenset(team) for team in tournament.teams}
    return (
        tournament.phase,
        tournament.game,
        options,
        players,
        dict(tournament.partners),
        set(tournament.withdrawn),
        teams,
    )


class Entering(RuleBasedStateMachine):
    runner: asyncio.Runner
    stores: list[Store]
    numbers = count(1)

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.workers = [
            Registration(store, Tournaments(store), Ratings(store.client, Archive(store.client)))
            for store in self.stores
        ]
        self.done: list[tuple[Action, str]] = []
        self.updates = count(1)
        self.code = ""

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(coroutine)

    @initialize(entered=st.integers(0, 6), game=st.sampled_from(GAMES))
    def open(self, entered: int, game: str) -> None:
        """Open a tournament with some players already entered."""
        number = next(self.numbers)
        choice = Choice.default("testa")
        opening = self.workers[0].open(f"paper:{1000 + number}", PEOPLE[0], "0", choice, "knockout", f"open {number}")
        self.code = self.run(opening).code
        for action in (Action("play", 0, game), *(Action("enter", person) for person in range(entered))):
            self.one_person_acts(action, entered % 2)

    async def _do(self, action: Action, worker: int, update: str) -> type[TableError] | None:
        person = PEOPLE[action.person] if action.person < len(PEOPLE) else "paper:stranger"
        desk = self.workers[worker]
        try:
            match action.verb:
                case "enter":
                    await desk.enter(self.code, person, person, update)
                case "partner":
                    await desk.join_partner(self.code, person, person, action.target, update)
                case "choose":
                    name, value = action.target
                    await desk.choose_option(self.code, person, name, value, update)
                case "play":
                    await desk.choose_game(self.code, person, Choice.default(action.target), update)
                case verb:
                    await getattr(desk, verb)(self.code, person, update)
        except TableError as refusal:
            return type(refusal)
        return None

    @rule(action=ACTIONS, worker=st.integers(0, 1))
    def one_person_acts(self, action: Action, worker: int) -> None:
        update = f"u{next(self.updates)}"
        assert self.run(self._do(action, worker, update)) == self.model.do(action), action
        self.done.append((action, update))

    @rule(action=ACTIONS, other_action=ACTIONS)
    def two_people_act_at_once(self, action: Action, other_action: Action) -> None:
        """Check that the outcome equals one of the two sequential orders."""

        async def act_at_once() -> list[type[TableError] | None]:
            updates = [f"u{next(self.updates)}" for _ in range(2)]
            return list(await asyncio.gather(self._do(action, 0, updates[0]), self._do(other_action, 1, updates[1])))

        refusals = self.run(act_at_once())
        state = read_state(self.run(Tournaments(self.stores[0]).load(self.code)))
        for first in (0, 1):
            model, expected = deepcopy(self.model), dict[int, type[TableError] | None]()
            for index in (first, 1 - first):
                expected[index] = model.do((action, other_action)[index])
            if ([expected[0], expected[1]], model.state) == (refusals, state):
                self.model = model
                return
        raise AssertionError(f"{action} and {other_action} lead to {refusals} and {state}, from {self.model.state}")

    @rule(pick=st.integers(0, 1000), worker=st.integers(0, 1))
    def an_update_is_redelivered(self, pick: int, worker: int) -> None:
        """Check that a redelivered update changes nothing and gets the same answer."""
        before = self.run(Tournaments(self.stores[0]).load(self.code))
        committed = [(action, update) for action, update in self.done if before.has_seen(update)]
        if committed:
            action, update = committed[pick % len(committed)]
            assert self.run(self._do(action, worker, update)) is None
            assert self.run(Tournaments(self.stores[0]).load(self.code)).entries == before.entries

    @invariant()
    def tournament_matches_the_model(self) -> None:
        if self.code:
            for worker in self.workers:
                tournament = self.run(worker._tournaments.load(self.code))
                assert read_state(tournament) == self.model.state
                assert read_state(Tournament(self.code).with_stored_entries(tournament.entries)) == self.model.state


@pytest.mark.long
@pytest.mark.parametrize("examples", [10, long(EXAMPLES)])
def test_registration_at_two_workers_follows_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: int
) -> None:
    monkeypatch.setattr(registration, "MAX_TEAMS", dict.fromkeys(FORMS, MAX_TEAMS))
    monkeypatch.setattr(registration, "MIN_TEAMS", dict.fromkeys(FORMS, MIN_TEAMS))
    monkeypatch.setattr(store_module, "MAX_ORGANISED", 10_000)
    monkeypatch.setattr(registration, "MAX_TIMES_ENTERED", 10_000)
    with asyncio.Runner() as runner:
        valkey = EmbeddedStore(tmp_path / "data")
        runner.run(valkey.start())
        openings = [open_store(valkey.url) for _ in range(2)]
        Entering.runner, Entering.stores = runner, [runner.run(opening.__aenter__()) for opening in openings]
        try:
            run_state_machine_as_test(
                Entering,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=STEPS,
                    deadline=None,
                    print_blob=True,
                    phases=[Phase.generate],  # an example takes a second, and shrinking it takes hundreds
                    derandomize="BUONGIOCO_EXAMPLES" not in os.environ,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            for opening in openings:
                runner.run(opening.__aexit__(None, None, None))
            runner.run(valkey.stop())
