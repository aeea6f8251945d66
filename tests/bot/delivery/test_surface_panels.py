"""The player whom a group's board notifies."""

from bot.store import Store
from bot.store.entries import Stop
from tests.bot.fake_platform import FakePlatform, open_worker
from tests.bot.tables.test_table import ADA, BEA, open_table, play_cards, start_game

ROBOT = "robot:easy"


async def test_only_a_player_to_move_with_calls_on_is_called(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        drawer = worker.delivery._tools.drawer
        first = start_game("testa", people=(ADA, BEA))
        second = play_cards(first)
        assert first.to_move
        assert second.to_move
        assert first.to_move != second.to_move
        assert await drawer.player_to_call(first) is None
        player = first.to_move
        await worker.people.update_person(player.person, called="1")
        assert await drawer.player_to_call(first) == (player.person, player.name)
        assert await drawer.player_to_call(second) is None

        # Open and finished tables call no player, and robots are never called, even with this setting.
        assert await drawer.player_to_call(open_table("testa")) is None
        ended = first.with_entries([Stop("cancelled")], "u2")
        assert ended.game
        assert await drawer.player_to_call(ended) is None
        await worker.people.update_person(ROBOT, called="1")
        for people in ((ROBOT, BEA), (ADA, ROBOT)):
            table = start_game("testa", people=people)
            assert table.to_move
            is_robot = table.to_move.is_robot
            assert (await drawer.player_to_call(table) is None) is (is_robot or table.to_move.person != player.person)
