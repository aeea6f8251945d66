"""Kills while two groups play matches: python -m tests.kills.matches --kills 30 --seed 1

The duels of the matches must keep all invariants of `tests.kills.duels`. Matches have invariants of their own, each a
function of a `MatchesAtRest`. At the end all duels are played without kills until they are over.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.features.duels.duel import Duel
from bot.features.duels.matches.match import Match
from bot.features.duels.matches.pages import board_panel
from bot.features.duels.matches.store import MatchStore
from bot.people import People
from bot.store import Store
from tests.kills.bot_process import Bot
from tests.kills.duel_players import find_buttons
from tests.kills.duels import DuelHarness, load_duels
from tests.kills.harness import main
from tests.kills.invariants import Disagreement
from tests.kills.match_players import GROUPS, Entry, MatchPlayers
from tests.kills.pages import Page


@dataclass
class MatchesAtRest:
    """The state of all matches once nothing is in progress.

    ``duels`` are all duels. ``wanted`` are the texts that each group should see, by its side, one of each match, and
    ``boards`` the texts of messages there about matches. ``entered`` are the acknowledged entries. ``draws`` counts the
    messages about a draw, by the duel's code and the chat.
    """

    matches: Sequence[Match]
    duels: Sequence[Duel]
    wanted: Sequence[Sequence[str]]
    boards: Sequence[Sequence[str]]
    entered: frozenset[Entry]
    draws: Mapping[tuple[str, str], int]

    def duels_of(self, match: Match) -> list[Duel]:
        return [duel for duel in self.duels if duel.match == match.code]


def each_pair_has_one_duel(state: MatchesAtRest) -> None:
    for match in state.matches:
        duels = {duel.code: duel for duel in state.duels_of(match)}
        known_duels = {number: duels[code].players for number, code in match.duels.items() if code in duels}
        if len(duels) != len(match.pairs) or known_duels != dict(enumerate(match.pairs)):
            raise Disagreement(f"match {match.code} has the pairs {match.pairs}, and the duels {list(duels.values())}")


def no_entry_is_lost(state: MatchesAtRest) -> None:
    matches = {match.code: match for match in state.matches}
    for entry in state.entered:
        if matches[entry.code].side_of(entry.person) != entry.side:
            raise Disagreement(f"{entry} was acknowledged, and the match is {matches[entry.code]}")


def matches_end_with_their_duels(state: MatchesAtRest) -> None:
    for match in state.matches:
        is_over = bool(match.begun_at) and all(duel.closing for duel in state.duels_of(match))
        if (match.closing == "over") != is_over:
            raise Disagreement(f"match {match.code} is closed {match.closing!r}, its duels {state.duels_of(match)}")


def each_group_has_one_message_of_each_match(state: MatchesAtRest) -> None:
    for side, (wanted, boards) in enumerate(zip(state.wanted, state.boards, strict=True)):
        if Counter(wanted) != Counter(boards):
            raise Disagreement(f"group {GROUPS[side]} has {boards} instead of {wanted}")


def players_are_told_of_the_draw_once(state: MatchesAtRest) -> None:
    """Each player gets one message about the draw, or none if the duel ended in the meantime."""
    for duel in state.duels:
        for player in duel.players if duel.match else ():
            count = state.draws.get((duel.code, f"@{player.person.partition(':')[2]}"), 0)
            if count != 1 and not (count == 0 and duel.closing):
                raise Disagreement(f"duel {duel.code}: {player} has {count} messages about the draw")


INVARIANTS = (
    each_pair_has_one_duel,
    no_entry_is_lost,
    matches_end_with_their_duels,
    each_group_has_one_message_of_each_match,
    players_are_told_of_the_draw_once,
)


class MatchHarness(DuelHarness):
    """A harness for a page on which matches are played. ``finished`` counts those that are over."""

    people_kind = MatchPlayers

    def __init__(self, page: Page, seed: int, min_presses: int = 20) -> None:
        super().__init__(page, seed, min_presses)
        self.matches_over = 0

    def result_text(self) -> str:
        return f"{self.matches_over} matches and {super().result_text()}"

    async def find_live(self, store: Store) -> list[str]:
        matches = (await self._load_matches(store)).matches
        return [
            *await super().find_live(store),
            *(match.code for match in matches if match.begun_at and not match.closing),
        ]

    async def wait_until_idle(self, store: Store) -> None:
        """Wait also until matches are over, and their messages show it."""
        await super().wait_until_idle(store)
        deadline = time.monotonic() + self.patience
        while True:
            state = await self._load_matches(store)
            try:
                matches_end_with_their_duels(state)
                each_group_has_one_message_of_each_match(state)
            except Disagreement:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)
            else:
                return

    async def check_state(self, store: Store) -> None:
        await super().check_state(store)
        state = await self._load_matches(store)
        for invariant in INVARIANTS:
            invariant(state)
        self.matches_over = sum(match.closing == "over" for match in state.matches)

    async def _load_matches(self, store: Store) -> MatchesAtRest:
        assert isinstance(self.people, MatchPlayers)
        return await load_matches(store, self.page, self.people.entered)


async def load_matches(store: Store, page: Page, entered: set[Entry]) -> MatchesAtRest:
    people, match_store, duels = People(store.client), MatchStore(store.client), await load_duels(store)
    stored_matches = [
        await match_store.find(key.decode()[7:-7]) async for key in store.client.scan_iter("{match:*}:match")
    ]
    matches = [match for match in stored_matches if match]
    wanted: tuple[list[str], list[str]] = ([], [])
    for match in matches:
        names = [(await people.chat(side.place)).name for side in match.sides]
        own_duels = [duel for _number, code in sorted(match.duels.items()) for duel in duels if duel.code == code]
        text = board_panel(match, own_duels, names, "en", int(time.time())).plain
        for side in match.sides:
            wanted[GROUPS.index(side.place.partition(":")[2])].append(text)
    by_bot = [[message for message in page.chat(group).values() if message["by"] == "bot"] for group in GROUPS]
    texts = [[page.text(message) for message in messages] for messages in by_bot]
    return MatchesAtRest(
        matches,
        duels,
        wanted,
        [[text for text in side if text.startswith("🏟️ Match")] for side in texts],
        frozenset(entered),
        count_draws(page),
    )


def count_draws(page: Page) -> Counter[tuple[str, str]]:
    """Count the messages that say that a match has begun, by the duel's code and the chat."""
    return Counter(
        (payload.split()[1], chat)
        for chat in page.messages
        for message, payload in find_buttons(page, chat, "play")
        if "The match has begun" in page.text(page.messages[chat][message])
    )


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


if __name__ == "__main__":
    main(on_playground, MatchHarness)
