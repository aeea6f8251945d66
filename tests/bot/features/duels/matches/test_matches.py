"""Matches of two groups: from the code to the result."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from bot.delivery.live_messages import REFUSED_SECONDS
from bot.features.duels import keys
from bot.features.duels.duel import DAY, DAYS, DEALS, SIDES
from bot.features.duels.duel import Player as DuelPlayer
from bot.features.duels.feature import DuelsFeature
from bot.features.duels.matches.boards import CHECK_SECONDS
from bot.features.duels.matches.draw import draw_pairs
from bot.features.duels.matches.errors import MatchIsTaken
from bot.features.duels.matches.match import ENTRY_SECONDS, MAX_ENTRANTS, Entrant, Match
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.pseudonyms import NAME, forgetting_marks, is_pseudonym
from bot.panel import Button, Panel, Span
from bot.platform import ChatGone, MessageRefused, Person, PlatformFailure, Reply
from bot.rate_limiter import RateLimit
from bot.store import Store
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.daily.test_days import play_deal
from tests.bot.features.duels.matches.playing import (
    NAMES,
    OTHER,
    begin_match,
    board,
    group_of,
    match_in,
    matches_of,
    open_groups,
    open_match,
    pass_time,
    play_all,
    run_loops,
    store_results,
    strip_isolates,
)


@pytest.mark.long
async def test_whole_match_ends_with_the_sums_in_both_groups(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        anna, _bruno, carla, _dino = players
        reply = await anna.say("/match testa", GROUP)
        match = await match_in(worker)
        assert reply.panel
        assert reply.private
        assert f"write in your group: /match {match.code}" in reply.panel.plain
        await run_loops(worker)
        assert "Bar Sport challenges another group." in board(fake, GROUP)
        await anna.press("Sign up", GROUP)
        await carla.say(f"/match {match.code}", OTHER)
        await run_loops(worker)
        for place in (GROUP, OTHER):
            assert "Bar Sport – Circolo" in board(fake, place)
            assert "Bar Sport (1): Anna" in board(fake, place)
            assert "both groups and everyone with the match’s link see your name" in board(fake, place)
        for number, player in enumerate(players[1:], 1):
            await player.press("Sign up", group_of(number))
        await run_loops(worker)
        await carla.press("Start", OTHER)
        await run_loops(worker)
        match = await match_in(worker)
        assert {player.name for pair in match.pairs for player in pair} == set(NAMES)
        assert all(pair[0].name in ("Anna", "Bruno") and pair[1].name in ("Carla", "Dino") for pair in match.pairs)
        for player in players:
            assert "The match has begun: you play against" in strip_isolates(fake.last(player.private).plain)
        for number, player in enumerate(players):
            await player.press("Play", group_of(number))
            [table] = [one for one in await worker.room.lists.tables_of(player.person.id) if one.phase == "playing"]
            await play_deal(player, table.code, 1 + number % 2)
        first, second = await matches_of(worker).duels_of(match)
        assert [duel.compared_deals for duel in (first, second)] == [[1], [1]]
        assert first.root != second.root
        await run_loops(worker)
        assert "played 1 and 1 of 5" in board(fake, GROUP)
        for deal in range(2, DEALS + 1):
            for number, player in enumerate(players):
                await player.press("Play", group_of(number))
                [table] = [one for one in await worker.room.lists.tables_of(player.person.id) if one.phase == "playing"]
                await play_deal(player, table.code, deal + number)
        await run_loops(worker)
        match = await match_in(worker)
        assert match.closing == "over"
        duels = await matches_of(worker).duels_of(match)
        wins = [sum(duel.score.wins[side] for duel in duels) for side in (0, 1)]
        assert 0 < sum(wins) <= 2 * DEALS
        for place in (GROUP, OTHER):
            text = board(fake, place)
            assert "wins the match" in text or "is a draw" in text
            assert f"{wins[0]}–{wins[1]}" in text or f"{wins[1]}–{wins[0]}" in text
            # The final message is the lowest one.
            assert strip_isolates(fake.last(place).plain) == text
        async for entry in worker.archive.entries_after(0):
            assert entry.game
            assert not entry.game.is_rated
        assert not await store.client.zcard(keys.MATCHES_DUE)


async def test_board_is_edited_as_results_come_in(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        messages = {place: list(fake.messages[place])[-1] for place in (GROUP, OTHER)}
        duels = await matches_of(worker).duels_of(match)
        await store_results(worker, duels[0], 0, 2)
        await store_results(worker, duels[0], 1, 1)
        await run_loops(worker)
        for place, message in messages.items():
            assert "Bar Sport 5–0 Circolo" in strip_isolates(fake.messages[place][message].plain)
        calls = len(fake.calls)
        await run_loops(worker)
        assert len(fake.calls) == calls


async def test_points_decide_a_match_with_equal_results(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        await play_all(worker, match, [(1, 0), (2, 4)])
        await run_loops(worker)
        text = board(fake, GROUP)
        assert "Circolo wins the match 5–5. The points decide: +20 against +15." in text


async def test_week_ends_the_match_and_unplayed_deals(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        first, _second = await matches_of(worker).duels_of(match)
        # One side of a pair plays three deals, and nobody plays in the other pair.
        await store_results(worker, first, 1, -3, deals=3)
        # The bot is down at the end, and starts two days later.
        pass_time(monkeypatch, (DAYS + 2) * DAY)
        await run_loops(worker)
        assert (await match_in(worker)).closing == "over"
        for place in (GROUP, OTHER):
            text = board(fake, place)
            assert "Circolo wins the match 3–0." in text
            assert "played 0 and 3 of 5" in text
            assert "played 0 and 0 of 5" in text
        assert "This match is over" in (await press_old_button(players[0], match.code, "play")).toast


async def press_old_button(player: Player, code: str, verb: str, place: str = GROUP) -> Reply:
    """Press a button that an old message still has, or that a modified client invents."""
    payload = f"1pmatch {code} {verb}"
    player.fake.messages[place]["old"] = Panel((Span("…"),), ((Button("…", payload),),))
    reply = await player.send(payload, place, "old")
    del player.fake.messages[place]["old"]
    return reply


async def test_match_begins_automatically_a_day_after_acceptance(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, players):
        await open_match(worker, players)
        for number, player in enumerate(players):
            await player.press("Sign up", group_of(number))
        pass_time(monkeypatch, ENTRY_SECONDS + 60)
        await run_loops(worker)
        match = await match_in(worker)
        assert match.has_all_duels
        assert "Bar Sport 0–0 Circolo" in board(fake, OTHER)


async def test_too_few_players_end_the_match(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await open_match(worker, players)
        for number, player in enumerate(players[:3]):
            await player.press("Sign up", group_of(number))
        reply = await press_old_button(players[0], match.code, "begin")
        assert "Both groups need 2 players" in reply.toast
        pass_time(monkeypatch, ENTRY_SECONDS + 60)
        await run_loops(worker)
        assert (await match_in(worker)).closing == "few"
        assert "both groups needed 2 players" in board(fake, GROUP)
        # Both groups are free for another match.
        assert (await players[2].say("/match testa", OTHER)).panel


async def test_match_that_nobody_accepts_ends_after_a_week(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, [anna, _bruno, carla, _dino]):
        await anna.say("/match testa", GROUP)
        match = await match_in(worker)
        pass_time(monkeypatch, DAYS * DAY + 60)
        assert "This match is over" in (await carla.say(f"/match {match.code}", OTHER)).toast
        await run_loops(worker)
        assert "No group accepted in time." in board(fake, GROUP)


async def test_first_of_two_accepting_groups_plays(store: Store) -> None:
    async with (
        open_worker(store, FakePlatform(), alone=False) as first,
        open_worker(store, FakePlatform(), alone=False) as second,
    ):
        first_matches, second_matches = matches_of(first), matches_of(second)
        anna, bruno, carla = (Person(f"paper:{n}", name) for n, name in enumerate(("Anna", "Bruno", "Carla"), 1))
        opened = await asyncio.gather(
            *(matches.open(GROUP, anna, "testa", "u1") for matches in (first_matches, second_matches))
        )
        [code] = {match.code for match in opened}
        answers = await asyncio.gather(
            first_matches.accept(code, OTHER, bruno),
            second_matches.accept(code, "paper:300", carla),
            return_exceptions=True,
        )
        assert sum(isinstance(answer, MatchIsTaken) for answer in answers) == 1
        match = await first_matches.store.load(code)
        [loser] = {OTHER, "paper:300"} - {match.sides[1].place}
        # The group that came too late can open its own match.
        assert await first_matches.live_in(loser) is None
        assert (await first_matches.open(loser, carla, "testa", "u2")).code != code
        # Two members of one group accept it once.
        again = await asyncio.gather(
            *(one.accept(code, match.sides[1].place, anna) for one in (first_matches, second_matches))
        )
        assert {one.sides for one in again} == {match.sides}
        assert match.sides[1].organiser in ("paper:2", "paper:3")


async def test_group_plays_one_match_and_never_itself(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, [anna, _bruno, carla, dino]):
        await anna.say("/match testa", GROUP)
        match = await match_in(worker)
        assert "your own group’s match" in (await dino.say(f"/match {match.code}", GROUP)).toast
        assert "has a match already" in (await anna.say("/match spades", GROUP)).toast
        await carla.say("/match spades", OTHER)
        assert "has a match already" in (await carla.say(f"/match {match.code}", OTHER)).toast
        assert (await matches_of(worker).store.load(match.code)).sides[1:] == ()
        assert "No match with this code" in (await carla.say("/match QQQQ22", OTHER)).toast


async def test_command_without_words_asks_which_game(store: Store) -> None:
    async with open_groups(store) as (worker, fake, [anna, bruno, carla, _dino]):
        await worker.people.update_chat(GROUP, game="spades")
        await anna.say("/match", GROUP)
        offered = [button.label for row in fake.last(GROUP).rows for button in row]
        assert offered[0] == "Spades"
        assert sorted(offered) == sorted(kind.name for kind in GAMES.values())
        assert not await matches_of(worker).live_in(GROUP)
        await bruno.press("Testa a Testa", GROUP)
        match = await match_in(worker)
        assert (match.game, match.is_organiser(bruno.person.id)) == ("testa", True)
        await run_loops(worker)
        assert "Bar Sport challenges another group." in board(fake, GROUP)
        reply = await anna.press("Invite", GROUP)
        assert reply.panel
        assert f"write in your group: /match {match.code}" in reply.panel.plain
        await carla.say(f"/match {match.code}", OTHER)
        await run_loops(worker)
        assert "Invite" not in [button.label for row in fake.last(GROUP).rows for button in row]


async def test_second_question_opens_no_second_match(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, [anna, bruno, *_others]):
        await anna.say("/match", GROUP)
        await bruno.say("/match", GROUP)
        await anna.press("Testa a Testa", GROUP)
        match = await match_in(worker)
        assert "has a match already" in (await bruno.press("Spades", GROUP)).toast
        assert (await match_in(worker)).code == match.code


async def test_repeated_command_shows_the_match_that_it_opened(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, [anna, *_others]):
        first = await anna.say("/match testa", GROUP, key="update 1")
        match = await match_in(worker)
        again = await anna.say("/match testa", GROUP, key="update 1")
        assert first.panel
        assert again.panel
        assert again.panel.digest == first.panel.digest
        assert (await match_in(worker)).code == match.code


async def test_command_without_words_reposts_the_message(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        await open_match(worker, players)
        await players[0].say("/help", GROUP)
        await players[0].say("/match", GROUP)
        await run_loops(worker)
        assert strip_isolates(fake.last(GROUP).plain) == board(fake, GROUP)


async def test_person_in_both_groups_plays_for_one(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, players):
        await open_match(worker, players)
        anna = players[0]
        await anna.press("Sign up", GROUP)
        await anna.press("Sign up", GROUP)
        assert "for the other group" in (await anna.press("Sign up", OTHER)).toast
        assert [len(side) for side in (await match_in(worker)).entrants] == [1, 0]
        await anna.press("Leave", GROUP)
        await anna.press("Sign up", OTHER)
        assert [len(side) for side in (await match_in(worker)).entrants] == [0, 1]


async def test_people_of_other_chats_cannot_enter(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, players):
        match = await open_match(worker, players)
        reply = await press_old_button(players[0], match.code, "enter", "paper:300")
        assert "between other groups" in reply.toast
        for verb in ("begin", "off"):
            assert "who opened and accepted" in (await press_old_button(players[1], match.code, verb)).toast
        assert (await match_in(worker)).closing == ""


async def test_nobody_enters_or_leaves_after_the_draw(store: Store) -> None:
    async with open_groups(store, (*NAMES, "Elsa")) as (worker, fake, players):
        await open_match(worker, players)
        elsa = players[4]
        for number, player in enumerate(players[:4]):
            await player.press("Sign up", group_of(number))
        await elsa.press("Sign up", OTHER)
        await run_loops(worker)
        await players[0].press("Start", GROUP)
        await run_loops(worker)
        match = await match_in(worker)
        # The second group has one more player, and Elsa entered last.
        assert len(match.pairs) == 2
        assert match.duel_of(elsa.person.id) == ""
        assert "Without an opponent: Elsa" in board(fake, GROUP)
        assert "aren’t in this match" in (await elsa.press("Play", OTHER)).toast
        for verb in ("enter", "leave", "off"):
            assert "has begun" in (await press_old_button(players[0], match.code, verb)).toast


async def test_entries_of_a_group_are_limited(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, players):
        match = await open_match(worker, players)
        people = [Person(f"paper:{number}", f"P{number}") for number in range(50, 51 + MAX_ENTRANTS)]
        answers = await asyncio.gather(
            *(matches_of(worker).enter(match.code, GROUP, person) for person in people), return_exceptions=True
        )
        assert len((await match_in(worker)).entrants[0]) == MAX_ENTRANTS
        assert sum(isinstance(answer, Exception) for answer in answers) == 1


async def test_organisers_call_a_match_off(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        await open_match(worker, players)
        await players[2].press("Call the match off", OTHER)
        await run_loops(worker)
        for place in (GROUP, OTHER):
            assert "The match was called off." in board(fake, place)
        assert (
            "This match is over" in (await press_old_button(players[0], (await match_in(worker)).code, "enter")).toast
        )


def entrants(*names: str) -> list[Entrant]:
    return [Entrant(name, name, number) for number, name in enumerate(names)]


def test_blocked_people_are_never_paired() -> None:
    blocked = {("a", "x"), ("b", "y"), ("c", "x"), ("c", "y")}
    for seed in range(50):
        pairs = draw_pairs(
            entrants("a", "b", "c"), entrants("x", "y", "z"), lambda *two: two not in blocked, Random(seed)
        )
        assert {(one.person, other.person) for one, other in pairs} == {("a", "y"), ("b", "x"), ("c", "z")}
    assert draw_pairs(entrants("a"), entrants("x"), lambda *two: False, Random(1)) == []


def test_draw_leaves_out_those_who_entered_last() -> None:
    drawn_people = set()
    for seed in range(50):
        pairs = draw_pairs(entrants("a", "b"), entrants("x", "y", "z"), lambda *two: True, Random(seed))
        assert len(pairs) == 2
        drawn_people |= {(one.person, other.person) for one, other in pairs}
    assert drawn_people == {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}


async def test_match_does_not_begin_if_blocks_leave_too_few_pairs(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, players):
        await open_match(worker, players)
        for number, player in enumerate(players):
            await player.press("Sign up", group_of(number))
        anna, _bruno, carla, dino = players
        await worker.blocks.add(anna.person.id, carla.person.id, "Carla")
        await worker.blocks.add(dino.person.id, anna.person.id, "Anna")
        await run_loops(worker)
        assert "who can meet" in (await anna.press("Start", GROUP)).toast
        await worker.blocks.forget(dino.person.id)
        await anna.press("Start", GROUP)
        match = await match_in(worker)
        pairs = {(one.name, other.name) for one, other in match.pairs}
        assert pairs == {("Anna", "Dino"), ("Bruno", "Carla")}


async def forget(player: Player) -> None:
    client = player.worker.store.client
    await player.worker.feature(PrivacyFeature).forgetter.begin(player.person.id)
    while not (await forgetting_marks(client))[player.person.id].is_erased:
        await asyncio.sleep(0.01)


async def stored_text(store: Store, code: str) -> bytes:
    return b" ".join(part for pair in (await store.client.hgetall(keys.match(code))).items() for part in pair)


async def test_forgotten_person_leaves_a_match_before_it_begins(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await open_match(worker, players)
        anna = players[0]
        await anna.press("Sign up", GROUP)
        feature = worker.feature(DuelsFeature)
        [exported] = (await feature.mydata(anna.person.id, 0.0))["matches"]
        assert (exported["code"], exported["side"], exported["organiser"]) == (match.code, 0, True)
        await forget(anna)
        await run_loops(worker)
        assert b"Anna" not in await stored_text(store, match.code)
        assert b"paper:1 " not in await stored_text(store, match.code) + b" "
        assert not await store.client.exists(keys.matches_of("paper:1"))
        assert "Anna" not in board(fake, OTHER)
        assert (await feature.mydata(anna.person.id, 0.0))["matches"] == []


async def test_others_play_on_after_a_player_is_forgotten(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        anna = players[0]
        duels = await matches_of(worker).duels_of(match)
        [own_duel] = [duel for duel in duels if duel.side_of(anna.person.id) == 0]
        await store_results(worker, own_duel, 1, 4, deals=2)
        await forget(anna)
        await run_loops(worker)
        match = await match_in(worker)
        assert match.closing == ""
        assert b"Anna" not in await stored_text(store, match.code)
        assert b'paper:1"' not in await stored_text(store, match.code)
        # The two deals that the opponent has played are won; the others count for nobody.
        assert "Bar Sport 0–2 Circolo" in board(fake, OTHER)
        assert "somebody" in board(fake, OTHER)
        [other] = [duel for duel in duels if duel.code != own_duel.code]
        for side in (0, 1):
            await store_results(worker, other, side, 3)
        await run_loops(worker)
        assert "Circolo wins the match 2–0." in board(fake, GROUP)
        bruno = players[1]
        assert bruno.person.name in board(fake, OTHER)
        await forget(bruno)
        await run_loops(worker)
        assert bruno.person.name not in board(fake, GROUP) + board(fake, OTHER)


async def test_person_forgotten_during_the_draw_has_no_duel(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, _fake, players):
        await open_match(worker, players)
        for number, player in enumerate(players):
            await player.press("Sign up", group_of(number))
        anna, duels = players[0], worker.feature(DuelsFeature).duels
        open_in_match = duels.open_in_match

        async def forget_first(*args):  # type: ignore[no-untyped-def]
            monkeypatch.setattr(duels, "open_in_match", open_in_match)
            await forget(anna)
            return await open_in_match(*args)

        monkeypatch.setattr(duels, "open_in_match", forget_first)
        await run_loops(worker)
        await players[2].press("Start", OTHER)
        await run_loops(worker)
        match = await match_in(worker)
        stored_match = await stored_text(store, match.code)
        for duel in await matches_of(worker).duels_of(match):
            stored_match += b" ".join((await store.client.hgetall(keys.duel(duel.code))).values())
            assert (duel.closing == "left") == any(is_pseudonym(player.person) for player in duel.players)
        assert b"Anna" not in stored_match
        assert not await store.client.exists(keys.of_person(anna.person.id))


async def test_banned_person_leaves_a_match_before_it_begins(store: Store) -> None:
    async with open_groups(store) as (worker, _fake, players):
        await open_match(worker, players)
        await players[1].press("Sign up", GROUP)
        await worker.feature(DuelsFeature).remove_banned(players[1].person.id, "b1")
        assert (await match_in(worker)).entrants == ((), ())


async def test_group_without_the_bot_does_not_stop_the_other_group(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        fake.errors[OTHER].append(ChatGone(OTHER))
        duels = await matches_of(worker).duels_of(match)
        await store_results(worker, duels[0], 0, 1)
        await store_results(worker, duels[0], 1, 0)
        await run_loops(worker)
        assert "5–0" in board(fake, GROUP)
        calls = [call for call in fake.calls if call[1] == OTHER]
        await store_results(worker, duels[1], 0, 1)
        await store_results(worker, duels[1], 1, 0, deals=2)
        await run_loops(worker)
        assert [call for call in fake.calls if call[1] == OTHER] == calls
        # The bot is back.
        await worker.feature(DuelsFeature).refresh_chat(OTHER)
        await run_loops(worker)
        assert "7–0" in board(fake, OTHER)
        # A platform also reports this after other changes of the chat.
        calls = list(fake.calls)
        await worker.feature(DuelsFeature).refresh_chat(OTHER)
        await run_loops(worker)
        assert fake.calls == calls


def let_pauses_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let messages be sent again that the platform has refused."""
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + REFUSED_SECONDS + 1)


async def test_refused_message_is_sent_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, players):
        fake.errors[GROUP] += [MessageRefused("not now")] * 9
        await open_match(worker, players)
        assert not [text for text in fake.texts(GROUP) if "🏟️ Match" in text]
        fake.errors[GROUP].clear()
        let_pauses_end(monkeypatch)
        pass_time(monkeypatch, CHECK_SECONDS + 1)
        await run_loops(worker)
        assert "Bar Sport – Circolo" in board(fake, GROUP)


@pytest.mark.long
async def test_changes_that_come_together_share_edits(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        await open_match(worker, players)
        fake.rate_limit_of[GROUP] = RateLimit(burst=1, interval=1.0)
        before = len(fake.calls)
        for number, player in enumerate(players):
            await player.press("Sign up", group_of(number))
            await worker.feature(DuelsFeature).boards.update_due()
        await worker.delivery.answers.tasks.wait()
        edits = [call for call in fake.calls[before:] if call[:2] == ("edit", GROUP)]
        assert len(edits) <= 2
        assert "Circolo (2)" in board(fake, GROUP)


async def test_message_that_arrived_with_an_error_is_sent_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, players):
        fake.errors_after_delivery[OTHER] += [PlatformFailure("lost answer")]
        await open_match(worker, players)
        await players[2].press("Sign up", OTHER)
        pass_time(monkeypatch, CHECK_SECONDS + 1)
        await run_loops(worker)
        assert "Circolo (1): Carla" in board(fake, OTHER)


async def test_deleted_message_is_sent_again(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        await open_match(worker, players)
        fake.messages[OTHER].clear()
        await players[0].press("Sign up", GROUP)
        await run_loops(worker)
        assert "Bar Sport (1): Anna" in board(fake, OTHER)


async def test_match_follows_a_moved_group(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        await begin_match(worker, players)
        for _ in range(2):
            await worker.feature(DuelsFeature).move_chat(OTHER, "paper:999")
        await run_loops(worker)
        match = await match_in(worker, "paper:999")
        assert [side.place for side in match.sides] == [GROUP, "paper:999"]
        assert "Bar Sport 0–0" in board(fake, "paper:999")
        assert await matches_of(worker).store.code_in(OTHER) == ""


async def test_kill_after_the_draw_leaves_no_pair_without_a_duel(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, platform, players):
        await open_match(worker, players)
        for number, player in enumerate(players):
            await player.press("Sign up", group_of(number))
        matches = matches_of(worker)

        async def stop(*_args: object) -> None:
            raise asyncio.CancelledError

        monkeypatch.setattr(matches.store, "set_duel", stop)
        match = await match_in(worker)
        with pytest.raises(asyncio.CancelledError):
            await matches.begin(match.code, players[0].person.id)
        assert (await match_in(worker)).begun_at
    async with open_groups(store, fake=platform) as (worker, fake, players):
        reply = await press_old_button(players[1], match.code, "play")
        assert "being drawn" in reply.toast
        await run_loops(worker)
        match = await match_in(worker)
        assert match.has_all_duels
        assert len(await worker.feature(DuelsFeature).duels.store.of_person(players[0].person.id)) == 1
        assert "0–0" in board(fake, GROUP)


async def test_draw_is_announced_once_after_a_kill(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform does not recognize messages that are sent again."""
    async with open_groups(store, fake=FakePlatform(knows_keys=False)) as (worker, platform, players):
        await open_match(worker, players)
        for number, player in enumerate(players):
            await player.press("Sign up", group_of(number))
        feature = worker.feature(DuelsFeature)

        async def send_and_stop(*_args: object) -> None:
            await feature.messages.send_due(feature.duels.now)
            raise asyncio.CancelledError

        monkeypatch.setattr(feature.matches.store, "set_duel", send_and_stop)
        match = await match_in(worker)
        with pytest.raises(asyncio.CancelledError):
            await feature.matches.begin(match.code, players[0].person.id)
    async with open_groups(store, fake=platform) as (worker, fake, players):
        await run_loops(worker)
        for player in players:
            announcements = [text for text in fake.texts(player.private) if "The match has begun" in text]
            assert len(announcements) == 1


def call_during(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, before: Callable[[], Awaitable[object]]
) -> None:
    """Call ``before`` right before the next call of a method."""
    method = getattr(owner, name)

    async def call(*args: object, **keywords: object) -> object:
        monkeypatch.setattr(owner, name, method)
        await before()
        return await method(*args, **keywords)

    monkeypatch.setattr(owner, name, call)


@pytest.mark.parametrize("first", ["forget", "move"])
async def test_group_moves_while_its_organiser_is_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        feature, anna = worker.feature(DuelsFeature), players[0]

        async def move() -> None:
            await feature.move_chat(GROUP, "paper:999")

        pseudonym = DuelPlayer("somebody:1", NAME)

        async def redact() -> None:
            await feature.matches.forget(anna.person.id, pseudonym)

        first_step, second_step = (redact, move) if first == "forget" else (move, redact)
        call_during(monkeypatch, feature.matches.store, "change", second_step)
        await first_step()
        await feature.duels.forget(anna.person.id, pseudonym)
        await run_loops(worker)
        match = await match_in(worker, "paper:999")
        assert [side.place for side in match.sides] == ["paper:999", OTHER]
        stored_match = await stored_text(store, match.code)
        assert b"Anna" not in stored_match
        assert b'paper:1"' not in stored_match
        for place in ("paper:999", OTHER):
            assert "somebody" in board(fake, place)
            assert "Anna" not in board(fake, place)


async def close_match(worker: Worker, players: list[Player]) -> Match:
    match = await begin_match(worker, players)
    await play_all(worker, match, [(1, 0), (2, 4)])
    await run_loops(worker)
    assert not await worker.store.client.zcard(keys.MATCHES_DUE)
    return await match_in(worker)


@pytest.mark.parametrize("days", [0, 30])
async def test_messages_of_a_closed_match_lose_a_forgotten_name(
    store: Store, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    async with open_groups(store) as (worker, fake, players):
        await close_match(worker, players)
        assert "Anna" in board(fake, OTHER)
        pass_time(monkeypatch, days * DAY)
        feature = worker.feature(DuelsFeature)
        # The loop draws the messages when the match has changed, and the duel has not.
        call_during(monkeypatch, feature.duels, "forget", lambda: run_loops(worker))
        await forget(players[0])
        fake.errors[OTHER].append(MessageRefused("not now"))
        await run_loops(worker)
        let_pauses_end(monkeypatch)
        await run_loops(worker)
        for place in (GROUP, OTHER):
            assert "somebody" in board(fake, place)
            assert "Anna" not in board(fake, place)
        assert not await store.client.zcard(keys.MATCHES_DUE)


async def test_closed_match_is_redacted_after_its_group_moved(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        await close_match(worker, players)
        fake.errors[GROUP].append(ChatGone(GROUP))
        await forget(players[0])
        await run_loops(worker)
        await worker.feature(DuelsFeature).move_chat(GROUP, "paper:999")
        await run_loops(worker)
        assert "somebody" in board(fake, "paper:999")
        assert not await store.client.zcard(keys.MATCHES_DUE)


async def test_message_of_an_earlier_version_is_edited(store: Store) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await begin_match(worker, players)
        for side in SIDES:
            key = keys.board(f"{match.code}:{side}")
            state = json.loads(await store.client.getdel(key))
            stored = {"place": "", "message": "", "digest": "", "sent": 0, "tried": "", "outdated": ""}
            stored |= {"is_dropped": False, "phase": state.pop("edition"), **state}
            await store.client.hset(keys.match(match.code), f"board:{side}", json.dumps(stored))
        await forget(players[0])
        await run_loops(worker)
        for place in (GROUP, OTHER):
            assert "Anna" not in board(fake, place)


async def test_redaction_during_a_check_is_not_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_groups(store) as (worker, fake, players):
        match = await close_match(worker, players)
        feature = worker.feature(DuelsFeature)
        await feature.matches.store.make_due(match.code)
        call_during(monkeypatch, feature.matches.store, "remove_due", lambda: forget(players[0]))
        await feature.boards.update_due()
        await run_loops(worker)
        assert "Anna" not in board(fake, GROUP) + board(fake, OTHER)


async def test_guessed_codes_of_matches_are_limited(store: Store) -> None:
    async with open_groups(store) as (_worker, _fake, players):
        toasts = [(await players[2].say(f"/match QQQQ{number}", OTHER)).toast for number in range(22, 28)]
        assert toasts[0] == "No match with this code: open your own with /match."
        assert "Too many wrong codes" in toasts[-1]
