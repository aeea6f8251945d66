"""Write the generated part of docs/api.md: `python -m tests.web.api_reference`."""

from pathlib import Path
from typing import Any

from adapters.web.api.openapi import document
from adapters.web.api.operations import BASE, OPERATIONS, Parameter

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
MARK = "<!-- generated from adapters/web/api/operations.py: do not edit below -->\n"


def page() -> str:
    """Return docs/api.md with a current generated part."""
    page_lines = []
    for operation in OPERATIONS:
        page_lines += [
            f"### {operation.method} {BASE}{operation.path}",
            "",
            f"{operation.summary}.{f' {operation.description}' if operation.description else ''}",
            "",
        ]
        page_lines += [
            f"- `{parameter.name}` ({parameter.location}): {_parameter_text(parameter)}"
            for parameter in operation.parameters
        ]
        if operation.body:
            page_lines.append(f"- body: `{operation.body.__name__}`")
        if operation.scope:
            page_lines.append(f"- needs a token with the scope `{operation.scope}`")
        names = " or ".join(f"`{model.__name__}`" for model in operation.models)
        page_lines += [f"- answers {names}, `{operation.media_type}`", ""]
    page_lines += ["## Answers", ""]
    for name, schema in sorted(document()["components"]["schemas"].items()):
        page_lines += [f"### {name}", "", *_schema_lines(schema), ""]
    introduction = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return introduction + MARK + "\n" + "\n".join(page_lines).rstrip() + "\n"


def _parameter_text(parameter: Parameter) -> str:
    choices = ", ".join(f"`{choice}`" for choice in parameter.choices)
    return f"{parameter.description} One of {choices}." if choices else parameter.description


def _schema_lines(schema: dict[str, Any]) -> list[str]:
    description = [schema["description"], ""] if "description" in schema else []
    fields = [
        f"- `{name}` {_type_text(field)}{f': {text}' if (text := field.get('description')) else ''}"
        for name, field in schema.get("properties", {}).items()
    ]
    items = [
        f"- place {index}, `{item['title'].lower()}`: {_type_text(item)}"
        for index, item in enumerate(schema.get("prefixItems", []))
    ]
    return [*description, *fields, *items]


def _type_text(field: dict[str, Any]) -> str:
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
