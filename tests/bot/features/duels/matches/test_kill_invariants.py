"""Each invariant of the kill harness for matches passes on good data and detects its fault."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.features.duels.matches.pages import board_panel
from bot.store import Store
from tests.bot.features.duels.matches.playing import begin_match, matches_of, open_groups, play_all, run_loops
from tests.kills import matches
from tests.kills.duels import load_duels
from tests.kills.invariants import Disagreement
from tests.kills.match_players import Entry
from tests.kills.matches import MatchesAtRest

AddFault = Callable[[MatchesAtRest], MatchesAtRest]


async def make_matches_at_rest(store: Store) -> MatchesAtRest:
    """Return a match that is over."""
    async with open_groups(store) as (worker, _fake, players):
        match = await begin_match(worker, players)
        await play_all(worker, match, [(1, 0), (2, 4)])
        await run_loops(worker)
        loaded_match = await matches_of(worker).store.load(match.code)
        duels = await load_duels(store)
        text = board_panel(
            loaded_match, await matches_of(worker).duels_of(loaded_match), ["Bar Sport", "Circolo"], "en", 0
        ).plain
        entered = {Entry(match.code, side, pair[side].person) for pair in match.pairs for side in (0, 1)}
        draws = {(duel.code, f"@{player.person.partition(':')[2]}"): 1 for duel in duels for player in duel.players}
        return MatchesAtRest([loaded_match], duels, ([text], [text]), ([text], [text]), frozenset(entered), draws)


def add_entry(state: MatchesAtRest) -> MatchesAtRest:
    return replace(state, entered=state.entered | {Entry(state.matches[0].code, 0, "paper:9")})


FAULTS: dict[str, AddFault] = {
    "each_pair_has_one_duel": lambda state: replace(
        state, duels=[*state.duels, replace(state.duels[0], code="AAAAAA")]
    ),
    "no_entry_is_lost": add_entry,
    "matches_end_with_their_duels": lambda state: replace(state, matches=[replace(state.matches[0], closing="")]),
    "each_group_has_one_message_of_each_match": lambda state: replace(
        state, boards=([*state.boards[0], *state.boards[0]], state.boards[1])
    ),
    "players_are_told_of_the_draw_once": lambda state: replace(state, draws=dict.fromkeys(state.draws, 2)),
}


def test_every_invariant_has_a_fault() -> None:
    assert set(FAULTS) == {invariant.__name__ for invariant in matches.INVARIANTS}, "add a fault to FAULTS"


async def test_invariants_pass_good_data_and_detect_faults(store: Store) -> None:
    state = await make_matches_at_rest(store)
    for invariant in matches.INVARIANTS:
        invariant(state)
    for name, add_fault in FAULTS.items():
        with pytest.raises(Disagreement):
            getattr(matches, name)(add_fault(state))
    lost_duels = replace(state, matches=[replace(state.matches[0], duels={})], duels=[])
    with pytest.raises(Disagreement, match="pairs"):
        matches.each_pair_has_one_duel(lost_duels)
    unannounced = replace(state, duels=[replace(duel, closing="") for duel in state.duels], draws={})
    with pytest.raises(Disagreement, match="0 messages"):
        matches.players_are_told_of_the_draw_once(unannounced)
