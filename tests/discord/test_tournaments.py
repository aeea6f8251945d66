"""Tournaments on Discord, from /tournament to the winner, with the real adapter, library, HTTP and WebSocket."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.web import make
from adapters.web.playground.adapter import Playground
from adapters.web.site import Site
from bot.features.tournaments import keys
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.standings import standings
from bot.features.tournaments.tournament import Tournament
from bot.handlers import Dispatcher
from bot.store import Store
from engine import verify
from tests.bot.features.tournaments.field import scores_in_order, team_name
from tests.bot.features.tournaments.leaks import dump_info_logs, fetch_pages, find_leaks, scenes
from tests.discord.players import ObservedDiscord, Person, buttons_of, on_discord, picture_of, text_of, until
from tests.discord.server import CHANNEL, Channel, DiscordServer
from tests.discord.test_pictures import _fast_pictures
from tests.long import long

__all__ = ["_fast_pictures", "scenes"]

NAMES = ("Anna", "Bruno", "Carla", "Dino", "Elia", "Fede", "Gaia", "Hugo")
Moves = list[tuple[Channel, dict[str, Any], str]]


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 0.05)


def messages_starting_with(channel: Channel, sign: str) -> list[dict[str, Any]]:
    return [message for message in channel.messages.values() if text_of(message).startswith(sign)]


def moves(person: Person) -> Moves:
    """Return the moves on a person's hands, in the private chat and in ephemeral messages."""
    channel = person.server.channels[CHANNEL]
    places = [(person.private, person.private.messages), (channel, channel.ephemerals[person.number])]
    return [
        (place, message, button["custom_id"])
        for place, messages in places
        for message in messages.values()
        for button in buttons_of(message)
        if "1m" in button["custom_id"][:4] and not button["custom_id"].endswith(("claim", "resign"))
    ]


async def play(person: Person, random: Random) -> bool:
    """Press a random move. Return False if there is none."""
    if not (choices := moves(person)):
        return False
    await person.send_press(*random.choice(choices))
    return True


async def resign(person: Person) -> None:
    """Resign at a table where it is this person's turn, unless its game ends first."""
    code = moves(person)[0][2].partition("1m")[2].partition(":")[0]
    await person.slash("resign", person.private, table=code)
    await until(lambda: bool(person.button("Yes, I resign", person.private)) or not moves(person))
    if person.button("Yes, I resign", person.private):
        await person.press("Yes, I resign")


async def start_tournament(server: DiscordServer, count: int, form: str) -> list[Person]:
    """Open a tournament, enter all people, and start it. The last person does not accept private messages."""
    channel = server.channels[CHANNEL]
    people = [Person(server, number, name) for number, name in enumerate(NAMES[:count], 1)]
    organiser, last = people[0], people[-1]
    last.private.is_closed = True
    await organiser.slash("tournament", game="testa", target=11)
    for person in people[1:]:
        assert "Not started yet" in await person.press("Sign up", channel)
    await until(lambda: any(organiser.button("Start", start_channel) for start_channel in (channel, organiser.private)))
    start_channel = channel if organiser.button("Start", channel) else organiser.private
    if form:
        await organiser.press("Options", start_channel)
        for label in ("Form", form, "Done", "◀ Back"):
            await organiser.press(label, start_channel)
        await until(
            lambda: any(form.lower() in text_of(message).lower() for message in messages_starting_with(channel, "🏆"))
        )
    await organiser.press("Start", start_channel)
    return people


async def play_to_the_end(
    adapter: ObservedDiscord, server: DiscordServer, people: Sequence[Person], resigning: float
) -> Tournament:
    """Play to the end, and check that the card stays one message.

    The last person opens each hand with the card's button.
    """
    channel, random = server.channels[CHANNEL], Random(1)
    [card] = {message["id"] for message in messages_starting_with(channel, "🏆")}
    [code] = await adapter.worker.feature(TournamentsFeature).director.tournaments.live_codes()
    while not messages_starting_with(channel, "🥇"):
        has_played = False
        for person in people:
            if person is not people[-1] and moves(person) and random.random() < resigning:
                await resign(person)
            has_played |= await play(person, random)
        await adapter.worker.wait_until_idle()
        assert [message["id"] for message in messages_starting_with(channel, "🏆")] == [card]
        if not has_played:
            await asyncio.sleep(0.02)
            if people[-1].button("My match", channel):
                await people[-1].press("My match", channel)
    return await adapter.worker.feature(TournamentsFeature).director.tournaments.load(code)


@pytest.mark.long
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
    store: Store, server: DiscordServer, form: str, count: int, resigning: float
) -> None:
    channel = server.channels[CHANNEL]
    async with on_discord(store, server, pictures=True) as adapter:
        people = await start_tournament(server, count, form)
        tournament = await play_to_the_end(adapter, server, people, resigning)
        assert tournament.phase == "over"
        await until(lambda: any("🥇" in text_of(message) for message in messages_starting_with(channel, "🏆")))
        games = [game async for game in adapter.worker.archive.games()]
        for game in games:
            verify(game.record)
        assert len(games) == sum(len(match.results) for match in tournament.matches)
        scores = scores_in_order(tournament, games)
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) > 1
        # Wait for more checks by the director.
        await asyncio.sleep(0.5)
        [result] = messages_starting_with(channel, "🥇")
        assert picture_of(result)
        winners = [team_name(tournament, standing.team) for standing in standings(tournament) if standing.rank == 1]
        assert all(name in text_of(result) for name in winners)
        [card] = messages_starting_with(channel, "🏆")
        assert all(name in text_of(card) for name in winners)
        assert not people[-1].private.messages
        if form == "duplicate":
            assert tournament.is_duplicate
            assert not any(game.is_rated for game in games)


@asynccontextmanager
async def with_pages(store: Store, server: DiscordServer) -> AsyncIterator[tuple[ObservedDiscord, Site]]:
    """Run a worker with Discord and the web pages."""
    async with on_discord(store, server, pictures=True, playground_port=0) as adapter:
        [playground] = [page for page in make(Dispatcher(adapter.worker)) if isinstance(page, Playground)]
        async with playground.site.open():
            yield adapter, playground.site


def messages_shown_to(people: Iterable[Person]) -> str:
    """Return the private chats and the ephemeral messages of people, as JSON."""
    channel = next(iter(people)).server.channels[CHANNEL]
    return json.dumps([[person.private.messages, channel.ephemerals[person.number]] for person in people])


@pytest.mark.long
async def test_cards_of_a_running_round_stay_secret(store: Store, server: DiscordServer, scenes: list[str]) -> None:
    """Two people finish their deals before two others play the same cards."""
    random, channel = Random(2), server.channels[CHANNEL]
    with capture_logs() as logs:
        async with with_pages(store, server) as (adapter, site):
            worker = adapter.worker
            people = await start_tournament(server, 4, "duplicate")
            people_by_id = {f"discord:{person.number}": person for person in people}
            [code] = await worker.feature(TournamentsFeature).director.tournaments.live_codes()

            async def tables_by_deal() -> list[Mapping[int, str]]:
                return [
                    match.seats
                    for match in (await worker.feature(TournamentsFeature).director.tournaments.load(code)).matches
                ]

            while not (len(await tables_by_deal()) == 2 and all(await tables_by_deal())):
                await asyncio.sleep(0.02)
            tournament = await worker.feature(TournamentsFeature).director.tournaments.load(code)
            # The person without private messages plays first, because the card's button must open their hands.
            by_match = [
                [people_by_id[member.person] for team in match.teams for member in tournament.members(team)]
                for match in tournament.matches
            ]
            quick, late = sorted(by_match, key=lambda match: people[-1] not in match)
            await until(lambda: any(map(moves, late)))
            await worker.wait_until_idle()
            before = messages_shown_to(late)
            unarchived = keys.games(code)
            while await store.client.hlen(unarchived) < 2:
                has_played = [await play(person, random) for person in quick]
                await worker.wait_until_idle()
                if not any(has_played):
                    await asyncio.sleep(0.02)
                    await people[-1].press("My match", channel)
            await asyncio.sleep(0.3)
            await worker.wait_until_idle()
            assert messages_shown_to(late) == before
            tables = [table for match in await tables_by_deal() for table in match.values()]
            assert len(tables) == 3
            games = [field.decode().partition(" ")[2] for field in await store.client.hkeys(unarchived)]
            pages = await fetch_pages(f"http://127.0.0.1:{site.port}", tables, games)
            sent = json.dumps(server.calls, default=repr)
            for text in (sent, *pages.values(), *scenes, dump_info_logs(logs)):
                assert find_leaks(text, tournament, 1) == []
            assert len(scenes) > 40
            assert await worker.archive.count() == 0
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
