"""The greeting of newcomers and groups."""

import asyncio

import pytest

from bot.panel import Panel
from bot.store import Store
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker, resign, seat_players


@pytest.mark.parametrize(
    ("language", "text", "ways"),
    [
        ("en", "Hi! I deal Tressette and Spades.", ["Play a robot", "Challenge a friend", "Today’s deal"]),
        ("it", "Ciao! Qui si gioca", ["Gioca con un robot", "Sfida qualcuno", "La smazzata di oggi"]),
    ],
)
async def test_start_greets_with_ways_to_play(store: Store, language: str, text: str, ways: list[str]) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1, language)
        await anna.say("/start", anna.private)
        greeting = fake.last(anna.private)
        assert text in greeting.plain
        assert labels(greeting)[:3] == ways


async def greet(worker: Worker, fake: FakePlatform) -> Player:
    anna = Player(worker, fake, "Anna", 1)
    await anna.say("/start", anna.private)
    return anna


def labels(panel: Panel) -> list[str]:
    return [button.label for row in panel.rows for button in row]


async def test_robot_deals_at_once_after_one_question(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Play a robot")
        question = fake.last(anna.private)
        assert question.plain.startswith("Which game?\nMetà Mazzo: two players; you draw")
        assert labels(question) == ["Metà Mazzo", "Tressette in Quattro", "Spades", "More games", "◀ Back"]
        await anna.press("Metà Mazzo")
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert table.phase == "playing"
        assert table.game_id == "metamazzo"
        assert [chair.person for chair in table.chairs if chair and chair.is_robot] == ["robot:easy"]
        # The question is gone, and is not asked again.
        assert not any("Which game?" in text for text in fake.texts(anna.private))


async def test_running_game_is_offered_before_another(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Play a robot")
        await anna.press("Metà Mazzo")
        code = await code_of(worker, anna)
        await anna.press("Play a robot")
        question = next(text for text in fake.texts(anna.private) if "You already have a game" in text)
        assert question.endswith("Gino\u2069: Metà Mazzo, 0–0.")
        await anna.press("Continue")
        assert any("Hi! I deal" in text for text in fake.texts(anna.private))
        await anna.press("Play a robot")
        await anna.press("New game")
        assert await code_of(worker, anna) == code
        await anna.press("Spades")
        games = {table.game_id for table in await worker.room.lists.tables_of(anna.person.id)}
        assert games == {"metamazzo", "spades"}


async def test_last_robot_is_offered_after_a_game_with_friends(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        anna = players[0]
        await resign(worker, fake, players, 0)
        await anna.say("/challenge testa strong robot", anna.private)
        await anna.say("/resign", anna.private)
        await anna.press("Yes, I resign")
        players = await seat_players(worker, fake, "testa")
        await resign(worker, fake, players, 0)
        await anna.say("/start", anna.private)
        await anna.press("Play a robot")
        assert any("· 🤖 Strong" in panel.plain for panel in fake.messages[anna.private].values())


async def test_second_game_against_a_robot_can_be_changed(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Play a robot")
        await anna.press("Metà Mazzo")
        await anna.say("/resign", anna.private)
        await anna.press("Yes, I resign")
        await anna.press("Play a robot")
        offer = next(panel for panel in fake.messages[anna.private].values() if "· 🤖 Easy" in panel.plain)
        assert offer.plain == "Metà Mazzo · 🤖 Easy\n51 points win, usually after 7 deals."
        assert labels(offer) == ["Play", "Change", "◀ Back"]
        await anna.press("Change")
        await anna.press("🤖 Strong")
        assert any("• 🤖 Strong" in labels(panel) for panel in fake.messages[anna.private].values())
        await anna.press("Spades")
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert (table.game_id, table.phase) == ("spades", "playing")
        assert [chair.person for chair in table.chairs if chair and chair.is_robot] == ["robot:strong"]
        await anna.say("/resign", anna.private)
        await anna.press("Yes, I resign")
        await anna.press("Play a robot")
        await anna.press("Play")
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert (table.game_id, table.chairs[1] and table.chairs[1].person) == ("spades", "robot:strong")


async def test_two_presses_at_once_open_one_game(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Play a robot")
        message, button = anna.button("Metà Mazzo")
        await asyncio.gather(*(anna.send(button.payload, message=message) for _ in range(2)))
        await code_of(worker, anna)


async def test_open_invitation_is_offered_before_another(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Challenge a friend")
        await anna.press("Spades")
        code = await code_of(worker, anna)
        await anna.press("Metà Mazzo")
        assert any("You already have an open invitation: Spades." in text for text in fake.texts(anna.private))
        await anna.press("Continue")
        assert "Forward the invitation" in fake.last(anna.private).plain
        await anna.press("Challenge a friend")
        await anna.press("New invitation")
        await anna.press("Metà Mazzo")
        codes = {table.code for table in await worker.room.lists.tables_of(anna.person.id)}
        assert len(codes - {code}) == 1


@pytest.mark.parametrize("game", GAMES)
async def test_every_game_begins_with_a_robot(store: Store, game: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Play a robot")
        await anna.press("More games")
        await anna.press(GAMES[game].name)
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert (table.game_id, table.phase) == (game, "playing")


async def test_friend_gets_an_invitation_to_forward(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Challenge a friend")
        await anna.press("Spades")
        code = await code_of(worker, anna)
        assert (await worker.room.table(code)).hosts == (anna.private,)
        invitation, card = (
            next(panel for panel in fake.messages[anna.private].values() if words in panel.plain)
            for words in ("Anna\u2069 invites you to play Spades", "Forward the invitation below to a friend")
        )
        assert f"/join {code}" in invitation.plain
        assert "Sit down" in labels(invitation)
        assert labels(card) == ["Change game or options", "Cancel", "◀ Back"]
        await anna.press("◀ Back")
        assert any("Who do you want to play?" in text for text in fake.texts(anna.private))


@pytest.mark.parametrize("game", ["testa", "tressette"])
async def test_bare_link_asks_before_it_seats(store: Store, game: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        await anna.say(f"/challenge {game}")
        code = await code_of(worker, anna)
        await bruno.say(f"/start {code.lower()}", bruno.private)
        question = fake.last(bruno.private)
        assert question.plain.startswith(f"\u2068Anna\u2069 invites you to play {GAMES[game].name}.")
        assert labels(question) == ["Sit down", "Rules"]
        assert not await worker.room.lists.tables_of(bruno.person.id)
        await bruno.press("Sit down")
        assert await code_of(worker, bruno) == code
        assert f"You’re at table {code}." in fake.texts(bruno.private)


async def test_changed_terms_are_asked_again(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        await anna.say("/challenge testa")
        await bruno.say(f"/start {await code_of(worker, anna)}", bruno.private)
        await anna.press("Change", GROUP)
        await anna.press("to 11", GROUP)
        assert (await bruno.press("Sit down")).toast.startswith("This button has expired")
        assert not await worker.room.lists.tables_of(bruno.person.id)


async def test_link_to_an_unknown_table_says_so(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        assert "no table QQQQ22" in (await anna.say("/start QQQQ22", anna.private)).toast


async def test_card_with_its_invitation_leads_to_other_games(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        for label in ("Challenge a friend", "Spades", "Change game or options", "Game: Spades", "Metà Mazzo"):
            await anna.press(label)
        assert (await worker.room.table(await code_of(worker, anna))).game_id == "metamazzo"
        await anna.press("Invite a friend")
        invitations = [text for text in fake.texts(anna.private) if "invites you to play" in text]
        assert ["Spades" in text for text in invitations] == [True, False]


async def test_invitation_is_sent_once_below_its_card(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Challenge a friend")
        await anna.press("Spades")
        for _ in range(2):
            await anna.press("◀ Back")
            reply = await anna.press("Invite a friend")
            assert reply.toast == "You already have the invitation: /invite sends it again."
        assert sum("invites you to play" in text for text in fake.texts(anna.private)) == 1
        assert any("Forward the invitation below" in text for text in fake.texts(anna.private))
        await anna.say("/invite", anna.private)
        assert sum("invites you to play" in text for text in fake.texts(anna.private)) == 2


async def test_lost_invitation_can_be_asked_for_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.handlers.invitations.REMEMBERED_SECONDS", 0.0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.say("/challenge spades", anna.private)
        await anna.press("Invite a friend")
        await anna.press("◀ Back")
        reply = await anna.press("Invite a friend")
        assert reply.panel
        assert "invites you to play" in reply.panel.plain


async def test_redelivered_press_sends_its_invitation_again(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.say("/challenge spades", anna.private)
        message, button = anna.button("Invite a friend")
        for _ in range(2):
            assert (await anna.send(button.payload, message=message, key="press")).panel


async def test_start_during_a_game_leads_to_the_hand(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.say("/challenge robot", anna.private)
        fake.messages[anna.private].clear()
        await anna.say("/start", anna.private)
        # Nothing below pushes the greeting off the screen.
        assert fake.last(anna.private).plain.startswith("Hi! I deal Tressette")
        assert labels(fake.last(anna.private))[:2] == ["▶ My hand", "Rules"]
        await anna.press("▶ My hand")
        await worker.wait_until_idle()
        assert "Metà Mazzo · " in fake.last(anna.private).plain
        reply = await anna.say(f"/start {await code_of(worker, anna)}", anna.private)
        assert reply.panel is None


async def test_start_names_each_of_several_games(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        for game in ("metamazzo", "spades"):
            await anna.say(f"/challenge robot {game}", anna.private)
        await anna.say("/start", anna.private)
        assert {"▶ Metà Mazzo · 0–0", "▶ Spades · 0–0"} <= set(labels(fake.last(anna.private)))


async def test_resign_command_asks_which_of_several_tables(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        for game in ("metamazzo", "spades"):
            await anna.say(f"/challenge robot {game}", anna.private)
        await anna.say("/resign", anna.private)
        button = next(label for label in labels(fake.last(anna.private)) if label.startswith("Spades"))
        await anna.press(button)
        await worker.wait_until_idle()
        assert "Do you really want to resign?" in fake.last(anna.private).plain


async def test_page_of_more_games_has_a_line_for_each_game(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        await anna.press("Play a robot")
        question = fake.last(anna.private)
        await anna.press("More games")
        page_lines = fake.last(anna.private).plain.splitlines()
        assert [line.partition(":")[0] for line in page_lines] == [
            "Which game?",
            *(kind.name for kind in GAMES.values()),
        ]
        await anna.press("◀ Back")
        assert fake.last(anna.private) == question


async def test_greeting_returns_from_the_question(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await greet(worker, fake)
        greeting = fake.last(anna.private)
        await anna.press("Challenge a friend")
        await anna.press("◀ Back")
        assert fake.last(anna.private) == greeting
        assert await worker.room.lists.tables_of(anna.person.id) == []


async def test_group_greeting_offers_a_challenge_but_no_robot(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/start")
        assert "Play a robot" not in labels(fake.last(GROUP))
        await anna.press("Challenge a friend", GROUP)
        assert (await worker.room.table(await code_of(worker, anna))).hosts == (GROUP,)
