"""Three workers on one store give the same tables, answers and messages as a single worker.

A state machine gives updates to any of three workers: in sequence, repeated, copied, simultaneous or late. A single
worker on its own store gets each update once, in the order in which they took effect.
Long run: ``BUONGIOCO_EXAMPLES=1000 pytest -n 0 -m long tests/bot/worker/test_three_workers.py``.
"""

import asyncio
import os
import re
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.panel import Button
from bot.platform import Command, Person, Press, Reply, private_place
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.tables import table_lists
from bot.texts import texts
from tests.bot.worker.fleet import (
    GROUPS,
    PEOPLE,
    Fleet,
    SavedState,
    Update,
    VisibleState,
    live_tables_of,
    sorted_panels,
    tables_shown_in,
)
from tests.long import long

WORKERS = 3
EXAMPLES = int(os.environ.get("BUONGIOCO_EXAMPLES", "10"))
STEPS = 20
MAX_TABLES = 4  # limit of tables per person and challenges per chat, low enough to be reached

T = TypeVar("T")

CHALLENGES = (
    "metamazzo",
    "testa",
    "spades",
    "pizzichino",
    "tavolo",
    "tressette",
    "metamazzo @bruno",
    "testa @anna",
)
COMMANDS = ("hand", "tables", "settings", "resign", "join", "join", "join", "leaderboard")
WANTED = """
    :sit :sit :accept :robot 1m 1m 1m 1m resign resign rematch 1psettings :rule :clock :menu :menu :game :stand :cancel
    :refuse :decline :draft 1phand :
""".split()
"""Parts of the payloads that people press."""

UNWANTED = (":hint", "1panalysis", "robot strong", "blind")
"""Presses that start computations, and a press that returns a hand's panel to its earlier state."""

DISPLAY_WORDS = (":menu", ":draft", ":aside", "1p")
"""Parts of presses that only show a page or menu, or change a setting. The last such press counts, even if repeated."""


class Action(NamedTuple):
    """The intended action of a person, to be matched with a visible button later."""

    person: int
    place: int
    kind: str
    text: str
    pick: int


def actions() -> st.SearchStrategy[Action]:
    person, place, pick = st.integers(0, 3), st.integers(0, 2), st.integers(0, 30)
    challenge = st.builds(Action, person, place, st.just("challenge"), st.sampled_from(CHALLENGES), pick)
    command = st.builds(Action, person, place, st.just("command"), st.sampled_from(COMMANDS), pick)
    press = st.builds(Action, person, place, st.just("press"), st.sampled_from(WANTED), pick)
    old = st.builds(Action, person, place, st.just("old"), st.sampled_from(WANTED), pick)
    return st.one_of(challenge, press, press, press, press, press, old, command)


class UpdatePair(NamedTuple):
    """An update for each fleet, with the fleet's own message ids."""

    many: Update
    single: Update

    @property
    def is_drawing(self) -> bool:
        """Return whether the update only shows something or changes a setting."""
        if isinstance(self.many, Command):
            return self.many.word not in ("challenge", "join")
        return any(word in self.many.payload for word in DISPLAY_WORDS) and "rematch" not in self.many.payload


class World:
    """Two stores and their event loop."""

    def __init__(self, runner: asyncio.Runner, stores: Sequence[Store], urls: Sequence[str]) -> None:
        self.runner, self.stores, self.urls = runner, stores, urls


class ThreeWorkers(RuleBasedStateMachine):
    world: World

    def __init__(self) -> None:
        super().__init__()
        self.many, self.single = (
            Fleet(store, [url] * count)
            for store, url, count in zip(self.world.stores, self.world.urls, (WORKERS, 1), strict=True)
        )
        self.number = 0
        self.processed: list[tuple[UpdatePair, Reply]] = []
        self.delayed: list[UpdatePair] = []
        self.buttons: list[tuple[str, str]] = []
        self.codes: list[str] = []

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.world.runner.run(coroutine)

    @initialize(games=st.lists(st.sampled_from(CHALLENGES[:4]), min_size=1, max_size=2), index=st.integers(0, 2))
    def open(self, games: list[str], index: int) -> None:
        """Begin with some running games."""

        async def open_fleets() -> None:
            for fleet in (self.many, self.single):
                await fleet.store.client.flushall()
                await fleet.store.client.set(keys.SECRET, b"the same for both".ljust(32))
                await fleet.open()

        self.run(open_fleets())
        for number, game in enumerate(games):
            challenge = Action(number, number, "challenge", game, 0)
            for action in (challenge, Action(number + 1, number, "press", ":sit", number)):
                if pair := self.update(action):
                    self.run(self.deliver(pair, index, 1))
                    self.run(self.compare())

    def teardown(self) -> None:
        async def close_fleets() -> None:
            await self.many.close()
            await self.single.close()

        self.run(close_fleets())

    # Updates

    @rule(action=actions(), index=st.integers(0, 2), copies=st.sampled_from((1, 1, 1, 2, 3)))
    def act(self, action: Action, index: int, copies: int) -> None:
        """Deliver an update to one or more workers at once."""
        if pair := self.update(action):
            self.run(self.deliver(pair, index, copies))

    @rule(action=actions())
    def hold_back(self, action: Action) -> None:
        """Keep an update to deliver it late."""
        if pair := self.update(action):
            self.delayed.append(pair)

    @precondition(lambda self: self.delayed)
    @rule(pick=st.integers(0, 5), index=st.integers(0, 2))
    def release(self, pick: int, index: int) -> None:
        self.run(self.deliver(self.delayed.pop(pick % len(self.delayed)), index, 1))

    @precondition(lambda self: self.processed)
    @rule(back=st.integers(0, 8), index=st.integers(0, 2))
    def redeliver(self, back: int, index: int) -> None:
        """Deliver an answered update again, to any worker."""
        pair, first = self.processed[max(0, len(self.processed) - 1 - back)]
        self.run(self.check_redelivery(pair, first, index))

    @rule(first=actions(), second=actions(), index=st.integers(0, 2), other=st.integers(0, 2))
    def act_simultaneously(self, first: Action, second: Action, index: int, other: int) -> None:
        """Deliver two updates at once. The result must equal the result of one order or the other."""
        pairs = [pair for action in (first, second) if (pair := self.update(action))]
        if len(pairs) == 2:
            self.run(self.deliver_simultaneously(pairs, (index, other)))

    # Delivery to the workers

    async def deliver(self, pair: UpdatePair, index: int, copies: int) -> None:
        note(f"{pair.many} to {index} x{copies}")
        replies = await asyncio.gather(*(self.many.deliver(index + copy, pair.many) for copy in range(copies)))
        [expected] = await self.deliver_to_single([pair])
        # A copy that arrives after the update took effect can find that the table is gone.
        assert expected in replies, (pair, replies, expected)
        for reply in replies:
            assert reply == expected or await self.says_table_is_gone(reply), (pair, replies, expected)
        self.processed.append((pair, expected))

    async def check_redelivery(self, pair: UpdatePair, first: Reply, index: int) -> None:
        """Check that an update takes effect once and gets the same answer again.

        A refused update can succeed now. An update that only shows a page shows it again.
        """
        note(f"again {pair.many} to {index}")
        reply = await self.many.deliver(index, pair.many)
        if not pair.is_drawing and (not first.toast or is_success(first)):
            # The person might have opened the private chat since.
            now = replace(first, has_private_chat=reply.has_private_chat)
            assert reply == now or await self.says_table_is_gone(reply), (pair, reply, first)
            return
        [expected] = await self.deliver_to_single([pair])
        assert reply == expected, (pair, reply, expected)
        self.processed.append((pair, expected))

    async def says_table_is_gone(self, reply: Reply) -> bool:
        """Return whether the reply says that a table is gone, and it is."""
        match = re.match(r"There’s no table (\w+)", reply.toast)
        return match is not None and match[1] not in await self.many.logs()

    async def deliver_simultaneously(self, pairs: list[UpdatePair], indices: tuple[int, int]) -> None:
        note(f"at once {[pair.many for pair in pairs]} to {indices}")
        before = await SavedState.take(self.single)
        replies = await asyncio.gather(
            *(self.many.deliver(index, pair.many) for pair, index in zip(pairs, indices, strict=True))
        )
        await self.many.wait_until_idle()
        state = await self.many.visible_state()
        attempts: list[tuple[list[Reply], list[str]]] = []
        for step in (1, -1):
            if attempts:
                await before.restore()
            answers = (await self.deliver_to_single(pairs[::step]))[::step]
            await self.single.wait_until_idle()
            single_state = await self.single.visible_state()
            attempts.append((answers, difference(state, single_state)))
            if replies == answers and state == single_state:
                self.processed += zip(pairs, answers, strict=True)
                return
        raise AssertionError((pairs, replies, attempts))

    async def deliver_to_single(self, updates: list[UpdatePair]) -> list[Reply]:
        return [await self.single.deliver(0, pair.single) for pair in updates]

    # Checks after each step

    @invariant()
    def fleets_agree(self) -> None:
        if self.many.workers:
            self.run(self.compare())

    async def compare(self) -> None:
        await self.many.wait_until_idle()
        await self.single.wait_until_idle()
        many, single = await self.many.visible_state(), await self.single.visible_state()
        assert many == single, difference(many, single)
        for person in PEOPLE:
            expected = live_tables_of(person.id, many.logs)
            assert len(expected) <= MAX_TABLES
            assert await self.listed_tables(self.single, 0, person) == expected
            for index in range(WORKERS):
                assert await self.listed_tables(self.many, index, person) == expected, (person, index)
        for worker in self.many.workers:
            for name, fields in many.settings.items():
                cached = await worker.people._fields(name)
                assert {field: cached[field] for field in cached if field != "game"} == fields, name
        for group in GROUPS:
            expected = tables_shown_in(group, many.logs)
            for worker in (*self.many.workers, *self.single.workers):
                assert [(table.code, table.version) for table in await worker.room.lists.tables_at(group)] == expected
        self.remember(many)

    @staticmethod
    async def listed_tables(fleet: Fleet, index: int, person: Person) -> list[tuple[str, int]]:
        """Return the tables of a person from a worker, and check that the page lists the same ones."""
        worker = fleet.workers[index]
        tables = await worker.room.lists.tables_of(person.id)
        profile = await worker.people.person(person.id)
        command = Command("list", person, private_place(person.id), "tables")
        page = (await fleet.dispatchers[index]._answer_command(command, profile)).panel
        assert page
        assert all(table.code in page.plain for table in tables)
        movers = {table.code: table.to_move.person if table.to_move else "" for table in tables}
        your_turn = texts(profile.language).gettext("your turn")
        own_lines = [line for line in page.plain.splitlines() if your_turn in line]
        assert sorted(line[:6] for line in own_lines) == sorted(code for code in movers if movers[code] == person.id)
        return [(table.code, table.version) for table in tables]

    def remember(self, state: VisibleState) -> None:
        for place, panels in state.messages.items():
            for panel in panels:
                self.buttons += [(place, button.payload) for row in panel.rows for button in row if is_wanted(button)]
        self.buttons = list(dict.fromkeys(self.buttons))
        self.codes = list(dict.fromkeys([*self.codes, *state.logs]))

    # Choice of updates

    def update(self, action: Action) -> UpdatePair | None:
        """Return the updates for an action, or None without a fitting button."""
        self.number += 1
        key, person = f"u{self.number}", PEOPLE[action.person]
        place = (*GROUPS, private_place(person.id))[action.place]
        if action.kind in ("challenge", "command"):
            words = action.text.split()
            about: tuple[Person, ...] = ()
            if action.kind == "challenge":
                words = ["challenge", *words]
            if words[-1].startswith("@"):
                about = (Person("", words[-1][1:], words[-1][1:]),)
            if words in (["join"], ["resign"], ["hand"]) and self.codes and (action.pick % 3 or words == ["join"]):
                words.append(self.codes[-1 - action.pick % min(4, len(self.codes))])
            command = Command(key, person, place, words[0], tuple(words[1:]), about)
            return UpdatePair(command, command)
        # The person of the action presses, or the next one with a fitting button.
        for presser in (*PEOPLE[action.person :], *PEOPLE[: action.person]):
            places = (*GROUPS, private_place(presser.id))
            buttons = self.earlier_buttons(places) if action.kind == "old" else self.current_buttons(places)
            if fitting := [button for button in buttons if action.text in button[2]]:
                return self.press(key, presser, *fitting[action.pick % len(fitting)])
        return None

    def current_buttons(self, places: Sequence[str]) -> list[tuple[str, int, str]]:
        """Return place, message number and payload of each visible button in these places."""
        return [
            (place, number, button.payload)
            for place in places
            for number, panel in enumerate(sorted_panels(self.many.fake.messages[place]))
            for row in panel.rows
            for button in row
            if is_wanted(button)
        ]

    def earlier_buttons(self, places: Sequence[str]) -> list[tuple[str, int, str]]:
        """Return all buttons ever seen in these places, newest first, as if on the first message."""
        return [(place, 0, payload) for place, payload in reversed(self.buttons) if place in places]

    def press(self, key: str, person: Person, place: str, number: int, payload: str) -> UpdatePair:
        presses = []
        for fleet in (self.many, self.single):
            message = fleet.message_at(place, number)
            panel = fleet.fake.messages[place].get(message)
            genuine = panel is not None and any(button.payload == payload for row in panel.rows for button in row)
            presses.append(Press(key, person, place, message, payload, genuine=genuine))
        return UpdatePair(*presses)


def is_wanted(button: Button) -> bool:
    return button.kind != "private" and not any(word in button.payload for word in UNWANTED)


def is_success(reply: Reply) -> bool:
    return reply.toast.startswith(("You’re at table", "You’ve asked for a seat", "Sent to"))


def difference(first: VisibleState, second: VisibleState) -> list[str]:
    """Return short descriptions of the differences."""
    difference_lines = [
        f"{name}: {first_value} / {second_value}"
        for name, first_value, second_value in zip(VisibleState._fields, first, second, strict=True)
        if first_value != second_value
    ]
    for code in first.logs.keys() | second.logs.keys():
        if first.logs.get(code) != second.logs.get(code):
            difference_lines.append(f"log of {code}: {first.logs.get(code)} / {second.logs.get(code)}")
    for place, first_value in first.messages.items():
        second_value = second.messages[place]
        only_in_one = (
            [p for p in first_value if p not in second_value],
            [p for p in second_value if p not in first_value],
        )
        if first_value != second_value:
            difference_lines.append(f"{place}: {[[(p.plain, p.rows) for p in side] for side in only_in_one]}")
    return difference_lines[-6:]


@pytest.mark.long
@pytest.mark.parametrize("examples", [1, long(EXAMPLES)])
def test_three_workers_act_like_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: int) -> None:
    monkeypatch.setattr(table_lists, "MAX_TABLES", MAX_TABLES)
    monkeypatch.setattr(table_lists, "MAX_CHALLENGES", MAX_TABLES)
    with asyncio.Runner() as runner:
        stores = [EmbeddedStore(tmp_path / name) for name in ("many", "one")]
        for store in stores:
            runner.run(store.start())
        openings = [open_store(store.url) for store in stores]
        test_stores = [runner.run(opening.__aenter__()) for opening in openings]
        ThreeWorkers.world = World(runner, test_stores, [store.url for store in stores])
        try:
            run_state_machine_as_test(
                ThreeWorkers,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=STEPS,
                    deadline=None,
                    print_blob=True,
                    phases=[
                        Phase.generate
                    ],  # shrinking would repeat an example, which takes seconds, hundreds of times
                    derandomize="BUONGIOCO_EXAMPLES" not in os.environ,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            for opening in openings:
                runner.run(opening.__aexit__(None, None, None))
            for store in stores:
                runner.run(store.stop())
