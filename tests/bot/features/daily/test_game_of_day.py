"""Each day keeps its game, even if later releases add games."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

import pytest

from bot.features.daily import keys
from bot.features.daily.days import Days
from bot.features.daily.feature import DailyFeature
from bot.features.daily.game_of_day import FIRST_GAMES, DayGames, choose_game
from bot.store import Store
from engine import GAMES
from tests.bot.fake_platform import GROUP, Player
from tests.bot.features.daily.conftest import TODAY, TOMORROW
from tests.bot.features.daily.test_days import begin_deal, find_table_code, open_players, play_deal

# A day with a stored game.
STORED_DAYS = {TODAY - timedelta(days=9): "testa"}


def add_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add an eighth game, as a later release might."""
    monkeypatch.setitem(GAMES, "eighth", replace(GAMES["testa"], id="eighth", name="Eighth"))


def choose_games(first: date, count: int, drawn_games: Mapping[date, str]) -> list[str]:
    return [choose_game(first + timedelta(days=number), drawn_games) for number in range(count)]


def test_all_games_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    week = choose_games(TODAY, 7, STORED_DAYS)
    assert sorted(week) == sorted(GAMES)
    assert choose_games(TODAY + timedelta(days=7), 7, STORED_DAYS) == week
    add_game(monkeypatch)
    assert sorted(choose_games(TODAY, 8, STORED_DAYS)) == sorted(GAMES)


async def test_new_game_changes_no_past_day(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.client.hset(keys.DRAWN, mapping={day.isoformat(): game for day, game in STORED_DAYS.items()})
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await anna.say("/daily", GROUP)
        await play_deal(anna, await begin_deal(anna), 1)
        add_game(monkeypatch)
        assert choose_game(TODAY, STORED_DAYS) != "testa", "the new list would draw another game"
        # The day keeps its game.
        assert "Testa a Testa" in await read_day(bruno)
        await begin_deal(bruno)
        table = await worker.room.table(await find_table_code(bruno))
        assert table.game_id == "testa"
        assert "Testa a Testa" in await read_day(anna)
        # The next day uses the new list. The day before keeps its game.
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        assert await worker.feature(DailyFeature).days.game_on(TOMORROW) == choose_game(TOMORROW, STORED_DAYS)
        for place in (anna.private, GROUP):
            await anna.say("/daily", place)
            await anna.press("Yesterday", place)
            text = anna.fake.last(anna.private).plain
            assert "Testa a Testa" in text
            assert "\u2068Anna\u2069" in text
        page = await worker.feature(DailyFeature).site.page(anna.person.id, "en", yesterday=True)
        assert "Testa a Testa" in page.panel.plain
        assert page.lines
        assert page.lines.tricks == 20
        assert page.replay
        await anna.press("Replay", anna.private)
        assert "Testa a Testa" in anna.fake.last(anna.private).plain


async def test_days_of_old_stores_keep_the_old_rule(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    days = [TODAY - timedelta(days=number) for number in range(14)]
    before = [list(GAMES)[day.toordinal() % 7] for day in days]
    add_game(monkeypatch)
    games = DayGames(store.client)
    assert [await games.past_game(day) for day in days] == before
    # The earlier release could already have begun today.
    assert await games.todays_game(TODAY) == before[0]
    assert await games.todays_game(TOMORROW) == list(GAMES)[TOMORROW.toordinal() % 8]
    assert [await games.past_game(day) for day in days] == before


def test_games_of_old_stores_never_change() -> None:
    games = ("pizzichino", "spizzichino", "metamazzo", "testa", "tressette", "tavolo", "spades")
    assert games == FIRST_GAMES, "days of old stores would get other games: keep FIRST_GAMES as it is"


async def read_day(player: Player) -> str:
    """Return the text of /daily in the private chat."""
    await player.say("/daily", player.private)
    return player.fake.last(player.private).plain
