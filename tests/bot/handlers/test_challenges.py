"""Challenges: accepting, options, limits and expiry."""

import asyncio
from random import Random

import pytest

from bot.platform import Person
from bot.store import Store
from bot.tables.chairs import Invited
from bot.tables.limits import HOURS_TO_ACCEPT
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, create_players, play_until
from tests.bot.playing_time import ring_clocks
from tests.long import long
from tests.tricks import tricks_played


async def test_only_the_challenged_player_accepts_or_declines(worker: Worker, fake: FakePlatform, store: Store) -> None:
    anna, bruno, carla, _ = create_players(worker, fake)
    await bruno.say("/help")
    await anna.say("/challenge @bruno testa", about=(Person("", "bruno", "bruno"),))
    assert "I’m waiting for @bruno." in fake.last(GROUP).plain
    assert (await carla.press("Join", GROUP)).toast == "This challenge is for Bruno: open your own with /challenge."
    assert (await carla.press("No, thanks", GROUP)).toast == "You can’t decide that at this table."
    await bruno.press("No, thanks", GROUP)
    assert "Bruno\u2069 declined." in fake.last(GROUP).plain
    assert not fake.last(GROUP).rows
    assert not [key async for key in store.client.scan_iter("{s*}:table:*")]


async def test_person_known_only_by_handle_can_accept(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge @Bruno testa", about=(Person("", "Bruno", "Bruno"),))
    await bruno.press("Join", GROUP)
    assert bruno.fake.messages[bruno.private]


@pytest.mark.parametrize("handle", ["-", long("a\x00b"), long("x" * 65), long("\ud800"), "a b"])
async def test_invalid_handle_invites_nobody(worker: Worker, fake: FakePlatform, handle: str) -> None:
    anna, *_ = create_players(worker, fake)
    reply = await anna.say("/challenge", about=(Person("", handle, handle),))
    assert "don’t know" in reply.toast
    assert not fake.messages[GROUP]


async def test_known_person_is_invited_despite_an_invalid_handle(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    invited = bruno.person
    await anna.say("/challenge testa", about=(Person(invited.id, "Bruno", "two words"),))
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.invited == Invited(invited.id, "", "Bruno")
    await bruno.press("Join", GROUP)
    assert (await worker.room.table(table.code)).phase == "playing"


@pytest.mark.parametrize(("menu", "choice"), [("Change", "to 11"), long("Change", "⏱ 1 min"), long("Game", "Spades")])
async def test_old_accept_button_fails_after_the_game_changed(
    worker: Worker, fake: FakePlatform, menu: str, choice: str
) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge testa")
    message, button = bruno.button("Join", GROUP)
    await anna.press("Change", GROUP)
    if menu != "Change":
        await anna.press(menu, GROUP)
    await anna.press(choice, GROUP)
    assert (await bruno.send(button.payload, GROUP, message)).toast.startswith("This button has expired")
    assert [table.phase for table in await worker.room.lists.tables_of(anna.person.id)] == ["open"]
    assert not (await bruno.press("Join", GROUP)).toast
    assert [table.phase for table in await worker.room.lists.tables_of(anna.person.id)] == ["playing"]


async def test_buttons_without_a_version_still_seat_people(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla, _ = create_players(worker, fake)
    await anna.say("/challenge tressette")
    await anna.press("Change", GROUP)
    await anna.press("⏱ 1 min", GROUP)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert not (await bruno.send(f"1t{table.code}:sit", GROUP)).toast
    assert not (await carla.send(f"1t{table.code}:sit 3", GROUP)).toast
    assert [chair and chair.name for chair in (await worker.room.table(table.code)).chairs] == [
        "Anna",
        "Bruno",
        None,
        "Carla",
    ]


async def test_challenging_yourself_is_refused(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    reply = await anna.say("/challenge @anna", about=(anna.person,))
    assert "can’t challenge yourself" in reply.toast


async def test_redelivered_challenge_opens_one_table(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge testa", key="same")
    await anna.say("/challenge testa", key="same")
    assert len(fake.messages[GROUP]) == 1
    assert len(await worker.room.lists.tables_of(anna.person.id)) == 1


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_redelivered_challenge_keeps_the_groups_newer_game(
    worker: Worker, fake: FakePlatform, is_cancelled: bool
) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge spades", key="early")
    if is_cancelled:
        await anna.press("Cancel", GROUP)
    await anna.say("/challenge testa")
    await anna.say("/challenge spades", key="early")
    assert (await worker.people.chat(GROUP)).game == "testa"


async def test_challenge_expires_after_a_day(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge testa")
    code = await code_of(worker, anna)
    await ring_clocks(worker, HOURS_TO_ACCEPT * 3600 - 60)
    assert "expired" not in fake.last(GROUP).plain
    await ring_clocks(worker, 120)
    assert "The challenge has expired" in fake.last(GROUP).plain
    assert not fake.last(GROUP).rows
    assert await worker.room.lists.tables_of(anna.person.id) == []
    assert "no table" in (await bruno.say(f"/join {code}")).toast


async def test_only_the_challenger_changes_the_card(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge pizzichino")
    for label in ("Change", "Add robot", "Cancel"):
        assert "ask Anna" in (await bruno.press(label, GROUP)).toast
    await anna.press("Change", GROUP)
    await anna.press("to 21", GROUP)
    await anna.press("packets: peeked at", GROUP)
    await anna.press("⏱ 1 min", GROUP)
    await anna.press("Strict: a robot plays late moves, three in a row lose", GROUP)
    card = fake.last(GROUP).plain
    assert "to 21." in card
    assert "Packets: peeked at" in card
    assert "1 minute a move, strict" in card
    await anna.press("Game: Pizzichino", GROUP)
    await anna.press("Spades", GROUP)
    assert "Spades" in fake.last(GROUP).plain
    assert "to 500." in fake.last(GROUP).plain
    await anna.press("Cancel", GROUP)
    assert "withdrawn" in fake.last(GROUP).plain


async def test_table_is_shown_in_two_chats(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla, _ = create_players(worker, fake)
    await anna.say("/challenge metamazzo")
    code = await code_of(worker, anna)
    reply = await bruno.say(f"/join {code.lower()}", place="paper:200")
    assert reply.toast == f"You’re at table {code}."
    assert fake.last("paper:200").plain == fake.last(GROUP).plain
    assert "already" in (await carla.say(f"/join {code}", place="paper:300")).toast or not fake.messages["paper:300"]
    random = Random(2)
    await play_until(worker, [anna, bruno], random, lambda: tricks_played(fake.last(GROUP).plain) >= 3)
    assert fake.last("paper:200").plain == fake.last(GROUP).plain


async def test_private_challenge_says_how_the_other_joins(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
    await bruno.say("/help")
    toast = (await anna.say("/challenge @bruno testa", anna.private)).toast
    code = await code_of(worker, anna)
    assert toast == f"Bruno can’t see this chat: ask them to write me /join {code}."
    await bruno.say(f"/join {code}", bruno.private)
    [table] = await worker.room.lists.tables_of(bruno.person.id)
    assert table.phase == "playing"
    # In a group the other player sees the card, and an open challenge names no player.
    assert (await anna.say("/challenge @bruno testa")).toast == ""
    assert (await anna.say("/challenge", anna.private)).toast == ""


async def test_twenty_first_table_is_refused(worker: Worker, fake: FakePlatform) -> None:
    anna = Player(worker, fake, "Anna", 1)
    for _ in range(20):
        assert not (await anna.say("/challenge testa")).toast
    assert "20 tables" in (await anna.say("/challenge testa")).toast


async def test_old_card_pressed_again_keeps_all_lists(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla, _ = create_players(worker, fake)
    await anna.say("/challenge metamazzo")
    accept = bruno.button("Join", GROUP)[1].payload
    await bruno.press("Join", GROUP)
    code = await code_of(worker, bruno)
    # The game is running, so the press and /join are refused.
    assert (await bruno.send(accept, GROUP)).toast == "Too late: the game has already started."
    assert (await carla.say(f"/join {code}")).toast == "Too late: the game has already started."
    assert [table.code for table in await worker.room.lists.tables_of(bruno.person.id)] == [code]
    assert [table.code for table in await worker.room.lists.tables_at(GROUP)] == [code]
    assert not await worker.room.lists.tables_of(carla.person.id)


async def test_redelivered_choice_keeps_the_newer_game(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno = Player(worker, fake, "Anna", 1), Player(worker, fake, "Bruno", 2)
    await anna.say("/challenge testa", key="first")
    await bruno.say("/challenge spades", key="second")
    assert (await worker.people.chat(GROUP)).game == "spades"
    await anna.say("/challenge testa", key="first")
    assert (await worker.people.chat(GROUP)).game == "spades"
    [table] = await worker.room.lists.tables_of("paper:1")
    payloads = [f"1t{table.code}:game {game}" for game in ("metamazzo", "pizzichino")]
    for number in (0, 1, 0):
        assert not (await anna.send(payloads[number], GROUP, "1", key=f"choice{number}")).toast
    assert (await worker.people.chat(GROUP)).game == "pizzichino"
    # A new update does not count as a redelivery.
    await bruno.say("/challenge testa", key="third")
    assert (await worker.people.chat(GROUP)).game == "testa"


def list_labels(fake: FakePlatform, place: str) -> list[str]:
    return [button.label for row in fake.last(place).rows for button in row]


@pytest.mark.parametrize(
    ("words", "people"),
    [
        ("/challenge @anselmo @berta spades", ()),
        ("/challenge @anselmo @berta", (Person("", "anselmo", "anselmo"), Person("", "berta", "berta"))),
        ("/challenge @berta", (Person("paper:2", "Bruno", "bruno"),)),
        ("/block @anselmo @berta", ()),
        ("/stats @anselmo @berta", ()),
    ],
)
async def test_naming_two_people_is_refused(
    worker: Worker, fake: FakePlatform, words: str, people: tuple[Person, ...]
) -> None:
    anna, *_ = create_players(worker, fake)
    reply = await anna.say(words, anna.private if words.startswith("/block") else GROUP, about=people)
    assert reply.toast.startswith("Name one person at a time: you named ")
    assert "@berta" in reply.toast
    assert not fake.messages[GROUP]


async def test_person_named_twice_counts_once(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await bruno.say("/help")
    # A reply to Bruno also names him, with a comma after the handle.
    reply = await anna.say("/challenge @Bruno, spades", about=(bruno.person, Person("", "Bruno", "Bruno")))
    assert not reply.toast
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.invited
    assert (table.invited.person, table.game_id) == ("paper:2", "spades")


@pytest.mark.parametrize("game", ["testa", "tavolo"])
async def test_private_challenge_offers_no_seat_to_its_author(worker: Worker, fake: FakePlatform, game: str) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say(f"/challenge {game}", anna.private)
    code = await code_of(worker, anna)
    for menu in ("", "Change", "Game", "Continue"):
        if menu:
            await anna.press(menu)
        visible = list_labels(fake, anna.private)
        assert not [label for label in visible if label in ("Join", "No, thanks") or label.startswith("Sit ")]
        assert visible
    # In a group the card offers the seats, because others read it.
    await bruno.say(f"/join {code}")
    await bruno.say(f"/challenge {game}")
    assert [label for label in list_labels(fake, GROUP) if label == "Join" or label.startswith("Sit ")]


async def test_challenge_with_a_free_seat_expires(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge tressette")
    await bruno.press("Sit East", GROUP)
    await ring_clocks(worker, HOURS_TO_ACCEPT * 3600)
    assert "a seat was still free after 24 hours" in fake.last(GROUP).plain


@pytest.mark.parametrize("word", ["@", "@?", "@…", "@\u200b"])
async def test_bare_at_sign_challenges_nobody(worker: Worker, fake: FakePlatform, word: str) -> None:
    anna = Player(worker, fake, "Anna", 1)
    assert "I don’t know" in (await anna.say(f"/challenge {word} testa")).toast
    assert await worker.room.lists.tables_of("paper:1") == []


async def test_game_is_asked_once_and_then_remembered(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge")
    question_labels = list_labels(fake, GROUP)
    assert fake.last(GROUP).plain.startswith("\u2068Anna\u2069, which game?\n")
    games = ["• Metà Mazzo", "Tressette in Quattro", "Spades"]
    assert question_labels == [*games, "Continue with Metà Mazzo", "More games", "Add robot"]
    await anna.press("More games", GROUP)
    assert "Spizzichino" in list_labels(fake, GROUP)
    assert all(f"\n{kind.name}: " in fake.last(GROUP).plain for kind in GAMES.values())
    await anna.press("◀ Back", GROUP)
    assert list_labels(fake, GROUP) == question_labels
    await anna.press("More games", GROUP)
    await anna.press("Spades", GROUP)
    assert "Spades, 2 players, to 500." in fake.last(GROUP).plain
    await anna.press("Cancel", GROUP)
    await anna.say("/challenge")
    assert "hich game?" not in fake.last(GROUP).plain
    assert "Spades, 2 players" in fake.last(GROUP).plain


async def test_group_card_says_the_clock_and_who_is_missing(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge")
    await anna.press("Continue with Metà Mazzo", GROUP)
    assert "Join" in list_labels(fake, GROUP)
    terms = "Metà Mazzo, 2 players, to 51.\n5 minutes a move\n\u2068Anna\u2069 is in, 1 more player needed"
    assert fake.last(GROUP).plain.endswith(terms)
    await anna.press("Cancel", GROUP)
    await anna.say("/challenge")
    assert fake.last(GROUP).plain.endswith(terms), "the choice is remembered"


@pytest.mark.parametrize(("game", "has_note"), [("tressette", True), ("tavolo", False), ("metamazzo", False)])
async def test_choice_of_a_robot_says_who_answers_busso(
    worker: Worker, fake: FakePlatform, game: str, has_note: bool
) -> None:
    anna, *_ = create_players(worker, fake)
    busso_note = "Of robots, only the strong ones answer busso."
    await anna.say(f"/challenge {game}")
    assert busso_note not in fake.last(GROUP).plain
    await anna.press("Add robot", GROUP)
    assert (busso_note in fake.last(GROUP).plain) is has_note
    await anna.say(f"/challenge {game}", anna.private)
    assert (busso_note in fake.last(anna.private).plain) is has_note


async def test_group_card_adds_a_robot_before_the_game_is_chosen(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge")
    await anna.press("Add robot", GROUP)
    assert "Join" in list_labels(fake, GROUP)
    await anna.press("🤖 Easy", GROUP)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert (table.game_id, table.phase) == ("metamazzo", "playing")


async def test_opener_who_joins_learns_about_robots(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge tressette")
    assert (await anna.press("Sit East", GROUP)).toast.endswith("wait for the others, or add a robot.")
    await bruno.press("Sit East", GROUP)
    assert (await bruno.press("Sit North", GROUP)).toast.endswith("at this table: wait for the others.")


async def test_named_game_is_not_asked_again(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge metamazzo")
    await anna.say("/challenge")
    assert not any("hich game?" in text for text in fake.texts(GROUP))


@pytest.mark.parametrize(
    ("command", "game", "level"),
    [
        ("/challenge robot", "metamazzo", "easy"),
        ("/challenge spades 200 robot strong", "spades", "strong"),
        ("/sfida tressette robot medio", "tressette", "medium"),
    ],
)
@pytest.mark.parametrize("is_private", [True, False])
async def test_challenged_robot_plays_at_once(
    worker: Worker, fake: FakePlatform, command: str, game: str, level: str, *, is_private: bool
) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say(command, anna.private if is_private else GROUP)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.game
    assert (table.game_id, table.phase) == (game, "playing")
    assert ("200" in command) == (table.game.rules.target == 200)
    assert {chair.person for chair in table.chairs if chair and chair.is_robot} == {f"robot:{level}"}
    assert f"{table.code} · deal 1" in fake.last(anna.private).plain


async def test_bare_level_opens_no_game_in_a_group(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    reply = await anna.say("/challenge Forte")
    assert reply.toast.startswith("I don’t know the game Forte: choose one of ")
    assert reply.toast.endswith("a person (@name) or a robot (/challenge robot strong).")
    assert await worker.room.lists.tables_of(anna.person.id) == []


async def test_bare_level_plays_a_robot_in_private(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge easy", anna.private)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.phase == "playing"


@pytest.mark.parametrize(("level", "is_compiled"), [("strong", True), ("medium", False)])
async def test_strong_robot_is_prepared_when_it_is_seated(
    worker: Worker, fake: FakePlatform, monkeypatch: pytest.MonkeyPatch, level: str, *, is_compiled: bool
) -> None:
    calls = list[str]()
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge")
    code = await code_of(worker, anna)
    monkeypatch.setattr(worker.robot_pool, "get_ready", lambda: calls.append(level))
    await anna.say(f"/challenge robot {level}")
    await anna.send(f"1t{code}:robot {level}", GROUP)
    await anna.dispatcher.lobby.open_table(anna.person, "metamazzo", level, "page")
    assert calls == [level] * 3 * is_compiled


async def test_robot_is_not_a_game_when_a_person_is_challenged(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    reply = await anna.say("/challenge robot", about=(bruno.person,))
    assert "I don’t know the game robot" in reply.toast
    assert await worker.room.lists.tables_of(anna.person.id) == []


async def test_private_card_asks_with_whom_to_play(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge metamazzo", anna.private)
    assert fake.last(anna.private).plain == "Who do you want to play?\nMetà Mazzo, 2 players, to 51."
    assert list_labels(fake, anna.private) == [
        "🤖 Easy", "🤖 Medium", "🤖 Strong", "Invite a friend", "Find someone", "Change game or options"
    ]  # fmt: skip
    code = await code_of(worker, anna)
    await anna.press("Invite a friend")
    assert f"/join {code}" in fake.last(anna.private).plain
    await anna.press("Back")
    await anna.press("Find someone")
    assert "Metà Mazzo" in fake.last(anna.private).plain
    # The search replaces the challenge.
    assert await worker.room.lists.tables_of(anna.person.id) == []


async def test_private_card_is_cancelled_among_its_options(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge metamazzo", anna.private)
    await anna.press("Change game or options")
    assert fake.last(anna.private).plain == "Metà Mazzo, 2 players, to 51."
    assert list_labels(fake, anna.private)[-3:] == ["Rules", "Cancel", "Done"]
    await anna.press("Cancel")
    assert fake.last(anna.private).plain.startswith("The challenge was withdrawn.")


async def test_robot_in_private_takes_all_free_seats(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge tressette", anna.private)
    await anna.press("🤖 Easy")
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.phase == "playing"
    assert len({chair.name for chair in table.chairs if chair}) == 4


async def test_redelivered_robot_press_returns_after_a_refusal(worker: Worker, fake: FakePlatform) -> None:
    anna, *_ = create_players(worker, fake)
    await anna.say("/challenge tavolo", anna.private)
    [table] = await worker.room.lists.tables_of(anna.person.id)
    await anna.send(f"1t{table.code}:robot easy", key="again")
    [table] = await worker.room.lists.tables_of(anna.person.id)
    assert table.asking
    for seat in list(table.asking):
        await worker.challenges.answer(table.code, anna.person.id, seat, accept=False, update=f"refuse{seat}")
    async with asyncio.timeout(10):
        await anna.send(f"1t{table.code}:robot easy", key="again")


async def test_rules_on_a_card_go_to_the_private_chat(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, *_ = create_players(worker, fake)
    await anna.say("/challenge spades")
    card = fake.last(GROUP)
    assert (await bruno.press("Rules", GROUP)).toast == "Sent to your private chat."
    assert fake.last(GROUP) == card
    assert fake.last(bruno.private).plain.startswith("Spades")
