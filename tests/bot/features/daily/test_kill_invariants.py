"""Each invariant of the kill harness for the deal of the day passes on good data and detects its fault."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.features.daily.feature import DailyFeature
from bot.features.daily.store import DayResults
from bot.solo_deals.results import SoloResult
from bot.store import Store
from tests.bot.features.daily.conftest import TODAY
from tests.bot.features.daily.test_days import begin_deal, make_move, open_players, play_deal
from tests.kills import daily
from tests.kills.daily import DayAtRest, choose_zones
from tests.kills.invariants import Disagreement
from tests.kills.solo_deals import RobotAnswers

AddFault = Callable[[DayAtRest], DayAtRest]


async def make_day_at_rest(store: Store) -> DayAtRest:
    """Return a day that one person has finished and another is playing."""
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await play_deal(anna, await begin_deal(anna), 1)
        code = await begin_deal(bruno)
        for _ in range(3):
            await make_move(bruno, code, 1)
        await worker.wait_until_idle()
        results = DayResults(store.client)
        return DayAtRest(
            TODAY,
            await worker.feature(DailyFeature).days.chain(),
            [await worker.room.table(code)],
            [game for _day, game in await results.pending_games()],
            [],
            {line.person: line.result for line in await results.ranking(TODAY)},
            "no secret",
            {"paper:1": 1},
        )


def change_cards(day: DayAtRest) -> DayAtRest:
    return replace(day, chain=replace(day.chain, root=bytes(32)))


FAULTS: dict[str, AddFault] = {
    "day_is_played_once": lambda day: replace(day, pending=[*day.pending, *day.pending]),
    "each_game_has_its_result": lambda day: replace(day, results={"paper:1": SoloResult((99, 0), "1")}),
    "results_are_shown_once": lambda day: replace(day, results_shown={"paper:1": 2}),
    "all_games_have_the_cards_of_the_day": change_cards,
    "archive_has_no_game_of_the_day": lambda day: replace(day, archived=day.pending),
    "no_message_reveals_a_secret": lambda day: replace(day, messages=f"… {day.chain.secret(TODAY).hex()} …"),
}


def test_every_invariant_has_a_fault() -> None:
    assert set(FAULTS) == {invariant.__name__ for invariant in daily.INVARIANTS}, "add a fault to FAULTS"


async def test_invariants_pass_good_data_and_detect_faults(store: Store) -> None:
    day = await make_day_at_rest(store)
    for invariant in daily.INVARIANTS:
        invariant(day)
    for name, add_fault in FAULTS.items():
        with pytest.raises(Disagreement):
            getattr(daily, name)(add_fault(day))
    with pytest.raises(Disagreement):
        daily.no_message_reveals_a_secret(replace(day, messages=f"1preplay {day.pending[0].id} 1"))
    with pytest.raises(Disagreement):
        daily.each_game_has_its_result(replace(day, results={}))


async def test_wrong_robot_answer_is_detected(store: Store) -> None:
    day = await make_day_at_rest(store)
    robot = RobotAnswers("testa", day.chain.secret(TODAY), "easy")
    for person, moves in day.moves_of_people:
        robot.check(person, moves)
    [(person, moves), _other] = day.moves_of_people
    index = next(number for number, (seat, _move) in enumerate(moves) if seat == 1)
    changed = [*moves[:index], (1, "play 4D" if moves[index][1] != "play 4D" else "play 5D"), *moves[index + 1 :]]
    with pytest.raises(Disagreement, match="the robot played"):
        robot.check(person, changed)


@pytest.mark.parametrize("hour", range(24))
def test_time_zone_leaves_two_hours_of_the_day(hour: int) -> None:
    time = datetime(2026, 11, 24, hour, 59, tzinfo=UTC)
    playing, after = (time.astimezone(ZoneInfo(zone)) for zone in choose_zones(time))
    assert playing.date() < after.date()
    assert (playing + timedelta(hours=2)).date() == playing.date()
