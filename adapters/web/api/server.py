"""Answers programs, by the table of what they may ask."""

import gzip
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from http import HTTPStatus
from typing import Any

import structlog
from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef
from pydantic import BaseModel, ValidationError

from adapters.web.api.openapi import openapi_json
from adapters.web.api.operations import (
    BASE,
    KEY,
    NDJSON,
    OPERATIONS,
    TABLE_CODE,
    Me,
    Move,
    Operation,
    OwnTables,
    Parameter,
    RequestBody,
    WantedSeat,
    WantedTable,
)
from adapters.web.api.problems import ApiError, not_found
from adapters.web.limits import LimitExceeded, Lookup
from adapters.web.site import MOST_SENT, Site, browser_language
from bot.card_room import CardRoom
from bot.features.ratings.feature import RatingsFeature
from bot.features.ratings.players import ALL, Players
from bot.idempotency import fingerprint
from bot.pasted_text import pasted_code
from bot.programs import Program, ProgramError, Scope
from bot.site.reader import AnalysisBusy, Answer, NotAnalysed, Reader
from bot.store import STORE_ERRORS
from bot.texts import language_of
from bot.web_server import body_timeout

MIN_GZIP_BYTES = 800
NO_GAME = "There is no finished game of this id, or no such deal in it."
NO_PLAYER = "There is no player of this id, or none who was ever rated."
NO_TABLE = "There is no table to be watched under this id: its game may be over, or its chat does not want it."

STATUSES = {
    "missing": HTTPStatus.NOT_FOUND,
    "old": HTTPStatus.CONFLICT,
    "often": HTTPStatus.TOO_MANY_REQUESTS,
    "wrong": HTTPStatus.UNPROCESSABLE_ENTITY,
}
"""How it is answered that something cannot be."""

WRONG_ID_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED)
"""How it is answered that an id which anybody may try, or a token, leads nowhere."""

LOOKUP: web.RequestKey[Lookup] = web.RequestKey("lookup", Lookup)
PROGRAM: web.RequestKey[Program] = web.RequestKey("program", Program)
BODY: web.RequestKey[Any] = web.RequestKey("body", RequestBody)

log = structlog.get_logger()

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """What stands under `/api/v1`. Each method answers the operation of its name."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._card_room = card_room
        self._limits, self._people = site.limits, site.people
        paths: dict[str, dict[str, Operation]] = {}
        for one in OPERATIONS:
            paths.setdefault(one.path, {})[one.method] = one
        self.routes: list[AbstractRouteDef] = [
            web.get(f"{BASE}/openapi.json", self._with_problems(self._openapi)),
            *(
                web.route("*", f"{BASE}{path}", self._with_problems(self._dispatch(ways)))
                for path, ways in paths.items()
            ),
            web.route("*", "/api{rest:.*}", self._with_problems(self._unknown_path)),
        ]

    @property
    def _players(self) -> Players:
        return self._card_room.feature(RatingsFeature).players

    def close(self) -> None:
        """End the streams: nobody is to wait for what will not come."""
        if self._limits.streams:
            self._card_room.watching.stop()

    def _dispatch(self, ways: dict[str, Operation]) -> Handler:
        """What answers a path, by the request's method."""

        async def answer(request: web.Request) -> web.StreamResponse:
            one = ways.get("GET" if request.method == "HEAD" else request.method)
            # A stream has no head of its own to tell: its lines would stand where the next answer is read.
            if one is None or (request.method == "HEAD" and one.is_stream):
                allowed = ", ".join(sorted(ways))
                raise ApiError(HTTPStatus.METHOD_NOT_ALLOWED, f"Only {allowed} is answered here.", allow=allowed)
            if one.scope:
                request[PROGRAM] = await self._authenticate(request, one.scope)
                # Of codes a good token tells no more than where its program sits.
                request[LOOKUP].end()
            for parameter in one.parameters:
                _check_parameter(parameter, request)
            if one.body:
                request[BODY] = await _read_body(request, one.body)
            handler: Handler = getattr(self, one.name)
            try:
                if KEY in one.parameters:
                    said = fingerprint(one.name, dict(request.match_info), request[BODY].model_dump())
                    key = request.headers[KEY.name]
                    await self._card_room.playing.claim_key(request[PROGRAM], key, said)
                return await handler(request)
            except ProgramError as fault:
                raise ApiError(STATUSES[fault.reason], str(fault), fault.wait) from None

        return answer

    def _with_problems(self, handler: Handler) -> Handler:
        """A handler whose errors are problems."""

        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                with self._limits.lookup(request) as lookup:
                    request[LOOKUP] = lookup
                    try:
                        return await handler(request)
                    except ApiError as error:
                        lookup.end(nowhere=error.status in WRONG_ID_STATUSES)
                        return error.response()
            except LimitExceeded as error:
                return ApiError(HTTPStatus.TOO_MANY_REQUESTS, str(error), error.wait).response()
            except STORE_ERRORS as error:
                return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, self._card_room.report_store_error(error), 5).response()
            except Exception:
                log.exception("api_failed")
                return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong with me.").response()

        return answer

    async def _authenticate(self, request: web.Request, scope: Scope) -> Program:
        """Who asks, by a token that allows it. Cookies say nothing here: what is written needs no other check."""
        token = _token(request)
        program = await self._card_room.playing.programs.authenticate(token) if token else None
        if program is None:
            raise ApiError(HTTPStatus.UNAUTHORIZED, "Send a good token: Authorization: Bearer …", challenge="Bearer")
        if scope not in program.scopes:
            raise ApiError(HTTPStatus.FORBIDDEN, f"This token does not allow to {scope}.")
        return program

    async def _unknown_path(self, request: web.Request) -> web.StreamResponse:
        request[LOOKUP].end()
        raise not_found("Nothing stands here: /api/v1/openapi.json says what may be asked.")

    async def _openapi(self, request: web.Request) -> web.StreamResponse:
        return _json_response(request, Answer.from_body(openapi_json()))

    # Finished games

    async def game(self, request: web.Request) -> web.StreamResponse:
        return _game_response(
            request, await self._card_room.games.get_game(request.match_info["game_id"], _reader(request))
        )

    async def record(self, request: web.Request) -> web.StreamResponse:
        return _game_response(request, await self._card_room.games.get_record(request.match_info["game_id"]))

    async def deal(self, request: web.Request) -> web.StreamResponse:
        game_id, number = request.match_info["game_id"], int(request.match_info["deal"])
        return _game_response(request, await self._card_room.games.get_deal(game_id, number, _reader(request)))

    async def analysis(self, request: web.Request) -> web.StreamResponse:
        return _game_response(
            request, await self._card_room.games.get_analysis(request.match_info["game_id"], _reader(request))
        )

    async def begin_analysis(self, request: web.Request) -> web.StreamResponse:
        game_id = request.match_info["game_id"]
        try:
            return _game_response(
                request, await self._card_room.games.get_analysis(game_id, _reader(request), begin=True)
            )
        except AnalysisBusy:
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "Too many games are being analysed.", 60) from None
        except NotAnalysed:
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "This game could not be analysed.", 60) from None

    # Players

    async def leaderboard(self, request: web.Request) -> web.StreamResponse:
        game, period = (request.query.get(name, ALL) for name in ("game", "period"))
        found = await self._players.leaderboard(await self._person(request), game, period, _reader(request).language)
        return _json_response(request, Answer.from_body(found.model_dump_json().encode()))

    async def player(self, request: web.Request) -> web.StreamResponse:
        found = await self._players.player(
            request.match_info["player_id"], await self._person(request), _reader(request).language
        )
        if found is None:
            raise not_found(NO_PLAYER)
        return _json_response(request, Answer.from_body(found.model_dump_json().encode()))

    async def _person(self, request: web.Request) -> str:
        """Who asks; empty for a stranger."""
        reader = await self._people.identify(request)
        return reader.person if reader else ""

    # Tables

    async def table(self, request: web.Request) -> web.StreamResponse:
        table = await self._card_room.watching.get_table(request.match_info["watch_id"])
        if table is None:
            raise not_found(NO_TABLE)
        return _json_response(request, Answer.from_body(table.model_dump_json().encode()))

    async def table_stream(self, request: web.Request) -> web.StreamResponse:
        with self._limits.open_stream(request):
            states = await self._card_room.watching.stream(request.match_info["watch_id"])
            if states is None:
                raise not_found(NO_TABLE)
            return await self._stream_lines(request, states)

    # A program's own tables

    async def me(self, request: web.Request) -> web.StreamResponse:
        program: Program = request[PROGRAM]
        return _private_response(Me(name=program.name, scopes=list(program.scopes)))

    async def my_tables(self, request: web.Request) -> web.StreamResponse:
        return _private_response(OwnTables(tables=await self._card_room.playing.tables(request[PROGRAM].person)))

    async def my_table(self, request: web.Request) -> web.StreamResponse:
        return _private_response(
            await self._card_room.playing.table(request.match_info["code"], request[PROGRAM].person)
        )

    async def open_table(self, request: web.Request) -> web.StreamResponse:
        wanted: WantedTable = request[BODY]
        program, key = request[PROGRAM], request.headers[KEY.name]
        return _private_response(
            await self._card_room.playing.open(program, wanted.game, wanted.rules, wanted.robots, key)
        )

    async def sit(self, request: web.Request) -> web.StreamResponse:
        wanted: WantedSeat = request[BODY]
        program, key, code = request[PROGRAM], request.headers[KEY.name], request.match_info["code"]
        return _private_response(await self._card_room.playing.sit(program, code, wanted.seat, key))

    async def move(self, request: web.Request) -> web.StreamResponse:
        wanted: Move = request[BODY]
        program, key, code = request[PROGRAM], request.headers[KEY.name], request.match_info["code"]
        return _private_response(await self._card_room.playing.move(program, code, wanted.version, wanted.move, key))

    async def my_stream(self, request: web.Request) -> web.StreamResponse:
        code, person = request.match_info["code"], request[PROGRAM].person
        await self._card_room.playing.table(code, person)
        with self._limits.open_stream(request):
            return await self._stream_lines(
                request, self._until_revoked(request, self._card_room.playing.states(code, person))
            )

    async def _until_revoked(self, request: web.Request, states: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """What a program is told for as long as its token is good."""
        async with aclosing(states):
            async for state in states:
                if await self._card_room.playing.programs.authenticate(_token(request)) is None:
                    return
                yield state

    async def _stream_lines(self, request: web.Request, states: AsyncGenerator[bytes]) -> web.StreamResponse:
        """Lines of JSON, as they come to be."""
        request[LOOKUP].end()
        # Proxies are told to pass lines on as they come.
        headers = {"Content-Type": NDJSON, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        # That its reader has gone is no fault of the store's.
        with suppress(ConnectionError):
            async with aclosing(states), aclosing(self._until_error(states)) as told:
                await response.prepare(request)
                async for state in told:
                    await response.write(state + b"\n")
            await response.write_eof()
        return response

    async def _until_error(self, states: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """What a stream tells; it ends early where the store is away."""
        try:
            async for state in states:
                yield state
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)
        except Exception:
            log.exception("api_stream_failed")


def _check_parameter(parameter: Parameter, request: web.Request) -> None:
    """A path that is none leads nowhere; a choice that is none is said to be so.

    A table's code may be written as people write it: a program gets it from them.
    """
    if parameter is TABLE_CODE and (code := pasted_code(request.match_info["code"])):
        request.match_info["code"] = code
    if parameter.place == "path" and not re.fullmatch(parameter.pattern, request.match_info[parameter.name]):
        raise not_found(f"This is no {parameter.name.replace('_', ' ')}.")
    if parameter.place == "header" and not re.fullmatch(parameter.pattern, request.headers.get(parameter.name, "")):
        raise ApiError(HTTPStatus.BAD_REQUEST, f"Send {parameter.name}: it is {parameter.pattern}.")
    said = request.query.get(parameter.name)
    if parameter.place == "query" and said is not None and said not in parameter.choices:
        allowed = ", ".join(parameter.choices)
        raise ApiError(HTTPStatus.BAD_REQUEST, f"{parameter.name} is one of {allowed}.")


async def _read_body(request: web.Request, model: type[RequestBody]) -> RequestBody:
    """What a request says; a problem that names what is wrong with it."""
    if request.content_type != "application/json":
        raise ApiError(HTTPStatus.BAD_REQUEST, "Send application/json.")
    try:
        async with body_timeout():
            body = await request.read()
        return model.model_validate_json(body)
    except web.HTTPRequestTimeout:
        raise ApiError(HTTPStatus.REQUEST_TIMEOUT, "What was to be sent did not come.") from None
    except web.HTTPRequestEntityTooLarge:
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Send {MOST_SENT} bytes at the most.") from None
    except web.HTTPBadRequest:
        raise ApiError(HTTPStatus.BAD_REQUEST, "What was sent is not in the encoding that it says.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{where}: {first['msg']}") from None


def _token(request: web.Request) -> str:
    """Return the token that a request brings; empty if it brings none.

    The scheme is case-insensitive, and one or more spaces follow it (RFC 9110, sections 11.1 and 11.4).
    """
    scheme, _space, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _private_response(answer: BaseModel) -> web.Response:
    """What only its reader may see: nothing between us keeps it."""
    headers = {"Cache-Control": "no-store"}
    return web.Response(body=answer.model_dump_json().encode(), content_type="application/json", headers=headers)


def _reader(request: web.Request) -> Reader:
    return Reader(
        request.query.get("language", language_of(browser_language(request))), request.query.get("suits", "italian")
    )


def _game_response(request: web.Request, answer: Answer | None) -> web.Response:
    if answer is None:
        raise not_found(NO_GAME)
    return _json_response(request, answer)


def _json_response(request: web.Request, answer: Answer) -> web.Response:
    """An answer, or that its reader has it already."""
    headers = {
        "ETag": f'"{answer.tag}"',
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding, Accept-Language, Cookie",
    }
    known = request.if_none_match or ()
    if any(tag.value in (answer.tag, "*") for tag in known):
        return web.Response(status=304, headers=headers)
    body = answer.body
    if len(body) >= MIN_GZIP_BYTES and "gzip" in request.headers.get("Accept-Encoding", ""):
        body, headers["Content-Encoding"] = gzip.compress(body, 6, mtime=0), "gzip"
    return web.Response(body=body, content_type="application/json", headers=headers)
