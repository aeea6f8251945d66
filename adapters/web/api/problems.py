"""Errors of the API as `application/problem+json` (RFC 9457)."""

import math
from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """An error (RFC 9457). ``type`` is always about:blank, because the status says enough."""

    model_config = ConfigDict(frozen=True)
    type: str = "about:blank"
    title: str = Field(description="The name of the status.")
    status: int
    detail: str = Field(description="The error in English, for display.")


class ApiError(Exception):
    """An error that becomes a `Problem`. ``retry_after`` is in seconds, None if a retry cannot help."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after, self.headers = status, detail, retry_after, headers or {}

    def response(self) -> web.Response:
        problem = Problem(title=self.status.phrase, status=self.status.value, detail=self.detail)
        headers = {"Cache-Control": "no-store", **self.headers}
        if self.retry_after is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after)))
        body = problem.model_dump_json().encode()
        return web.Response(status=self.status.value, body=body, content_type=MEDIA_TYPE, headers=headers)


def not_found(detail: str) -> ApiError:
    return ApiError(HTTPStatus.NOT_FOUND, detail)
