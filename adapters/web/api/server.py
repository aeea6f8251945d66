"""The server of the API for programs."""

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
    Operation,
    OwnTables,
    Parameter,
    PlayedLine,
    RequestBody,
    WantedLine,
    WantedTable,
)
from adapters.web.api.problems import ApiError, not_found
from adapters.web.assets import MIN_GZIP_BYTES, is_unchanged
from adapters.web.limits import LimitExceeded, Lookup
from adapters.web.site import MAX_SENT, Site, browser_language
from bot.features.ratings.feature import RatingsFeature
from bot.features.ratings.players import ALL
from bot.http.server import body_timeout
from bot.identity.programs import Program, ProgramError, Scope
from bot.metrics import PAGES
from bot.parsing.codes_and_links import pasted_code
from bot.site.game_reader import AnalysisBusy, Answer, NotAnalysed, Reader
from bot.site.idempotency import fingerprint
from bot.site.what_if import ImpossibleLine, Line, WhatIfBusy
from bot.store import STORE_ERRORS
from bot.texts import language_of

NO_GAME = "There is no finished game with this id, or the game has no such deal."
NO_PLAYER = "There is no player with this id, or they have played no rated game."
NO_TABLE = "No table can be watched under this id: its game is over, or its chat does not allow it."
MISSING_REASONS = {"player": NO_PLAYER, "table": NO_TABLE}  # the detail of a 404, by operation; NO_GAME for all others

STATUSES = {  # by the reason of `ProgramError`
    "banned": HTTPStatus.FORBIDDEN,
    "missing": HTTPStatus.NOT_FOUND,
    "outdated": HTTPStatus.CONFLICT,
    "too_often": HTTPStatus.TOO_MANY_REQUESTS,
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
}
WRONG_ID_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED)  # count towards the limit of wrong ids and tokens

LOOKUP: web.RequestKey[Lookup] = web.RequestKey("lookup", Lookup)
PROGRAM: web.RequestKey[Program] = web.RequestKey("program", Program)
BODY: web.RequestKey[Any] = web.RequestKey("body", RequestBody)

log = structlog.get_logger()

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

Result = Answer | BaseModel | web.StreamResponse | None  # None if the game, player or table does not exist


class Api:
    """The handlers under `/api/v1`. The method that answers an operation has the operation's name."""

    def __init__(self, site: Site) -> None:
        self._card_room, self._limits, self._people = site.card_room, site.limits, site.people
        paths: dict[str, dict[str, Operation]] = {}
        for operation in OPERATIONS:
            paths.setdefault(operation.path, {})[operation.method] = operation
        self.routes: list[AbstractRouteDef] = [
            web.get(f"{BASE}/openapi.json", self._report_problems(self._openapi)),
            *(
                web.route("*", f"{BASE}{path}", self._report_problems(self._dispatch(operations)))
                for path, operations in paths.items()
            ),
            web.route("*", "/api{rest:.*}", self._report_problems(self._unknown_path)),
        ]

    def close(self) -> None:
        """End the streams at shutdown, because they would wait for the next change."""
        if self._limits.streams:
            self._card_room.watching.stop()

    def _dispatch(self, operations: dict[str, Operation]) -> Handler:
        """Return the handler of a path, given its operations by method."""

        async def answer(request: web.Request) -> web.StreamResponse:
            operation = operations.get("GET" if request.method == "HEAD" else request.method)
            # Refuse HEAD for streams: the client would read the stream's lines as its next response.
            if operation is None or (request.method == "HEAD" and operation.is_stream):
                allowed = ", ".join(sorted(operations))
                detail = f"This path accepts only {allowed}."
                raise ApiError(HTTPStatus.METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed})
            if operation.scope:
                request[PROGRAM] = await self._authenticate(request, operation.scope)
                # With a valid token, wrong codes do not count as guesses: it can read only the program's own tables.
                request[LOOKUP].end()
            for parameter in operation.parameters:
                _check_parameter(parameter, request)
            if operation.body:
                request[BODY] = await _read_body(request, operation.body)
            handler: Callable[[web.Request], Awaitable[Result]] = getattr(self, operation.name)
            try:
                if operation.scope:
                    self._card_room.program_tables.check_not_banned(request[PROGRAM])
                if KEY in operation.parameters:
                    digest = fingerprint(operation.name, dict(request.match_info), request[BODY].model_dump())
                    await self._card_room.program_tables.claim_key(request[PROGRAM], _key(request), digest)
                result = await handler(request)
            except ProgramError as error:
                raise ApiError(STATUSES[error.reason], str(error), error.wait) from None
            if isinstance(result, web.StreamResponse):
                return result
            if operation.scope and isinstance(result, BaseModel):
                body, headers = result.model_dump_json().encode(), {"Cache-Control": "no-store"}
                return web.Response(body=body, content_type="application/json", headers=headers)
            return _conditional_response(request, result, MISSING_REASONS.get(operation.name, NO_GAME))

        return answer

    def _report_problems(self, handler: Handler) -> Handler:
        """Wrap a handler: errors become problem responses (`adapters.web.api.problems`)."""

        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                with self._limits.lookup(request) as lookup:
                    request[LOOKUP] = lookup
                    try:
                        return await handler(request)
                    except ApiError as error:
                        lookup.end(missing=error.status in WRONG_ID_STATUSES)
                        return error.response()
            except LimitExceeded as error:
                return ApiError(HTTPStatus.TOO_MANY_REQUESTS, str(error), error.wait).response()
            except STORE_ERRORS as error:
                return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, self._card_room.report_store_error(error), 5).response()
            except Exception:
                log.exception("api_request_failed")
                detail = "The bot failed. Its host can find the reason in the log."
                return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, detail).response()

        return answer

    async def _authenticate(self, request: web.Request, scope: Scope) -> Program:
        """Return the program that sent a token with this scope. Cookies are ignored, so writes cannot be forged."""
        token = _token(request)
        program = await self._card_room.program_tables.programs.authenticate(token) if token else None
        if program is None:
            detail = "Send a valid token: Authorization: Bearer …"
            raise ApiError(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})
        if scope not in program.scopes:
            raise ApiError(HTTPStatus.FORBIDDEN, f"This token lacks the scope {scope!r}: ask the host for another.")
        return program

    async def _unknown_path(self, request: web.Request) -> web.StreamResponse:
        request[LOOKUP].end()
        raise not_found("There is no such path: see /api/v1/openapi.json.")

    async def _openapi(self, request: web.Request) -> web.StreamResponse:
        return _conditional_response(request, Answer.from_body(openapi_json()))

    # Finished games

    async def game(self, request: web.Request) -> Result:
        return await self._card_room.games.get_game(request.match_info["game_id"], _reader(request))

    async def record(self, request: web.Request) -> Result:
        return await self._card_room.games.get_record(request.match_info["game_id"])

    async def deal(self, request: web.Request) -> Result:
        game_id, number = request.match_info["game_id"], int(request.match_info["deal"])
        return await self._card_room.games.get_deal(game_id, number, _reader(request))

    async def analysis(self, request: web.Request, *, begin: bool = False) -> Result:
        game_id = request.match_info["game_id"]
        return await self._card_room.games.get_analysis(game_id, _reader(request), begin=begin)

    async def begin_analysis(self, request: web.Request) -> Result:
        try:
            return await self.analysis(request, begin=True)
        except AnalysisBusy:
            detail = "Too many games are being analysed: try again in a minute."
        except NotAnalysed:
            detail = "This game couldn’t be analysed: try again in a minute."
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, detail, 60)

    async def line(self, request: web.Request) -> Result:
        body: PlayedLine = request[BODY]
        return await self._try_line(self._card_room.what_if.get_line(_line(request), _reader(request), body.seat))

    async def line_verdicts(self, request: web.Request) -> Result:
        return await self._try_line(self._card_room.what_if.judge(_line(request)))

    async def _try_line(self, answer: Awaitable[Result]) -> Result:
        try:
            return await answer
        except ImpossibleLine as error:
            raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, f"The line is not possible: {error}") from None
        except WhatIfBusy:
            detail = "Too many people are trying lines: try again in a few seconds."
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, detail, 5) from None

    # Players

    async def leaderboard(self, request: web.Request) -> Result:
        game, period = (request.query.get(name, ALL) for name in ("game", "period"))
        players, person = self._card_room.feature(RatingsFeature).players, await self._person(request)
        return await players.leaderboard(person, game, period, _reader(request).language)

    async def player(self, request: web.Request) -> Result:
        players, person = self._card_room.feature(RatingsFeature).players, await self._person(request)
        return await players.player(request.match_info["player_id"], person, _reader(request).language)

    async def _person(self, request: web.Request) -> str:
        reader = await self._people.identify(request)
        return reader.person if reader else ""

    # Tables

    async def table(self, request: web.Request) -> Result:
        return await self._card_room.watching.get_table(request.match_info["watch_id"])

    async def table_stream(self, request: web.Request) -> Result:
        with self._limits.open_stream(request):
            states = await self._card_room.watching.stream(request.match_info["watch_id"])
            if states is None:
                raise not_found(NO_TABLE)
            return await self._stream_states(request, states)

    # A program's own tables

    async def me(self, request: web.Request) -> Result:
        return Me(name=request[PROGRAM].name, scopes=list(request[PROGRAM].scopes))

    async def my_tables(self, request: web.Request) -> Result:
        return OwnTables(tables=await self._card_room.program_tables.tables(request[PROGRAM].person))

    async def my_table(self, request: web.Request) -> Result:
        return await self._card_room.program_tables.table(request.match_info["code"], request[PROGRAM].person)

    async def open_table(self, request: web.Request) -> Result:
        body: WantedTable = request[BODY]
        return await self._card_room.program_tables.open(
            request[PROGRAM], body.game, body.rules, body.robots, _key(request), has_cuts=body.cuts
        )

    async def sit(self, request: web.Request) -> Result:
        code, seat = request.match_info["code"], request[BODY].seat
        return await self._card_room.program_tables.sit(request[PROGRAM], code, seat, _key(request))

    async def move(self, request: web.Request) -> Result:
        code, body = request.match_info["code"], request[BODY]
        return await self._card_room.program_tables.move(request[PROGRAM], code, body.version, body.move, _key(request))

    async def cut(self, request: web.Request) -> Result:
        code, body = request.match_info["code"], request[BODY]
        return await self._card_room.program_tables.cut(request[PROGRAM], code, body.version, body.cut, _key(request))

    async def my_stream(self, request: web.Request) -> Result:
        code, person = request.match_info["code"], request[PROGRAM].person
        await self._card_room.program_tables.table(code, person)
        with self._limits.open_stream(request):
            states = self._card_room.program_tables.states(code, person)
            return await self._stream_states(request, self._until_revoked(request, states))

    async def _until_revoked(self, request: web.Request, states: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """Yield states as long as the program's token is valid."""
        async with aclosing(states):
            async for state in states:
                if await self._card_room.program_tables.programs.authenticate(_token(request)) is None:
                    return
                yield state

    async def _stream_states(self, request: web.Request, states: AsyncGenerator[bytes]) -> web.StreamResponse:
        request[LOOKUP].end()
        # The last header keeps proxies from buffering lines.
        headers = {"Content-Type": NDJSON, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        # A ConnectionError here comes from the client, never from the store.
        with suppress(ConnectionError), PAGES.labels("stream").track_inprogress():
            async with aclosing(states):
                await response.prepare(request)
                try:
                    async for state in states:
                        await response.write(state + b"\n")
                except ConnectionError:
                    raise
                except STORE_ERRORS as error:
                    self._card_room.report_store_error(error)
                except Exception:
                    log.exception("api_stream_failed")
            await response.write_eof()
        return response


def _check_parameter(parameter: Parameter, request: web.Request) -> None:
    """Raise `ApiError` for a missing or malformed parameter. Normalise a table's code."""
    if parameter is TABLE_CODE and (code := pasted_code(request.match_info["code"])):
        request.match_info["code"] = code
    if parameter.location == "path" and not re.fullmatch(parameter.pattern, request.match_info[parameter.name]):
        raise not_found(f"The {parameter.name.replace('_', ' ')} in the path is malformed.")
    if parameter.location == "header" and not re.fullmatch(parameter.pattern, request.headers.get(parameter.name, "")):
        detail = f"Send the header {parameter.name}: it must match {parameter.pattern}."
        raise ApiError(HTTPStatus.BAD_REQUEST, detail)
    value = request.query.get(parameter.name)
    if parameter.location == "query" and value is not None and value not in parameter.choices:
        raise ApiError(HTTPStatus.BAD_REQUEST, f"{parameter.name} must be one of {', '.join(parameter.choices)}.")


async def _read_body(request: web.Request, model: type[RequestBody]) -> RequestBody:
    """Return the parsed body; raise an `ApiError` that names the first fault."""
    if request.content_type != "application/json":
        raise ApiError(HTTPStatus.BAD_REQUEST, "Send the body as application/json.")
    try:
        async with body_timeout():
            body = await request.read()
        return model.model_validate_json(body)
    except web.HTTPRequestTimeout:
        raise ApiError(HTTPStatus.REQUEST_TIMEOUT, "The body did not arrive in time: send it again.") from None
    except web.HTTPRequestEntityTooLarge:
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Send at most {MAX_SENT} bytes.") from None
    except web.HTTPBadRequest:
        raise ApiError(HTTPStatus.BAD_REQUEST, "The body does not match its Content-Encoding.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        location = ".".join(map(str, first["loc"])) or "body"
        raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{location}: {first['msg']}") from None


def _token(request: web.Request) -> str:
    """Return the bearer token, or "". RFC 9110 (11.1, 11.4) allows any case of the scheme and several spaces."""
    scheme, _space, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _key(request: web.Request) -> str:
    return request.headers[KEY.name]


def _line(request: web.Request) -> Line:
    body: WantedLine = request[BODY]
    return Line(request.match_info["game_id"], int(request.match_info["deal"]), body.place, tuple(body.moves))


def _reader(request: web.Request) -> Reader:
    language = request.query.get("language", language_of(browser_language(request)))
    return Reader(language, request.query.get("suits", "italian"))


def _conditional_response(
    request: web.Request, answer: Answer | BaseModel | None, missing_reason: str = NO_GAME
) -> web.Response:
    """Return the answer, or 304 if the client already has it. Raise a 404 with ``missing_reason`` for None."""
    if answer is None:
        raise not_found(missing_reason)
    if isinstance(answer, BaseModel):
        answer = Answer.from_body(answer.model_dump_json().encode())
    headers = {
        "ETag": f'"{answer.tag}"',
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding, Accept-Language, Cookie",
    }
    if is_unchanged(request, answer.tag):
        return web.Response(status=304, headers=headers)
    body = answer.body
    if len(body) >= MIN_GZIP_BYTES and "gzip" in request.headers.get("Accept-Encoding", ""):
        body, headers["Content-Encoding"] = gzip.compress(body, 6, mtime=0), "gzip"
    return web.Response(body=body, content_type="application/json", headers=headers)
