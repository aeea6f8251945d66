"""The right to change a group's settings."""

from bot.platform import Press
from bot.store import Store
from tests.bot.fake_platform import GROUP, FakePlatform, create_players, open_worker


async def test_only_administrators_change_a_groups_settings(store: Store) -> None:
    fake = FakePlatform()
    fake.admins = {"paper:1"}
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        await bruno.say("/settings")
        assert "Only administrators can change them." in fake.last(GROUP).plain
        for label in ("Italiano", "⏱ 1 min", "Anyone with the link can watch"):
            reply = await bruno.press(label, GROUP)
            assert reply.toast == "Only this group’s administrators can change its settings: ask one of them."
        chat = await worker.people.chat(GROUP)
        assert (chat.language, chat.clock, chat.can_be_watched) == ("en", 300, True)
        await anna.press("⏱ 1 min", GROUP)
        assert (await worker.people.chat(GROUP)).clock == 60
        # Personal settings are always free.
        await bruno.say("/settings", bruno.private)
        assert not (await bruno.press("Italiano")).toast
        assert (await worker.people.person(bruno.person.id)).language == "it"


async def test_platform_can_mark_a_press_as_by_an_administrator(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        await anna.say("/settings")
        message, button = anna.button("⏱ 1 min", GROUP)
        for is_admin, clock in ((False, 300), (True, 60)):
            press = Press(f"p-{is_admin}", bruno.person, GROUP, message, button.payload, "", True, is_admin)
            reply = await bruno.dispatcher.handle_press(press)
            assert bool(reply.toast) == (not is_admin)
            assert (await worker.people.chat(GROUP)).clock == clock


async def test_anyone_changes_settings_without_administrators(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        await anna.say("/settings")
        assert "administrators" not in fake.last(GROUP).plain
        assert not (await bruno.press("⏱ 1 min", GROUP)).toast
        assert (await worker.people.chat(GROUP)).clock == 60
