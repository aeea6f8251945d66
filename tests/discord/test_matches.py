"""A match between a group on Telegram and a channel on Discord, with the real adapters and libraries."""

import re
from functools import partial

import pytest

from bot.features.duels.duel import DEALS, SIDES, Played
from bot.features.duels.feature import DuelsFeature
from bot.solo_deals.results import SoloResult
from bot.store import Store
from tests.bot.features.duels.matches.playing import matches_of, strip_isolates
from tests.discord.players import Person as DiscordPerson
from tests.discord.players import text_of
from tests.discord.server import CHANNEL, DiscordServer
from tests.discord.test_two_platforms import on_both_platforms
from tests.telegram.players import GROUP, until
from tests.telegram.players import Person as TelegramPerson


@pytest.mark.long
async def test_groups_on_two_platforms_play_a_match(store: Store, server: DiscordServer) -> None:
    async with on_both_platforms(store, server) as (worker, telegram_server):
        members = [TelegramPerson(telegram_server, number, name) for number, name in ((1, "Anna"), (2, "Bruno"))]
        guests = [DiscordPerson(server, number, name) for number, name in ((3, "Carla"), (4, "Dino"))]
        group, channel = telegram_server.group(GROUP), server.channels[CHANNEL]
        for member in members:
            member.start()

        def texts() -> tuple[list[str], list[str]]:
            return [strip_isolates(message["text"]) for message in group.messages.values()], [
                strip_isolates(text_of(message)) for message in channel.messages.values()
            ]

        def is_shown(part: str) -> bool:
            return all(any(part in text for text in place) for place in texts())

        def is_notified(guest: DiscordPerson) -> bool:
            return any("you play against" in text_of(message) for message in guest.private.messages.values())

        members[0].say("/match testa")
        await until(lambda: any("Send this to the other group: /match" in text for text in texts()[0]))
        board = next(text for text in texts()[0] if "Send this to the other group" in text)
        code_match = re.search(r"/match (\w{6})", board)
        assert code_match
        assert "in the last message" in await guests[0].slash("match", code=code_match[1])
        await until(lambda: any("to sign up" in text for text in texts()[1]))
        for member in members:
            await member.press("Sign up", group)
        for guest in guests:
            assert "You’re in" in await guest.press("Sign up", channel)
        await until(lambda: is_shown("(2): Anna, Bruno") and is_shown("(2): Carla, Dino"))
        await guests[0].press("Start", channel)
        await until(lambda: is_shown("0–0"))
        for guest in guests:
            await until(partial(is_notified, guest))
        # Each person gets the cards in a private chat.
        await members[0].press("Play", group)
        await guests[1].press("Play deal 1")
        for person in ("telegram:1", "discord:4"):
            [table] = await worker.room.lists.tables_of(person)
            assert table.duel
            await worker.room.make_move(table.code, person, table.version, "resign", f"resign {person}")
        await worker.wait_until_idle()
        [match] = await matches_of(worker).store.of_person("telegram:1")
        duels = worker.feature(DuelsFeature).duels
        for duel in await matches_of(worker).duels_of(match):
            for side in SIDES:
                for deal in range(1, DEALS + 1):
                    deal_result = Played(SoloResult((6 - side, 5), "10"), f"{duel.code}-{side}-{deal}")
                    await duels.store.store_result(duel.code, side, deal, deal_result)
            await duels._settle(duel.code)
        await until(lambda: is_shown(" wins the match "))
        # The final message replaces the others.
        await until(lambda: all(sum("🏟️ Match" in text for text in place) == 1 for place in texts()))
