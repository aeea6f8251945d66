"""What the bot says in chats must be true when it says it."""

import pytest

from bot.platform import Person
from bot.store import Store
from bot.tables.table import TIME_TO_ACCEPT
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker, people, seated
from tests.bot.hours import ring


def labels(fake: FakePlatform, place: str) -> list[str]:
    return [button.label for row in fake.last(place).rows for button in row]


@pytest.mark.parametrize("command", ["/hand", "/resign"])
async def test_hand_does_not_claim_to_reach_a_closed_chat(store: Store, command: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seated(worker, fake, "testa")
        anna = players[0]
        fake.closed.add(anna.private)
        first = await anna.say(command)
        assert first.toast.startswith("Your cards are on their way to our private chat. If they do not come")
        again = await anna.say(command)
        assert again.toast == "I cannot write to you: open our private chat and write /hand there."
        fake.closed.clear()
        await anna.say("/hand", anna.private)
        assert (await anna.say(command)).toast == first.toast


async def test_blocking_somebody_unknown_says_their_name(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        reply = await anna.say("/block", anna.private, about=(Person("paper:77", "Zeno"),))
        assert reply.panel
        assert "Zeno" in reply.panel.plain


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ("/challenge @anselmo @berta spades", ()),
        ("/challenge @anselmo @berta", (Person("", "anselmo", "anselmo"), Person("", "berta", "berta"))),
        ("/challenge @berta", (Person("paper:2", "Bruno", "bruno"),)),
        ("/block @anselmo @berta", ()),
        ("/stats @anselmo @berta", ()),
    ],
)
async def test_no_second_person_is_dropped_silently(store: Store, words: str, about: tuple[Person, ...]) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        reply = await anna.say(words, anna.private if words.startswith("/block") else GROUP, about=about)
        assert reply.toast.startswith("One person at a time, please: you named ")
        assert "@berta" in reply.toast
        assert not fake.messages[GROUP]


async def test_one_person_named_twice_is_one_person(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await bruno.say("/help")
        # A reply to Bruno that also names him, as platforms tell it; a comma stands behind the handle.
        reply = await anna.say("/challenge @Bruno, spades", about=(bruno.person, Person("", "Bruno", "Bruno")))
        assert not reply.toast
        [table] = await worker.tables_of(anna.person.id)
        assert table.invited
        assert (table.invited.person, table.game_id) == ("paper:2", "spades")


@pytest.mark.parametrize("game", ["testa", "tavolo"])
async def test_a_private_challenge_offers_its_author_no_chair(store: Store, game: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say(f"/challenge {game}", anna.private)
        code = await code_of(worker, anna)
        for menu in ("", "Game", "Back", "Options", "Back"):
            if menu:
                await anna.press(menu)
            seen = labels(fake, anna.private)
            assert not [label for label in seen if label in ("Accept", "Decline") or label.startswith("Sit ")]
            assert seen
        # In a group the same card has the chairs, for others read it.
        await bruno.say(f"/join {code}")
        await bruno.say(f"/challenge {game}")
        assert [label for label in labels(fake, GROUP) if label == "Accept" or label.startswith("Sit ")]


async def test_a_table_without_cards_says_so(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = people(worker, fake)
        await anna.say("/challenge testa")
        code = await code_of(worker, anna)
        for command in (f"/hand {code}", f"/resign {code}"):
            toast = (await anna.say(command)).toast
            assert toast == f"Table {code} still waits for players: there are no cards yet."
        assert (await anna.say("/hand K7QF2M")).toast == "You do not sit at table K7QF2M."


async def test_a_challenge_expires_though_somebody_came(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/challenge tressette")
        await bruno.press("Sit East", GROUP)
        await ring(worker, TIME_TO_ACCEPT)
        assert "a chair was still free after 24 hours" in fake.last(GROUP).plain


@pytest.mark.parametrize("word", ["@", "@?", "@…", "@\u200b"])
async def test_a_bare_at_sign_challenges_nobody(store: Store, word: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        assert "I have not met" in (await anna.say(f"/challenge {word} testa")).toast
        assert await worker.tables_of("paper:1") == []
