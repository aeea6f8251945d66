"""Entering and organising by several people at two workers, against a model that knows nothing of logs.

``BUONGIOCO_EXAMPLES=1000 pytest -n 0 -m long tests/bot/features/tournaments/test_entering.py`` runs it long.
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
from bot.features.tournaments import store as tournaments
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
from bot.tables.choice import Choice
from bot.tables.errors import TableError
from tests.long import long

EXAMPLES = int(os.environ.get("BUONGIOCO_EXAMPLES", "50"))
STEPS = 30
PEOPLE = tuple(f"paper:{number}" for number in range(8))
MOST, LEAST = 3, 2
"""Teams at every form: few enough to be met."""

GAMES = ("testa", "tressette", "tavolo")
CHOICES = [(name, value) for name in ("time", "deals", "form") for value in OPTIONS[name]]


class Deed(NamedTuple):
    """Somebody does something; ``about`` is whom or what."""

    verb: str
    who: int
    about: Any = None


DEEDS = st.one_of(
    st.builds(Deed, st.sampled_from(["enter", "enter", "enter", "leave"]), st.integers(0, 7), st.none()),
    st.builds(Deed, st.just("partner"), st.integers(0, 5), st.integers(0, 6)),
    st.builds(Deed, st.just("choose"), st.integers(0, 2), st.sampled_from(CHOICES)),
    st.builds(Deed, st.just("play"), st.integers(0, 2), st.sampled_from(GAMES)),
    st.builds(Deed, st.just("start"), st.integers(0, 5), st.none()),
    st.builds(Deed, st.just("cancel"), st.integers(0, 30).map(lambda number: 30 - number), st.none()),
)
"""Hardly anybody who wants to call it off may, so that much happens before."""


class Model:
    """Who has entered and what was chosen, in plain words."""

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

    def number(self, who: str) -> int | None:
        here = [number for number, one in enumerate(self.players) if one == who and number not in self.out]
        return here[0] if here else None

    def do(self, deed: Deed) -> type[TableError] | None:
        """Have somebody do something; why they cannot."""
        if self.phase == "cancelled":
            return IsOver
        who = PEOPLE[deed.who] if deed.who < len(PEOPLE) else "paper:stranger"
        if self.phase != "open" and deed.verb not in ("leave", "cancel"):
            return HasBegun
        if deed.verb in ("choose", "play", "start", "cancel") and who != PEOPLE[0]:
            return OnlyTheOrganiser
        refusal: type[TableError] | None = getattr(self, f"_{deed.verb}")(who, deed.about)
        return refusal

    def _enter(self, who: str, _about: Any) -> type[TableError] | None:
        if self.number(who) is not None:
            return AlreadyEntered
        if sum(one is not None for one in self.players) >= MOST * self.size:
            return IsFull
        self.players.append(who)
        return None

    def _leave(self, who: str, _about: Any) -> type[TableError] | None:
        own = self.number(who)
        if own is None:
            return NotEntered
        if self.phase == "open":
            self.players[own] = None
            self.pairs = {pair for pair in self.pairs if own not in pair}
        else:
            self.out.add(own)
        return None

    def _partner(self, who: str, other: int) -> type[TableError] | None:
        own = self.number(who)
        if self.size == 1:
            return NoPartners
        if own == other or other >= len(self.players) or self.players[other] is None:
            return NoSuchPartner
        if own is not None and frozenset((own, other)) in self.pairs:
            return None
        if any({own, other} & pair for pair in self.pairs):
            return HasPartner
        if own is None:
            if refusal := self._enter(who, None):
                return refusal
            own = len(self.players) - 1
        self.pairs.add(frozenset((own, other)))
        return None

    def _choose(self, _who: str, about: tuple[str, str]) -> None:
        self.options[about[0]] = about[1]

    def _play(self, _who: str, game: str) -> None:
        self.game = game

    def _start(self, _who: str, _about: Any) -> type[TableError] | None:
        here = [number for number, one in enumerate(self.players) if one is not None]
        if self.size == 1:
            teams = [frozenset((number,)) for number in here]
        else:
            single = [number for number in here if not any(number in pair for pair in self.pairs)]
            teams = [*self.pairs, *(frozenset(single[at : at + 2]) for at in range(0, len(single) - 1, 2))]
            teams.sort(key=min)
        if len(teams) < LEAST:
            return TooFewTeams if self.size == 1 else TooFewPairs
        self.teams = set(teams[:MOST])
        self.phase = "playing"
        for number in here:
            if not any(number in team for team in self.teams):
                self.players[number] = None
                self.pairs = {pair for pair in self.pairs if number not in pair}
        return None

    def _cancel(self, _who: str, _about: Any) -> None:
        self.phase = "cancelled"

    @property
    def told(self) -> tuple[Any, ...]:
        pairs = {one: other for pair in self.pairs for one, other in (sorted(pair), sorted(pair, reverse=True))}
        return self.phase, self.game, self.options, self.players, pairs, self.out, self.teams


def told(tournament: Tournament) -> tuple[Any, ...]:
    """A tournament as the model tells it."""
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
    opened = count(1)

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.workers = [
            Registration(store, Tournaments(store), Ratings(store.client, Archive(store.client)))
            for store in self.stores
        ]
        self.done: list[tuple[Deed, str]] = []
        self.updates = count(1)
        self.code = ""

    def run(self, doing: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(doing)

    @initialize(entered=st.integers(0, 6), game=st.sampled_from(GAMES))
    def open(self, entered: int, game: str) -> None:
        """Some have entered already when the machine begins."""
        number = next(self.opened)
        choice = Choice.usual("testa")
        opening = self.workers[0].open(f"paper:{1000 + number}", PEOPLE[0], "0", choice, "knockout", f"open {number}")
        self.code = self.run(opening).code
        for deed in (Deed("play", 0, game), *(Deed("enter", who) for who in range(entered))):
            self.somebody_does_something(deed, entered % 2)

    async def _do(self, deed: Deed, worker: int, update: str) -> type[TableError] | None:
        who = PEOPLE[deed.who] if deed.who < len(PEOPLE) else "paper:stranger"
        at = self.workers[worker]
        try:
            match deed.verb:
                case "enter":
                    await at.enter(self.code, who, who, update)
                case "partner":
                    await at.join_partner(self.code, who, who, deed.about, update)
                case "choose":
                    name, value = deed.about
                    await at.choose_option(self.code, who, name, value, update)
                case "play":
                    await at.choose_game(self.code, who, Choice.usual(deed.about), update)
                case verb:
                    await getattr(at, verb)(self.code, who, update)
        except TableError as refusal:
            return type(refusal)
        return None

    @rule(deed=DEEDS, worker=st.integers(0, 1))
    def somebody_does_something(self, deed: Deed, worker: int) -> None:
        update = f"u{next(self.updates)}"
        assert self.run(self._do(deed, worker, update)) == self.model.do(deed), deed
        self.done.append((deed, update))

    @rule(one=DEEDS, other=DEEDS)
    def two_do_something_at_the_same_moment(self, one: Deed, other: Deed) -> None:
        """What comes of it is what comes of one after the other, in either order."""

        async def both() -> list[type[TableError] | None]:
            updates = [f"u{next(self.updates)}" for _ in range(2)]
            return list(await asyncio.gather(self._do(one, 0, updates[0]), self._do(other, 1, updates[1])))

        refusals = self.run(both())
        found = told(self.run(Tournaments(self.stores[0]).load(self.code)))
        for first in (0, 1):
            after, expected = deepcopy(self.model), dict[int, type[TableError] | None]()
            for at in (first, 1 - first):
                expected[at] = after.do((one, other)[at])
            if ([expected[0], expected[1]], after.told) == (refusals, found):
                self.model = after
                return
        raise AssertionError(f"{one} and {other} come to {refusals} and {found}, from {self.model.told}")

    @rule(pick=st.integers(0, 1000), worker=st.integers(0, 1))
    def an_update_comes_again(self, pick: int, worker: int) -> None:
        """One that was carried out changes nothing any more, and is answered as it was."""
        before = self.run(Tournaments(self.stores[0]).load(self.code))
        carried_out = [(deed, update) for deed, update in self.done if before.has_seen(update)]
        if carried_out:
            deed, update = carried_out[pick % len(carried_out)]
            assert self.run(self._do(deed, worker, update)) is None
            assert self.run(Tournaments(self.stores[0]).load(self.code)).entries == before.entries

    @invariant()
    def it_is_as_the_model_has_it(self) -> None:
        if self.code:
            for worker in self.workers:
                found = self.run(worker._tournaments.load(self.code))
                assert told(found) == self.model.told
                assert told(Tournament(self.code).after(found.entries)) == self.model.told


@pytest.mark.parametrize("examples", [10, long(EXAMPLES)])
def test_registration_at_two_workers_follows_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: int
) -> None:
    monkeypatch.setattr(registration, "MOST_TEAMS", dict.fromkeys(FORMS, MOST))
    monkeypatch.setattr(registration, "LEAST_TEAMS", dict.fromkeys(FORMS, LEAST))
    monkeypatch.setattr(tournaments, "MOST_ORGANISED", 10_000)
    monkeypatch.setattr(registration, "MOST_REENTRIES", 10_000)
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
                    phases=[Phase.generate],  # an example takes a second, and making it smaller hundreds of them
                    derandomize="BUONGIOCO_EXAMPLES" not in os.environ,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            for opening in openings:
                runner.run(opening.__aexit__(None, None, None))
            runner.run(valkey.stop())
