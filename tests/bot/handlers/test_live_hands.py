"""Hand pages: taps send the payloads of the panel's buttons, and whole games can be played by taps."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from random import Random
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from bot import actions
from bot.features.find.leavers import find_leavers
from bot.finished.archive import game_id
from bot.handlers import Dispatcher
from bot.handlers.live_hands import LiveHand
from bot.handlers.press_limits import PRESSES_OF_PERSON
from bot.http.addresses import Visitor
from bot.identity.programs import ProgramError, Programs
from bot.panels.hand import task_text
from bot.people import Profile
from bot.platform import Person, Press
from bot.site.api_models import PublicTable
from bot.site.hand_page import hand_page
from bot.store import Store, keys
from bot.store.entries import Entry, FirstDeal, Late, Match, Move, Open, Sit
from bot.store.log import Log
from bot.tables.challenges import Challenges
from bot.tables.snapshot import take_snapshot
from bot.tables.table import Table
from bot.tables.table_memory import Commit
from bot.worker import Worker
from engine import GAMES
from engine.options import RELEASE, resolve
from tests.bot.fake_platform import FakePlatform, Player, code_of, open_worker, seat_players
from tests.bot.tables.test_table import play_cards, start_game
from tests.long import mostly_long


async def test_page_of_a_removed_table_ends(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.handlers.live_hands.RELOAD_SECONDS", 0.01)
    anna, _bruno = await seat_players(worker, fake, "testa")
    hand = await anna.dispatcher.live_hands.open_hand(await code_of(worker, anna), anna.person.id)
    assert hand
    async with asyncio.timeout(20):
        async for _state in hand.states():
            await worker.store.remove(hand.table.code)
    assert hand.has_ended


async def test_page_is_drawn_once_per_table_load(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, _bruno = await seat_players(worker, fake, "testa")
    page = await Page.open(anna, await code_of(worker, anna))
    load, render = AsyncMock(wraps=worker.room.load), Mock(wraps=hand_page)
    monkeypatch.setattr(worker.room, "load", load)
    monkeypatch.setattr("bot.handlers.live_hands.hand_page", render)
    monkeypatch.setattr("bot.handlers.live_hands.RELOAD_SECONDS", 0.01)
    page.hand.reload()
    while load.call_count < 5:
        await asyncio.sleep(0.01)
    await page.close()
    assert render.call_count <= load.call_count


async def test_owning_worker_shows_another_workers_commit_at_once(
    store: Store, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page reacts to commits, without polling the store."""
    monkeypatch.setattr("bot.handlers.live_hands.RELOAD_SECONDS", 3600.0)
    monkeypatch.setattr("bot.handlers.live_hands.RELOAD_ELSEWHERE_SECONDS", 3600.0)
    async with (
        open_worker(store, fake, alone=False) as worker,
        open_worker(store, FakePlatform(), alone=False) as other,
    ):
        players = await seat_players(worker, fake, "testa")
        code = await code_of(worker, players[0])
        owner, other_worker = (worker, other) if worker.shards.owns(code) else (other, worker)
        reader = Player(owner, FakePlatform(), "Anna", 1)
        page = await Page.open(reader, code)
        table = await other_worker.room.table(code)
        assert table.game
        turn = table.game.turn
        assert turn is not None
        chair = table.chairs[turn]
        assert chair
        move = next(move for move in table.game.legal_moves(turn) if move.startswith("play "))
        moved_table = await other_worker.room.make_move(code, chair.person, table.version, move, "m1")
        assert (await page.next())["version"] == moved_table.version
        await page.close()


@pytest.mark.parametrize("ending", ["resign", "cancel"])
async def test_end_of_a_table_removed_elsewhere_is_shown(
    store: Store, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """A page, a program and a watcher get the end after the table is removed. So does a program that asks later."""
    monkeypatch.setattr("bot.handlers.live_hands.RELOAD_ELSEWHERE_SECONDS", 3600.0)
    monkeypatch.setattr("bot.site.watching.REMOTE_RECHECK_SECONDS", 3600.0)
    monkeypatch.setattr("bot.store.store.REMOVED_LOG_SECONDS", 3600)
    async with (
        open_worker(store, FakePlatform(), alone=False) as worker,
        open_worker(store, FakePlatform(), alone=False) as owner,
    ):
        for balanced_worker in (worker, owner) * 2:
            await balanced_worker.shards.balance()

        dispatcher, owner_dispatcher = Dispatcher(worker), Dispatcher(owner)
        (anna, _token), (bruno, _token) = [await Programs(store.client).add(name) for name in ("Anna", "Bruno")]
        for number in range(100):
            table = await owner_dispatcher.program_tables.open(anna, "testa", {}, None, f"open {number}")
            if owner.shards.owns(table.code):
                break
        code = table.code
        if ending == "resign":
            table = await owner_dispatcher.program_tables.sit(bruno, code, None, "sit")

        hand = await dispatcher.live_hands.open_hand(code, anna.person)
        assert hand
        public_states = await dispatcher.watching.stream(
            await dispatcher.watching.watch_id(await worker.room.load(code))
        )
        assert public_states
        streams: list[AsyncIterator[Any]] = [
            hand.states(),
            dispatcher.program_tables.states(code, anna.person),
            public_states,
        ]

        before = [json.loads(await anext(states)) for states in streams]
        if ending == "resign":
            await owner_dispatcher.program_tables.move(bruno, code, table.version, "resign", "resign")
        else:
            await Challenges(owner.room).cancel(code, anna.person, "cancel")
        async with asyncio.timeout(20):
            await owner.wait_until_idle()
            while await store.load(code) != Log([]):
                await asyncio.sleep(0.01)
            for watcher in worker.room.watchers:
                watcher(Commit(code, is_known=False))
            page, program, public = [json.loads(await anext(states)) for states in streams]
            assert [state async for state in streams[1] if state] == []
            assert [state async for state in streams[2] if state] == []

        phase = "over" if ending == "resign" else "closed"
        assert [state["phase"] for state in (page, program, public)] == [phase] * 3
        assert all(
            state["version"] > earlier["version"] for state, earlier in zip((program, public), before[1:], strict=True)
        )
        assert program == (await dispatcher.program_tables.table(code, anna.person)).model_dump(mode="json")
        assert [json.loads(state) async for state in dispatcher.program_tables.states(code, anna.person)] == [program]
        assert await dispatcher.watching.get_table(
            await dispatcher.watching._watch_id(code)
        ) == PublicTable.model_validate(public)
        if ending == "resign":
            assert page["replay"] == program["replay"] == public["replay"]
            assert await worker.archive.get(program["replay"])
            assert (program["winner"], program["seat"]) == ([0], 0)
            # The table's page is replaced by the game's, and strangers learn nothing.
            assert await dispatcher.live_hands.open_hand(code, anna.person) is None
            assert await dispatcher.lobby.find_latest_game_id(code, anna.person) == program["replay"]

        (carla, _token) = await Programs(store.client).add("Carla")
        with pytest.raises(ProgramError):
            await dispatcher.program_tables.table(code, carla.person)
        await store.client.delete(keys.removed_log(code))
        with pytest.raises(ProgramError):
            await dispatcher.program_tables.table(code, anna.person)


async def test_page_choices_share_the_press_limit(store: Store, fake: FakePlatform) -> None:
    async with open_worker(store, fake, rate_limits=True) as worker:
        anna, _bruno = await seat_players(worker, fake, "testa")
        hand = await anna.dispatcher.live_hands.open_hand(await code_of(worker, anna), anna.person.id)
        assert hand
        other = await anna.dispatcher.live_hands.open_hand(await code_of(worker, anna), anna.person.id)
        assert other
        toasts = [
            answer.toast if (answer := page_hand.handle_choice(f"1t{hand.table.code}:menu rules", "en")) else None
            for _ in range(PRESSES_OF_PERSON.burst)
            for page_hand in (hand, other)
        ]
        assert toasts[: PRESSES_OF_PERSON.burst] == [""] * PRESSES_OF_PERSON.burst
        assert "Too fast" in str(toasts[-1])


class Page:
    """An open page with a reader who taps cards and buttons."""

    def __init__(self, player: Player, hand: LiveHand) -> None:
        self.player, self.hand = player, hand
        self.states: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, player: Player, code: str) -> "Page":
        hand = await player.dispatcher.live_hands.open_hand(code, player.person.id)
        assert hand
        page = cls(player, hand)
        await page.next()
        return page

    async def _read(self) -> None:
        async for state in self.hand.states():
            self.states.append(json.loads(state))
            self._news.set()

    async def next(self) -> dict[str, Any]:
        """Wait for the next state, unless one is unread."""
        async with asyncio.timeout(20):
            await self._news.wait()
        self._news.clear()
        return self.state

    async def wait_until(self, is_met: Callable[[dict[str, Any]], bool]) -> None:
        """Wait for a state that satisfies the condition."""
        while not is_met(self.state):
            await self.next()

    @property
    def state(self) -> dict[str, Any]:
        return self.states[-1]

    def taps(self) -> list[dict[str, Any]]:
        cards = [*self.state["hand"], *self.state["packets"], *self.state["middle"]]
        return [card for card in cards if card["press"] and card["light"] != "dim"]

    def buttons(self) -> list[str]:
        return [payload for row in self.state["extra"] for _label, payload, _style, kind, *_ in row if kind == "press"]

    async def press(self, payload: str) -> str:
        choice = self.hand.handle_choice(payload, "en")
        if choice is not None:
            return choice.toast
        press = Press(
            f"t{next(self.player.numbers)}",
            self.player.person,
            self.player.private,
            "page",
            payload,
            genuine=self.hand.has_button(payload),
        )
        return (await self.player.dispatcher.handle_press(press)).toast

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self.hand.close()


def choose_press(page: Page, random: Random) -> str:
    """Choose a tap or button that advances the game."""
    taps: list[str] = [card["press"] for card in page.taps()]
    bids = [button for button in page.buttons() if button.endswith(("bid 4", "bid 5"))]
    excluded = ("claim", "blind", " busso", " volo", "hint", "bid 0")
    buttons = [button for button in page.buttons() if not any(word in button for word in excluded)]
    return random.choice(bids or [*taps, *buttons])


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
async def test_page_can_play_a_whole_game(worker: Worker, fake: FakePlatform, game: str) -> None:
    await play_deals(worker, fake, game, deals=99)


@pytest.mark.parametrize("game", mostly_long(GAMES, "pizzichino"))
async def test_page_can_play_a_deal(worker: Worker, fake: FakePlatform, game: str) -> None:
    await play_deals(worker, fake, game, deals=2)


async def play_deals(worker: Worker, fake: FakePlatform, game: str, deals: int) -> None:
    players = await seat_players(worker, fake, game)
    code = await code_of(worker, players[0])
    pages = [await Page.open(player, code) for player in players]
    random = Random(game)
    kinds = set()
    for _ in range(4000):
        table = worker.room.cached_table(code)
        if any(page.state["phase"] == "over" or page.state["deal"] >= deals for page in pages):
            break
        assert table
        assert table.game
        turn = table.game.turn
        assert turn is not None
        page = pages[turn]
        # The page's latest state can be older than the table.
        while page.state["version"] < table.version:
            await page.next()
        assert page.state["is_mine"]
        payload = choose_press(page, random)
        kinds.add(payload.partition(":")[2].split(" ")[0].partition(":")[2] or "draft")
        before = len(page.states)
        assert await page.press(payload) == ""
        async with asyncio.timeout(20):
            while len(page.states) == before:
                await asyncio.sleep(0)
    else:
        raise AssertionError("the deals did not end within 4000 presses")
    assert "play" in kinds
    for page in pages:
        await page.close()


async def test_unplayable_card_says_why(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    code = await code_of(worker, players[0])
    pages = [await Page.open(player, code) for player in players]
    for _ in range(80):
        table = worker.room.cached_table(code)
        assert table
        assert table.game
        assert table.game.turn is not None
        page = pages[table.game.turn]
        while page.state["version"] < table.version:
            await page.next()
        dim = [card for card in page.state["hand"] if card["light"] == "dim"]
        if dim:
            break
        await page.press(page.taps()[0]["press"])
    assert dim
    assert "follow suit" in await page.press(dim[0]["press"])
    for page in pages:
        await page.close()


async def test_selection_belongs_to_one_page(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "pizzichino")
    code = await code_of(worker, players[0])
    table = worker.room.cached_table(code)
    assert table
    assert table.game
    assert table.game.turn is not None
    player = players[table.game.turn]
    page, other = await Page.open(player, code), await Page.open(player, code)
    await page.press(page.state["middle"][2]["press"])
    assert [card["light"] for card in (await page.next())["middle"]].index("chosen") == 2
    assert "chosen" not in [card["light"] for card in other.state["middle"]]
    # A second tap deselects it.
    await page.press(page.state["middle"][2]["press"])
    assert "chosen" not in [card["light"] for card in (await page.next())["middle"]]
    await page.close()
    await other.close()


async def test_resigning_on_a_page_asks_first(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    page = await Page.open(players[0], await code_of(worker, players[0]))
    await page.press(page.state["resign"])
    question = await page.next()
    assert "really want to resign" in question["says"]
    assert question["line"].endswith("wins the game.")
    [yes] = [button for button in page.buttons() if button.endswith(":resign")]
    await page.press(yes)
    ended = await page.next()
    assert ended["phase"] == "over"
    assert ended["line"].startswith("You lose. ")
    assert ended["line"].endswith(" resigned.")
    assert not ended["count"]
    assert any(button.startswith("1prematch") for button in page.buttons())
    await page.close()


@pytest.mark.parametrize(
    ("game", "phase", "question", "refusal"),
    [
        ("pizzichino", "take", "resign", "No, play on"),
        ("pizzichino", "take", "block{other}", "No"),
        ("pizzichino", "take", "say", "◀ Back"),
        ("spades", "exchange", "resign", "No, play on"),
        ("spades", "exchange", "block{other}", "No"),
        ("spades", "exchange", "say", "◀ Back"),
    ],
)
def test_every_question_can_be_answered_no(game: str, phase: str, question: str, refusal: str) -> None:
    """Questions can also be refused while cards or packets can be chosen."""
    people = ("paper:0", "Anna"), ("paper:1", "Bruno")
    rules = resolve(GAMES[game].rules, {}).model_dump()
    strangers: list[Entry] = [Match(*person) for person in people]
    chairs = [Sit(seat, *person) for seat, person in enumerate(people)]
    table = Table("ABCD").with_entries(
        [Open(game, *people[0]), *strangers, *chairs, FirstDeal(bytes(32), RELEASE, rules)], "u"
    )
    assert table.game
    while table.game.view(seat := table.game.turn or 0).deal.phase != phase:  # type: ignore[union-attr]
        move = next(move for move in table.game.legal_moves(seat) if move not in ("resign", "claim"))
        table = table.with_entries([Move(seat, move)], f"m{table.version}")
        assert table.game
    mover = people[seat][0]
    page_with_question = hand_page(table, mover, Profile(mover), question.format(other=1 - seat))
    assert refusal in [button.label for row in page_with_question.extra for button in row]
    page = hand_page(table, mover, Profile(mover))
    assert any(card.press for card in (*page.hand, *page.middle))
    assert "🚫 Block" in [button.label for row in page.rows for button in row]


async def test_expired_clock_is_shown_above_the_cards(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", "⏱ 1 min")
    code = await code_of(worker, players[0])
    pages = [await Page.open(player, code) for player in players]
    table = await worker.room.table(code)
    late_page, other_page = sorted(pages, key=lambda page: not page.state["is_mine"])
    assert late_page.state["line"] == "Your turn."
    assert late_page.state["clock_left"] > 30
    table = await worker.room.handle_alarm(code, table.version)
    assert (await late_page.next())["line"] == "⏳ Half of your time for this move is gone. Your turn."
    await worker.room.handle_alarm(code, table.version)
    await late_page.wait_until(lambda state: state["line"].startswith("⌛ Your time is up: "))
    await other_page.wait_until(lambda state: state["line"].endswith("’s time is up: what now?"))
    for page in pages:
        assert page.state["clock_left"] == 0
    assert f"1t{code}:claim" in other_page.buttons()
    assert f"1t{code}:claim" not in late_page.buttons()
    await other_page.press(f"1t{code}:claim")
    await other_page.wait_until(lambda state: state["phase"] == "over")
    assert other_page.state["line"].startswith("You win! ")
    assert other_page.state["line"].endswith(" ran out of time.")
    for page in pages:
        await page.close()


async def test_stranger_has_no_page(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    code = await code_of(worker, players[0])
    hands = players[0].dispatcher.live_hands
    assert await hands.open_hand(code, "paper:99") is None
    assert await hands.open_hand("ZZZZZZ", players[0].person.id) is None
    page = await Page.open(players[0], code)
    await page.close()
    assert hands._open == {}


async def test_one_update_opens_one_practice_table(worker: Worker, fake: FakePlatform) -> None:
    player = Player(worker, fake, "Anna", 1)
    lobby, anna = player.dispatcher.lobby, Person("p:1", "Anna", "", "it-IT")
    first = await lobby.open_table(anna, "tressette", "easy", "u1")
    assert await lobby.open_table(anna, "tressette", "easy", "u1") == first
    table = await worker.room.table(first.code)
    assert table.phase == "playing"
    assert [chair is not None and chair.is_robot for chair in table.chairs] == [False, True, True, True]
    assert len({chair.name for chair in table.chairs if chair}) == 4
    assert await lobby.language_of("p:1", "en") == "it"
    assert (await lobby.open_table(anna, "nothing", "easy", "u2")).refusal.startswith("There is no game")
    waiting_table = await lobby.open_table(anna, "testa", "", "u3")
    assert (await worker.room.table(waiting_table.code)).phase == "open"
    assert [(table.code, table.is_open) for table in await lobby.tables_of("p:1")] == [
        (first.code, False),
        (waiting_table.code, True),
    ]


def test_robot_move_is_shown_until_the_player_moves() -> None:
    table = start_game("testa")
    assert table.game
    late_seat = table.game.turn or 0
    table = play_cards(table.with_entries([Late(late_seat)], "u"))
    for seat, line in ((late_seat, "🤖 Your time was up: a robot moved for you."), (1 - late_seat, "Your turn.")):
        assert line in task_text(take_snapshot(table, seat), "en", "italian")
    assert "time was up" in task_text(take_snapshot(table, 1 - late_seat), "en", "italian")
    while table.game and table.game.turn != late_seat:
        table = play_cards(table)
    assert "time was up" not in task_text(take_snapshot(play_cards(table), late_seat), "en", "italian")


@pytest.mark.parametrize("origin", ["page", "chat"])
async def test_rematch_of_friends_keeps_trust_and_watching(worker: Worker, fake: FakePlatform, origin: str) -> None:
    anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
    host = anna.private if origin == "chat" else ""
    challenge = await worker.challenges.open_table("testa", anna.person.id, "Anna", "u", host=host)
    table = await worker.challenges.sit(challenge.code, bruno.person.id, "Bruno", "s", 1)
    for _game in range(2):
        assert bool(await worker.watching.watch_id(table)) == (origin == "page")
        ended = await worker.room.resign_for(table.code, 0, "r")
        assert find_leavers(ended) == []
        payload = actions.page("rematch", game_id(ended))
        await worker.wait_until_idle()
        for player in (anna, bruno):
            press = Press(
                f"{table.code}{player.person.id}", player.person, player.private, "page", payload, genuine=True
            )
            assert not (await player.dispatcher.handle_press(press)).toast
        await worker.wait_until_idle()
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert table.phase == "playing"
        assert not table.are_strangers
        labels = [button.label for row in fake.last(bruno.private).rows for button in row]
        assert not [label for label in labels if any(word in label for word in ("Block", "Report"))]
        assert ("💬 Say" in labels) == (origin == "page")


async def test_rematch_of_guests_counts_for_their_address(worker: Worker, fake: FakePlatform) -> None:
    challenge = await worker.challenges.open_table("testa", "web:1", "Ada", "u")
    table = await worker.challenges.sit(challenge.code, "web:2", "Bea", "s", 1)
    ended = await worker.room.resign_for(table.code, 0, "r")
    await worker.wait_until_idle()
    anna, visitor = Player(worker, fake, "Ada", 1), Visitor.from_address("192.0.2.1")
    guest = Person("web:1", "Ada", "", "en")
    payload = actions.page("rematch", game_id(ended))
    press = Press("again", guest, "web:@1", "page", payload, genuine=True, visitor=visitor)
    assert not (await anna.dispatcher.handle_press(press)).toast
    [table] = await worker.room.lists.tables_of("web:1")
    client = worker.store.client
    entries = [await client.hkeys(key) async for key in client.scan_iter("opened_from:*")]
    assert entries == [[table.code.encode()]] * 2, "the table must count for the address and its network"


async def test_rematch_with_a_forgotten_friend_is_an_open_challenge(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
    challenge = await worker.challenges.open_table("testa", anna.person.id, "Anna", "u")
    table = await worker.challenges.sit(challenge.code, bruno.person.id, "Bruno", "s", 1)
    ended = await worker.room.resign_for(table.code, 0, "r")
    await worker.wait_until_idle()
    await worker.archive.rewrite(game_id(ended), lambda game: game.redact(bruno.person.id, "somebody:1"))
    payload = actions.page("rematch", game_id(ended))
    await anna.dispatcher.handle_press(Press("again", anna.person, anna.private, "page", payload, genuine=True))
    await worker.wait_until_idle()
    assert "Change game or options" in [button.label for row in fake.last(anna.private).rows for button in row]
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.hosts == (anna.private,)
