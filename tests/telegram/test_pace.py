"""A group gets at most twenty messages a minute, however often the bot restarts."""

from bot.store import Store
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import TelegramServer

RESTARTS = 12


async def test_restarts_do_not_exceed_the_group_limit(store: Store, server: TelegramServer) -> None:
    group, anna = server.group(GROUP), Person(server, 1, "Anna")
    for _ in range(RESTARTS):
        async with on_telegram(store, server, quick=False, rate_limits=False) as adapter:
            limiter, before = adapter.worker.delivery.answers._limiter, len(group.written_at)
            anna.say("/help")
            anna.say("/help")

            def is_waiting() -> bool:
                return bool(limiter._answers_waiting)  # noqa: B023

            await until(lambda: len(group.written_at) >= before + 2 or is_waiting())  # noqa: B023
            adapter.worker.delivery.answers.stop()
    assert not server.rate_violations()
