"""Leaderboards and player pages for web readers and programs, with the names each reader knows."""

import json

import pytest

from bot.features.privacy.feature import PrivacyFeature
from bot.features.ratings.players import Players
from bot.finished.game import FinishedGame
from bot.finished.player_ids import person_from_id, player_id
from bot.finished.ratings import MIN_GAMES
from bot.platform import Person
from bot.store import Store, keys
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, open_worker
from tests.bot.finished.games import ENDED_AT, finished_game, store_game

SECRET = b"s" * 32
NAMES = {"paper:1": "Anna Rossi", "paper:2": "Bruno Bianchi", "paper:3": "Carla Verdi"}


async def store_rated_games(
    worker: Worker, *, count: int = 6, chats: tuple[str, ...] = ("paper:100",)
) -> list[FinishedGame]:
    """Let three people play in a group. A fourth person has no game."""
    for id_, name in NAMES.items():
        await worker.people.meet(Person(id_, name, f"handle{id_[-1]}", "en"))
    await worker.people.meet(Person("paper:9", "Zeno", "zeno", "en"))
    await worker.people.update_person("paper:2", nickname="Asso 100")
    games = []
    for number in range(1, count + 1):
        game = finished_game(number, "testa", ENDED_AT + number)
        game = FinishedGame(**{**vars(game), "chats": list(chats)})
        await store_game(worker.store, game)
        for person in game.known_people:
            await worker.store.client.sadd(keys.games_of(person), number)
        games.append(game)
    await worker.ratings.rebuild()
    return games


def make_players(worker: Worker) -> Players:
    return Players(worker.store, worker.people, worker.ratings, worker.archive)


@pytest.mark.parametrize("person", ["telegram:1", "discord:123456789012345678", "web:" + "a" * 90, "paper:é"])
def test_player_id_is_stable_and_opaque(person: str) -> None:
    id_ = player_id(person, SECRET)
    assert person_from_id(id_, SECRET) == person
    assert id_ == player_id(person, SECRET)
    assert person_from_id(id_, b"t" * 32) == ""
    assert person not in id_
    if len(person) < 30:
        # Short ids have equal lengths on all platforms.
        assert len(id_) == len(player_id("x:1", SECRET))


@pytest.mark.parametrize("invented", ["", "A", "A" * 16, "A" * 60, "é" * 60, "=" * 60, "AAAA=AAAA" * 8])
def test_invented_player_id_is_refused(invented: str) -> None:
    assert person_from_id(invented, SECRET) == ""


def test_changed_player_id_is_refused() -> None:
    id_ = player_id("telegram:12345", SECRET)
    for index, letter in enumerate(id_):
        changed = f"{id_[:index]}{'B' if letter == 'A' else 'A'}{id_[index + 1 :]}"
        assert person_from_id(changed, SECRET) == ""


async def test_strangers_see_nicknames_and_group_members_see_names(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await store_rated_games(worker)
        players = make_players(worker)
        names = {}
        for reader in ("", "paper:9", "paper:1"):
            board = await players.leaderboard(reader, "all", "all", "en")
            assert board.ranked == 3
            dump = board.model_dump_json()
            assert not [text for text in ("paper", "handle") if text in dump]
            names[reader] = {player.name for player in board.players}
        assert names["paper:1"] == set(NAMES.values())
        for reader in ("", "paper:9"):
            assert not names[reader] & set(NAMES.values())
            assert "Asso 100" in names[reader]
        # The reader is listed, even without a game.
        assert names["paper:9"] - names[""] == {"Zeno"}
        assert names[""] <= names["paper:9"]


async def test_games_without_a_group_reveal_no_names(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await store_rated_games(worker, chats=())
        board = await make_players(worker).leaderboard("paper:1", "all", "all", "en")
        assert {player.name for player in board.players} & set(NAMES.values()) == {"Anna Rossi"}


async def test_player_page_hides_games_from_others(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        games = await store_rated_games(worker)
        players = make_players(worker)
        id_ = await players.id_of("paper:2")
        own_page = await players.player(id_, "paper:2", "en")
        public = await players.player(id_, "", "en")
        assert own_page
        assert public
        assert (own_page.name, public.name) == ("Bruno Bianchi", "Asso 100")
        assert [rating.game for rating in public.ratings] == ["all", "testa"]
        own_games = [game for game in games if "paper:2" in game.people]
        assert public.ratings[0].games == len(own_games) >= MIN_GAMES
        assert [game.won for game in public.history] == [
            game.people.index("paper:2") in (game.record.winner or []) for game in own_games
        ]
        assert public.history[-1].rating == public.ratings[0].rating
        assert [game.id for game in own_page.games] == [game.id for game in reversed(own_games)]
        assert public.games == []
        assert "paper" not in json.dumps(public.model_dump(mode="json"))


async def test_page_without_games_is_visible_only_to_its_player(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await store_rated_games(worker)
        players = make_players(worker)
        id_ = await players.id_of("paper:9")
        own = await players.player(id_, "paper:9", "en")
        assert own
        assert (own.is_you, own.ratings, own.history) == (True, [], [])
        assert await players.player(id_, "paper:1", "en") is None
        assert await players.player("A" * 60, "paper:1", "en") is None


async def test_forgotten_player_has_no_page_and_no_rank(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await store_rated_games(worker)
        players = make_players(worker)
        id_ = await players.id_of("paper:2")
        mark = await worker.feature(PrivacyFeature).forgetter.begin("paper:2")
        await worker.feature(PrivacyFeature).forgetter.forget("paper:2", mark)
        board = await players.leaderboard("paper:1", "all", "all", "en")
        assert id_ not in {player.id for player in board.players}
        assert await players.player(id_, "paper:1", "en") is None
