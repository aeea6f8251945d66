"""Kills while people play duels: python -m tests.kills.duels --kills 30 --seed 1

Their tables must keep all invariants of `tests.kills.invariants`. Duels have invariants of their own, each a function
of a `DuelsAtRest`. At the end all duels are played without kills until they are over.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import aiohttp

from bot.features.duels import keys
from bot.features.duels.duel import DEALS, Duel, Played
from bot.features.duels.store import DuelStore
from bot.features.duels.texts import result_text
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.solo_deals.results import result_of
from bot.store import EmbeddedStore, Store, open_store
from bot.tables.table import Table
from engine import verify
from tests.kills.bot_process import Bot
from tests.kills.duel_players import GROUP, DuelPlayers, count_acceptances, find_ends
from tests.kills.harness import Harness, main
from tests.kills.invariants import Disagreement
from tests.kills.pages import Page
from tests.kills.solo_deals import RobotAnswers, check_tables, find_player

END_SECONDS = 300.0  # longest time until all duels end once no more are opened


class Deal(NamedTuple):
    """A side's play of a deal."""

    code: str
    side: int
    number: int


@dataclass
class DuelsAtRest:
    """The state of all duels once nothing is in progress.

    ``tables`` are the duels' tables, ``pending`` the games of deals that only one player has played, ``archived`` the
    games in the archive. ``messages`` is everything people see, as JSON. ``ends`` are the texts of messages that say
    how a duel ended, by code and chat. ``notices`` counts the messages that tell a challenger of the acceptance, by
    code.
    """

    duels: Sequence[Duel]
    tables: Sequence[Table]
    pending: Sequence[tuple[Deal, FinishedGame]]
    archived: Sequence[FinishedGame]
    messages: str
    ends: Mapping[str, Mapping[str, Sequence[str]]]
    notices: Mapping[str, int]

    @property
    def played(self) -> dict[Deal, Played]:
        return {
            Deal(duel.code, side, number): played
            for duel in self.duels
            for (side, number), played in duel.played_deals.items()
        }

    def duel(self, code: str) -> Duel:
        return next(duel for duel in self.duels if duel.code == code)

    @property
    def games(self) -> dict[str, FinishedGame]:
        """All finished games by id."""
        return {game.id: game for game in [*(game for _deal, game in self.pending), *self.archived]}


def each_deal_is_played_once(state: DuelsAtRest) -> None:
    """A side has at most one table or one result of a deal, and not both."""
    deal_counts = Counter(list(state.played)) + Counter(
        Deal(table.duel.code, table.duel.side, table.duel.deal) for table in state.tables if table.duel
    )
    if repeated := [deal for deal, count in deal_counts.items() if count > 1]:
        raise Disagreement(f"played twice: {repeated}")


def each_result_has_its_game(state: DuelsAtRest) -> None:
    """Each result follows from its game, which is stored once. No game lacks its result."""
    game_counts = Counter([game.id for _deal, game in state.pending] + [game.id for game in state.archived])
    if game_counts != Counter(played.game for played in state.played.values()):
        raise Disagreement(f"games {dict(game_counts)} are stored for the results {state.played}")
    games = state.games
    for deal, played in state.played.items():
        player = state.duel(deal.code).players[deal.side].person
        if played.result != result_of(games[played.game].record) or games[played.game].people[0] != player:
            raise Disagreement(f"the result {played} of {deal} does not follow from its game")


def games_are_archived_once_both_have_played(state: DuelsAtRest) -> None:
    pending, archived = {game.id for _deal, game in state.pending}, {game.id for game in state.archived}
    for deal, played in state.played.items():
        expected = archived if state.duel(deal.code).is_compared(deal.number) else pending
        if played.game not in expected:
            raise Disagreement(f"the game of {deal} is in the wrong place")


def both_play_the_same_cards(state: DuelsAtRest) -> None:
    for table in state.tables:
        if table.duel and table.secret != state.duel(table.duel.code).secret(table.duel.deal):
            raise Disagreement(f"table {table.code} does not have the cards of {table.duel}")
    games = state.games
    for deal, played in state.played.items():
        record = games[played.game].record
        verify(record)
        proof = record.deals[0].proof
        if len(record.deals) > 1 or proof is None:
            raise Disagreement(f"game {played.game} is not one deal with a proof")
        if proof.secret != state.duel(deal.code).secret(deal.number).hex():
            raise Disagreement(f"game {played.game} does not have the cards of {deal}")


def finished_duels_are_over(state: DuelsAtRest) -> None:
    """A duel is over if both have played all deals, and only then."""
    for duel in state.duels:
        is_over = duel.closing == "done" and duel.is_ended
        if is_over != duel.is_finished or bool(duel.closing) != is_over:
            raise Disagreement(f"duel {duel.code}: closed {duel.closing!r}, ended {duel.is_ended}, {duel.played_deals}")


def both_are_told_the_same_result_once(state: DuelsAtRest) -> None:
    """Both players and the group of a duel have one message about its end each, with the same result."""
    for duel in state.duels:
        chats = {f"@{player.person.partition(':')[2]}" for player in duel.players} | ({GROUP} if duel.place else set())
        text_counts = {chat: len(texts) for chat, texts in state.ends.get(duel.code, {}).items()}
        if text_counts != (dict.fromkeys(chats, 1) if duel.closing else {}):
            raise Disagreement(
                f"duel {duel.code}: messages about its end in {text_counts}, and closed {duel.closing!r}"
            )
        result = result_text(duel, "en")
        for chat, texts in state.ends.get(duel.code, {}).items():
            if result not in texts[0]:
                raise Disagreement(f"duel {duel.code}: chat {chat} says {texts[0]!r} and not {result!r}")


def acceptance_is_announced_once(state: DuelsAtRest) -> None:
    """The challenger gets one message about the acceptance, or none if the duel ended in the meantime.

    The players of a duel in a match accept none.
    """
    for duel in state.duels:
        allowed = {int(duel.is_accepted and not duel.match)} | ({0} if duel.closing else set())
        if state.notices.get(duel.code, 0) not in allowed:
            raise Disagreement(f"duel {duel.code}: {state.notices.get(duel.code)} messages about its acceptance")


def no_message_reveals_cards(state: DuelsAtRest) -> None:
    """No message contains a duel's root, the secret of a deal that a player has yet to play, or the id of its game."""
    for duel in state.duels:
        hidden = [duel.secret(number).hex() for number in range(1, DEALS + 1) if not duel.is_compared(number)]
        for secret in (duel.root.hex(), *hidden):
            if secret in state.messages:
                raise Disagreement(f"a message contains a secret of duel {duel.code}")
    for deal, game in state.pending:
        if game.id in state.messages:
            raise Disagreement(f"a message names the game of {deal}")


INVARIANTS = (
    each_deal_is_played_once,
    each_result_has_its_game,
    games_are_archived_once_both_have_played,
    both_play_the_same_cards,
    finished_duels_are_over,
    both_are_told_the_same_result_once,
    acceptance_is_announced_once,
    no_message_reveals_cards,
)


class DuelHarness(Harness):
    """A harness for a page on which duels are played."""

    patience = 180.0  # the robots first wait for their searches to compile, which takes a minute
    people_kind = DuelPlayers

    def __init__(self, page: Page, seed: int, min_presses: int = 20) -> None:
        super().__init__(page, seed, min_presses)
        self.players = self.people = self.people_kind(page, Random(seed))
        self.duels_over = 0
        self._answers: dict[tuple[str, int], RobotAnswers] = {}

    async def run(self, kills: int, *, show: bool = False) -> None:
        await super().run(kills, show=show)
        async with aiohttp.ClientSession() as session:
            try:
                await self.play_to_the_end(session)
                await self.check(session)
            finally:
                await self.bot.kill()
                self.bot.kill_store()
        if show:
            print(self.result_text())  # noqa: T201

    def result_text(self) -> str:
        return f"{self.duels_over} duels are over"

    async def play_to_the_end(self, session: aiohttp.ClientSession) -> None:
        """Play without kills until all accepted duels are over."""
        store = EmbeddedStore(self.bot.folder / "data")
        self.people.in_last_part = True
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        await self.players.begin()
        async with open_store(store.url) as connected:
            deadline = time.monotonic() + END_SECONDS
            while live := await self.find_live(connected):
                if time.monotonic() > deadline:
                    raise Disagreement(f"these do not end: {live}\n{self.bot.log_tail()}")
                await asyncio.sleep(0.2)
        await self.players.end()
        await self.bot.stop()
        await listening

    async def find_live(self, store: Store) -> list[str]:
        """Return the codes that must end at the end of a run."""
        return [duel.code for duel in await load_duels(store) if not duel.is_ended]

    async def wait_until_idle(self, store: Store) -> None:
        """Wait also until finished duels are closed and their messages are sent."""
        deadline = time.monotonic() + self.patience
        while waiting := await find_waiting(store):
            if time.monotonic() > deadline:
                raise Disagreement(f"duels wait for {waiting}\n{self.bot.log_tail()}")
            await asyncio.sleep(0.2)
        await super().wait_until_idle(store)

    async def check_state(self, store: Store) -> None:
        duels, state = await self._load_duels(store), await self._load_state(store)
        check_tables(state, [game for _deal, game in duels.pending])
        for invariant in INVARIANTS:
            invariant(duels)
        for code, number, person, moves in _iter_lines(duels):
            duel = duels.duel(code)
            answers = self._answers.setdefault((code, number), RobotAnswers(duel.game, duel.secret(number)))
            answers.check(person, moves)
        self.duels_over = sum(bool(duel.closing) for duel in duels.duels)

    async def _load_duels(self, store: Store) -> DuelsAtRest:
        duels, duel_store = await load_duels(store), DuelStore(store.client)
        pending = []
        for duel in duels:
            async for field, number, game in duel_store.pending(duel.code):
                pending.append((Deal(duel.code, int(field.partition(" ")[0]), number), game))
        return DuelsAtRest(
            duels,
            [table for table in (await self._load_state(store)).tables if table.duel],
            pending,
            [game async for game in Archive(store.client).games()],
            json.dumps(self.page.messages),
            find_ends(self.page),
            count_acceptances(self.page),
        )


async def load_duels(store: Store) -> list[Duel]:
    codes = [key.decode()[len("{duel:") : -len("}:duel")] async for key in store.client.scan_iter("{duel:*}:duel")]
    duels = [await DuelStore(store.client).find(code) for code in sorted(codes)]
    return [duel for duel in duels if duel]


async def find_waiting(store: Store) -> list[str]:
    """Return finished duels that are not closed, and messages that are not sent yet."""
    duels = {duel.code: duel for duel in await load_duels(store)}
    missing_parts = [f"the end of {duel.code}" for duel in duels.values() if duel.is_finished and not duel.is_ended]
    for message in await store.client.zrange(keys.MESSAGES, 0, -1):
        code, kind, _side = message.decode().split(" ")
        # A reminder waits for days. An acceptance that a kill interrupted waits until it is repeated.
        if kind != "soon" and not (kind == "accepted" and not duels[code].is_accepted):
            missing_parts.append(message.decode())
    return missing_parts


def _iter_lines(state: DuelsAtRest) -> Iterator[tuple[str, int, str, list[tuple[int | None, str]]]]:
    """Yield each player's moves in a deal, with the robots' answers."""
    games = state.games
    for deal, played in state.played.items():
        moves = [entry[:2] for entry in games[played.game].record.deals[0].moves]
        yield deal.code, deal.number, games[played.game].people[0], moves
    for table in state.tables:
        if table.duel and table.game:
            yield table.duel.code, table.duel.deal, find_player(table), list(table.game.moves)


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


if __name__ == "__main__":
    main(on_playground, DuelHarness)
