"""What people ask for and how they are answered: challenges, seats, clocks, settings, pages, and nonsense."""

import asyncio
import re
from contextlib import suppress
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import actions
from bot.actions import BadPayload
from bot.features.tournaments.feature import TournamentsFeature
from bot.game_words import NoSuchGame, game_and_points
from bot.platform import Person
from bot.store import Store
from bot.tables.chairs import Invited
from bot.tables.table import TIME_TO_ACCEPT
from bot.wording import SUIT_SIGNS
from engine.cards import ITALIAN
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    open_worker,
    people,
    play_until,
    resign,
    seated,
)
from tests.bot.hours import ring
from tests.bot.tables.test_table import declaring

# Challenges


async def test_only_who_was_challenged_may_accept_or_decline(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = people(worker, fake)
        await bruno.say("/help")
        await anna.say("/challenge @bruno testa", about=(Person("", "bruno", "bruno"),))
        assert "@bruno" in fake.last(GROUP).plain
        assert (await carla.press("Accept", GROUP)).toast == "This challenge is for Bruno."
        assert (await carla.press("Decline", GROUP)).toast == "That is not yours to decide."
        await bruno.press("Decline", GROUP)
        assert "Bruno\u2069 declined." in fake.last(GROUP).plain
        assert not fake.last(GROUP).rows
        assert not [key async for key in store.client.scan_iter("{s*}:table:*")]


async def test_a_person_known_by_handle_only_may_accept_by_it(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/challenge @Bruno", about=(Person("", "Bruno", "Bruno"),))
        await bruno.press("Accept", GROUP)
        assert bruno.fake.messages[bruno.private]


@pytest.mark.parametrize("handle", ["-", "a\x00b", "x" * 65, "\ud800", "a b"])
async def test_what_is_no_handle_invites_nobody(store: Store, handle: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        reply = await anna.say("/challenge", about=(Person("", handle, handle),))
        assert "have not met" in reply.toast
        assert not fake.messages[GROUP]


async def test_somebody_known_is_invited_whatever_a_platform_calls_their_handle(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        about = bruno.person
        await anna.say("/challenge testa", about=(Person(about.id, "Bruno", "two words"),))
        [table] = await worker.tables_of(anna.person.id)
        assert table.invited == Invited(about.id, "", "Bruno")
        await bruno.press("Accept", GROUP)
        assert (await worker.room.table(table.code)).phase == "playing"


@pytest.mark.parametrize(("menu", "choice"), [("Options", "to 11"), ("Options", "⏱ 1 min"), ("Game", "Spades")])
async def test_who_accepts_gets_the_game_that_they_read(store: Store, menu: str, choice: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/challenge testa")
        message, read = bruno.button("Accept", GROUP)
        await anna.press(menu, GROUP)
        await anna.press(choice, GROUP)
        assert (await bruno.send(read.payload, GROUP, message)).toast.startswith("That was an old button")
        assert [one.phase for one in await worker.tables_of(anna.person.id)] == ["open"]
        assert not (await bruno.press("Accept", GROUP)).toast
        assert [one.phase for one in await worker.tables_of(anna.person.id)] == ["playing"]


async def test_buttons_of_cards_that_say_no_version_seat_people_still(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = people(worker, fake)
        await anna.say("/challenge tressette")
        await anna.press("Options", GROUP)
        await anna.press("⏱ 1 min", GROUP)
        [table] = await worker.tables_of(anna.person.id)
        assert not (await bruno.send(f"1t{table.code}:sit", GROUP)).toast
        assert not (await carla.send(f"1t{table.code}:sit 3", GROUP)).toast
        assert [chair and chair.name for chair in (await worker.room.table(table.code)).chairs] == [
            "Anna",
            "Bruno",
            None,
            "Carla",
        ]


async def test_nobody_challenges_themselves(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        reply = await anna.say("/challenge @anna", about=(anna.person,))
        assert "cannot challenge yourself" in reply.toast


async def test_a_challenge_delivered_twice_opens_one_table(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        await anna.say("/challenge testa", key="same")
        await anna.say("/challenge testa", key="same")
        assert len(fake.messages[GROUP]) == 1
        assert len(await worker.tables_of(anna.person.id)) == 1


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_a_challenge_delivered_again_does_not_bring_back_what_the_group_played_then(
    store: Store, is_cancelled: bool
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        await anna.say("/challenge spades", key="early")
        if is_cancelled:
            await anna.press("Cancel", GROUP)
        await anna.say("/challenge testa")
        await anna.say("/challenge spades", key="early")
        assert (await worker.people.chat(GROUP)).game == "testa"


async def test_a_challenge_expires_visibly_after_a_day(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/challenge testa")
        code = await code_of(worker, anna)
        await ring(worker, TIME_TO_ACCEPT - 60)
        assert "expired" not in fake.last(GROUP).plain
        await ring(worker, 120)
        assert "The challenge has expired" in fake.last(GROUP).plain
        assert not fake.last(GROUP).rows
        assert await worker.tables_of(anna.person.id) == []
        assert "no table" in (await bruno.say(f"/join {code}")).toast


async def test_the_card_is_the_challengers_to_change(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/challenge pizzichino")
        for label in ("Options", "Game", "🤖 Easy robot", "Cancel"):
            assert "Only Anna" in (await bruno.press(label, GROUP)).toast
        await anna.press("Options", GROUP)
        await anna.press("to 21", GROUP)
        await anna.press("packets: peeked at", GROUP)
        await anna.press("⏱ 1 min", GROUP)
        await anna.press("Strict: a robot plays when time is up; three in a row lose", GROUP)
        card = fake.last(GROUP).plain
        assert "to 21 points" in card
        assert "Packets: peeked at" in card
        assert "1 minute a move, strict" in card
        await anna.press("Back", GROUP)
        await anna.press("Game", GROUP)
        await anna.press("Spades", GROUP)
        assert "Spades" in fake.last(GROUP).plain
        assert "to 500 points" in fake.last(GROUP).plain
        await anna.press("Cancel", GROUP)
        assert "taken back" in fake.last(GROUP).plain


async def test_a_chat_remembers_its_game_and_clock(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        await anna.say("/settings")
        await anna.press("⏱ 30 min", GROUP)
        await anna.press("Strict: a robot plays when time is up; three in a row lose", GROUP)
        await anna.say("/challenge spades")
        await anna.press("Cancel", GROUP)
        await anna.say("/challenge")
        assert "Spades" in fake.last(GROUP).plain
        assert "30 minutes a move, strict" in fake.last(GROUP).plain


async def test_two_chats_one_table(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = people(worker, fake)
        await anna.say("/challenge metamazzo")
        code = await code_of(worker, anna)
        reply = await bruno.say(f"/join {code.lower()}", place="paper:200")
        assert reply.toast == f"You sit at table {code}."
        assert fake.last("paper:200").plain == fake.last(GROUP).plain
        assert (
            "already" in (await carla.say(f"/join {code}", place="paper:300")).toast or not fake.messages["paper:300"]
        )
        random = Random(2)
        await play_until(worker, [anna, bruno], random, lambda: "Trick 3" in fake.last(GROUP).plain)
        assert fake.last("paper:200").plain == fake.last(GROUP).plain


# Four hands


async def test_tavolo_the_first_at_a_side_refuses_three_times_at_most(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, dino = people(worker, fake)
        await anna.say("/challenge tavolo")
        for refusal in range(1, 4):
            assert (await bruno.press("Sit North", GROUP)).toast == "You have asked for a chair."
            assert "Bruno\u2069 asks \u2068Anna" in fake.last(GROUP).plain
            assert "already" in (await bruno.press("Sit East", GROUP)).toast
            # Not for anybody else to answer.
            message, button = anna.button("Refuse")
            assert (await carla.send(button.payload, carla.private, message)).toast
            await anna.press("Refuse")
            assert f"{refusal} refusal" in fake.last(GROUP).plain
        # The next who asks sits.
        await carla.press("Sit North", GROUP)
        table = (await worker.tables_of(anna.person.id))[0]
        assert [chair.name if chair else None for chair in table.chairs] == ["Anna", None, "Carla", None]
        await bruno.press("Sit East", GROUP)
        await dino.press("Sit West", GROUP)
        await bruno.press("Accept")
        assert "Your turn" in "".join(fake.last(player.private).plain for player in (anna, bruno, carla, dino))


async def test_when_the_first_at_a_side_stands_up_who_asked_sits(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, dino = people(worker, fake)
        await anna.say("/challenge tavolo")
        await bruno.press("Sit East", GROUP)
        await carla.press("Sit West", GROUP)
        assert "asks to sit opposite you" in fake.last(bruno.private).plain
        await bruno.press("Stand up", GROUP)
        table = (await worker.tables_of(anna.person.id))[0]
        assert [chair.name if chair else None for chair in table.chairs] == ["Anna", None, None, "Carla"]
        # Whoever takes that chair next is not asked what Bruno was.
        await dino.press("Sit East", GROUP)
        await carla.press("Accept")
        table = (await worker.tables_of(anna.person.id))[0]
        assert [chair.name if chair else None for chair in table.chairs] == ["Anna", "Dino", None, "Carla"]
        await worker.settled()
        assert not fake.messages[dino.private]


async def test_robots_take_chairs_and_play(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        await anna.say("/challenge tressette")
        for label in ("🤖 Easy robot", "🤖 Medium robot", "🤖 Easy robot"):
            await anna.press(label, GROUP)
        table = (await worker.tables_of(anna.person.id))[0]
        assert [chair.name for chair in table.chairs if chair] == ["Anna", "🤖 Gino", "🤖 Teresa", "🤖 Pina"]
        random = Random(4)
        async with asyncio.timeout(60):
            while "Trick 5" not in fake.last(GROUP).plain:
                await anna.play(random)
                await asyncio.sleep(0.02)
                await worker.settled()


async def test_alone_with_a_robot_in_the_private_chat(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1, "it")
        await anna.say("/sfida testa", place=anna.private)
        await anna.press("Robot facile")
        random = Random(4)
        async with asyncio.timeout(60):
            while not any("Segreto: " in text for text in fake.texts(anna.private)):
                # The hand comes first and stays one message; the card and the boards of deals that are over are others.
                hands = [text for text in fake.texts(anna.private) if "Tocca a" in text]
                assert len(hands) <= 1
                await anna.play_anywhere(random)
                await asyncio.sleep(0.01)
                await worker.settled()
        assert not any("sealed" in text for text in fake.texts(anna.private))


async def test_a_card_drawn_is_counted_out_of_the_stock(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "spades")
        drawer = next(player for player in players if player.moves())
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
        # From the second time on the card is drawn by itself.
        for place in (drawer.private, other.private):
            assert "47 cards in the stock" in fake.last(place).plain


async def test_a_suit_has_one_name(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = people(worker, fake)[0]
        await anna.say("/rules")
        rules = fake.last(GROUP).plain
        assert all(name in rules for name in ITALIAN.suit_names)
        assert "clubs" not in rules


# Clocks


ON_TIME = ("Claim the win", "Let a robot play this move", "Wait")


async def test_a_clock_nudges_then_lets_the_others_decide(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        mover = next(player for player in players if player.moves())
        other = next(player for player in players if player is not mover)
        await ring(worker, 140)
        assert "Half of your time" not in fake.last(mover.private).plain
        [before] = fake.messages[mover.private]
        await ring(worker, 15)
        assert "Half of your time" in fake.last(mover.private).plain
        # It comes as a new message, or it would nudge nobody.
        [nudge] = fake.messages[mover.private]
        assert nudge != before
        await ring(worker, 155)
        assert "Your time is up" in fake.last(mover.private).plain
        assert f"{mover.person.name}\u2069's time is up" in fake.last(GROUP).plain
        # Not for the late player to decide; waiting gives the same time again.
        _, button = other.button("Wait")
        assert "not yours" in (await mover.send(button.payload)).toast
        await other.press("Wait")
        assert "time is up" not in fake.last(mover.private).plain
        await ring(worker, 155)
        await ring(worker, 155)
        version = (await worker.room.table(await code_of(worker, mover))).version
        await other.press("Let a robot play this move")
        assert (await worker.room.table(await code_of(worker, mover))).version == version + 2
        # All are told that it was no move of the late player's own.
        assert "🤖 Your time was up: a robot moved for you." in fake.last(mover.private).plain
        told = f"🤖 \u2068{mover.person.name}\u2069's time was up: a robot moved."
        assert told in fake.last(other.private).plain
        assert told in fake.last(GROUP).plain
        await ring(worker, 155)
        await ring(worker, 155)
        late = next(player for player in players if "Your time is up" in fake.last(player.private).plain)
        early = next(player for player in players if player is not late)
        await early.press("Claim the win")
        assert "ran out of time" in fake.last(GROUP).plain
        [game] = [game async for game in worker.archive.all()]
        assert game.record.ending == "timeout"
        assert "There is no table" in (await early.send(button.payload)).toast


async def test_a_robot_that_plays_for_somebody_declares_and_plays_a_card_at_once(store: Store) -> None:
    fake = FakePlatform()
    secret, *_ = declaring()
    async with open_worker(store, fake) as worker:
        worker.room.new_secret = lambda size: bytes([secret]) * size
        players = await seated(worker, fake, "tavolo")
        code = await code_of(worker, players[0])
        before = await worker.room.table(code)
        assert before.game
        late = before.game.turn
        assert late is not None
        for _ in range(2):
            await ring(worker, 155)
        # The partner is asked nothing, for they decide nothing.
        partner = fake.last(players[(late + 2) % 4].private)
        assert f"{players[late].person.name}\u2069's time is up: the others decide." in partner.plain
        assert not [button for row in partner.rows for button in row if button.label in ON_TIME]
        await players[(late + 1) % 4].press("Let a robot play this move")
        after = await worker.room.table(code)
        assert after.game
        *declared, card = [move for seat, move in after.game.moves if seat == late]
        assert declared
        assert all(move.startswith("declare ") for move in declared)
        assert card.startswith("play ")
        assert after.game.turn != late
        assert after.lates[late] == 1


@pytest.mark.parametrize(
    "clock", [("⏱ 1 min",), ("⏱ 1 min", "Strict: a robot plays when time is up; three in a row lose")]
)
async def test_no_clock_runs_where_only_robots_wait(store: Store, clock: tuple[str, ...]) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = people(worker, fake)[0]
        await anna.say("/challenge metamazzo")
        await anna.press("Options", GROUP)
        for label in clock:
            await anna.press(label, GROUP)
        await anna.press("Back", GROUP)
        await anna.press("Easy robot", GROUP)
        for _ in range(20):
            await worker.scheduler.settled()
            await worker.settled()
            if anna.moves():
                break
            await ring(worker, 1)
        assert anna.moves()
        before = await worker.room.table(await code_of(worker, anna))
        for _ in range(4):
            await ring(worker, 70)
        after = await worker.room.table(before.code)
        assert (after.version, after.alarm) == (before.version, "")
        assert "time" not in fake.last(anna.private).plain.lower()


async def test_a_strict_clock_plays_and_the_third_time_in_a_row_forfeits(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(
            worker, fake, "testa", "⏱ 1 min", "Strict: a robot plays when time is up; three in a row lose"
        )
        random = Random(1)
        lates = []
        for _ in range(60):
            found = await worker.tables_of(players[0].person.id)
            if not found:
                break
            table = found[0]
            lates.append(table.lates)
            if players[0].moves():
                await players[0].play(random)
                await worker.settled()
            else:
                await ring(worker, 31)
        assert "ran out of time" in fake.last(GROUP).plain
        assert max(max(late) for late in lates) == 2
        [game] = [game async for game in worker.archive.all()]
        assert game.record.winner == [0]


async def test_a_move_in_time_counts_lates_anew(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(
            worker, fake, "testa", "⏱ 1 min", "Strict: a robot plays when time is up; three in a row lose"
        )
        code = await code_of(worker, players[0])
        random = Random(1)
        for _ in range(12):
            await ring(worker, 31)
            table = await worker.room.cached(code)
            if max(table.lates) == 2:
                break
        late = table.lates.index(2)
        while not players[late].moves():
            await players[1 - late].play(random)
            await worker.settled()
        said = f"🤖 \u2068{players[late].person.name}\u2069's time was up: a robot moved."
        assert "🤖 Your time was up: a robot moved for you." in fake.last(players[late].private).plain
        assert said in fake.last(GROUP).plain
        await players[late].play(random)
        await worker.settled()
        assert (await worker.room.cached(code)).lates[late] == 0
        assert "a robot moved for you" not in fake.last(players[late].private).plain
        assert said not in fake.last(players[1 - late].private).plain
        assert said not in fake.last(GROUP).plain


async def test_without_a_clock_nothing_happens(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "testa", "no clock")
        version = (await worker.room.table(await code_of(worker, players[0]))).version
        await ring(worker, 30 * 86400)
        assert (await worker.room.table(await code_of(worker, players[0]))).version == version


# Ending a game, and after it


async def test_resigning_asks_first(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        assert "on their way to our private chat" in (await players[0].say("/resign")).toast
        await players[0].press("No, play on")
        assert (await worker.tables_of(players[0].person.id))[0].phase == "playing"
        await players[0].say("/resign")
        await players[0].press("Yes, I resign")
        assert "resigned" in fake.last(GROUP).plain
        assert "You lose." in fake.last(players[0].private).plain
        text = fake.last(players[1].private).plain
        assert "You win!" in text
        assert re.search(r" won: \S+ resigned\.", text)
        # What a deal counted that was cut short decided nothing.
        assert "Deal 1 is over" not in text


async def test_a_hand_asked_for_anew_has_its_cards_back_from_an_unanswered_question(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        await players[0].say("/resign")
        assert [button.label for row in fake.last(players[0].private).rows for button in row] == [
            "Yes, I resign",
            "No, play on",
        ]
        await players[0].say("/hand")
        panel = fake.last(players[0].private)
        assert "Do you really want to resign?" not in panel.plain
        assert not any("resign" in button.label for row in panel.rows for button in row)


async def test_whoever_challenges_from_a_private_chat_is_told_what_the_other_must_do(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
        await bruno.say("/help")
        said = (await anna.say("/challenge @bruno testa", anna.private)).toast
        code = await code_of(worker, anna)
        assert said == f"Bruno cannot see this chat. Tell them to write me /join {code}."
        await bruno.say(f"/join {code}", bruno.private)
        [table] = await worker.tables_of(bruno.person.id)
        assert table.phase == "playing"
        # In a group everybody sees it, and an open challenge is for nobody in particular.
        assert (await anna.say("/challenge @bruno testa")).toast == ""
        assert (await anna.say("/challenge", anna.private)).toast == ""


async def test_a_game_has_one_name_everywhere(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "tavolo")
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


async def test_what_proves_a_shuffle_stands_in_small_print_and_whole_on_a_page(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "testa", "to 11")
        table = await worker.room.cached(await code_of(worker, players[0]))
        assert table.game
        seal = table.game.view(None).commitment
        assert seal
        [small] = [span.text for span in fake.last(GROUP).text if span.style == "small"]
        assert small.splitlines()[-1] == f"Seal: {seal}"
        await play_until(worker, players, Random(1), lambda: "won by" in fake.last(GROUP).plain)
        over = next(panel for panel in fake.messages[GROUP].values() if seal in panel.plain)
        [secret] = re.findall(r"Secret: ([0-9a-f]{64})", over.plain)
        assert sha256(bytes.fromhex(secret)).hexdigest() == seal
        await players[0].press("Is it fair?", GROUP)
        page = fake.last(players[0].private)
        assert [span.text for span in page.text if span.style == "code"] == [seal, secret]
        await players[0].press("2 ▶", players[0].private)
        assert "deal 2" in fake.last(players[0].private).plain
        assert seal not in fake.last(players[0].private).plain


async def test_rematch_and_replay(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "testa", "to 11", "⏱ 1 min")
        await resign(worker, fake, players, 0)
        carla = people(worker, fake)[2]
        assert "do not sit" in (await carla.press("Rematch", GROUP)).toast
        # Who looks at the group sees nothing else happen.
        assert (await carla.press("Replay", GROUP)).toast == "It is in our private chat."
        assert "Deal 1" in fake.last(carla.private).plain
        # The options as on the card, not as in the record.
        assert "(points to win: 11 · declarations: " in fake.last(carla.private).plain
        assert "score_unit" not in fake.last(carla.private).plain
        assert (await carla.press("Is it fair?", GROUP)).toast == "It is in our private chat."
        assert (await carla.press("Analysis", GROUP)).toast == "It is in our private chat."
        await carla.say("/settings")
        assert (await carla.press("My own settings", GROUP)).toast == "It is in our private chat."
        # There the page takes the place of the one that was pressed.
        assert not (await carla.press("Italiano", carla.private)).toast
        assert any("resigned" in text for text in fake.texts(GROUP))
        # Both press it: one table, and the game is on.
        result, button = players[0].button("Rematch", GROUP)
        for player in reversed(players):
            await player.send(button.payload, GROUP, result)
        await worker.settled()
        [table] = await worker.tables_of(players[0].person.id)
        assert [chair.person for chair in table.chairs if chair] == ["paper:1", "paper:2"]
        assert table.clock == 60
        assert table.game
        assert table.game.rules.target == 11
        assert table.phase == "playing"


# Pages and settings


async def test_a_persons_language_and_suits(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        anna = players[0]
        assert "Tricks" in fake.last(anna.private).plain
        await anna.say("/settings", place=anna.private)
        await anna.press("Italiano")
        await anna.press("Semi francesi")
        hand = next(text for text in fake.texts(anna.private) if "Prese" in text)
        assert "🪙" not in hand
        table = await worker.room.table(await code_of(worker, anna))
        assert table.game
        deal = table.game.view(0).deal
        assert deal
        held = deal.hand
        assert held
        assert len(held) == 10
        assert {sign for sign in SUIT_SIGNS["french"].values() if sign in hand} >= {
            SUIT_SIGNS["french"][card[-1]] for card in held
        }
        # The group keeps its own language.
        assert "sealed" in fake.last(GROUP).plain
        await anna.say("/impostazioni")
        await anna.press("Italiano", GROUP)
        await anna.say("/aiuto")
        assert "Scrivi /sfida in un gruppo" in fake.last(GROUP).plain


async def test_an_italian_client_makes_an_italian_chat(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1, "it-IT")
        await anna.say("/sfida spizzichino")
        assert "lancia una sfida" in fake.last(GROUP).plain
        assert anna.button("Annulla", GROUP)


async def test_tables_lists_where_one_sits_and_whose_turn_it_is(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        mover, other = sorted(players, key=lambda player: not player.moves())
        assert not other.moves()
        await mover.say("/challenge spades")
        await mover.say("/tables", mover.private)
        page = fake.last(mover.private).plain
        assert ": Spades, waiting for players" in page
        assert "your turn" in page
        assert "others' turn" not in page
        assert other.person.name in page
        await other.say("/tables", other.private)
        page = fake.last(other.private).plain
        assert "waiting for players" not in page
        assert "others' turn" in page
        assert "your turn" not in page


@pytest.mark.parametrize(
    "about",
    ["", "fair", "onesto", "pizzichino", "spizzichino", "metamazzo", "testa", "tressette", "tavolo", "spades", "metà"],
)
async def test_rules(store: Store, about: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        reply = await anna.say(f"/rules {about}")
        assert not reply.toast
        assert len(fake.last(GROUP).plain) > 300


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("/nonsense", "I do not know /nonsense"),
        ("/report", "press 🚩 Report, below your hand"),
        ("/segnala @bea", "press 🚩 Report, below your hand"),
        ("/phrases", "press 💬 Say, below your hand"),
        ("/frasi", "press 💬 Say, below your hand"),
        ("/join", "Which table?"),
        ("/join ZZZZ", "There is no table ZZZZ"),
        ("/hand", "no game on"),
        ("/hand QQQQ", "You do not sit at table QQQQ"),
        ("/resign", "no game on"),
        ("/resign QQQQ", "You do not sit at table QQQQ"),
        ("/challenge scopa", "I know no game scopa"),
        ("/challenge testa 32", "Testa a Testa is played to 11, 21, 31, not to 32."),
        ("/challenge testa -5", "not to −5."),
        ("/challenge 0 testa", "not to 0."),
        ("/challenge spades 1000000", "not to 1000000."),
        (f"/challenge spades {'9' * 200}", "not to 999999999999…."),
        ("/challenge mezzo mazzo 21", "I know no game mezzo mazzo."),
        ("/leaderboard tressette al bar", "I know no game tressette al bar."),
        ("/stats @nobody", "I have not met @nobody"),
        ("/rules briscola", "I know no game briscola"),
    ],
)
async def test_what_cannot_be_done_is_said(store: Store, command: str, answer: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        assert answer in (await Player(worker, fake, "Anna", 1).say(command)).toast


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("metà mazzo", ("metamazzo", None)),
        ("testa a testa", ("testa", None)),
        ("tressette", ("tressette", None)),
        ("tressette in quattro", ("tressette", None)),
        ("Tressette al Tavolo 21", ("tavolo", 21)),
        ("@anna 31 Testa a @bea Testa", ("testa", 31)),
        ("tressette a 21", ("tressette", 21)),
        ("testa a 21", ("testa", 21)),
        ("testa a testa a 31", ("testa", 31)),
        ("to 21", ("metamazzo", 21)),
        ("spades −5", ("spades", -5)),
        ("٣١", ("metamazzo", 31)),
        ("", ("metamazzo", None)),
    ],
)
def test_a_games_own_name_is_understood_whatever_stands_around_it(words: str, meant: tuple[str, int | None]) -> None:
    assert game_and_points(words.split(), "metamazzo") == meant


@pytest.mark.parametrize("words", ["tressette a", "tressette al 21", "spades mazzo"])
def test_half_a_name_of_several_words_is_no_game(words: str) -> None:
    with pytest.raises(NoSuchGame):
        game_and_points(words.split(), "metamazzo")


async def test_commands_understand_names_of_several_words(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/sfida @bea Tressette al Tavolo 21")
        assert "Tressette al Tavolo · to 21 points" in fake.last(GROUP).plain
        assert not (await anna.say("/tournament swiss testa a testa")).toast
        [opened] = await worker.feature(TournamentsFeature).director.tournaments.of(anna.person.id)
        assert (opened.form, opened.choice.game) == ("swiss", "testa")
        await anna.say("/leaderboard tressette al tavolo")
        assert "Tressette al Tavolo" in fake.last(GROUP).plain


# Nonsense


MADE_UP = [
    "",
    "1",
    "x" * 64,
    "1mABCD:1:play 3D",
    "1m:::",
    "1mABCD:999999:resign",
    "1tABCD:sit",
    "1tABCD:sit 99999999",
    "1tABCD:rule layout=full",
    "1tABCD:draft x y",
    "1p",
    "1pleaderboard a b c",
    "1preplay X 1",
    "1prematch Y",
    "1psettings language xx",
    "1phand",
    "2mABCD:1:play 3D",
    "1tABCD:clock 7 1",
    "1tABCD:robot genius",
    "1tABCD:accept 9",
    "1pleaderboard chat all all extra",
    "1mABCD:1:play 3D\n",
    "1mABCD:-1:resign",
    "🂠" * 16,
]


async def test_made_up_payloads_change_nothing_and_are_answered(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        before = (await worker.room.table(code)).log
        stranger = Player(worker, fake, "Zoe", 99)
        for made_up in MADE_UP:
            for place in (GROUP, stranger.private):
                reply = await stranger.send(made_up.replace("ABCD", code), place, "1")
                assert reply.toast or reply.panel, made_up
        assert (
            await stranger.send("1m" + code + ":1:" + "x" * 1_000_000)
        ).toast == "This button does not work any more."
        assert (await worker.room.table(code)).log == before


async def test_a_made_up_press_touches_no_message_but_the_surfaces_own(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        mover = next(player for player in players if player.moves())
        message, button = mover.moves()[0]
        table = await worker.room.table(await code_of(worker, mover))
        await mover.say("/help", mover.private)
        other = next(number for number in fake.messages[mover.private] if number != message)
        card = next(number for number, panel in fake.messages[GROUP].items() if "open our private chat" in panel.plain)
        board = next(number for number in fake.messages[GROUP] if number != card)
        before = {place: dict(messages) for place, messages in fake.messages.items()}
        for payload, place, pressed in (
            (f"1m{table.code}:1:{button.payload.rpartition(':')[2]}", mover.private, other),
            (f"1t{table.code}:draft {table.dealt_at} resign", mover.private, other),
            (f"1t{table.code}:draft {table.dealt_at}", mover.private, other),
            (f"1t{table.code}:sit 1", GROUP, board),
            (f"1t{table.code}:cancel", GROUP, board),
            (f"1t{table.code}:menu rules", GROUP, board),
            ("1phelp", GROUP, board),
            ("1pleaderboard chat all all", GROUP, card),
            ("1psettings language it", mover.private, message),
            ("1prematch x", GROUP, board),
        ):
            await mover.send(payload, place, pressed)
            await worker.settled()
        assert {place: dict(messages) for place, messages in fake.messages.items()} == before
        # A move that may be made is made, and still no other message is touched.
        await mover.send(button.payload, mover.private, other)
        await worker.settled()
        assert (await worker.room.table(table.code)).version == table.version + 1
        assert set(fake.messages[mover.private]) == {message, other}
        assert fake.messages[mover.private][other] == before[mover.private][other]


@given(st.text(max_size=80))
def test_any_text_reads_as_a_payload_or_is_refused(text: str) -> None:
    with suppress(BadPayload):
        actions.parse(text)


async def test_one_button_pressed_fifty_times_at_once_is_one_move(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "metamazzo")
        mover = next(player for player in players if player.moves())
        code = await code_of(worker, mover)
        version = (await worker.room.table(code)).version
        message, button = mover.moves()[0]
        replies = await asyncio.gather(*(mover.send(button.payload, mover.private, message) for _ in range(50)))
        assert (await worker.room.table(code)).version == version + 1
        assert [reply.toast for reply in replies].count("") == 1
        assert all("moved on" in reply.toast for reply in replies if reply.toast)
        await worker.settled()
        assert len(fake.messages[mover.private]) == 1


UNICODE = [
    "\u202eanna\u202c",
    "\u200f\u05d0\u05d1\u05d2\u200f",
    "👨‍👩‍👧‍👦" * 64,
    "<b>*_`[x](y)~||",
    "Ａｎｎａ",
    "a\u0301" * 40,
    "\u0000\u0007\u200b",
    "Zalgơ̷̢",
    "'; DROP TABLE",
    "{name}",
    "%s %d",
]


@pytest.mark.parametrize("name", UNICODE)
async def test_any_name_can_sit_and_play(store: Store, name: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        odd = Player(worker, fake, name, 1)
        bruno = Player(worker, fake, "Bruno", 2)
        assert not (await odd.say("/challenge testa")).toast
        await bruno.press("Accept", GROUP)
        random = Random(1)
        await play_until(worker, [odd, bruno], random, lambda: "Trick 2" in fake.last(GROUP).plain)
        await resign(worker, fake, [odd, bruno], 0)
        assert "won" in fake.last(GROUP).plain
        await bruno.say("/leaderboard")
        [game] = [game async for game in worker.archive.all()]
        assert game.record.seats[0]


async def test_nobody_may_sit_at_too_many_tables(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        for _ in range(20):
            assert not (await anna.say("/challenge testa")).toast
        assert "20 tables" in (await anna.say("/challenge testa")).toast


async def test_an_old_card_pressed_again_takes_no_table_off_anybodys_list(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, carla, _ = people(worker, fake)
        await anna.say("/challenge metamazzo")
        accept = bruno.button("Accept", GROUP)[1].payload
        await bruno.press("Accept", GROUP)
        code = await code_of(worker, bruno)
        # The game is on, so the press is refused, as is whoever would join from where the table is shown already.
        assert (await bruno.send(accept, GROUP)).toast == "The game has begun: that cannot be changed any more."
        assert (await carla.say(f"/join {code}")).toast == "The game has begun: that cannot be changed any more."
        assert [table.code for table in await worker.tables_of(bruno.person.id)] == [code]
        assert [table.code for table in await worker.tables_at(GROUP)] == [code]
        assert not await worker.tables_of(carla.person.id)


async def test_a_choice_of_game_that_is_delivered_again_later_brings_no_older_one_back(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
        await anna.say("/challenge testa", key="first")
        await bruno.say("/challenge spades", key="second")
        assert (await worker.people.chat(GROUP)).game == "spades"
        await anna.say("/challenge testa", key="first")
        assert (await worker.people.chat(GROUP)).game == "spades"
        [table] = await worker.tables_of("paper:1")
        chosen = [f"1t{table.code}:game {game}" for game in ("metamazzo", "pizzichino")]
        for number in (0, 1, 0):
            assert not (await anna.send(chosen[number], GROUP, "1", key=f"chosen{number}")).toast
        assert (await worker.people.chat(GROUP)).game == "pizzichino"
        # A redelivery is none of those that were never heard.
        await bruno.say("/challenge testa", key="third")
        assert (await worker.people.chat(GROUP)).game == "testa"


async def test_a_refusal_names_the_suits_that_its_reader_has_chosen(store: Store) -> None:
    fake, random = FakePlatform(), Random(1)
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "testa")
        for player in players:
            await worker.people.choose(player.person.id, suits="french")
        while True:
            [table] = await worker.tables_of(players[0].person.id)
            assert table.game
            assert table.game.turn is not None
            legal = table.game.legal_moves(table.game.turn)
            deal = table.game.view(table.game.turn).deal
            assert deal
            barred = [card for card in deal.hand or () if f"play {card}" not in legal]
            if barred:
                break
            await play_until(worker, players.copy(), random, iter([False, True]).__next__)
        player = next(one for one in players if table.seat_of(one.person.id) == table.game.turn)
        reply = await player.send(actions.move(table.code, table.oldest_panel(table.game.turn), f"play {barred[0]}"))
        names = {"D": "diamonds", "C": "hearts", "S": "spades", "B": "clubs"}
        assert reply.toast == f"You must follow suit: play {names[deal.trick[0].card[1]]}."
