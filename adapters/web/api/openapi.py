"""The description of the interface for programs, OpenAPI 3.1, made from its table."""

import json
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.api import problems
from adapters.web.api.operations import BASE, OPERATIONS, Operation, Parameter
from adapters.web.api.problems import Problem

OTHER_REQUEST = "The rules do not allow it, or the Idempotency-Key belongs to another request."
"""What 422 says. Only operations that take a key answer with it."""

REFERENCE = "#/components/schemas/{model}"


@cache
def openapi_json() -> bytes:
    """The whole of it, as JSON."""
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()


def document() -> dict[str, Any]:
    models: list[type[BaseModel]] = list(
        dict.fromkeys([*(model for one in OPERATIONS for model in one.models), *_bodies(), Problem])
    )
    names, schemas = models_json_schema([(model, "serialization") for model in models], ref_template=REFERENCE)
    references = {model: names[model, "serialization"] for model in models}
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, references)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Buongioco",
            "version": version("buongioco"),
            "summary": "Italian trick-taking cards: finished games, tables to watch, and tables to play at.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": BASE}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _bodies() -> list[type[BaseModel]]:
    return [one.body for one in OPERATIONS if one.body]


def _operation(one: Operation, references: dict[type[BaseModel], Any]) -> dict[str, Any]:
    found = [references[model] for model in one.models]
    schema = found[0] if len(found) == 1 else {"oneOf": found}
    problem = {problems.MEDIA_TYPE: {"schema": references[Problem]}}
    waits = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    answers: dict[str, Any] = {"200": {"description": one.summary, "content": {one.media_type: {"schema": schema}}}}
    for status in one.statuses:
        about = OTHER_REQUEST if status == HTTPStatus.UNPROCESSABLE_ENTITY else HTTPStatus(status).phrase
        answers[str(status)] = {"description": about, "content": problem}
        if status in (429, 503):
            answers[str(status)]["headers"] = waits
    return {
        "operationId": one.name,
        "summary": one.summary,
        **({"description": one.description} if one.description else {}),
        **({"security": [{"token": []}], "x-scope": one.scope} if one.scope else {}),
        **({"requestBody": _body(references[one.body])} if one.body else {}),
        "parameters": [_parameter(parameter) for parameter in one.parameters],
        "responses": answers,
    }


def _body(schema: Any) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _parameter(one: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": one.kind}
    if one.choices:
        schema["enum"] = list(one.choices)
    elif one.kind == "string":
        schema["pattern"] = f"^{one.pattern}$"
    else:
        schema["minimum"] = 1
    is_needed = one.place != "query"
    return {"name": one.name, "in": one.place, "required": is_needed, "description": one.description, "schema": schema}
