"""Requests of the lobby that no page sends: guessed codes."""

import aiohttp
import pytest

from adapters.web.limits import Limits
from bot.features.duels.feature import DuelsFeature
from bot.platform import Person
from bot.tables.chairs import Invited
from tests.open_playground import OpenPlayground
from tests.web.test_tables import Visitor


async def test_guessed_codes_get_one_answer_and_are_counted(
    site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted_paths = []
    monkeypatch.setattr(Limits, "count_code", lambda _limits, request: counted_paths.append(request.path))
    monkeypatch.setattr(Limits, "give_code_back", lambda _limits, request: counted_paths.remove(request.path))
    table = await site.worker.challenges.open_table("testa", "web:1", "Anna", "open")
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        bruno = Visitor(site, session)
        own_table = await bruno.play("testa", friend="1", name="Bruno")
        declined = [await bruno.post(f"/t/{code}/decline") for code in (table.code, "QQQQQQ")]
        assert {(answer.status, answer.headers.get("Location")) for answer in declined} == {(303, "/")}
        answers = [await bruno.post(f"/t/{code}/anyone", anyone="1") for code in (table.code, "QQQQQQ", own_table)]
        whys = [(await answer.json())["why"] for answer in answers]
        assert whys[0].replace(table.code, "QQQQQQ") == whys[1] != ""
        assert whys[2] == ""
    assert counted_paths == [f"/t/{code}/anyone" for code in (table.code, "QQQQQQ")]


async def test_blocks_are_made_and_undone_on_a_page(site: OpenPlayground) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        bruno = Visitor(site, session)
        code = await bruno.play("testa", friend="1", name="Bruno")
        person = (await site.worker.room.table(code)).opener.person
        duel = await site.worker.feature(DuelsFeature).duels.open(
            Person("web:99", "Anna"), "testa", "open", invited=Invited(person, "", "Bruno")
        )
        assert (await bruno.post("/blocks", place="duel.QQQQQQ")).status == 200
        assert (await bruno.post("/blocks", place="duel/1")).status == 403
        answer = await bruno.post("/blocks", place=f"duel.{duel.code}")
        assert (answer.status, answer.headers["Location"]) == (303, "/blocks")
        [block] = await site.worker.blocks.blocks_of(person)
        assert block.person == "web:99"
        assert "Unblock \u2068Anna\u2069" in (await bruno.get("/blocks"))[1]
        await bruno.post("/blocks", undo=block.token)
        assert await site.worker.blocks.blocks_of(person) == []
