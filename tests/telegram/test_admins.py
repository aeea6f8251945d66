"""Only administrators change a group's settings on Telegram."""

import pytest

from bot.store import Store
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, Person, on_telegram
from tests.telegram.server import Failure, TelegramServer

ONLY_ADMINS = "Only this group’s administrators can change its settings: ask one of them."


@pytest.mark.parametrize("hides_members", [False, True])
@pytest.mark.parametrize("is_anonymous", [False, True])
async def test_only_administrators_change_the_clock(
    store: Store, server: TelegramServer, hides_members: bool, is_anonymous: bool
) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    async with on_telegram(store, server) as adapter:
        group = server.group(GROUP)
        group.admins, group.hides_members = {1: is_anonymous}, hides_members
        bruno.say("/settings", group)
        people = adapter.worker.people
        assert await bruno.press("⏱ 1 min", group) == ONLY_ADMINS
        assert (await people.chat(f"telegram:{GROUP}")).clock == 300
        assert await anna.press("⏱ 1 min", group) == ""
        assert (await people.chat(f"telegram:{GROUP}")).clock == 60


async def test_settings_stay_when_the_admin_check_fails(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server) as adapter:
        group = server.group(GROUP)
        group.admins = {1: False}
        anna.say("/settings", group)
        server.fail_next("getChatMember", Failure(refusal=Refused(502, "Bad Gateway")))
        assert (await anna.press("⏱ 1 min", group)).startswith("I couldn’t check if you’re an administrator")
        assert (await adapter.worker.people.chat(f"telegram:{GROUP}")).clock == 300


async def test_own_settings_need_no_administrator(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server) as adapter:
        anna.say("/settings", anna.private)
        assert await anna.press("Italiano", anna.private) == ""
        assert (await adapter.worker.people.person("telegram:1")).language == "it"
        assert not [name for name, _fields in server.calls if name.startswith("getChat")]
