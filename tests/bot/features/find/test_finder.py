"""The search for opponents, from /find to the result."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random

import pytest

from bot.features.find import finder, keys
from bot.features.find.feature import FindFeature
from bot.features.find.matching import common_game, find_matches
from bot.features.privacy.feature import PrivacyFeature
from bot.finished.ratings import Scope
from bot.handlers import Dispatcher
from bot.identity.pseudonyms import forgetting_marks
from bot.panel import Button, Panel, Span
from bot.platform import Command, Person, private_place
from bot.store import Store
from bot.store.keys import table as table_key
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.find.conftest import GAME, find_each_other, run_finder
from tests.bot.full_store import full_store
from tests.long import long, mostly_long


@pytest.fixture(autouse=True)
def no_automatic_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop automatic matching. Tests run the finder themselves."""
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)


async def make_random_move(players: list[Player], random: Random) -> None:
    """Make a random move for the player to move. A deal's board can be below their hand."""
    for player in players:
        for message, panel in reversed(player.fake.messages[player.private].items()):
            payloads = [button.payload for row in panel.rows for button in row]
            moves = [payload for payload in payloads if payload.startswith("1m") or ":draft " in payload]
            moves = [
                payload
                for payload in moves
                if not any(part in payload for part in ("claim", "resign", " block", " report", " say"))
            ]
            if moves:
                await player.send(random.choice(moves), player.private, message)
                await player.worker.wait_until_idle()
                return


async def expire_table(worker: Worker, code: str) -> None:
    table = await worker.room.table(code)
    await worker.room.handle_alarm(code, table.version)
    await worker.wait_until_idle()


def make_command(player: Player, *arguments: str, name: str = "nickname") -> Command:
    return Command(f"c{next(player.numbers)}", player.person, player.private, name, arguments)


async def list_waiting(players: list[Player]) -> list[str]:
    return sorted(
        entry.searcher.person for entry in await players[0].worker.feature(FindFeature).finder.queue.entries()
    )


async def test_two_strangers_find_each_other_and_play(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    code = await find_each_other(two_strangers)
    await anna.press("Ready")
    assert "You’re ready" in anna.fake.last(anna.private).plain
    await bruno.press("Ready")
    for player in two_strangers:
        assert "deal 1" in player.fake.last(player.private).plain
        everything = "\n".join(player.fake.texts(player.private))
        other = bruno if player is anna else anna
        assert other.person.name not in everything
        assert other.person.handle not in everything.split()
    worker = anna.worker
    await run_finder(worker)
    assert (await list_waiting(two_strangers), await worker.feature(FindFeature).finder.queue.pairings()) == ([], [])
    random = Random(5)
    while not (numbers := await worker.archive.numbers_of(anna.person.id)):
        await make_random_move(two_strangers, random)
    game = await worker.archive.get(await worker.archive.id_of(numbers[0]) or "")
    assert game
    assert (game.code, game.chats) == (code, [])
    assert {scope.chat for scope in await worker.ratings.scopes_of(anna.person.id)} == {Scope().chat}


async def test_silent_player_leaves_the_queue_and_the_other_stays(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    code = await find_each_other(two_strangers)
    await bruno.press("Ready")
    await expire_table(anna.worker, code)
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [bruno.person.id]
    assert "You didn’t answer" in anna.fake.last(anna.private).plain
    assert "still looking" in bruno.fake.last(bruno.private).plain
    assert await anna.worker.room.lists.tables_of(bruno.person.id) == []


async def test_removed_expired_table_ends_its_pairing(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    code = await find_each_other(two_strangers)
    await bruno.press("Ready")
    await expire_table(anna.worker, code)
    assert not await anna.worker.store.client.exists(table_key(code))
    assert await list_waiting(two_strangers) == [bruno.person.id]


async def test_full_store_ends_the_search_with_a_message(two_strangers: list[Player]) -> None:
    anna, worker = two_strangers[0], two_strangers[0].worker
    for player in two_strangers:
        await player.say(f"/find {GAME}", player.private)
    async with full_store(worker.store):
        for _ in range(2):
            await run_finder(worker)
            await worker.delivery.answers.tasks.wait()
        for player in two_strangers:
            messages = [text for text in player.fake.texts(player.private) if "no room for new tables" in text]
            assert len(messages) == 1
            assert "try /find again later" in messages[0]
        assert (await list_waiting(two_strangers), await worker.feature(FindFeature).finder.queue.pairings()) == (
            [],
            [],
        )
        reply = await anna.say(f"/find {GAME}", anna.private)
        assert "no room for new tables" in reply.toast
        assert await list_waiting(two_strangers) == []
    await find_each_other(two_strangers)


@pytest.mark.parametrize("action", ["leave", "block"])
async def test_matched_players_can_leave_a_full_store(two_strangers: list[Player], action: str) -> None:
    anna, bruno = two_strangers
    finder = anna.worker.feature(FindFeature).finder
    for player in two_strangers:
        await player.say(f"/find {GAME}", player.private)
    entries = await finder.queue.entries()
    # A worker died before it opened their table.
    assert await finder.queue.pair("p1", entries, GAME)
    async with full_store(anna.worker.store):
        if action == "leave":
            await finder.leave(anna.person.id, "stop")
        else:
            assert await finder.block(anna.person.id, bruno.person.id, "Bruno")
        assert await finder.queue.pairings() == []


@pytest.mark.parametrize("was_ready", [True, False])
async def test_refusing_player_leaves_the_queue_and_the_other_stays(
    two_strangers: list[Player], was_ready: bool
) -> None:
    anna, bruno = two_strangers
    await find_each_other(two_strangers)
    if was_ready:
        await anna.press("Ready")
    await anna.press("Not now")
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [bruno.person.id]


@pytest.mark.parametrize("was_ready", [True, False])
async def test_refusal_counts_after_a_worker_died(two_strangers: list[Player], was_ready: bool) -> None:
    anna, bruno = two_strangers
    code = await find_each_other(two_strangers)
    if was_ready:
        await anna.press("Ready")
    await anna.worker.challenges.decline(code, anna.person.id, "", "no")
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [bruno.person.id]


async def test_host_closing_a_table_keeps_both_in_the_queue(two_strangers: list[Player]) -> None:
    code = await find_each_other(two_strangers)
    await two_strangers[0].worker.room.close(code, "host")
    await run_finder(two_strangers[0].worker)
    assert await list_waiting(two_strangers) == ["paper:1", "paper:2"]


async def test_search_ends_after_its_time_limit(two_strangers: list[Player], monkeypatch: pytest.MonkeyPatch) -> None:
    anna, _bruno = two_strangers
    await anna.say("/find", anna.private)
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [anna.person.id]
    monkeypatch.setattr(finder, "SEARCH_SECONDS", -1.0)
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == []


async def test_lost_pairing_does_not_keep_people_from_searching(two_strangers: list[Player]) -> None:
    anna, _bruno = two_strangers
    client = anna.worker.store.client
    await client.hset(keys.ASKED, anna.person.id, "gone")
    await anna.say("/find", anna.private)
    assert await list_waiting(two_strangers) == [anna.person.id]
    await client.hset(keys.ASKED, anna.person.id, "gone")
    await anna.worker.feature(FindFeature).finder.queue.forget(anna.person.id)
    assert await list_waiting(two_strangers) == []


async def test_strangers_stay_anonymous_in_groups_and_rematches(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    code = await find_each_other(two_strangers)
    await anna.press("Ready")
    assert "can’t decide that" in (await anna.say(f"/join {code}")).toast
    await bruno.press("Ready")
    assert "can’t decide that" in (await anna.say(f"/join {code}")).toast
    table = await anna.worker.room.table(code)
    assert table.hosts == (anna.private, bruno.private)
    await anna.worker.room.make_move(
        code, anna.person.id, table.oldest_panel(table.seat_of(anna.person.id) or 0), "resign", "r"
    )
    await anna.worker.wait_until_idle()
    for player in two_strangers:
        result = player.fake.last(player.private)
        assert result.plain.count("provisional") == 1, "the rating of the other stranger is not shown"
    await anna.press("Rematch")
    assert "Ready" in str(bruno.fake.last(bruno.private).rows)
    await bruno.press("Ready")
    assert [table.phase for table in await anna.worker.room.lists.tables_of(anna.person.id)] == ["playing"]
    for player, other in ((anna, bruno), (bruno, anna)):
        for panel in player.fake.messages[player.private].values():
            assert other.person.name not in panel.plain
            assert not [span for span in panel.text if span.person == other.person.id]


async def test_stopped_search_asks_no_more(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    for player in two_strangers:
        await player.say("/find", player.private)
    assert "any game for two" in anna.fake.last(anna.private).plain
    await anna.press("Stop")
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [bruno.person.id]
    assert "Search stopped." in anna.fake.last(anna.private).plain


async def test_stop_button_declines_an_opponent_already_found(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await find_each_other(two_strangers)
    await anna.press("Stop")
    await run_finder(anna.worker)
    assert await list_waiting(two_strangers) == [bruno.person.id]


async def test_unreadable_table_lets_players_stop_searching(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    code, worker = await find_each_other(two_strangers), anna.worker
    await worker.store.client.rpush(table_key(code), b"written by another release\tx")
    worker.room.forget(code)
    await run_finder(worker)
    await worker.feature(FindFeature).finder.leave(anna.person.id, "stop")
    assert (await list_waiting(two_strangers), await worker.feature(FindFeature).finder.queue.pairings()) == (
        [bruno.person.id],
        [],
    )


async def test_asked_player_cannot_search_again(two_strangers: list[Player]) -> None:
    anna, _bruno = two_strangers
    await find_each_other(two_strangers)
    assert "already found someone" in (await anna.say("/find", anna.private)).toast


async def test_table_of_strangers_cannot_be_joined_or_changed(two_strangers: list[Player]) -> None:
    anna, _bruno = two_strangers
    code = await find_each_other(two_strangers)
    carla = Player(anna.worker, anna.fake, "Carla", 3)
    assert "This challenge is for" in (await carla.say(f"/join {code}")).toast
    await anna.press("Ready")
    for verb in ("game spades", "robot easy", "cancel", "stand", "invite"):
        assert "can’t decide that" in (await anna.send(f"1t{code}:{verb}")).toast
    assert "no open challenge" in (await anna.say("/invite", anna.private)).toast
    assert (await anna.worker.room.table(code)).game_id == GAME


async def test_find_in_a_group_answers_in_private(two_strangers: list[Player]) -> None:
    anna, _ = two_strangers
    assert "open it and write /find" in (await anna.say("/find", GROUP)).toast
    await anna.dispatcher.send_hands(anna.person)
    reply = await anna.say("/find pizzichino", GROUP)
    assert (reply.private, reply.toast) == (True, "Sent to your private chat.")
    assert await list_waiting(two_strangers) == [anna.person.id]


async def test_player_can_play_a_robot_while_searching(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await anna.say("/find spades", anna.private)
    page = anna.fake.last(anna.private)
    await anna.press("🤖 Play a robot meanwhile")
    [table] = await anna.worker.room.lists.tables_of(anna.person.id)
    assert (table.game_id, table.phase, table.hosts) == ("spades", "playing", (anna.private,))
    assert page in anna.fake.messages[anna.private].values(), "the search page stays, to stop the search"
    assert await list_waiting(two_strangers) == [anna.person.id]
    await bruno.say("/find spades", bruno.private)
    await run_finder(anna.worker)
    assert anna.button("Ready")


async def test_robot_chosen_in_a_group_is_played_in_private(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await anna.say("/find spades", anna.private)
    anna.fake.messages[anna.aside]["9"] = anna.fake.last(anna.private)
    reply = await anna.press("🤖 Play a robot meanwhile", anna.aside, settle=False)
    assert reply.toast == "Sent to your private chat."
    [table] = await anna.worker.room.lists.tables_of(anna.person.id)
    assert table.hosts == (anna.private,)
    bruno.fake.messages[bruno.aside]["9"] = Panel((Span("?"),), ((Button("Look", "1pfind look"),),))
    reply = await bruno.press("Look", bruno.aside)
    assert reply.start_word == "find", "without a private chat the bot could not ask them"


@pytest.mark.parametrize("payload", ["1pfind robot spades 9", "1pfind robot chess easy", "1pfind robot"])
async def test_unknown_robots_are_refused(two_strangers: list[Player], payload: str) -> None:
    anna, _ = two_strangers
    await anna.say("/find spades", anna.private)
    assert (await anna.send(payload, anna.private)).toast
    assert not await anna.worker.room.lists.tables_of(anna.person.id)


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "a" * 17,
        "3331234567",
        "anna99",
        "somebody",
        "http://a.b",
        "@anna",
        "a.it",
        "-Anna",
        "two\nlines",
        "1_2",
    ],
)
async def test_invalid_nicknames_are_refused(two_strangers: list[Player], name: str) -> None:
    anna, _ = two_strangers
    reply = await anna.dispatcher.handle_command(make_command(anna, name))
    assert "2 to 16 letters" in reply.toast


async def test_strangers_see_the_nickname(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await anna.say("/nickname Volpe d'oro", anna.private)
    await find_each_other(two_strangers)
    assert "Volpe d'oro" in bruno.fake.last(bruno.private).plain


async def test_next_worker_opens_the_table_of_a_dead_one(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        two_strangers = [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]
        for player in two_strangers:
            await player.say(f"/find {GAME}", player.private)
        first, second = await worker.feature(FindFeature).finder.queue.entries()
        # A worker died between pairing them and opening their table.
        assert await worker.feature(FindFeature).finder.queue.pair("c0de", [first, second], GAME)
    async with open_worker(store, fake) as worker:
        two_strangers = [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]
        await run_finder(worker)
        await run_finder(worker)
        for player in two_strangers:
            assert sum("You’re matched with" in text for text in fake.texts(player.private)) == 1
            await player.press("Ready")
        assert len(await worker.room.lists.tables_of(two_strangers[0].person.id)) == 1
        assert all("deal 1" in fake.last(player.private).plain for player in two_strangers)


async def test_two_workers_match_each_person_once(store: Store) -> None:
    first, second = FakePlatform(), FakePlatform()
    async with open_worker(store, first) as worker, open_worker(store, second, alone=False) as second_worker:
        people = [Player(worker, first, f"P{number}", number) for number in range(1, 21)]
        for player in people:
            await player.say(f"/find {GAME}", player.private)
        for _ in range(3):
            await worker.feature(FindFeature).finder.run_round()
            await second_worker.feature(FindFeature).finder.run_round()
        pairings = await worker.feature(FindFeature).finder.queue.pairings()
        assert sorted(person for pairing in pairings for person in pairing.people) == sorted(
            player.person.id for player in people
        )


async def test_forgotten_player_leaves_the_queue(two_strangers: list[Player]) -> None:
    anna, bruno = two_strangers
    await find_each_other(two_strangers)
    worker = anna.worker
    data = await anna.dispatcher.handle_command(make_command(anna, name="mydata"))
    assert data.file
    assert json.loads(data.file.content)["looking_for"]
    await worker.feature(PrivacyFeature).forgetter.begin(anna.person.id)
    while not (await forgetting_marks(worker.store.client))[anna.person.id].is_erased:
        await asyncio.sleep(0.01)
    assert await list_waiting(two_strangers) == [bruno.person.id]
    for key in (keys.WAITING, keys.ASKED, keys.PAIRINGS):
        assert anna.person.id not in repr(await worker.store.client.hgetall(key))


@pytest.fixture
async def four_strangers(store: Store) -> AsyncIterator[list[Player]]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        names = ("Anna", "Bruno", "Carla", "Dino")
        yield [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]


@pytest.mark.long
@pytest.mark.parametrize("game", ["tressette", long("tavolo")])
async def test_four_strangers_find_each_other_and_play(four_strangers: list[Player], game: str) -> None:
    worker, fake = four_strangers[0].worker, four_strangers[0].fake
    for number, player in enumerate(four_strangers, 1):
        await player.say(f"/find {game}", player.private)
        assert f"{number} of 4 are here" in fake.last(player.private).plain
        await run_finder(worker)
    for player in four_strangers:
        await player.press("Ready")
    [table] = await worker.room.lists.tables_of(four_strangers[0].person.id)
    assert {chair.person for chair in table.chairs if chair} == {player.person.id for player in four_strangers}
    await run_finder(worker)
    assert (await list_waiting(four_strangers), await worker.feature(FindFeature).finder.queue.pairings()) == ([], [])
    for player in four_strangers:
        everything = "\n".join(fake.texts(player.private))
        assert not any(other.person.name in everything for other in four_strangers if other is not player)
    random = Random(7)
    while not await worker.archive.numbers_of(four_strangers[0].person.id):
        await make_random_move(four_strangers, random)
    # A rematch keeps the chairs and names.
    for player in four_strangers:
        await player.press("Rematch")
    [rematch] = await worker.room.lists.tables_of(four_strangers[0].person.id)
    assert [chair and chair.name for chair in rematch.chairs] == [chair and chair.name for chair in table.chairs]
    assert rematch.phase == "playing"


async def test_rematch_does_not_join_blocked_players(four_strangers: list[Player]) -> None:
    worker, (anna, bruno, carla, dino) = four_strangers[0].worker, four_strangers
    for player in four_strangers:
        await player.say("/find tressette", player.private)
    await run_finder(worker)
    for player in four_strangers:
        await player.press("Ready")
    await dino.say("/resign", dino.private)
    await dino.press("Yes, I resign")
    await worker.feature(FindFeature).finder.block(anna.person.id, bruno.person.id, "Re 100")
    await carla.press("Rematch")
    await worker.wait_until_idle()
    asked_players = [
        player for player in four_strangers if "You’re matched with" in player.fake.last(player.private).plain
    ]
    assert asked_players == [carla, dino]


async def test_three_stay_in_the_queue_if_one_does_not_answer(four_strangers: list[Player]) -> None:
    worker = four_strangers[0].worker
    for player in four_strangers:
        await player.say("/find tressette", player.private)
    await run_finder(worker)
    for player in four_strangers[:3]:
        await player.press("Ready")
    assert "Waiting for 1 player" in four_strangers[0].fake.last(four_strangers[0].private).plain
    _, button = four_strangers[3].button("Ready")
    await expire_table(worker, button.payload[2:8])
    await run_finder(worker)
    assert await list_waiting(four_strangers) == [player.person.id for player in four_strangers[:3]]
    assert "Not everyone answered" in four_strangers[0].fake.last(four_strangers[0].private).plain
    assert "You didn’t answer" in four_strangers[3].fake.last(four_strangers[3].private).plain


async def test_robots_fill_chairs_once_all_agree(four_strangers: list[Player]) -> None:
    worker, (anna, bruno, *_) = four_strangers[0].worker, four_strangers
    for player in (anna, bruno):
        await player.say("/find tressette", player.private)
    await run_finder(worker)
    assert await list_waiting(four_strangers) == [anna.person.id, bruno.person.id]
    await anna.press("at once")
    assert any(button.label == "✓ at once" for row in anna.fake.last(anna.private).rows for button in row)
    await run_finder(worker)
    assert await list_waiting(four_strangers) == [anna.person.id, bruno.person.id]
    await bruno.press("at once")
    await run_finder(worker)
    assert "2 robots take the free seats" in anna.fake.last(anna.private).plain
    for player in (anna, bruno):
        await player.press("Ready")
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert [chair and chair.is_robot for chair in table.chairs] == [False, False, True, True]
    assert table.phase == "playing"


async def test_old_button_does_not_restart_a_search(four_strangers: list[Player]) -> None:
    anna = four_strangers[0]
    await anna.say("/find tressette", anna.private)
    message, button = anna.button("after 5 minutes")
    await anna.press("Stop")
    await anna.send(button.payload, anna.private, message)
    assert await list_waiting(four_strangers) == []
    assert "Search stopped." in anna.fake.last(anna.private).plain


async def test_old_button_keeps_the_page_of_an_asked_player(four_strangers: list[Player]) -> None:
    worker, anna = four_strangers[0].worker, four_strangers[0]
    for player in four_strangers:
        await player.say("/find tressette", player.private)
    message, button = anna.button("at once")
    await run_finder(worker)
    assert anna.button("Ready")
    reply = await anna.send(button.payload, anna.private, message)
    assert "say below if you’re ready" in reply.toast
    assert "Looking for " in anna.fake.messages[anna.private][message].plain
    assert any(button.label == "Stop" for row in anna.fake.messages[anna.private][message].rows for button in row)


async def test_stop_counts_more_than_a_choice_of_robots(
    four_strangers: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, finder_ = four_strangers[0], four_strangers[0].worker.feature(FindFeature).finder
    await anna.say("/find tressette", anna.private)
    message, button = anna.button("after 5 minutes")
    standing = finder_._ratings.standing

    async def stop_meanwhile(scope: Scope, person: str) -> object:
        await finder_.leave(person, "stop")
        return await standing(scope, person)

    monkeypatch.setattr(finder_._ratings, "standing", stop_meanwhile)
    await anna.send(button.payload, anna.private, message)
    assert await list_waiting(four_strangers) == []


async def test_block_sends_four_asked_players_back(four_strangers: list[Player]) -> None:
    worker, (anna, bruno, *_) = four_strangers[0].worker, four_strangers
    for player in four_strangers:
        await player.say("/find tressette", player.private)
    await run_finder(worker)
    await worker.feature(FindFeature).finder.block(anna.person.id, bruno.person.id, "Re 100")
    await run_finder(worker)
    assert await list_waiting(four_strangers) == [player.person.id for player in four_strangers]


class OtherPlatform(FakePlatform):
    """A fake platform with its own name."""

    def __init__(self, platform: str) -> None:
        super().__init__()
        self.platform = platform


class Stranger(Player):
    """A person on one of these platforms."""

    def __init__(self, worker: Worker, fake: FakePlatform, number: int, language: str) -> None:
        super().__init__(worker, fake, f"P{number}", number, language)
        self.person = Person(f"{fake.platform}:{number}", f"P{number}", f"p{number}", language)
        self.private = private_place(self.person.id)


async def accept_all(searchers: list[Stranger]) -> None:
    """Press every visible button that says that the player is ready."""
    for player in searchers:
        label = {"it": "Ci sono", "en": "Ready"}[player.person.language]
        buttons = [
            (message, button.payload)
            for message, panel in player.fake.messages[player.private].items()
            for row in panel.rows
            for button in row
            if button.label == label
        ]
        for message, payload in buttons:
            await player.send(payload, player.private, message)


@pytest.mark.parametrize("people", mostly_long([200], 30))
async def test_many_people_on_three_platforms_match_once(store: Store, people: int) -> None:
    """People join in groups of ten at new workers, and some workers die. All invited people accept at once."""
    random, fakes = Random(people), [OtherPlatform(name) for name in ("paper", "slate", "parchment")]
    searchers: list[Stranger] = []
    blocked: set[tuple[str, str]] = set()
    for first in range(0, people, 10):
        async with open_worker(store, fakes[0]) as worker:
            for fake in fakes[1:]:
                worker.add_adapter(fake)
            for player in searchers:
                player.worker, player.dispatcher = worker, Dispatcher(worker)
            for number in range(first, first + 10):
                player = Stranger(worker, random.choice(fakes), number, random.choice(["it", "en"]))
                searchers.append(player)
                game = random.choice(["", "", "pizzichino", "testa", "spades", "tressette", "tavolo"])
                await player.dispatcher.handle_command(make_command(player, *([game] if game else []), name="find"))
                unwanted = random.choice(searchers)
                if unwanted is not player and not await worker.room.lists.tables_of(player.person.id):
                    await worker.feature(FindFeature).finder.block(player.person.id, unwanted.person.id, "Re 100")
                    blocked.add((player.person.id, unwanted.person.id))

            queue = worker.feature(FindFeature).finder.queue
            if random.random() < 0.5 and len(waits := await queue.entries()) > 1:
                # The worker dies with a pairing that has no table.
                first_entry, second_entry = waits[:2]
                common = common_game(first_entry.searcher.games, second_entry.searcher.games)
                if common and first_entry.searcher.seats == 2:
                    await queue.pair(f"killed{first}", [first_entry, second_entry], common)
            else:
                await run_finder(worker)
                await run_finder(worker)
            await accept_all(searchers)
            await worker.wait_until_idle()

    async with open_worker(store, fakes[0]) as worker:
        for fake in fakes[1:]:
            worker.add_adapter(fake)
        await run_finder(worker)
        seats = [await worker.room.lists.tables_of(player.person.id) for player in searchers]
        assert max(map(len, seats)) == 1
        tables = [{chair.person for chair in table.chairs if chair} for [table] in filter(None, seats)]
        assert not [couple for couple in blocked for people in tables if set(couple) <= people]

        queue = worker.feature(FindFeature).finder.queue
        waiting = [entry.searcher for entry in await queue.entries()]
        asked_people = {person for pairing in await queue.pairings() for person in pairing.people}
        playing = {player.person.id for player, tables in zip(searchers, seats, strict=True) if tables}
        assert {searcher.person for searcher in waiting} | asked_people | playing == {
            player.person.id for player in searchers
        }
        assert not {searcher.person for searcher in waiting} & (asked_people | playing)
        assert find_matches(waiting, await queue.now()) == []
        assert len(blocked) > people / 2
        assert len(playing) > people * 0.6
