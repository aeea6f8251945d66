"""/privacy says what is stored and names the commands that send and delete it."""

from bot.store import Store
from tests.bot.fake_platform import GROUP, FakePlatform, create_players, open_worker


async def test_privacy_command_and_button_show_the_same_page(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = create_players(worker, fake)
        await anna.say("/privacy", anna.private)
        page = fake.last(anna.private).plain
        assert all(command in page for command in ("/mydata", "/forget"))
        await anna.press("◀ Back", anna.private)
        await anna.press("Privacy", anna.private)
        assert fake.last(anna.private).plain == page


async def test_privacy_command_in_a_group_answers_in_private(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = create_players(worker, fake)
        reply = await anna.say("/privacy", GROUP)
        assert reply.private
        assert reply.toast == "Sent to your private chat."
