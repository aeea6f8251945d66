"""Each invariant of the kill harness for duels passes on good data and detects its fault."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.features.duels.feature import DuelsFeature
from bot.features.duels.texts import result_text
from bot.finished.archive import Archive
from bot.solo_deals.results import SoloResult
from bot.store import Store
from tests.bot.fake_platform import GROUP
from tests.bot.features.daily.test_days import play_deal
from tests.bot.features.duels.test_duels import begin_deal, meet, open_players, play_next, run_loops
from tests.kills import duels
from tests.kills.duels import Deal, DuelsAtRest, find_waiting, load_duels
from tests.kills.invariants import Disagreement

GIVEN_UP = SoloResult(None, "")

AddFault = Callable[[DuelsAtRest], DuelsAtRest]


async def make_duels_at_rest(store: Store) -> DuelsAtRest:
    """Return a duel that is over, and one with a deal that only the challenger has played."""
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", GROUP)
        await bruno.press("Play", GROUP)
        [first] = [table.code for table in await worker.room.lists.tables_of(bruno.person.id)]
        await play_deal(bruno, first, 1)
        for _ in range(4):
            await play_next(bruno)
        for _ in range(5):
            await play_next(anna)
        await run_loops(worker)
        await anna.say("/duel @bruno testa", anna.private)
        await play_next(anna)
        await begin_deal(anna)
        await worker.wait_until_idle()
        await run_loops(worker)
        duel_store = worker.feature(DuelsFeature).duels.store
        loaded_duels = await load_duels(store)
        [over] = [duel for duel in loaded_duels if duel.closing]
        pending = [
            (Deal(duel.code, int(field[0]), number), game)
            for duel in loaded_duels
            async for field, number, game in duel_store.pending(duel.code)
        ]
        chats = {"@1": [result_text(over, "en")], "@2": [result_text(over, "en")], "1": [result_text(over, "en")]}
        return DuelsAtRest(
            loaded_duels,
            await worker.room.lists.tables_of(anna.person.id),
            pending,
            [game async for game in Archive(store.client).games()],
            "no secret",
            {over.code: chats},
            {over.code: 1},
        )


def over_code(state: DuelsAtRest) -> str:
    return next(duel.code for duel in state.duels if duel.closing)


def change_duels(state: DuelsAtRest, **changes: object) -> DuelsAtRest:
    return replace(state, duels=[replace(duel, **changes) for duel in state.duels])  # type: ignore[arg-type]


def drop_a_message(state: DuelsAtRest) -> DuelsAtRest:
    code = over_code(state)
    return replace(state, ends={code: dict(list(state.ends[code].items())[1:])})


FAULTS: dict[str, AddFault] = {
    "each_deal_is_played_once": lambda state: replace(state, tables=[*state.tables, *state.tables]),
    "each_result_has_its_game": lambda state: replace(state, archived=[*state.archived, *state.archived]),
    "games_are_archived_once_both_have_played": lambda state: replace(
        state, archived=[*state.archived, *(game for _deal, game in state.pending)], pending=[]
    ),
    "both_play_the_same_cards": lambda state: change_duels(state, root=bytes(32)),
    "finished_duels_are_over": lambda state: change_duels(state, closing=""),
    "both_are_told_the_same_result_once": drop_a_message,
    "acceptance_is_announced_once": lambda state: replace(state, notices={over_code(state): 2}),
    "no_message_reveals_cards": lambda state: replace(state, messages=f"… {state.duels[0].root.hex()} …"),
}


def test_every_invariant_has_a_fault() -> None:
    assert set(FAULTS) == {invariant.__name__ for invariant in duels.INVARIANTS}, "add a fault to FAULTS"


@pytest.mark.long
async def test_invariants_pass_good_data_and_detect_faults(store: Store) -> None:
    state = await make_duels_at_rest(store)
    assert state.tables
    assert state.pending
    assert len(state.archived) == 10
    assert await find_waiting(store) == []
    for invariant in duels.INVARIANTS:
        invariant(state)
    for name, add_fault in FAULTS.items():
        with pytest.raises(Disagreement):
            getattr(duels, name)(add_fault(state))
    code = over_code(state)
    wrong = replace(state, ends={code: {chat: ["?"] for chat in state.ends[code]}})
    with pytest.raises(Disagreement, match="says"):
        duels.both_are_told_the_same_result_once(wrong)
    given_up = [
        replace(
            duel, played_deals={deal: played._replace(result=GIVEN_UP) for deal, played in duel.played_deals.items()}
        )
        for duel in state.duels
    ]
    with pytest.raises(Disagreement, match="follow"):
        duels.each_result_has_its_game(replace(state, duels=given_up))
    with pytest.raises(Disagreement, match="names the game"):
        duels.no_message_reveals_cards(replace(state, messages=f"1preplay {state.pending[0][1].id} 1"))


async def test_unsent_messages_are_waited_for(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await anna.say("/duel @bruno testa", anna.private)
        code = (await load_duels(store))[0].code
        assert await find_waiting(store) == [f"{code} called 1"]
        await run_loops(worker)
        assert await find_waiting(store) == []
