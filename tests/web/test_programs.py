"""Programs that play through `/api/v1`: tokens, tables, moves, and the example program."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from adapters.web.api import server
from adapters.web.api.operations import OPERATIONS
from adapters.web.site import MAX_SENT
from bot.features.privacy.feature import PrivacyFeature
from bot.identity.adapter_data import delete_adapter_data
from bot.identity.programs import MAX_EACH, Programs, is_program
from bot.rate_limiter import RateLimit
from bot.site.idempotency import KEPT_SECONDS, UsedKeys
from bot.tables.code_guard import WRONG_CODES
from engine import GAMES, verify
from engine.shuffle import commitment
from tests.bot.command import run_command
from tests.long import long, mostly_long
from tests.open_playground import OpenPlayground
from tests.paths import ROOT
from tests.web.test_sessions import ANNA, BRUNO, Chat

EXAMPLE = ROOT / "examples" / "robot.py"
UNLIKELY = ("claim", "resign")


class Client:
    """A program with a token."""

    def __init__(self, site: OpenPlayground, session: aiohttp.ClientSession, token: str) -> None:
        self.url, self.session, self.token = f"{site.url}api/v1", session, token
        self.keys = iter(range(10_000_000, 99_999_999))

    async def request(
        self, path: str, body: object = None, *, key: str = "", **headers: str
    ) -> tuple[int, dict[str, Any]]:
        headers_ = {"Authorization": f"Bearer {self.token}", **headers}
        if body is None:
            call = self.session.get(self.url + path, headers=headers_)
        else:
            headers_["Idempotency-Key"] = key or str(next(self.keys))
            call = self.session.post(self.url + path, json=body, headers=headers_)
        async with call as answer:
            return answer.status, await answer.json(content_type=None)

    async def call(self, path: str, body: object = None, key: str = "") -> dict[str, Any]:
        status, answer = await self.request(path, body, key=key)
        assert status == 200, answer
        return answer


async def add_program(site: OpenPlayground, session: aiohttp.ClientSession, name: str = "Deep Three") -> Client:
    _program, token = await Programs(site.worker.store.client).add(name)
    return Client(site, session, token)


async def test_program_reads_its_account_and_permissions(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    assert await program.call("/me") == {"name": "🤖 Deep Three", "scopes": ["read", "play"]}
    _reader, token = await Programs(site.worker.store.client).add("Looks on", ("read",))
    reader = Client(site, session, token)
    assert await reader.call("/me/tables") == {"tables": []}
    status, problem = await reader.request("/me/tables", {"game": "testa"})
    assert (status, problem["status"]) == (403, 403)


async def test_table_code_can_be_written_in_any_form(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    code = (await program.call("/me/tables", {"game": "testa", "robots": "easy"}))["code"]
    for spelling in (code.lower(), f"%23{code}", f"({code})"):
        assert (await program.call(f"/me/tables/{spelling}"))["code"] == code
    status, _problem = await program.request("/me/tables/no.code")
    assert status == 404


@pytest.mark.parametrize("token", ["", "x", "x.y", "0123456789ab.", ".", "ü.ü", "a" * 3000])
async def test_invalid_token_is_refused(site: OpenPlayground, session: aiohttp.ClientSession, token: str) -> None:
    program = await add_program(site, session)
    for invalid in (token, program.token[:-1], f"{program.token}0"):
        async with session.get(
            f"{site.url}api/v1/me", headers={"Authorization": f"Bearer {invalid}".encode().decode("latin-1")}
        ) as answer:
            assert answer.status == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            problem = await answer.json(content_type=None)
            assert program.token not in json.dumps(problem)


async def test_token_that_is_not_text_is_refused(site: OpenPlayground) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    host = f"127.0.0.1:{site.port}".encode()
    writer.write(b"GET /api/v1/me HTTP/1.1\r\nHost: " + host + b"\r\nAuthorization: Bearer \xff\xfe.x\r\n\r\n")
    async with asyncio.timeout(60):
        head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 401 ")
    assert b"\r\nContent-Type: application/problem+json\r\n" in head
    writer.close()


async def test_unexpected_error_gives_a_problem_and_is_logged(
    site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_arguments: object) -> None:
        raise LookupError("an unexpected error")

    program = await add_program(site, session)
    monkeypatch.setattr("bot.handlers.program_tables.ProgramTables.tables", fail)
    with capture_logs() as logs:
        status, problem = await program.request("/me/tables")
    assert (status, problem["status"]) == (500, 500)
    assert "an unexpected error" not in problem["detail"]
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["api_request_failed"]
    assert program.token not in str(logs)


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ({}, b'{"game": "' + b"x" * MAX_SENT + b'"}', 413),
        ({"Content-Encoding": "gzip"}, b"no gzip", 400),
    ],
)
async def test_oversized_and_badly_encoded_bodies_give_a_problem(
    site: OpenPlayground, session: aiohttp.ClientSession, kind: dict[str, str], body: bytes, status: int
) -> None:
    program = await add_program(site, session)
    headers = {"Authorization": f"Bearer {program.token}", "Idempotency-Key": "12345678", **kind}
    headers["Content-Type"] = "application/json"
    async with session.post(f"{program.url}/me/tables", data=body, headers=headers) as answer:
        assert (answer.status, answer.content_type) == (status, "application/problem+json")
        assert (await answer.json(content_type=None))["status"] == status
    assert all(413 in operation.statuses for operation in OPERATIONS if operation.body)


async def test_disconnect_during_a_request_is_not_a_store_outage(
    site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, ended, read_body = asyncio.Event(), asyncio.Event(), server._read_body

    async def read_slowly(*arguments: Any) -> Any:
        started.set()
        try:
            return await read_body(*arguments)
        finally:
            ended.set()

    program = await add_program(site, session)
    monkeypatch.setattr(server, "_read_body", read_slowly)
    _reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    log_lines = [
        "POST /api/v1/me/tables HTTP/1.1",
        f"Host: 127.0.0.1:{site.port}",
        f"Authorization: Bearer {program.token}",
        "Idempotency-Key: 12345678",
        "Content-Type: application/json",
        "Content-Length: 100",
    ]
    with capture_logs() as logs:
        writer.write("\r\n".join([*log_lines, "", "{"]).encode())
        async with asyncio.timeout(60):
            await started.wait()
            writer.close()
            await ended.wait()
        await site.worker.wait_until_idle()
    assert not [line for line in logs if line["log_level"] == "error"]


async def test_stream_ends_with_its_token(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program, opponent = await add_program(site, session), await add_program(site, session, "Other")
    table = await program.call("/me/tables", {"game": "testa"})
    code = table["code"]
    url = f"{program.url}/me/tables/{code}/stream"
    async with asyncio.timeout(60), session.get(url, headers={"Authorization": f"Bearer {program.token}"}) as answer:
        assert json.loads(await answer.content.readline())["code"] == code
        await Programs(site.worker.store.client).revoke(program.token.partition(".")[0])
        await opponent.call(f"/me/tables/{code}/seat", {})
        assert await answer.content.read() == b"", "the stream sent cards dealt after the revocation"


async def test_revoked_token_is_refused(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    programs = Programs(site.worker.store.client)
    assert await programs.revoke(program.token.partition(".")[0])
    assert (await program.request("/me"))[0] == 401
    assert program.token.partition(".")[2] not in repr(await site.worker.store.client.hgetall("programs"))


@pytest.fixture
async def site_with_its_store(tmp_path: Path) -> AsyncIterator[OpenPlayground]:
    """A site with the store in its data folder, where commands find it."""
    running = OpenPlayground(tmp_path / "data")
    await running.start()
    yield running
    await running.stop()


async def test_host_manages_tokens_while_the_bot_runs(
    site_with_its_store: OpenPlayground, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    site = site_with_its_store

    async def run_token_command(*arguments: str, code: int = 0) -> str:
        answer = await asyncio.to_thread(run_command, tmp_path, "token", *arguments, BUONGIOCO_PLAYGROUND_PORT="0")
        assert answer.returncode == code, answer.stderr
        return answer.stdout + answer.stderr

    program = Client(site, session, (await run_token_command("make", "Deep Three")).split()[0])
    assert (await program.call("/me"))["name"] == "🤖 Deep Three"
    reader = Client(site, session, (await run_token_command("make", "Looks on", "--read-only")).split()[0])
    assert (await reader.call("/me"))["scopes"] == ["read"]
    listing = await run_token_command()
    assert "2 programs" in listing
    id_, _dot, secret = program.token.partition(".")
    assert f"{id_}  read play  🤖 Deep Three" in listing
    assert secret not in listing
    await run_token_command("revoke", id_)
    assert (await program.request("/me"))[0] == 401
    assert "There is no program" in await run_token_command("revoke", id_, code=2)
    for name in ("Nonna Rosa", "🤖 nonna  rosa"):
        assert "own robots has this name" in await run_token_command("make", name, code=2)
    assert "needs a name" in await run_token_command("make", "🤖", code=2)


async def test_forgotten_program_loses_its_token(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    client = site.worker.store.client
    [stored_program] = await Programs(client).all_programs()
    await delete_adapter_data(client, stored_program.person)
    assert (await program.request("/me"))[0] == 401
    assert await Programs(client).all_programs() == []


async def test_cookie_does_not_work_as_a_token(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    async with session.get(f"{site.url}api/v1/me", cookies={"buongioco": program.token}) as answer:
        assert answer.status == 401


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(GAMES, "pizzichino", "spades"))
async def test_two_programs_play_and_are_not_rated(
    site: OpenPlayground, session: aiohttp.ClientSession, game: str
) -> None:
    random, seats = Random(game), GAMES[game].seats
    programs = [await add_program(site, session, f"Number {number}") for number in range(seats)]
    code = (await programs[0].call("/me/tables", {"game": game}))["code"]
    for player in programs[1:]:
        table = await player.call(f"/me/tables/{code}/seat", {})
        if table["seat"] is None:
            # In this game the player opposite must accept first.
            stored_table = await site.worker.room.table(code)
            [(seat, _person)] = stored_table.asking.items()
            ruler = stored_table.chairs[stored_table.ruler_of(seat) or 0]
            assert ruler
            await site.worker.challenges.answer(code, ruler.person, seat, True, f"yes {seat}")
    for _ in range(3000):
        tables = [await player.call(f"/me/tables/{code}") for player in programs]
        if tables[0]["phase"] != "playing":
            break
        for player, table in zip(programs, tables, strict=True):
            moves = [move for move in table["moves"] if move not in UNLIKELY]
            if table["turn"] == table["seat"]:
                body = {"version": table["version"], "move": random.choice(moves)}
                await player.call(f"/me/tables/{code}/moves", body)
        if tables[0]["deal"] > 1:
            mover = next(program for program, table in zip(programs, tables, strict=True) if "resign" in table["moves"])
            table = await mover.call(f"/me/tables/{code}")
            await mover.call(f"/me/tables/{code}/moves", {"version": table["version"], "move": "resign"})
    async with asyncio.timeout(60):
        # The game is archived just after the table reports its end.
        while not (games := [program async for program in site.worker.archive.games()]):
            await asyncio.sleep(0.01)
    [finished] = games
    verify(finished.record)
    assert all(map(is_program, finished.people))
    assert not finished.is_rated


async def test_program_cuts_the_pack(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    programs = [await add_program(site, session, f"Number {number}") for number in (0, 1)]
    code = (await programs[0].call("/me/tables", {"game": "testa", "cuts": True}))["code"]
    table = await programs[1].call(f"/me/tables/{code}/seat", {})
    sealed = (await site.worker.room.table(code)).sealed
    assert (table["phase"], table["cutter"] in (0, 1), table["seal"]) == ("open", True, commitment(sealed))
    cutter, other = programs[table["cutter"]], programs[1 - table["cutter"]]
    path, body = f"/me/tables/{code}/cut", {"version": table["version"], "cut": "c0ffee"}
    assert (await other.request(path, body))[0] == 422
    assert (await cutter.request(path, body | {"cut": "XY"}))[0] == 422
    assert (await cutter.request(path, body | {"version": table["version"] - 1}))[0] == 409
    cut = await cutter.call(path, body, key="cut-cut-cut")
    assert (cut["phase"], cut["cutter"], cut["seal"]) == ("playing", None, table["seal"])
    assert (await cutter.call(path, body, key="cut-cut-cut"))["version"] == cut["version"]
    assert (await cutter.request(path, body))[0] == 409
    game = (await site.worker.room.table(code)).game
    assert game
    proof = json.loads(game.record().to_json())["deals"][0]["proof"]
    assert (proof["cut"], proof["cut_by"]) == ("c0ffee", table["cutter"])


async def test_repeated_move_is_made_once(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    table = await program.call("/me/tables", {"game": "testa", "robots": "easy"}, key="open-open")
    assert (await program.call("/me/tables", {"game": "testa", "robots": "easy"}, key="open-open"))["code"] == table[
        "code"
    ]
    while table["turn"] != table["seat"]:
        await asyncio.sleep(0.01)
        table = await program.call(f"/me/tables/{table['code']}")
    moves = f"/me/tables/{table['code']}/moves"
    body = {"version": table["version"], "move": next(move for move in table["moves"] if move.startswith("play"))}
    first = await program.call(moves, body, key="move-move")
    repeated = await program.call(moves, body, key="move-move")
    assert repeated["version"] >= first["version"]
    game = (await site.worker.room.table(table["code"])).game
    assert game
    made_moves = [entry for entry in game.history(0) if entry[1] == body["move"]]
    assert len(made_moves) == 1
    # With another key the same move is an outdated decision.
    assert (await program.request(moves, body))[0] == 409


async def test_key_of_a_removed_table_opens_no_other_table(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    program, room = await add_program(site, session), site.worker.room
    table = await program.call("/me/tables", {"game": "testa"}, key="open-open")
    await room.remove(await room.table(table["code"]))
    status, problem = await program.request("/me/tables", {"game": "testa"}, key="open-open")
    assert (status, "new key" in problem["detail"]) == (409, True)
    assert await program.call("/me/tables") == {"tables": []}
    await program.call("/me/tables", {"game": "testa"}, key="open-open-2")


async def test_impossible_requests_explain_why(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program, stranger = await add_program(site, session), await add_program(site, session, "Nosy")
    table = await program.call("/me/tables", {"game": "metamazzo", "robots": "easy"})
    table_path = f"/me/tables/{table['code']}"
    for path, body, status, expected in (
        ("/me/tables", {"game": "briscola"}, 422, "briscola"),
        ("/me/tables", {"game": "testa", "rules": {"target": 7}}, 422, "target"),
        ("/me/tables", {"game": "testa", "more": 1}, 422, "more"),
        ("/me/tables/ZZZZZZ/seat", {}, 404, "ZZZZZZ"),
        (f"{table_path}/moves", {"version": table["version"], "move": "play ZZ"}, 422, "ZZ"),
        (f"{table_path}/moves", {"version": 0, "move": "play 3D"}, 409, "has expired"),
        (f"{table_path}/moves", {"version": "x", "move": "play 3D"}, 422, "version"),
        (f"{table_path}/seat", {"seat": 9}, 422, "seat"),
    ):
        answer_status, problem = await program.request(path, body)
        assert (answer_status, problem["status"]) == (status, status), (path, problem)
        assert expected in problem["detail"]
    assert (await stranger.request(table_path))[0] == 404
    assert (await stranger.request(f"{table_path}/moves", {"version": 99, "move": "play 3D"}))[0] == 404
    assert (await program.request("/me/tables", {"game": "testa"}, key="short"))[0] == 400


async def test_codes_guessed_by_programs_count_like_those_of_people(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    program, guesser = await add_program(site, session), await add_program(site, session, "Nosy")
    code = (await program.call("/me/tables", {"game": "testa"}))["code"]
    full = (await program.call("/me/tables", {"game": "metamazzo", "robots": "easy"}))["code"]
    # For tables of other people the answer is the same as for unknown tables.
    for path, body in (("", None), ("/moves", {"version": 1, "move": "play 3D"})):
        for guess in (full, "ZZZZZZ"):
            status, problem = await guesser.request(f"/me/tables/{guess}{path}", body)
            assert (status, problem["detail"]) == (
                404,
                f"You have no seat at table {guess}: /tables shows your tables.",
            )
    guesses = [full, *(f"ZZZZZ{letter}" for letter in "ABCDEFGH")]
    answers = [await guesser.request(f"/me/tables/{guess}/seat", {}) for guess in guesses]
    assert [status for status, _problem in answers] == [422, *[404] * (WRONG_CODES.burst - 1), *[429] * 4]
    assert "Too many wrong codes" in answers[-1][1]["detail"]
    assert (await guesser.request(f"/me/tables/{code}/seat", {}))[0] == 429
    # Requests for a program's own table are not guesses.
    for _ in range(2 * WRONG_CODES.burst):
        await program.call(f"/me/tables/{code}/seat", {})


async def test_unknown_ids_with_a_valid_token_do_not_count(
    site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUONGIOCO_RATE_LIMITS", "true")
    monkeypatch.setattr("adapters.web.limits.MISSES", RateLimit(burst=1, interval=3600.0))
    await site.stop()
    await site.start()
    program, intruder = await add_program(site, session), Client(site, session, "bgp_wrong")
    for _ in range(3):
        for path in ("/me/tables/AAAAAA", "/me/tables/AAAAAA/stream", "/me/tables/no", "/me/nothing"):
            assert (await program.request(path))[0] == 404, path
        move = {"version": 1, "move": "resign"}
        assert (await program.request("/me/tables/AAAAAA/moves", move))[0] == 404
    assert (await program.request("/me"))[0] == 200
    assert [(await intruder.request("/me"))[0] for _ in range(2)] == [401, 429]


async def test_result_is_available_after_the_table_is_gone(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    """A polling program rarely asks between the opponent's last move and the removal of the table."""
    program, opponent = await add_program(site, session), await add_program(site, session, "Other")
    code = (await program.call("/me/tables", {"game": "testa"}))["code"]
    table = await opponent.call(f"/me/tables/{code}/seat", {})
    resignation = {"version": table["version"], "move": "resign"}
    await opponent.call(f"/me/tables/{code}/moves", resignation, key="lost-answer")
    await site.worker.wait_until_idle()
    assert (await program.call("/me/tables"))["tables"] == []
    assert (await opponent.call(f"/me/tables/{code}/moves", resignation, key="lost-answer"))["phase"] == "over"
    result = await program.call(f"/me/tables/{code}")
    assert (result["phase"], result["winner"], result["seat"], result["moves"]) == ("over", [0], 0, [])
    assert await site.worker.archive.get(result["replay"])
    headers = {"Authorization": f"Bearer {program.token}"}
    async with session.get(f"{program.url}/me/tables/{code}/stream", headers=headers) as stream:
        assert [json.loads(line) async for line in stream.content if line.strip()] == [result]
    third = await add_program(site, session, "Third")
    assert (await third.request(f"/me/tables/{code}"))[0] == 404
    assert (await program.request(f"/me/tables/{code}/moves", {"version": result["version"], "move": "resign"}))[
        0
    ] == 404


async def test_player_sees_only_their_own_hand(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program, opponent = await add_program(site, session), await add_program(site, session, "Other")
    code = (await program.call("/me/tables", {"game": "testa"}))["code"]
    await opponent.call(f"/me/tables/{code}/seat", {})
    tables = [await player.call(f"/me/tables/{code}") for player in (program, opponent)]
    hands = [set(table["view"]["hand"]) for table in tables]
    assert not hands[0] & hands[1]
    for own, hidden in (hands, hands[::-1]):
        table = next(table for table in tables if set(table["view"]["hand"]) == own)
        assert not any(f'"{card}"' in json.dumps(table) for card in hidden)


async def run_example(url: str, token: str) -> tuple[int | None, str, str]:
    """Run the example. Return its exit code, stdout and stderr."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        EXAMPLE,
        url.rstrip("/"),
        "testa",
        "strong",
        env={"ROBOT_TOKEN": token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, err = await running.communicate()
    return running.returncode, output.decode(), err.decode()


@pytest.mark.parametrize("is_heard", [True, long(False)])
async def test_example_reopens_a_stream_that_ends_before_the_game(*, is_heard: bool) -> None:
    """Streams end early when the bot stops or loses its store."""
    playing = {"code": "ABCDEF", "phase": "playing", "deal": 1, "version": 7, "moves": ["play 3D"], "game": "testa"}
    playing |= {"seat": 0, "cutter": None, "turn": 1, "totals": [0, 0], "winner": None, "replay": None}
    result = playing | {"phase": "over", "turn": None, "totals": [21, 3], "winner": [0], "replay": "ABCDEF-012345"}
    answers: list[tuple[int, dict[str, Any]]] = [
        (200, playing),
        (503, {"detail": "The store is away."}),
        # The connection breaks in the middle of a line.
        (0, {}),
        (200, result),
    ]
    if not is_heard:
        answers[1:] = [(404, {"detail": "You have no seat at table ABCDEF: /tables shows your tables."})]

    async def open_table(_request: web.Request) -> web.Response:
        return web.json_response(playing)

    async def send_stream(request: web.Request) -> web.StreamResponse:
        status, body = answers.pop(0)
        response = web.StreamResponse(status=status or 200)
        await response.prepare(request)
        if status:
            await response.write(json.dumps(body).encode() + b"\n")
            await response.write_eof()
        else:
            await response.write(b"{")
            assert request.transport
            request.transport.close()
        return response

    app = web.Application()
    app.add_routes([web.post("/api/v1/me/tables", open_table), web.get("/api/v1/me/tables/ABCDEF/stream", send_stream)])
    async with TestServer(app) as server:
        code, out, err = await run_example(str(server.make_url("/")), "token")
    assert answers == []
    if is_heard:
        assert (code, out) == (0, "won [21, 3] ABCDEF-012345\n"), err
    else:
        assert (code, out) == (1, "")
        assert err == "Table ABCDEF was removed before its result arrived. Run again for a new game.\n"


def test_example_is_short() -> None:
    example_lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert len(example_lines) <= 75, (
        f"examples/robot.py has {len(example_lines)} lines, and docs/api.md promises some 75"
    )


@pytest.mark.long
async def test_example_plays_a_game_against_the_strong_robot(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    program = await add_program(site, session, "Example")
    code, output, err = await run_example(site.url, program.token)
    assert code == 0, err
    first_deal, *_other_deals, end = output.splitlines()
    assert first_deal.startswith("deal 1 is over, totals by side: [")
    outcome, *_totals, replay = end.split()
    assert outcome in ("won", "lost")
    assert await site.worker.archive.get(replay)


def test_writing_operations_need_a_token_and_a_key() -> None:
    for operation in OPERATIONS:
        # Requests about lines store nothing.
        if operation.body and not operation.name.startswith("line"):
            assert operation.scope == "play"
            assert "Idempotency-Key" in [parameter.name for parameter in operation.parameters]


async def test_key_of_another_request_gets_422(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program, other_program = await add_program(site, session), await add_program(site, session, "Other")
    request = {"game": "metamazzo"}
    table = await program.call("/me/tables", request, "first-key")
    spades = {"game": "spades", "robots": "strong", "rules": {"target": 200}}
    move = {"version": table["version"], "move": "play 3D"}
    path = f"/me/tables/{table['code']}"
    waiting_table = await other_program.call("/me/tables", {"game": "testa"})
    for url, body in (
        ("/me/tables", spades),
        (f"{path}/moves", move),
        (f"{path}/seat", {}),
        (f"/me/tables/{waiting_table['code']}/seat", {}),
    ):
        status, problem = await program.request(url, body, key="first-key")
        assert (status, problem["status"]) == (422, 422), url
        assert "Idempotency-Key" in problem["detail"]
    assert len((await program.call("/me/tables"))["tables"]) == 1
    assert (await program.call(path))["version"] == table["version"]
    # The order of fields does not matter for a repeat, and each program has its own keys.
    repeated = await program.call("/me/tables", {"robots": None, "rules": {}, "game": "metamazzo"}, "first-key")
    assert repeated["code"] == table["code"]
    assert (await other_program.call("/me/tables", request, "first-key"))["code"] != table["code"]


async def test_key_of_a_refused_request_stays_reserved(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    assert (await program.request("/me/tables", {"game": "nonsense"}, key="first-key"))[0] == 422
    status, problem = await program.request("/me/tables", {"game": "testa"}, key="first-key")
    assert status == 422
    assert "Idempotency-Key" in problem["detail"]
    assert (await program.request("/me/tables", {"game": "testa"}, key="next-key"))[0] == 200


async def test_simultaneous_repeats_are_done_once(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    program = await add_program(site, session)
    request = {"game": "metamazzo"}
    tables = await asyncio.gather(*(program.call("/me/tables", request, "same-key") for _ in range(8)))
    assert len({table["code"] for table in tables}) == 1
    assert len((await program.call("/me/tables"))["tables"]) == 1


async def test_stored_keys_of_a_program_are_limited(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.site.idempotency.KEYS_KEPT", 4)
    client = site.worker.store.client
    used = UsedKeys(client)
    for number in range(10):
        assert await used.claim("one", f"key{number:05}", "a")
    assert await used.claim("one", "key00009", "a")
    assert not await used.claim("one", "key00006", "b")
    assert await used.claim("one", "key00005", "b")
    assert await client.hlen("used_keys:one") == 2 * 4 + 1
    assert 0 < await client.ttl("used_keys:one") <= KEPT_SECONDS


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer  "])
async def test_token_scheme_can_have_any_case(
    site: OpenPlayground, session: aiohttp.ClientSession, scheme: str
) -> None:
    program = await add_program(site, session)
    assert (await program.request("/me", Authorization=f"{scheme}{program.token}"))[0] == 200


async def test_people_make_and_revoke_tokens_in_settings(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    anna, bruno = Chat(site, ANNA), Chat(site, BRUNO)
    reply = await anna.press("1pprograms make play")
    assert reply.panel
    assert reply.private
    [token] = [span.text.strip() for span in reply.panel.text if span.style == "code"]
    program = Client(site, session, token)
    assert (await program.call("/me"))["scopes"] == ["read", "play"]
    assert ANNA.name not in (await program.call("/me"))["name"]
    listing = await anna.press("1pprograms list")
    assert listing.panel
    assert (await program.call("/me"))["name"] in listing.panel.plain
    assert token not in listing.panel.plain
    [revoke] = [button for row in listing.panel.rows for button in row if button.label == "Revoke 1"]
    other_listing = await bruno.press("1pprograms list")
    assert other_listing.panel
    assert (await program.call("/me"))["name"] not in other_listing.panel.plain
    await bruno.press(revoke.payload)
    assert (await program.request("/me"))[0] == 200
    await anna.press(revoke.payload)
    assert (await program.request("/me"))[0] == 401


async def test_programs_are_limited_and_repeats_make_no_second(site: OpenPlayground) -> None:
    programs = Programs(site.worker.store.client)
    _program, first = await programs.add_owned(ANNA.id, ("read",), "k1")
    repeated, second = await programs.add_owned(ANNA.id, ("read",), "k1")
    assert await programs.authenticate(first) is None
    assert await programs.authenticate(second) == repeated
    assert len(await programs.owned_by(ANNA.id)) == 1
    anna = Chat(site, ANNA)
    for _ in range(MAX_EACH - 1):
        assert (await anna.press("1pprograms make read")).panel
    assert "revoke one" in (await anna.press("1pprograms make read")).toast
    for payload in (
        "1pprograms",
        "1pprograms make",
        "1pprograms make all",
        "1pprograms revoke",
        "1pprograms make play x",
    ):
        assert (await anna.press(payload)).toast
    # An id that is empty or unknown revokes nothing.
    for payload in ("1pprograms revoke ", "1pprograms revoke x"):
        await anna.press(payload)
    assert len(await programs.owned_by(ANNA.id)) == MAX_EACH
    data = site.worker.feature(PrivacyFeature).own_data
    file = json.loads((await data.file(ANNA.id, [], 0)).content)
    assert [program["scopes"] for program in file["programs"]] == [["read"]] * MAX_EACH
    await site.worker.feature(PrivacyFeature).forgetter.forget(
        ANNA.id, await site.worker.feature(PrivacyFeature).forgetter.begin(ANNA.id)
    )
    assert not await programs.owned_by(ANNA.id)


async def test_person_has_at_most_five_tokens_made_at_once(site: OpenPlayground) -> None:
    programs = Programs(site.worker.store.client)
    results = await asyncio.gather(
        *(programs.add_owned("telegram:1", ("read",), f"u{number}") for number in range(12)), return_exceptions=True
    )
    assert sum(isinstance(result, ValueError) for result in results) == 12 - MAX_EACH
    assert len(await programs.owned_by("telegram:1")) == MAX_EACH
    # A repeated update returns the same program.
    repeated = next(number for number, result in enumerate(results) if not isinstance(result, BaseException))
    await programs.add_owned("telegram:1", ("read",), f"u{repeated}")
    assert len(await programs.owned_by("telegram:1")) == MAX_EACH


async def test_people_cannot_use_up_the_hosts_programs(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.identity.programs.MAX_OF_PEOPLE", 3)
    programs = Programs(site.worker.store.client)
    for number in range(4):
        await programs.add(f"The host's {number}")
    for number in range(3):
        await programs.add_owned(f"telegram:{number}", ("read",), "u")
    with pytest.raises(ValueError, match="too many"):
        await programs.add_owned("telegram:9", ("read",), "u")
    await programs.add("The host's")
