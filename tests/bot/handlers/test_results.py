"""Resigning, results and rematches."""

import re
from hashlib import sha256
from random import Random

import pytest

from bot import actions
from bot.finished.archive import game_id
from bot.panel import Button, Writer
from bot.panels.board import result_panel
from bot.panels.hand import hand_panel
from bot.platform import Reply
from bot.tables.snapshot import deal_to_report, take_snapshot
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    create_players,
    play_until,
    resign,
    seat_players,
)
from tests.bot.panels.test_boards import make_random_move
from tests.bot.panels.test_hand_news import dealt_table


async def test_resigning_asks_first(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    assert "on their way to our private chat" in (await players[0].say("/resign")).toast
    await players[0].press("No, play on")
    assert (await worker.room.lists.tables_of(players[0].person.id))[0].phase == "playing"
    await players[0].say("/resign")
    await players[0].press("Yes, I resign")
    assert "resigned" in fake.last(GROUP).plain
    assert "You lose: you resigned." in fake.last(players[0].private).plain
    text = fake.last(players[1].private).plain
    assert "You win!" in text
    assert re.search(r"You win! \S+ resigned\.", text)
    # The points of an interrupted deal decide nothing.
    assert "Deal 1 is over" not in text


async def test_hand_replaces_an_unanswered_resign_question(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    await players[0].say("/resign")
    assert [button.label for row in fake.last(players[0].private).rows for button in row] == [
        "Yes, I resign",
        "No, play on",
    ]
    await players[0].say("/hand")
    panel = fake.last(players[0].private)
    assert "Do you really want to resign?" not in panel.plain
    assert not any("resign" in button.label for row in panel.rows for button in row)


async def test_game_has_the_same_name_in_all_messages(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "tavolo")
    name = "Tressette al Tavolo"
    assert all(any(name in text for text in fake.texts(place)) for place in (GROUP, players[0].private))
    await players[0].say("/rules tavolo")
    assert fake.last(GROUP).plain.startswith(f"{name}\n")
    assert players[0].button(name, GROUP)
    await players[0].say("/tables", players[0].private)
    assert f": {name} with" in fake.last(players[0].private).plain
    await players[0].say("/leaderboard tavolo")
    assert name in fake.last(GROUP).plain
    await resign(worker, fake, players, 0)
    assert any(f"{name} · " in text and "resigned" in text for text in fake.texts(GROUP))


async def test_board_has_the_seal_and_a_page_the_proof(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", "to 11")
    table = await worker.room.load_cached(await code_of(worker, players[0]))
    assert table.game
    seal = table.game.view(None).commitment
    assert seal
    assert f"🔒 Seal {seal[:12]}…" in fake.last(GROUP).plain
    fair = Button("Is it fair?", actions.page("fair", game_id(table), 1, actions.SEPARATE))
    fake.messages[GROUP]["0"] = Writer().panel((fair,))
    board, button = players[0].button("Is it fair?", GROUP)
    for player in players:
        assert codes_of(await player.send(button.payload, GROUP, board)) == [seal]
    del fake.messages[GROUP]["0"]
    await play_until(worker, players, Random(1), lambda: " beats " in fake.last(GROUP).plain)
    for player in players:
        assert re.match(r"You (win!|lose\.) \d+–\d+\n", fake.last(player.private).plain)
        assert "Score" not in fake.last(player.private).plain, "the score must be there only once"
    fake.messages[GROUP] = {"0": Writer().panel((fair,)), **fake.messages[GROUP]}
    [sealed, secret] = codes_of(await players[1].send(button.payload, GROUP, board))
    assert sealed == seal
    assert sha256(bytes.fromhex(secret)).hexdigest() == seal
    await players[0].press("Is it fair?", GROUP)
    page = fake.last(players[0].private)
    assert [span.text for span in page.text if span.style == "code"] == [seal, secret]
    await players[0].press("2 ▶", players[0].private)
    assert "deal 2" in fake.last(players[0].private).plain
    assert seal not in fake.last(players[0].private).plain


def codes_of(reply: Reply) -> list[str]:
    assert reply.panel
    assert reply.private
    return [span.text for span in reply.panel.text if span.style == "code"]


def labels_of(fake: FakePlatform, place: str) -> list[list[str]]:
    return [[button.label for button in row] for row in fake.last(place).rows]


async def test_proof_is_the_last_button_of_a_result(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    await resign(worker, fake, players, 0)
    assert labels_of(fake, GROUP) == [["Rematch"], ["Replay", "Analysis"], ["Share", "Is it fair?"]]
    assert labels_of(fake, players[0].private) == [["Rematch", "Analysis", "Share"]]
    carla = create_players(worker, fake)[2]
    await carla.say("/challenge testa", carla.private)
    await carla.press("🤖 Easy")
    await resign(worker, fake, [carla], 0)
    assert labels_of(fake, carla.private) == [["Rematch"], ["Analysis", "Share", "Is it fair?"]]


async def test_with_a_site_private_results_have_a_replay(worker: Worker, fake: FakePlatform) -> None:
    fake.pages_url = "https://example.org"
    players = await seat_players(worker, fake, "testa")
    await resign(worker, fake, players, 0)
    assert labels_of(fake, players[0].private) == [["Rematch", "Analysis", "Share"], ["Replay"]]
    carla = create_players(worker, fake)[2]
    await carla.say("/challenge testa", carla.private)
    await carla.press("Change")
    assert any("⏱ 1 day" in label for row in labels_of(fake, carla.private) for label in row)
    await carla.press("Done")
    await carla.press("🤖 Easy")
    await resign(worker, fake, [carla], 0)
    assert labels_of(fake, carla.private) == [["Rematch"], ["Replay", "Analysis"], ["Share", "Is it fair?"]]


async def test_result_buttons_open_pages_and_a_rematch(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa", "to 11", "⏱ 1 min")
    await resign(worker, fake, players, 0)
    carla = create_players(worker, fake)[2]
    assert "didn’t play" in (await carla.press("Rematch", GROUP)).toast

    # The group's messages stay unchanged.
    assert (await carla.press("Replay", GROUP)).toast == "Sent to your private chat."
    assert "Deal 1" in fake.last(carla.private).plain

    # Options have the names of the card, not those of the record.
    assert "(points to win: 11 · declarations: " in fake.last(carla.private).plain
    assert "score_unit" not in fake.last(carla.private).plain
    assert (await carla.press("Is it fair?", GROUP)).toast == "Sent to your private chat."
    assert (await carla.press("Analysis", GROUP)).toast == "Sent to your private chat."
    await carla.say("/settings")
    assert (await carla.press("My settings", GROUP)).toast == "Sent to your private chat."

    # In the private chat, the page replaces the pressed message.
    assert not (await carla.press("Italiano", carla.private)).toast
    assert any("resigned" in text for text in fake.texts(GROUP))

    # Both players press the button, but only one game starts.
    result, button = players[0].button("Rematch", GROUP)
    for player in reversed(players):
        await player.send(button.payload, GROUP, result)
    await worker.wait_until_idle()
    [table] = await worker.room.lists.tables_of(players[0].person.id)
    assert [chair.person for chair in table.chairs if chair] == ["paper:1", "paper:2"]
    assert table.clock == 60
    assert table.game
    assert table.game.rules.target == 11
    assert table.phase == "playing"


async def test_group_reads_how_a_deals_points_add_up_once(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    await play_until(worker, list(players), Random(3), lambda: " · deal 2" in fake.last(GROUP).plain)
    assert fake.last(GROUP).plain.startswith("Deal 1: ")
    [result] = [text for text in fake.texts(GROUP) if "last trick 1" in text]
    assert result.splitlines()[0] == fake.last(GROUP).plain.splitlines()[0]


async def test_hand_tells_the_last_deal_for_two_tricks(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "testa")
    code, random, seats_left = await code_of(worker, players[0]), Random(3), {0, 1, 2}
    await play_until(worker, list(players), random, lambda: " · deal 2" in fake.last(players[0].private).plain)
    while seats_left:
        table = await worker.room.load_cached(code)
        assert table.game
        view = table.game.view(None)
        assert view.deal
        assert view.result
        assert view.result.last_trick
        taker, tricks = table.chairs[view.result.last_trick.winner], sum(view.deal.tricks)
        assert taker
        for player in players:
            took = "you" if player.person.id == taker.person else f"\u2068{taker.name}\u2069"
            hand = fake.last(player.private).plain
            assert (
                hand.startswith("Deal 1: ") == bool(re.search(rf"(?i){took}: [^\n]*last trick 1", hand)) == (tricks < 2)
            )
            seat = table.seat_of(player.person.id)
            has_moved = any(by == seat for by, _move in table.game.history(None))
            assert ("Last trick of deal 1: " in hand) == (not has_moved and tricks < 1)
        seats_left.discard(tricks)
        assert any([await player.play(random) for player in players])
        await worker.wait_until_idle()


async def test_private_chat_says_the_result_once(worker: Worker, fake: FakePlatform) -> None:
    anna = Player(worker, fake, "Anna", 1)
    await anna.say("/challenge testa easy robot", anna.private)
    await anna.say("/resign", anna.private)
    await anna.press("Yes, I resign")
    hand, result = fake.texts(anna.private)[-2:]
    assert hand.startswith("The unfinished deal doesn’t count.\n")
    assert result.startswith("You lose: you resigned.\n")
    assert sum("resigned" in text for text in fake.texts(anna.private)) == 1


@pytest.mark.parametrize("game", ["metamazzo", "tressette"])
def test_hand_above_the_result_has_only_the_last_deal(game: str) -> None:
    random, table = Random(game), dealt_table(game, Random(1))
    while table.game and not table.game.is_over:
        table = make_random_move(table, random)
    snapshot_of_first = take_snapshot(table, 0)
    assert table.game
    assert snapshot_of_first.view
    panel = hand_panel(
        snapshot_of_first, "en", "italian", last_deal=deal_to_report(table, snapshot_of_first), has_result_below=True
    )
    assert panel.plain.startswith(f"Deal {snapshot_of_first.view.deal_number}: you ")
    result = result_panel(snapshot_of_first, table.game.record(live=False), "en", "italian", "", (), in_private=True)
    outcome = "🏆 You win! " if 0 in (snapshot_of_first.view.winner or ()) else "You lose. "
    assert result.plain.startswith(outcome)
    assert not any(text in panel.plain for text in ("You win!", "You lose."))
