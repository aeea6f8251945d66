"""The OpenAPI 3.1 description of the HTTP API, built from `operations.OPERATIONS`."""

import json
import re
from functools import cache
from http import HTTPStatus
from inspect import getdoc
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.api import problems
from adapters.web.api.operations import BASE, OPERATIONS, Operation, Parameter
from adapters.web.api.problems import Problem
from bot.site.api_models import TUPLE_TYPES
from bot.version import VERSION

# The description of 422. Operations without an Idempotency-Key use it only for the first reason.
UNPROCESSABLE = "The rules do not allow it, or the Idempotency-Key belongs to another request."


@cache
def openapi_json() -> bytes:
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()


def document() -> dict[str, Any]:
    answers = [model for operation in OPERATIONS for model in operation.models]
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    models: list[type[BaseModel]] = list(dict.fromkeys([*answers, *bodies, Problem]))
    names, schemas = models_json_schema(
        [(model, "serialization") for model in models], ref_template="#/components/schemas/{model}"
    )
    for kind in TUPLE_TYPES:
        schemas["$defs"][kind.__name__]["description"] = getdoc(kind)
    for schema in schemas["$defs"].values():
        if "description" in schema:
            schema["description"] = _json_words(schema["description"])
    references: dict[type[BaseModel] | None, Any] = {model: names[model, "serialization"] for model in models}
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, references)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Buongioco",
            "version": VERSION,
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


def _json_words(docstring: str) -> str:
    """Return a docstring as one line, with null for None."""
    return re.sub(r"\s+", " ", docstring.replace("``", "`").replace("None", "null"))


def _operation(operation: Operation, references: dict[type[BaseModel] | None, Any]) -> dict[str, Any]:
    schemas = [references[model] for model in operation.models]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    problem = {problems.MEDIA_TYPE: {"schema": references[Problem]}}
    retry_after = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    body = {"required": True, "content": {"application/json": {"schema": references.get(operation.body)}}}
    answers: dict[str, Any] = {
        "200": {"description": operation.summary, "content": {operation.media_type: {"schema": schema}}}
    }
    for status in operation.statuses:
        text = UNPROCESSABLE if status == HTTPStatus.UNPROCESSABLE_ENTITY else HTTPStatus(status).phrase
        answers[str(status)] = {"description": text, "content": problem}
        if status in (429, 503):
            answers[str(status)]["headers"] = retry_after
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        **({"description": operation.description} if operation.description else {}),
        **({"security": [{"token": []}], "x-scope": operation.scope} if operation.scope else {}),
        **({"requestBody": body} if operation.body else {}),
        "parameters": [_parameter(parameter) for parameter in operation.parameters],
        "responses": answers,
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    elif parameter.kind == "string":
        schema["pattern"] = f"^{parameter.pattern}$"
    else:
        schema["minimum"] = 1
    return {
        "name": parameter.name,
        "in": parameter.location,
        "required": parameter.location != "query",
        "description": parameter.description,
        "schema": schema,
    }
