"""What the bot says in chats must be true when it says it."""

import pytest

from bot.platform import Person, Press
from bot.store import Store
from bot.tables.table import TIME_TO_ACCEPT
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, NAMES, FakePlatform, Player, code_of, open_worker, seated
from tests.bot.hours import ring


def people(worker: Worker, fake: FakePlatform) -> list[Player]:
    return [Player(worker, fake, name, number) for number, name in enumerate(NAMES, 1)]


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


async def test_stats_of_somebody_unknown_are_refused(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        # Telegram tells the id of who is named without a handle, or replied to.
        reply = await anna.say("/stats", about=(Person("paper:77", "Zeno"),))
        assert reply.toast == "I have not met Zeno yet."
        assert reply.panel is None
        assert (await anna.say("/stats @nobody")).toast == "I have not met @nobody yet."
        await bruno.say("/help")
        shown = await anna.say("/stats @Bruno", about=(Person("", "Bruno", "Bruno"),))
        assert shown.panel
        assert "Bruno" in shown.panel.plain


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


async def test_only_administrators_change_a_groups_settings(store: Store) -> None:
    fake = FakePlatform()
    fake.admins = {"paper:1"}
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await bruno.say("/settings")
        assert "Only administrators of this group can change them." in fake.last(GROUP).plain
        for label in ("Italiano", "⏱ 1 min", "Whoever has the link may watch"):
            refused = await bruno.press(label, GROUP)
            assert refused.toast == "Only administrators of this group can change its settings."
        chat = await worker.people.chat(GROUP)
        assert (chat.language, chat.clock, chat.may_be_watched) == ("en", 300, True)
        await anna.press("⏱ 1 min", GROUP)
        assert (await worker.people.chat(GROUP)).clock == 60
        # One's own settings are one's own.
        await bruno.say("/settings", bruno.private)
        assert not (await bruno.press("Italiano")).toast
        assert (await worker.people.person(bruno.person.id)).language == "it"


async def test_a_press_that_tells_who_administers_is_believed(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/settings")
        message, button = anna.button("⏱ 1 min", GROUP)
        for is_admin, clock in ((False, 300), (True, 60)):
            press = Press(f"p-{is_admin}", bruno.person, GROUP, message, button.payload, "", True, is_admin)
            reply = await bruno.dispatcher.press(press)
            assert bool(reply.toast) == (not is_admin)
            assert (await worker.people.chat(GROUP)).clock == clock


async def test_everybody_changes_settings_where_nobody_administers(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = people(worker, fake)
        await anna.say("/settings")
        assert "administrators" not in fake.last(GROUP).plain
        assert not (await bruno.press("⏱ 1 min", GROUP)).toast
        assert (await worker.people.chat(GROUP)).clock == 60


@pytest.mark.parametrize("word", ["@", "@?", "@…", "@\u200b"])
async def test_a_bare_at_sign_challenges_nobody(store: Store, word: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        assert "I have not met" in (await anna.say(f"/challenge {word} testa")).toast
        assert await worker.tables_of("paper:1") == []
