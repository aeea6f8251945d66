"""Tournaments on Telegram, from /tournament to the winner's message, with the real adapter, library and HTTP."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.features.tournaments import keys
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.standings import standings
from bot.features.tournaments.tournament import Tournament
from bot.store import Store
from engine import verify
from tests.bot.features.tournaments.field import scores_in_order, team_name
from tests.bot.features.tournaments.leaks import dump_info_logs, fetch_pages, find_leaks, scenes
from tests.long import long
from tests.telegram.content import payloads_of, text_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, until
from tests.telegram.server import BOT, Chat, TelegramServer
from tests.telegram.test_mini_app import with_pages
from tests.telegram.test_pictures import painted_texts

pytestmark = pytest.mark.usefixtures("painted_texts")
__all__ = ["painted_texts", "scenes"]

NAMES = ("Anna", "Bruno", "Carla", "Dino", "Elia", "Fede", "Gaia", "Hugo")


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 0.05)


def bot_messages_starting_with(chat: Chat, sign: str) -> list[dict[str, Any]]:
    return [
        message for message in chat.messages.values() if message["from"] == BOT and text_of(message).startswith(sign)
    ]


def moves(person: Person) -> list[tuple[dict[str, Any], str]]:
    """Return the moves on a person's hands, as messages and payloads."""
    return [
        (message, payload)
        for message in person.private.messages.values()
        for payload in payloads_of(message)
        if payload.startswith("1m") and not payload.endswith(("claim", "resign"))
    ]


async def play(person: Person, random: Random) -> bool:
    """Press a random move. Return False if there is none."""
    if not (choices := moves(person)):
        return False
    await person.send_press(person.private, *random.choice(choices))
    return True


async def resign(person: Person) -> None:
    """Resign at a table where it is this person's turn, unless its game ends first."""
    code = moves(person)[0][1][2:].partition(":")[0]
    person.say(f"/resign {code}", person.private)
    await until(lambda: bool(person.button("Yes, I resign", person.private)) or not moves(person))
    if person.button("Yes, I resign", person.private):
        await person.press("Yes, I resign")


async def start_tournament(
    server: TelegramServer, count: int, *, form: str = "", game: str = "testa 11"
) -> list[Person]:
    """Open a tournament, enter all people, and start it.

    The last person has not started the bot before.
    """
    group = server.group(GROUP)
    people = [Person(server, number, name, has_started=number < count) for number, name in enumerate(NAMES[:count], 1)]
    organiser, last = people[0], people[-1]
    for person in people[:-1]:
        person.start()
    organiser.say(f"/tournament {game}")
    for person in people[1:-1]:
        assert await person.press("Sign up", group) == "You’re in."
    await last.press("Sign up", group)
    assert list(server.answers.values())[-1]["url"] == f"https://t.me/{BOT['username']}?start=tournament"
    last.start("tournament")
    await until(lambda: any("Not started yet" in text_of(message) for message in last.private.messages.values()))
    assert await last.press("Sign up", group) == "You’re in."
    if form:
        for label in ("Options", "Form", form, "Done", "◀ Back"):
            await organiser.press(label)
        assert not bot_messages_starting_with(group, "🥇")
        await until(
            lambda: any(form.lower() in text_of(message).lower() for message in bot_messages_starting_with(group, "🏆"))
        )
    await organiser.press("Start")
    return people


async def play_to_the_end(
    adapter: ObservedTelegram, server: TelegramServer, people: Iterable[Person], resigning: float
) -> Tournament:
    """Play to the end, and check that the tournament's card stays one message.

    ``resigning`` is the probability that a person resigns instead of moving.
    """
    group, random = server.group(GROUP), Random(1)
    [card] = {message["message_id"] for message in bot_messages_starting_with(group, "🏆")}
    [listed] = await adapter.worker.feature(TournamentsFeature).director.tournaments.in_chat(f"telegram:{GROUP}")
    while not bot_messages_starting_with(group, "🥇"):
        has_played = False
        for person in people:
            if moves(person) and random.random() < resigning:
                await resign(person)
            has_played |= await play(person, random)
        await adapter.worker.wait_until_idle()
        assert [message["message_id"] for message in bot_messages_starting_with(group, "🏆")] == [card]
        if not has_played:
            await asyncio.sleep(0.02)
    return await adapter.worker.feature(TournamentsFeature).director.tournaments.load(listed.code)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("form", "count", "resigning"),
    [
        ("", 4, 0.15),
        long("", 8, 0.02),
        long("duplicate", 8, 0.005),
        long("Swiss", 8, 0.05),
        long("round robin", 8, 0.1),
        long("league", 8, 0.1),
    ],
)
async def test_whole_tournament_can_be_played(
    store: Store, server: TelegramServer, form: str, count: int, resigning: float
) -> None:
    group = server.group(GROUP)
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await start_tournament(server, count, form=form)
        tournament = await play_to_the_end(adapter, server, people, resigning)
        assert tournament.phase == "over"
        await until(lambda: any("🥇" in text_of(message) for message in bot_messages_starting_with(group, "🏆")))
        games = [game async for game in adapter.worker.archive.games()]
        for game in games:
            verify(game.record)
        assert len(games) == sum(len(match.results) for match in tournament.matches)
        scores = scores_in_order(tournament, games)
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) > 1
        # Wait for more checks by the director.
        await asyncio.sleep(0.5)
        [result] = bot_messages_starting_with(group, "🥇")
        assert result["photo"]
        winners = [team_name(tournament, standing.team) for standing in standings(tournament) if standing.rank == 1]
        assert all(name in text_of(result) for name in winners)
        [card] = bot_messages_starting_with(group, "🏆")
        assert all(name in text_of(card) for name in winners)
        group_messages = [message for message in group.messages.values() if message["from"] == BOT]
        assert len(group_messages) == 2, "the group must get only the card and the result"
        if form == "duplicate":
            assert tournament.is_duplicate
            assert not any(game.is_rated for game in games)


def messages_as_json(people: Iterable[Person]) -> str:
    return json.dumps([person.private.messages for person in people])


@pytest.mark.long
async def test_cards_stay_secret_while_a_round_is_played(
    store: Store, server: TelegramServer, scenes: list[str]
) -> None:
    """Two people finish their deals before two others play the same cards."""
    random = Random(2)
    with capture_logs() as logs:
        async with with_pages(store, server, pictures=True) as (adapter, site):
            worker = adapter.worker
            people = await start_tournament(server, 4, form="duplicate")
            people_by_id = {f"telegram:{person.number}": person for person in people}
            await until(
                lambda: all(payloads_of(message) for message in bot_messages_starting_with(server.group(GROUP), "🏆"))
            )
            [code] = await worker.feature(TournamentsFeature).director.tournaments.live_codes()

            async def tables_by_deal() -> list[Mapping[int, str]]:
                return [
                    match.seats
                    for match in (await worker.feature(TournamentsFeature).director.tournaments.load(code)).matches
                ]

            while not (len(await tables_by_deal()) == 2 and all(await tables_by_deal())):
                await asyncio.sleep(0.02)
            tournament = await worker.feature(TournamentsFeature).director.tournaments.load(code)
            quick, late = (
                [people_by_id[member.person] for team in match.teams for member in tournament.members(team)]
                for match in tournament.matches
            )
            await until(lambda: any(map(moves, late)) and any(map(moves, quick)))
            await worker.wait_until_idle()
            before = messages_as_json(late)
            unarchived = keys.games(code)
            while await store.client.hlen(unarchived) < 2:
                for person in quick:
                    await play(person, random)
                await worker.wait_until_idle()
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)
            await worker.wait_until_idle()
            assert messages_as_json(late) == before
            tables = [table for match in await tables_by_deal() for table in match.values()]
            assert len(tables) == 3
            games = [field.decode().partition(" ")[2] for field in await store.client.hkeys(unarchived)]
            pages = await fetch_pages(f"http://127.0.0.1:{site.port}", tables, games)
            sent = json.dumps(server.calls, default=repr)
            for text in (sent, *pages.values(), *scenes, dump_info_logs(logs)):
                assert find_leaks(text, tournament, 1) == []
            assert len(scenes) > 40
            assert await worker.archive.count() == 0
            assert not any(table in before for table in next(iter(tournament.matches)).seats.values())
            # After all have played the round, everything is public.
            while await worker.archive.count() < 4:
                for person in late:
                    await play(person, random)
                await worker.wait_until_idle()
                await asyncio.sleep(0.01)
            pages_after = await fetch_pages(f"http://127.0.0.1:{site.port}", tables, games)
            for game in games:
                assert find_leaks(pages_after[f"/api/v1/games/{game}/record"], tournament, 1)
                assert pages_after[f"/g/{game}"] != pages[f"/g/{game}"]
            assert tournament.root.hex() not in str(pages_after)
