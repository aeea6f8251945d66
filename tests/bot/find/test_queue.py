"""The queue in the store: one place a person, whatever is asked in whatever order, twice or at once."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.find.queue import ANSWER_SECONDS, Answer, InQueue, Queue
from bot.store import EmbeddedStore, Store, opened

ANNA, BRUNO, CARLA = PEOPLE = ("telegram:1", "discord:2", "playground:3")
COPIES = st.integers(1, 3)
"""How often the same is sent, at once."""


async def look(queue: Queue, *people: str) -> dict[str, InQueue]:
    for person in people:
        assert await queue.look(person, ["pizzichino"], "it", 1000)
    return {one.waiting.person: one for one in await queue.waiting()}


async def test_two_are_asked_and_their_table_opens(any_store: Store) -> None:
    queue = Queue(any_store.client)
    found = await look(queue, ANNA, BRUNO)
    assert await queue.pair("ONE", found[ANNA], found[BRUNO], "pizzichino")
    assert await queue.waiting() == []
    assert not await queue.look(ANNA, ["pizzichino"], "it", 1000)
    assert await queue.answer("ONE", ANNA, ready=True) is Answer.ASKED
    assert not await queue.opened("ONE")
    assert await queue.due() == []
    assert await queue.answer("ONE", BRUNO, ready=True) is Answer.READY
    assert await queue.due() == ["ONE"]
    assert not await queue.leave(ANNA)
    assert await queue.answer("ONE", BRUNO, ready=False) is Answer.READY
    pairing = await queue.pairing("ONE")
    assert pairing is not None
    assert (pairing.people, pairing.game, pairing.ready) == ((ANNA, BRUNO), "pizzichino", (True, True))
    assert await queue.opened("ONE")
    assert (await queue.pairing("ONE"), await queue.asked(ANNA), await queue.due()) == (None, None, [])


async def test_who_does_not_answer_is_out_and_the_other_keeps_their_place(store: Store) -> None:
    queue = Queue(store.client)
    found = await look(queue, ANNA, BRUNO)
    assert await queue.pair("ONE", found[ANNA], found[BRUNO], "pizzichino", seconds=0)
    await queue.answer("ONE", BRUNO, ready=True)
    assert await queue.expire("ONE") is Answer.PARTED
    assert await queue.waiting() == [found[BRUNO]]
    assert await queue.answer("ONE", ANNA, ready=True) is Answer.GONE


async def test_nobody_is_asked_by_an_old_wish(store: Store) -> None:
    queue = Queue(store.client)
    found = await look(queue, ANNA, BRUNO)
    assert await queue.look(BRUNO, ["pizzichino"], "it", 1000, blocked=[ANNA])
    assert not await queue.pair("ONE", found[ANNA], found[BRUNO], "pizzichino")
    [bruno] = [one for one in await queue.waiting() if one.waiting.person == BRUNO]
    assert bruno.waiting.since == found[BRUNO].waiting.since
    assert bruno.waiting.blocked == {ANNA}


async def test_a_stranger_does_not_answer_for_them(store: Store) -> None:
    queue = Queue(store.client)
    found = await look(queue, ANNA, BRUNO)
    await queue.pair("ONE", found[ANNA], found[BRUNO], "pizzichino")
    assert await queue.answer("ONE", CARLA, ready=False) is Answer.GONE
    assert await queue.asked(ANNA) == "ONE"


class Workers(RuleBasedStateMachine):
    """Two workers on one store change the queue at random; a model says what must come of it."""

    runner: asyncio.Runner
    stores: tuple[Store, Store]

    @initialize()
    def empty(self) -> None:
        self.runner.run(self.stores[0].client.flushall())
        self.queues = [Queue(store.client) for store in self.stores]
        self.seen: list[InQueue] = []
        self.waiting: dict[str, str] = {}
        self.pairings: dict[str, tuple[dict[str, str], set[str], bool]] = {}
        """By code: each person's text, who is ready, and whether the time is up."""
        self.codes = 0
        self.everybody_looks()

    def asked(self, person: str) -> str | None:
        return next((code for code, (texts, _, _) in self.pairings.items() if person in texts), None)

    def part(self, code: str, stay: set[str]) -> None:
        texts, _, _ = self.pairings.pop(code)
        self.waiting.update({person: text for person, text in texts.items() if person in stay})

    @rule(person=st.sampled_from(PEOPLE), rating=st.sampled_from((1000, 1100)), copies=COPIES)
    def look(self, person: str, rating: int, copies: int) -> None:
        self.look_for(person, rating, copies)

    def look_for(self, person: str, rating: int, copies: int) -> None:
        async def at_once() -> list[bool]:
            return await asyncio.gather(
                *(self.queues[copy % 2].look(person, ["pizzichino"], "it", rating) for copy in range(copies))
            )

        assert set(self.runner.run(at_once())) == {self.asked(person) is None}
        if self.asked(person) is None:
            [one] = [one for one in self.read() if one.waiting.person == person]
            if person in self.waiting:
                assert one.text.split()[0] == self.waiting[person].split()[0]
            self.waiting[person] = one.text

    @rule()
    def everybody_looks(self) -> None:
        for person in PEOPLE:
            self.look_for(person, 1000, 2)

    @rule(person=st.sampled_from(PEOPLE))
    def leave(self, person: str) -> None:
        code = self.asked(person)
        too_late = code is not None and len(self.pairings[code][1]) == 2
        assert self.runner.run(self.queues[0].leave(person)) is not too_late
        self.waiting.pop(person, None)
        if code and not too_late:
            self.part(code, set(self.pairings[code][0]) - {person})

    @rule()
    def see(self) -> None:
        """A worker reads the queue; it may match people by this only later."""
        self.seen = self.read()

    @rule(anew=st.booleans(), up=st.booleans(), copies=COPIES, data=st.data())
    def pair(self, anew: bool, up: bool, copies: int, data: st.DataObject) -> None:
        """Both workers ask all pairs that they know of, at once, each sent some times."""
        if anew:
            self.see()
        pairs = [(one, other) for one in self.seen for other in self.seen if one is not other]
        chosen = data.draw(st.permutations(pairs)) if pairs else []
        codes = [f"C{self.codes + number}" for number in range(len(chosen))]
        self.codes += len(chosen)

        async def at_once() -> list[bool]:
            return await asyncio.gather(
                *(
                    self.queues[(number + copy) % 2].pair(code, one, other, "pizzichino", 0 if up else ANSWER_SECONDS)
                    for copy in range(copies)
                    for number, (code, (one, other)) in enumerate(zip(codes, chosen, strict=True))
                )
            )

        answers = self.runner.run(at_once())
        assert len(set(zip(codes * copies, answers, strict=True))) == len(codes), "sent twice, answered otherwise"
        done = {code for code, answer in zip(codes * copies, answers, strict=True) if answer}
        fresh = [one for one in self.seen if self.waiting.get(one.waiting.person) == one.text]
        assert len(done) == len(fresh) // 2
        for code, pair in zip(codes, chosen, strict=True):
            if code in done:
                texts = {one.waiting.person: self.waiting.pop(one.waiting.person) for one in pair}
                assert texts == {one.waiting.person: one.text for one in pair}
                self.pairings[code] = (texts, set(), up)

    @precondition(lambda self: self.codes > 0)
    @rule(person=st.sampled_from(PEOPLE), ready=st.sampled_from((True, True, False)), copies=COPIES, data=st.data())
    def answer(self, person: str, ready: bool, copies: int, data: st.DataObject) -> None:
        """Somebody answers in their pairing, or by an old or another's button."""
        live = sorted(self.pairings)
        code = data.draw(st.sampled_from(live) if live else st.sampled_from([f"C{n}" for n in range(self.codes)]))
        answers = []
        for copy in range(copies):
            answers.append(self.runner.run(self.queues[copy % 2].answer(code, person, ready=ready)))
        expected = []
        for _ in range(copies):
            if code not in self.pairings or person not in self.pairings[code][0]:
                expected.append(Answer.GONE)
                continue
            texts, done, _ = self.pairings[code]
            if len(done) < 2 and not ready:
                self.part(code, set(texts) - {person})
                expected.append(Answer.PARTED)
                continue
            done.add(person)
            expected.append(Answer.READY if len(done) == 2 else Answer.ASKED)
        assert answers == expected

    @rule()
    def tend(self) -> None:
        """A worker sees to all that is due, but opens no table."""
        due = self.runner.run(self.queues[1].due())
        assert set(due) == {code for code, (_, done, up) in self.pairings.items() if up or len(done) == 2}
        for code in due:
            done = self.pairings[code][1]
            answer = self.runner.run(self.queues[0].expire(code))
            assert answer is (Answer.READY if len(done) == 2 else Answer.PARTED)
            if answer is Answer.PARTED:
                self.part(code, set(done))

    @rule()
    def open(self) -> None:
        for code, (_, done, _) in list(self.pairings.items()):
            assert self.runner.run(self.queues[0].opened(code)) is (len(done) == 2)
            if len(done) == 2:
                del self.pairings[code]

    @invariant()
    def everybody_is_where_they_should_be(self) -> None:
        assert {one.waiting.person: one.text for one in self.read()} == self.waiting
        for person in PEOPLE:
            assert self.runner.run(self.queues[0].asked(person)) == self.asked(person)
        for code, (texts, done, _) in self.pairings.items():
            pairing = self.runner.run(self.queues[1].pairing(code))
            assert pairing is not None
            assert dict(zip(pairing.people, pairing.ready, strict=True)) == {one: one in done for one in texts}

    def read(self) -> list[InQueue]:
        return self.runner.run(self.queues[1].waiting())


@pytest.fixture
def workers(shared_valkey: EmbeddedStore) -> Iterator[type[Workers]]:
    with asyncio.Runner() as runner:
        openings = [opened(shared_valkey.url) for _ in range(2)]
        one, other = (runner.run(opening.__aenter__()) for opening in openings)
        yield type("WorkersOfOneStore", (Workers,), {"runner": runner, "stores": (one, other)})
        for opening in openings:
            runner.run(opening.__aexit__(None, None, None))


def test_whatever_happens_everybody_is_in_one_place(workers: type[Workers]) -> None:
    run_state_machine_as_test(
        workers,
        settings=settings(
            max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )
