"""The description of the interface for people: `python -m adapters.web.api.reference` writes docs/api.md anew."""

import re
from pathlib import Path
from typing import Any

from adapters.web.api.openapi import document
from adapters.web.api.operations import BASE, OPERATIONS, Parameter

PAGE = Path(__file__).parents[3] / "docs" / "api.md"
MARK = "<!-- what follows is made from adapters/web/api/operations.py -->\n"


def reference() -> str:
    """The part of docs/api.md that follows from the table."""
    lines = []
    for one in OPERATIONS:
        lines += [
            f"### {one.method} {BASE}{one.path}",
            "",
            f"{one.summary}.{f' {one.description}' if one.description else ''}",
            "",
        ]
        lines += [
            f"- `{parameter.name}` ({parameter.place}): {_parameter_text(parameter)}" for parameter in one.parameters
        ]
        if one.body:
            lines.append(f"- body: `{one.body.__name__}`")
        if one.scope:
            lines.append(f"- a token with the scope `{one.scope}`")
        names = " or ".join(f"`{model.__name__}`" for model in one.models)
        lines += [f"- answers {names}, `{one.media_type}`", ""]
    lines += ["## What is answered", ""]
    for name, schema in sorted(document()["components"]["schemas"].items()):
        lines += [f"### {name}", "", *_schema_lines(schema), ""]
    return "\n".join(lines).rstrip() + "\n"


def _parameter_text(one: Parameter) -> str:
    return (
        f"{one.description} One of {', '.join(f'`{choice}`' for choice in one.choices)}."
        if one.choices
        else one.description
    )


def _schema_lines(schema: dict[str, Any]) -> list[str]:
    about = [re.sub(r"\s+", " ", schema["description"].replace("``", "`")), ""] if "description" in schema else []
    fields = [
        f"- `{name}` {_type_text(field)}{f': {text}' if (text := field.get('description')) else ''}"
        for name, field in schema.get("properties", {}).items()
    ]
    places = [f"- place {place}: {_type_text(item)}" for place, item in enumerate(schema.get("prefixItems", []))]
    return [*about, *fields, *places]


def _type_text(field: dict[str, Any]) -> str:
    """A field's type in a few words."""
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    if either := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(map(_type_text, either))
    if "const" in field:
        return f'"{field["const"]}"'
    if "enum" in field:
        return " or ".join(f'"{value}"' for value in field["enum"])
    if field.get("type") == "array":
        if "prefixItems" in field:
            return f"[{', '.join(map(_type_text, field['prefixItems']))}]"
        return f"list of {_type_text(field.get('items', {}))}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type_text(field['additionalProperties'])}"
    return str(field.get("type", "anything"))


def page() -> str:
    """docs/api.md as it should be."""
    return PAGE.read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n" + reference()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
