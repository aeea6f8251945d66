"""The host's levers on pages and in the API: all pages show the announcement, and a banned guest can only read."""

from http import HTTPStatus

import aiohttp
import pytest

from bot.identity.programs import Programs
from tests.open_playground import OpenPlayground
from tests.web.page_addresses import PAGES
from tests.web.test_programs import Client
from tests.web.test_tables import Visitor

TEXT = "Riavvio alle 22:00, le partite <b>restano</b>."


@pytest.mark.parametrize("address", [*PAGES, "x"])
async def test_every_page_shows_the_announcement(
    site: OpenPlayground, session: aiohttp.ClientSession, address: str
) -> None:
    visitor = Visitor(site, session)
    assert 'id="notice" role="status" hidden' in (await visitor.get("rules"))[1]
    await site.worker.store.levers.announce(TEXT, "root")
    await site.worker.store.levers.refresh()
    async with session.get(site.url + address, headers={"Accept": "text/html"}) as answer:
        page = await answer.text()
    assert 'id="notice" role="status"><p>Riavvio alle 22:00, le partite &lt;b&gt;restano&lt;/b&gt;.</p>' in page
    status, notice = await visitor.get("notice?language=it")
    assert (status, notice) == (200, '{"text": "' + TEXT + '"}')


async def test_notice_says_that_there_are_no_new_tables(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    visitor, levers = Visitor(site, session), site.worker.store.levers
    assert await visitor.get("notice") == (200, '{"text": ""}')
    await levers.begin_maintenance("", "root")
    await levers.refresh()
    assert "Per ora niente tavoli nuovi: riprova" in (await visitor.get("notice?language=it"))[1]
    answer = await visitor.post("/play", game="testa", robot="easy", key="0123456789abcdef")
    assert answer.status == HTTPStatus.OK
    assert "No new tables for now" in await answer.text()


async def test_banned_guest_can_only_read(site: OpenPlayground) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        visitor, worker = Visitor(site, session), site.worker
        code = await visitor.play()
        people = (await worker.room.table(code)).people
        [person] = [person for person in people if not person.startswith("robot:")]
        await worker.store.levers.ban(person, "root")
        await worker.bans.work()
        assert not await worker.room.lists.tables_of(person)
        for path, fields in (
            ("/play", {"game": "testa", "robot": "easy", "key": "0123456789abcdee"}),
            ("/daily", {}),
            (f"/t/{code}", {"name": "Anna"}),
            ("/settings", {"language": "it"}),
        ):
            answer = await visitor.post(path, None, **fields)
            assert answer.status == HTTPStatus.FORBIDDEN, path
            assert "You’re banned from this bot" in await answer.text()
        # Pages for all can be read.
        assert (await visitor.get("rules"))[0] == HTTPStatus.OK


async def test_banned_program_and_owner_are_refused(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    programs, levers = Programs(site.worker.store.client), site.worker.store.levers
    program, token = await programs.add_owned("telegram:42", ("read", "play"), "u1")
    client = Client(site, session, token)
    assert (await client.request("/me"))[0] == HTTPStatus.OK
    for person in (program.person, "telegram:42"):
        await levers.ban(person, "root")
        await levers.refresh()
        for path, body in (("/me", None), ("/me/tables", None), ("/me/tables", {"game": "testa"})):
            status, problem = await client.request(path, body)
            assert (status, problem["detail"][:27]) == (HTTPStatus.FORBIDDEN, "You’re banned from this bot")
        await levers.unban(person, "root")
        await levers.refresh()
    assert (await client.request("/me"))[0] == HTTPStatus.OK
