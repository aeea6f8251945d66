"""Every game from the challenge to the leaderboard, played with panels only."""

from random import Random

import pytest

from bot.panels.hand_buttons import is_claim_possible
from bot.store import Store
from bot.tables.snapshot import take_snapshot
from engine import GAMES, verify
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker, play_until, seat_players
from tests.long import mostly_long

SIGNALS = (" busso", " volo")


def strip_signals(move: str) -> str:
    """Return a move without its signal."""
    for signal in SIGNALS:
        move = move.removesuffix(signal)
    return move


def shortest_target(game: str) -> tuple[str, ...]:
    """Return the button label of the smallest target, or nothing if there is no choice."""
    targets = GAMES[game].rules.choices()["target"]
    unit = 3 if game == "tressette" else 1
    return (f"to {min(map(int, targets)) * unit}",) if len(targets) > 1 else ()


@pytest.mark.parametrize("game", mostly_long(GAMES, "pizzichino", "tavolo"))
async def test_whole_game_can_be_played_by_buttons(store: Store, game: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, game, *shortest_target(game))
        announcement = (
            "The game has begun" if game == "spades" else "The cards are dealt: open our private chat to see yours."
        )
        assert announcement in fake.texts(GROUP)[0]
        await play_until(
            worker,
            players.copy(),
            Random(game),
            lambda: "Rematch" in str([panel.rows for panel in fake.messages[GROUP].values()]),
        )

        # The table is removed, and the game is archived.
        assert not [key async for key in store.client.scan_iter("{s*}:table:*")]
        assert not [key async for key in store.client.scan_iter("{s*}:shown:*")]
        [finished] = [game async for game in worker.archive.games()]
        verify(finished.record)
        result = fake.texts(GROUP)[-1]
        assert " beat" in result
        # First games, so the ratings are provisional.
        assert result.count(", provisional)") == len(players)

        # The seal is text on the boards, and no button.
        labels = [button.label for panel in fake.messages[GROUP].values() for row in panel.rows for button in row]
        assert not any("🔒" in label for label in labels)
        winners = [player for player in players if "You win!" in fake.last(player.private).plain]
        losers = [player for player in players if "You lose." in fake.last(player.private).plain]
        assert len(winners) == len(losers) == len(players) // 2

        # Ranks need three games, but the requesting player is always listed.
        await players[0].say("/leaderboard")
        board = fake.last(GROUP).plain
        assert "Nobody is ranked yet. It takes 3 games" in board
        assert "Anna" in board


@pytest.mark.parametrize("game", mostly_long(GAMES, "metamazzo", "tavolo", "spades"))
async def test_every_legal_move_has_a_button(store: Store, game: str) -> None:
    """Out of turn, only declarations and claims have buttons. Resigning and claims that cannot be right have none."""
    fake, random = FakePlatform(), Random(game)
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, game)
        by_seat = {player.person.id: player for player in players}
        for _ in range(60):
            [table] = await worker.room.lists.tables_of(players[0].person.id)
            assert table.game
            for seat, chair in enumerate(table.chairs):
                assert chair
                panel = fake.last(by_seat[chair.person].private)
                # A false volo and a double nil are asked about first.
                if "say volo" in panel.plain or any("volo-" in button.payload for row in panel.rows for button in row):
                    continue
                if any(button.label == "Yes, double nil" for row in panel.rows for button in row):
                    continue
                offered = {button.payload.split(":", 2)[2] for _, button in by_seat[chair.person].moves()}
                legal = [move for move in table.game.legal_moves(seat) if move != "resign"]
                if table.game.turn != seat:
                    legal = [move for move in legal if move.startswith(("declare", "claim"))]
                if not is_claim_possible(take_snapshot(table, seat)):
                    legal = [move for move in legal if move != "claim"]
                # The whole games above cover moves of several presses.
                one_step = {
                    move
                    for move in legal
                    if not move.startswith(("take", "exchange", "blind")) and not move.endswith(SIGNALS)
                }
                offered = {move for move in offered if not move.startswith(("take", "exchange"))}
                assert offered <= set(legal)
                assert {strip_signals(move) for move in offered} == one_step
            for player in random.sample(players, len(players)):
                if await player.play(random):
                    break
            await worker.wait_until_idle()
