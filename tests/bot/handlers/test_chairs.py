"""Seats at a table of four, and robots that take them."""

import asyncio
from random import Random

from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, create_players, mover_of, seat_players
from tests.tricks import tricks_played


async def test_tavolo_player_can_refuse_three_partners(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla, dino = create_players(worker, fake)
    await anna.say("/challenge tavolo")
    for refusal in range(1, 4):
        assert (await bruno.press("Sit North", GROUP)).toast == "You’ve asked for a seat: wait for the answer."
        assert "Bruno\u2069 asks \u2068Anna" in fake.last(GROUP).plain
        assert "already" in (await bruno.press("Sit East", GROUP)).toast
        # Only Anna can answer.
        message, button = anna.button("Refuse")
        assert (await carla.send(button.payload, carla.private, message)).toast
        await anna.press("Refuse")
        assert f"{refusal} refusal" in fake.last(GROUP).plain

    # The next player who asks is seated at once.
    await carla.press("Sit North", GROUP)
    table = (await worker.room.lists.tables_of(anna.person.id))[0]
    assert [chair.name if chair else None for chair in table.chairs] == ["Anna", None, "Carla", None]
    await bruno.press("Sit East", GROUP)
    await dino.press("Sit West", GROUP)
    await bruno.press("Accept")
    assert "Your turn" in "".join(fake.last(player.private).plain for player in (anna, bruno, carla, dino))


async def test_asking_player_is_seated_when_the_partner_leaves(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla, dino = create_players(worker, fake)
    await anna.say("/challenge tavolo")
    await bruno.press("Sit East", GROUP)
    await carla.press("Sit West", GROUP)
    assert "asks to sit opposite you" in fake.last(bruno.private).plain
    await bruno.press("Stand up", GROUP)
    table = (await worker.room.lists.tables_of(anna.person.id))[0]
    assert [chair.name if chair else None for chair in table.chairs] == ["Anna", None, None, "Carla"]
    # The next player in Bruno's seat is not asked about Carla.
    await dino.press("Sit East", GROUP)
    await carla.press("Accept")
    table = (await worker.room.lists.tables_of(anna.person.id))[0]
    assert [chair.name if chair else None for chair in table.chairs] == ["Anna", "Dino", None, "Carla"]
    await worker.wait_until_idle()
    assert not fake.messages[dino.private]


async def test_added_robots_sit_down_and_play(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge tressette")
    for label in ("Add robot", "🤖 Easy", "🤖 Medium", "🤖 Easy"):
        await anna.press(label, GROUP)
    table = (await worker.room.lists.tables_of(anna.person.id))[0]
    assert [chair.name for chair in table.chairs if chair] == ["Anna", "🤖 Gino", "🤖 Teresa", "🤖 Pina"]
    random = Random(4)
    async with asyncio.timeout(60):
        while tricks_played(fake.last(GROUP).plain) < 5:
            await anna.play(random)
            await asyncio.sleep(0.02)
            await worker.wait_until_idle()


async def test_practice_in_private_keeps_one_hand_message(worker: Worker, fake: FakePlatform) -> None:
    anna = Player(worker, fake, "Anna", 1, "it")
    await anna.say("/sfida testa", place=anna.private)
    await anna.press("🤖 Facile")
    random = Random(4)
    async with asyncio.timeout(60):
        while not any("Smazzata 1: " in text for text in fake.texts(anna.private)):
            # The hand stays one message, which shows the score of a deal before the next one.
            hands = [text for text in fake.texts(anna.private) if "Tocca a" in text]
            assert len(hands) <= 1
            await anna.play_anywhere(random)
            await asyncio.sleep(0.01)
            await worker.wait_until_idle()
    [hand] = [text for text in fake.texts(anna.private) if "Smazzata 1: " in text]
    hand_lines = hand.splitlines()
    assert hand_lines[0].startswith("Smazzata 1: ")
    assert [line.partition(" ")[0] for line in hand_lines[1:4]] == ["Tu:", "\u2068🤖", "Punti"]
    assert "Tocca a" not in hand
    await anna.press("Avanti")
    hand = fake.last(anna.private).plain
    assert hand.startswith(hand_lines[0])
    assert "Tocca a" in hand


async def test_drawn_card_is_subtracted_from_the_stock(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "spades")
    drawer = mover_of(players)
    assert "52 cards in the stock" in fake.last(drawer.private).plain
    await drawer.press("Draw a card")
    assert "You have drawn" in fake.last(drawer.private).plain
    other = next(player for player in players if player is not drawer)
    for place in (drawer.private, other.private):
        assert "51 cards in the stock" in fake.last(place).plain
    await drawer.press("Keep it")
    for place in (drawer.private, other.private):
        assert "50 cards in the stock" in fake.last(place).plain
    await other.press("Draw a card")
    await other.press("Keep it")
    # The second card is drawn automatically.
    for place in (drawer.private, other.private):
        assert "47 cards in the stock" in fake.last(place).plain
