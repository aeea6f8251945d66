"""The search queue in the store: each person has one place, even with repeated and concurrent requests."""

import asyncio
from collections.abc import Iterator
from itertools import combinations, permutations
from math import inf

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bot.features.find import keys
from bot.features.find.matching import can_match
from bot.features.find.queue import Pairing, Queue, QueueEntry
from bot.store import EmbeddedStore, Store, open_store
from bot.store.keys import FIND_BLOCKS
from bot.tables.limits import MAX_BLOCKS

ANNA, BRUNO, CARLA, DINO = PEOPLE = ("telegram:1", "discord:2", "playground:3", "telegram:4")
COUPLES = st.permutations(PEOPLE).map(lambda people: (people[0], people[1]))
COPIES = st.integers(1, 3)  # times that a request is sent at once
MAX_GROUPS = 12  # groups that are paired at once


async def join_queue(queue: Queue, *people: str) -> dict[str, QueueEntry]:
    for person in people:
        assert await queue.join(person, ["pizzichino"], "it", 1000, f"look {person}") == "waiting"
    return {entry.searcher.person: entry for entry in await queue.entries()}


async def test_pairing_holds_two_until_it_ends(any_store: Store) -> None:
    queue = Queue(any_store.client)
    entries = await join_queue(queue, ANNA, BRUNO)
    assert await queue.pair("ONE", [entries[ANNA], entries[BRUNO]], "pizzichino")
    pairing = Pairing("ONE", "pizzichino", (ANNA, BRUNO))
    assert (await queue.entries(), await queue.pairings()) == ([], [pairing])
    assert (await queue.pairing_of(ANNA), await queue.pairing_of(BRUNO)) == (pairing, pairing)
    assert (pairing.others(ANNA), pairing.others(BRUNO)) == ((BRUNO,), (ANNA,))
    assert await queue.join(ANNA, ["pizzichino"], "it", 1000, "again") == "asked"
    assert not await queue.leave(ANNA)
    assert await queue.end_pairing("ONE")
    assert not await queue.end_pairing("ONE", [ANNA])
    assert (await queue.entries(), await queue.pairings(), await queue.pairing_of(ANNA)) == ([], [], None)


async def test_person_who_stays_keeps_their_place(store: Store) -> None:
    queue = Queue(store.client)
    entries = await join_queue(queue, ANNA, BRUNO)
    assert await queue.pair("ONE", [entries[ANNA], entries[BRUNO]], "pizzichino")
    assert await queue.end_pairing("ONE", [BRUNO, CARLA])
    assert await queue.entries() == [entries[BRUNO]]


@pytest.mark.parametrize("leaver", PEOPLE)
async def test_three_who_stay_of_four_keep_their_places(store: Store, leaver: str) -> None:
    queue = Queue(store.client)
    entries = await join_queue(queue, *PEOPLE)
    assert await queue.pair("ONE", list(entries.values()), "tressette")
    staying = set(PEOPLE) - {leaver}
    assert await queue.end_pairing("ONE", staying)
    assert {entry.searcher.person: entry for entry in await queue.entries()} == {
        person: entries[person] for person in staying
    }


async def test_old_entry_cannot_be_paired(store: Store) -> None:
    queue = Queue(store.client)
    entries = await join_queue(queue, ANNA, BRUNO)
    assert await queue.join(BRUNO, ["testa", "pizzichino"], "it", 1000, "other") == "waiting"
    assert not await queue.pair("ONE", [entries[ANNA], entries[BRUNO]], "pizzichino")
    [bruno] = [entry for entry in await queue.entries() if entry.searcher.person == BRUNO]
    assert bruno.searcher.started_at == entries[BRUNO].searcher.started_at
    assert bruno.searcher.games == ("testa", "pizzichino")


async def test_repeated_request_joins_once(any_store: Store) -> None:
    queue = Queue(any_store.client)
    request = (["pizzichino"], "it", 1000)
    for _ in range(2):
        assert await queue.join(ANNA, *request, "one") == "waiting"
    assert await queue.leave(ANNA)
    assert await queue.join(ANNA, *request, "one") == "repeated"
    assert await queue.entries() == []
    entries = await join_queue(queue, ANNA, BRUNO)
    assert await queue.pair("ONE", [entries[ANNA], entries[BRUNO]], "pizzichino")
    assert await queue.join(ANNA, *request, "while asked") == "asked"
    assert await queue.end_pairing("ONE")
    for update in ("one", "while asked", f"look {ANNA}"):
        assert await queue.join(ANNA, *request, update) == "repeated"
    assert await queue.entries() == []


@pytest.mark.parametrize(("blocker", "blocked"), [(ANNA, BRUNO), (BRUNO, ANNA)])
async def test_blocked_people_are_not_paired(any_store: Store, blocker: str, blocked: str) -> None:
    queue = Queue(any_store.client)
    entries = await join_queue(queue, ANNA, BRUNO)
    assert await queue.blocks.add(blocker, blocked, "Asso 100")
    assert not await queue.pair("ONE", [entries[ANNA], entries[BRUNO]], "pizzichino")
    searchers = {entry.searcher.person: entry.searcher for entry in await queue.entries()}
    assert searchers[blocker].blocked_people == {blocked}
    assert not can_match(searchers[ANNA], searchers[BRUNO], await queue.now() + 1e3)
    [block] = await queue.blocks.blocks_of(blocker)
    await queue.blocks.remove(blocker, block.token)
    assert await queue.pair("TWO", [entries[ANNA], entries[BRUNO]], "pizzichino")


async def test_blocks_are_unique_by_name_and_limited(store: Store) -> None:
    blocks = Queue(store.client).blocks
    for name in ("Asso 100", "Bruno", "Asso 100"):
        assert await blocks.add(ANNA, BRUNO, name)
    assert [block.name for block in await blocks.blocks_of(ANNA)] == ["Asso 100", "Bruno"]
    first, second = await blocks.blocks_of(ANNA)
    await blocks.remove(ANNA, first.token)
    assert await blocks.has_blocked(ANNA, BRUNO)
    await blocks.remove(BRUNO, second.token)
    assert await blocks.has_blocked(ANNA, BRUNO)
    await blocks.remove(ANNA, second.token)
    assert not await blocks.has_blocked(ANNA, BRUNO)
    results = [await blocks.add(ANNA, f"telegram:{number}", "Re 100") for number in range(MAX_BLOCKS + 1)]
    assert (results.count(True), results[-1]) == (MAX_BLOCKS, False)


async def test_forgotten_person_leaves_and_the_other_stays(store: Store) -> None:
    queue = Queue(store.client)
    entries = await join_queue(queue, ANNA, BRUNO, CARLA)
    assert await queue.pair("ONE", [entries[ANNA], entries[BRUNO]], "pizzichino")
    for person, other in ((ANNA, BRUNO), (BRUNO, ANNA), (BRUNO, "telegram:9")):
        assert await queue.blocks.add(person, other, "Fante 200")
    await queue.forget(ANNA)
    await queue.forget(CARLA)
    assert [entry.text for entry in await queue.entries()] == [entries[BRUNO].text]
    assert [block.person for block in await queue.blocks.blocks_of(BRUNO)] == ["telegram:9"]
    hashes = [keys.WAITING, keys.ASKED, keys.PAIRINGS, FIND_BLOCKS]
    everything = [await store.client.hgetall(key) for key in hashes]
    assert ANNA not in repr(everything)


class Workers(RuleBasedStateMachine):
    """Two workers on one store change the queue at random. A model predicts the result."""

    runner: asyncio.Runner
    stores: tuple[Store, Store]

    @initialize()
    def empty(self) -> None:
        self.runner.run(self.stores[0].client.flushall())
        self.queues = [Queue(store.client) for store in self.stores]
        self.known: list[QueueEntry] = []
        self.waiting: dict[str, str] = {}
        self.pairings: dict[str, dict[str, str]] = {}  # the text of each person's entry, by the pairing's code
        self.blocks: set[tuple[str, str]] = set()
        self.updates = 0
        self.codes = 0
        self.everybody_joins()

    def find_pairing_code(self, person: str) -> str | None:
        return next((code for code, texts in self.pairings.items() if person in texts), None)

    @rule(person=st.sampled_from(PEOPLE), rating=st.sampled_from((1000, 1100)), copies=COPIES)
    def join_queue(self, person: str, rating: int, copies: int) -> None:
        self.join(person, rating, copies)

    def join(self, person: str, rating: int, copies: int) -> None:
        update = f"update {self.updates}"
        self.updates += 1

        async def send_copies() -> list[str]:
            return await asyncio.gather(
                *(self.queues[copy % 2].join(person, ["pizzichino"], "it", rating, update) for copy in range(copies))
            )

        assert set(self.runner.run(send_copies())) == {"asked" if self.find_pairing_code(person) else "waiting"}
        if self.find_pairing_code(person) is None:
            [entry] = [entry for entry in self.read() if entry.searcher.person == person]
            if person in self.waiting:
                assert entry.text.split()[0] == self.waiting[person].split()[0]
            self.waiting[person] = entry.text

    @rule()
    def everybody_joins(self) -> None:
        for person in PEOPLE:
            self.join(person, 1000, 2)

    @rule(person=st.sampled_from(PEOPLE))
    def leave(self, person: str) -> None:
        assert self.runner.run(self.queues[0].leave(person)) is (self.find_pairing_code(person) is None)
        self.waiting.pop(person, None)

    @rule()
    def read_queue(self) -> None:
        """Read the queue, to match people by it now or later."""
        self.known = self.read()

    @rule(person=st.sampled_from(PEOPLE), number=st.integers(0, 1000))
    def repeat_request(self, person: str, number: int) -> None:
        """Repeat an old request, as platforms do. It must not add the person again."""
        update = f"update {number % self.updates}"
        result = self.runner.run(self.queues[0].join(person, ["pizzichino"], "it", 1200, update))
        assert result == (
            "asked" if self.find_pairing_code(person) else "waiting" if person in self.waiting else "repeated"
        )

    @rule(person=st.sampled_from(PEOPLE), after=st.none() | st.sampled_from((0, 120)), copies=COPIES)
    def choose_robots(self, person: str, after: int | None, copies: int) -> None:
        """Choose when robots can join. Only a waiting person has this choice."""
        update = f"update {self.updates}"
        self.updates += 1

        async def send_copies() -> list[str]:
            return await asyncio.gather(
                *(
                    self.queues[copy % 2].join(person, ["pizzichino"], "it", 1000, update, after, only_if_waiting=True)
                    for copy in range(copies)
                )
            )

        expected = "asked" if self.find_pairing_code(person) else "waiting" if person in self.waiting else "repeated"
        assert set(self.runner.run(send_copies())) == {expected}
        if expected == "waiting":
            [entry] = [entry for entry in self.read() if entry.searcher.person == person]
            assert entry.text.split()[0] == self.waiting[person].split()[0]
            assert entry.searcher.robots_after == (inf if after is None else after)
            self.waiting[person] = entry.text

    @rule(couple=COUPLES, copies=COPIES)
    def block(self, couple: tuple[str, str], copies: int) -> None:
        async def send_copies() -> None:
            await asyncio.gather(*(self.queues[copy % 2].blocks.add(*couple, "Re 100") for copy in range(copies)))

        self.runner.run(send_copies())
        self.blocks.add(couple)

    @rule(couple=COUPLES)
    def unblock(self, couple: tuple[str, str]) -> None:
        for block in self.runner.run(self.queues[0].blocks.blocks_of(couple[0])):
            if block.person == couple[1]:
                self.runner.run(self.queues[1].blocks.remove(couple[0], block.token))
        self.blocks.discard(couple)

    def are_apart(self, person: str, other: str) -> bool:
        return bool({(person, other), (other, person)} & self.blocks)

    def have_some_apart(self, people: set[str]) -> bool:
        return any(self.are_apart(*couple) for couple in combinations(people, 2))

    @rule(refresh=st.booleans(), copies=COPIES, block=st.none() | COUPLES, data=st.data())
    def pair(self, refresh: bool, copies: int, block: tuple[str, str] | None, data: st.DataObject) -> None:
        """Pair groups of two, three and four at both workers at once. A block can come at the same time."""
        if refresh:
            self.read_queue()
        groups = [group for size in (2, 3, 4) for group in permutations(self.known, size)]
        chosen_groups = data.draw(st.permutations(groups))[:MAX_GROUPS] if groups else []
        codes = [f"C{self.codes + number}" for number in range(len(chosen_groups))]
        self.codes += len(chosen_groups)

        async def send_copies() -> list[bool]:
            blocking = [self.queues[0].blocks.add(*block, "Re 100")] if block else []
            blocked = asyncio.gather(*blocking)
            results = await asyncio.gather(
                *(
                    self.queues[(number + copy) % 2].pair(code, group, "pizzichino")
                    for copy in range(copies)
                    for number, (code, group) in enumerate(zip(codes, chosen_groups, strict=True))
                ),
            )
            await blocked
            return results

        results = self.runner.run(send_copies())
        assert len(set(zip(codes * copies, results, strict=True))) == len(codes), (
            "copies of a request got different answers"
        )
        done = {code for code, result in zip(codes * copies, results, strict=True) if result}
        fresh = [entry for entry in self.known if self.waiting.get(entry.searcher.person) == entry.text]
        people = dict(zip(codes, [{entry.searcher.person for entry in group} for group in chosen_groups], strict=True))
        paired = set().union(*(people[code] for code in done))
        assert len(paired) == sum(len(people[code]) for code in done)
        assert not any(self.have_some_apart(people[code]) for code in done)
        if block:
            self.blocks.add(block)
        unpaired = {entry.searcher.person for entry in fresh} - paired
        assert all(self.have_some_apart(group) for group in people.values() if group <= unpaired)
        for code, group in zip(codes, chosen_groups, strict=True):
            if code in done:
                texts = {entry.searcher.person: self.waiting.pop(entry.searcher.person) for entry in group}
                assert texts == {entry.searcher.person: entry.text for entry in group}
                self.pairings[code] = texts

    @rule(staying=st.sets(st.sampled_from(PEOPLE)), copies=COPIES, data=st.data())
    def end_pairing(self, staying: set[str], copies: int, data: st.DataObject) -> None:
        """End a pairing, even one that has ended before. People outside it get no place."""
        codes = sorted(self.pairings) or [f"C{number}" for number in range(self.codes)]
        if not codes:
            return
        code = data.draw(st.sampled_from(codes))

        async def send_copies() -> list[bool]:
            return await asyncio.gather(*(self.queues[copy % 2].end_pairing(code, staying) for copy in range(copies)))

        assert sum(self.runner.run(send_copies())) == (code in self.pairings)
        texts = self.pairings.pop(code, {})
        self.waiting.update({person: text for person, text in texts.items() if person in staying})

    @rule(person=st.sampled_from(PEOPLE))
    def forget(self, person: str) -> None:
        self.runner.run(self.queues[1].forget(person))
        self.waiting.pop(person, None)
        self.blocks = {couple for couple in self.blocks if person not in couple}
        if code := self.find_pairing_code(person):
            texts = self.pairings.pop(code)
            self.waiting.update({other: text for other, text in texts.items() if other != person})

    @invariant()
    def check_model(self) -> None:
        assert {entry.searcher.person: entry.text for entry in self.read()} == self.waiting
        assert {pairing.code: set(pairing.people) for pairing in self.runner.run(self.queues[1].pairings())} == {
            code: set(texts) for code, texts in self.pairings.items()
        }
        for person in PEOPLE:
            pairing = self.runner.run(self.queues[0].pairing_of(person))
            assert (pairing and pairing.code) == self.find_pairing_code(person)
            blocks = self.runner.run(self.queues[0].blocks.blocks_of(person))
            assert {block.person for block in blocks} == {
                blocked for blocker, blocked in self.blocks if blocker == person
            }

    def read(self) -> list[QueueEntry]:
        return self.runner.run(self.queues[1].entries())


@pytest.fixture
def workers(shared_valkey: EmbeddedStore) -> Iterator[type[Workers]]:
    with asyncio.Runner() as runner:
        openings = [open_store(shared_valkey.url) for _ in range(2)]
        first, second = (runner.run(opening.__aenter__()) for opening in openings)
        yield type("WorkersOfOneStore", (Workers,), {"runner": runner, "stores": (first, second)})
        for opening in openings:
            runner.run(opening.__aexit__(None, None, None))


@pytest.mark.long
def test_queue_agrees_with_the_model(workers: type[Workers]) -> None:
    run_state_machine_as_test(
        workers,
        settings=settings(
            max_examples=settings().max_examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
