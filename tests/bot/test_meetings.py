"""Each place where two people meet offers to block the other person, and a block is obeyed everywhere."""

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.features.duels.feature import DuelsFeature
from bot.features.find.feature import FindFeature
from bot.features.open_tables.feature import OpenTablesFeature
from bot.features.opponents.feature import OpponentsFeature
from bot.panel import Panel
from bot.platform import Person, private_place
from bot.store import Store
from bot.tables.chairs import Invited
from bot.tables.errors import NoChairForYou
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, Player, open_worker
from tests.bot.features.duels.test_duels import find_duel, meet, no_loops, open_players, press_on, run_loops
from tests.bot.features.opponents.test_opponents import challenge, no_cache, play

__all__ = ["no_cache", "no_loops"]

ROOT = Path(__file__).parents[2]
ANNA, BRUNO, CARLA = (Person(f"web:{number}", name, "en") for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))

NOTICES = {
    "bot/features/duels/pages.py": "the messages have Block, see MESSAGES",
    "bot/panels/challenge.py": "the card has Block, see MESSAGES",
    "bot/features/daily/pages.py": "names nobody",
    "bot/features/tournaments/reminders.py": "opponents play in the sight of a group, in which /block @name works",
    "bot/panels/hand.py": "at tables of strangers hands have Block; friends are recent opponents or people of a chat",
}
"""The modules whose messages notify people unasked, and where the named person can be blocked."""


async def receive_duel(anna: Player, bruno: Player) -> None:
    await anna.say("/duel @bruno testa", anna.private)
    await run_loops(anna.worker)


async def receive_challenge(anna: Player, bruno: Player) -> None:
    host = private_place(bruno.person.id)
    invited = Invited(bruno.person.id, "", "Bruno")
    await anna.worker.challenges.open_table("testa", anna.person.id, "Anna", "open", host=host, invited=invited)
    await anna.worker.wait_until_idle()


async def play_duel_together(anna: Player, bruno: Player) -> None:
    await receive_duel(anna, bruno)
    await press_on(bruno, (await find_duel(anna)).code, "Play")
    await bruno.say(f"/duel {(await find_duel(anna)).code}", bruno.private)


# Phrases after a game are tested in `tests.bot.features.find.test_phrases`.
MESSAGES: dict[str, Callable[[Player, Player], Awaitable[None]]] = {
    "challenge to a duel": receive_duel,
    "page of a duel": play_duel_together,
    "challenge by name": receive_challenge,
}


@pytest.mark.parametrize("place", MESSAGES)
async def test_sender_of_a_message_can_be_blocked(store: Store, place: str) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await MESSAGES[place](anna, bruno)
        before = anna.fake.texts(anna.private)
        await bruno.press("🚫 Block")
        assert "Block \u2068Anna\u2069?" in last(bruno).plain
        assert not await worker.blocks.has_blocked(bruno.person.id, anna.person.id)
        await bruno.press("Yes, block")
        assert await worker.blocks.has_blocked(bruno.person.id, anna.person.id)
        assert anna.fake.texts(anna.private) == before
        await bruno.press("Blocked players")
        await bruno.press("Unblock")
        assert await worker.blocks.blocks_of(bruno.person.id) == []


async def test_block_button_works_in_italian(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await worker.people.update_person(bruno.person.id, language="it")
        await receive_duel(anna, bruno)
        await bruno.press("🚫 Blocca")
        assert "Bloccare \u2068Anna\u2069?" in last(bruno).plain


async def test_people_met_on_pages_can_be_blocked_there(worker: Worker) -> None:
    await play(worker, ANNA, BRUNO)
    blocks, opponents = worker.feature(FindFeature).blocks, worker.feature(OpponentsFeature).site
    code = await challenge(worker)
    assert [line.code for line in await opponents.challenges_to(BRUNO.id, "en")] == [code]
    assert await blocks.block(BRUNO, ["table", code]) == ""
    assert await opponents.challenges_to(BRUNO.id, "en") == []
    assert await opponents.opponents(BRUNO.id, "en") == []
    [line] = await blocks.block_lines(BRUNO.id)
    await blocks.unblock(BRUNO.id, line.token)
    [opponent] = await opponents.opponents(BRUNO.id, "en")
    assert await blocks.block(BRUNO, ["game", opponent.game_id, str(opponent.seat)]) == ""
    assert await opponents.opponents(BRUNO.id, "en") == []


async def test_blocking_in_a_foreign_place_reveals_nothing(worker: Worker) -> None:
    """A table or duel of others gets the same answer as one that does not exist."""
    await play(worker, ANNA, BRUNO)
    code, blocks = await challenge(worker), worker.feature(FindFeature).blocks
    duel = await worker.feature(DuelsFeature).duels.open(ANNA, "testa", "open")
    places = [["table", code], ["table", "QQQQQQ"], ["duel", duel.code], ["duel", "QQQQQQ"], ["nonsense", "1"]]
    assert len({await blocks.block(CARLA, place) for place in places}) == 1
    assert await blocks.block_lines(CARLA.id) == []
    # The challenger has met nobody in an open duel.
    assert await blocks.block(ANNA, ["duel", duel.code]) != ""


async def test_challenge_of_a_blocked_person_leaves_the_list(store: Store) -> None:
    async with open_players(store, "Anna", "Bruno") as (worker, (anna, bruno)):
        await meet(anna, bruno)
        await receive_duel(anna, bruno)
        duels = worker.feature(DuelsFeature).duels
        assert [duel.code for duel in await duels.duels_of(bruno.person.id)] == [(await find_duel(anna)).code]
        await worker.blocks.add(bruno.person.id, anna.person.id, "Anna")
        assert await duels.duels_of(bruno.person.id) == []
        assert len(await duels.duels_of(anna.person.id)) == 1


async def test_seated_guest_keeps_blocked_people_from_an_open_table(worker: Worker) -> None:
    table = await worker.challenges.open_table("tressette", ANNA.id, "Anna", "open")
    await worker.challenges.sit(table.code, BRUNO.id, "Bruno", "sit", 1)
    await worker.blocks.add(BRUNO.id, CARLA.id, "Carla")
    assert await worker.feature(OpenTablesFeature).site.choose(table.code, ANNA.id, "en", is_open=True) == ""
    with pytest.raises(NoChairForYou):
        await worker.challenges.sit(table.code, CARLA.id, "Carla", "sit 2", 3)
    [block] = await worker.blocks.blocks_of(BRUNO.id)
    await worker.blocks.remove(BRUNO.id, block.token)
    assert CARLA.id in (await worker.challenges.sit(table.code, CARLA.id, "Carla", "sit 3", 3)).people


async def test_every_kind_of_place_is_known(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        assert worker.meetings.kinds == {"game", "table", "duel"}


def test_every_notice_says_where_its_person_is_blocked() -> None:
    templates = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "bot").rglob("*.py")
        if path.name != "levers.py" and any(map(_makes_notice, ast.walk(ast.parse(path.read_text()))))
    }
    assert templates == set(NOTICES), "say in NOTICES where the person whom the message names can be blocked"


def test_every_template_about_others_has_a_block_form() -> None:
    words = ('action="/challenge"', "/decline", 'name="decline"', 'name="rematch"')
    texts = {path.name: path.read_text() for path in (ROOT / "adapters/web/templates").glob("*.html")}
    about_others = {name for name, text in texts.items() if any(word in text for word in words)}
    assert about_others == {"lobby.html", "duel.html", "sit.html"}
    assert all("block_form.html" in texts[name] for name in about_others)


def last(player: Player) -> Panel:
    return player.fake.last(player.private)


def _makes_notice(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Notification"
