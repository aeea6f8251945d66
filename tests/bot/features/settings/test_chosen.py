"""Personal and chat settings: language, suits, game and clock."""

from random import Random

from bot import actions
from bot.store import Store
from bot.words.wording import SUIT_SIGNS
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    create_players,
    open_worker,
    play_until,
    seat_players,
)


async def test_chat_keeps_its_game_and_clock(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = create_players(worker, fake)
        await anna.say("/settings")
        await anna.press("⏱ 30 min", GROUP)
        await anna.press("Strict: a robot plays late moves, three in a row lose", GROUP)
        await anna.say("/challenge spades")
        await anna.press("Cancel", GROUP)
        await anna.say("/challenge")
        assert "Spades" in fake.last(GROUP).plain
        assert "30 minutes a move, strict" in fake.last(GROUP).plain


async def test_person_chooses_language_and_suits(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        anna = players[0]
        assert "Tricks" in fake.last(anna.private).plain
        await anna.say("/settings", place=anna.private)
        assert "Saved" not in fake.last(anna.private).plain
        await anna.press("Italiano")
        assert "✓ Salvato" in fake.last(anna.private).plain
        await anna.press("Semi francesi")
        hand = next(text for text in fake.texts(anna.private) if "Prese" in text)
        assert "🪙" not in hand
        table = await worker.room.table(await code_of(worker, anna))
        assert table.game
        deal = table.game.view(0).deal
        assert deal
        cards = deal.hand
        assert cards
        assert len(cards) == 10
        assert {sign for sign in SUIT_SIGNS["french"].values() if sign in hand} >= {
            SUIT_SIGNS["french"][card[-1]] for card in cards
        }
        # The group keeps its own language.
        assert "plays first" in fake.last(GROUP).plain
        await anna.say("/impostazioni")
        assert "✓" not in fake.last(GROUP).plain
        await anna.press("Italiano", GROUP)
        assert "✓ Salvato" in fake.last(GROUP).plain
        await anna.say("/aiuto")
        assert "gioca con chi vuoi o con un robot" in fake.last(GROUP).plain


async def test_chat_takes_the_language_of_its_first_client(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1, "it-IT")
        await anna.say("/sfida spizzichino")
        assert "Spizzichino, 2 giocatori" in fake.last(GROUP).plain
        assert anna.button("Annulla", GROUP)


async def test_refusal_names_the_suits_its_reader_chose(store: Store) -> None:
    fake, random = FakePlatform(), Random(1)
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        for player in players:
            await worker.people.update_person(player.person.id, suits="french")
        while True:
            [table] = await worker.room.lists.tables_of(players[0].person.id)
            assert table.game
            assert table.game.turn is not None
            legal = table.game.legal_moves(table.game.turn)
            deal = table.game.view(table.game.turn).deal
            assert deal
            forbidden = [card for card in deal.hand or () if f"play {card}" not in legal]
            if forbidden:
                break
            await play_until(worker, players.copy(), random, iter([False, True]).__next__)
        player = next(player for player in players if table.seat_of(player.person.id) == table.game.turn)
        reply = await player.send(actions.move(table.code, table.oldest_panel(table.game.turn), f"play {forbidden[0]}"))
        names = {"D": "diamonds", "C": "hearts", "S": "spades", "B": "clubs"}
        assert reply.toast == f"You must follow suit: play {names[deal.trick[0].card[1]]}."
