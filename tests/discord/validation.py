"""Validation of request bodies by Discord's API description and the limits in its documentation."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

LAYOUT, EPHEMERAL = 1 << 15, 1 << 6
LAYOUT_KINDS = {9, 10, 11, 12, 13, 14, 17}
LABEL, RADIO, BOXES = 18, 21, 22  # components of modals
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
NAME = re.compile(r"[-_'\w]{1,32}")

_description = json.loads((Path(__file__).parent / "schema" / "discord.json").read_text())
_validators = {
    name: jsonschema_rs.validator_for({**schema, "$defs": _description["$defs"]})
    for name, schema in _description["bodies"].items()
}


class Refused(Exception):
    """An error answer: HTTP status, Discord's code and message."""

    def __init__(self, status: int, code: int, message: str = "", **body_fields: Any) -> None:
        super().__init__(status, code, message)
        self.status, self.body = status, {"code": code, "message": message or f"error {code}", **body_fields}


def validate_body(kind: str, body: Any) -> None:
    """Refuse a body that Discord's schema does not allow. ``kind`` is a key of ``bodies`` in discord.json."""
    error = next(_validators[kind].iter_errors(body), None)
    if error:
        raise invalid_form(f"{list(error.instance_path)}: {error.message[:300]}")


def invalid_form(reason: str) -> Refused:
    return Refused(400, 50035, f"Invalid Form Body: {reason}")


def validate_message(body: dict[str, Any], *, is_new: bool) -> None:
    """Refuse a message that breaks a limit which is not in the schema."""
    flags, components = body.get("flags") or 0, body.get("components") or []
    all_components = list(_walk(components))
    kinds = {component["type"] for component in all_components}
    if flags & LAYOUT and any(body.get(field) for field in ("content", "embeds", "poll", "sticker_ids")):
        raise invalid_form("MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2")
    if kinds & LAYOUT_KINDS and not flags & LAYOUT:
        raise invalid_form("layout components without the flag for them")
    if len(all_components) > 40 or (not flags & LAYOUT and len(components) > 5):
        raise invalid_form("too many components")
    if is_new and not components and not (body.get("content") or "").strip():
        raise Refused(400, 50006, "Cannot send an empty message")
    if len(body.get("content") or "") > 2000:
        raise invalid_form("content: Must be 2000 or fewer in length.")
    # Discord does not document whether descriptions count. Here they do.
    alts = sum(
        len(item.get("description") or "") for component in all_components for item in component.get("items", ())
    )
    texts = alts + sum(
        len(component.get("content") or "") + len(component.get("label") or "") for component in all_components
    )
    if texts > 4000:
        raise invalid_form(f"the texts of all components have {texts} characters, 4000 are allowed")
    ids = [component["custom_id"] for component in all_components if component.get("custom_id")]
    if len(ids) != len(set(ids)):
        raise invalid_form("COMPONENT_CUSTOM_ID_DUPLICATED")
    for component in all_components:
        _validate_component(component)


def validate_modal(body: dict[str, Any]) -> None:
    """Refuse a modal that breaks Discord's schema or a limit which is not in it.

    docs.discord.com/developers/components/reference has the limits of each component.
    """
    validate_body("modal", body)
    labels = body["data"]["components"]
    if len(labels) > 5:
        raise invalid_form("a modal has one to five components")
    fields = [label["component"] for label in labels if label["type"] == LABEL]
    ids = [field["custom_id"] for field in fields]
    if len(ids) != len(set(ids)):
        raise invalid_form("COMPONENT_CUSTOM_ID_DUPLICATED")
    for field in fields:
        _validate_field(field)


def _validate_field(field: dict[str, Any]) -> None:
    options, is_required = field.get("options", []), field.get("required", True)
    if "disabled" in field:
        raise invalid_form("modals have no disabled components")
    if is_required and field.get("min_values", 1) < 1:
        raise invalid_form("min_values must be at least 1 in a required component")
    values = [option["value"] for option in options]
    if len(values) != len(set(values)):
        raise invalid_form("options with the same value")
    most = field.get("max_values", len(options) if field["type"] == BOXES else 1)
    if not field.get("min_values", 0) <= most or (field["type"] == BOXES and most > len(options)):
        raise invalid_form("max_values is below min_values or above the number of options")
    if len([option for option in options if option.get("default")]) > most:
        raise invalid_form("more options are chosen by default than can be chosen")


def validate_media(components: list[dict[str, Any]], attached: Iterable[str]) -> None:
    """Refuse components that show a missing file. ``attached`` are the names of the message's files."""
    names = list(attached)
    for component in _walk(components):
        items = (
            [component["file"]] if component["type"] == 13 else [item["media"] for item in component.get("items", ())]
        )
        for media in items:
            name = media["url"].removeprefix("attachment://")
            if names.count(name) != 1:
                raise invalid_form("UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND")
            if component["type"] == 12 and not name.endswith(IMAGES):
                raise invalid_form("a gallery shows images")


def _validate_component(component: dict[str, Any]) -> None:
    kind, children = component["type"], component.get("components", [])
    if kind == 1 and not 1 <= len(children) <= 5:
        raise invalid_form("an action row has one to five buttons")
    if kind == 1 and any(button["type"] != 2 for button in children):
        raise invalid_form("the bot's action rows have only buttons")
    if kind == 17 and not children:
        raise invalid_form("an empty container")
    if kind == 10 and not component["content"].strip():
        raise invalid_form("an empty text")
    if kind == 2:
        is_link = component["style"] == 5
        if is_link == bool(component.get("custom_id")) or is_link != bool(component.get("url")):
            raise invalid_form("a link button has a URL, any other button a custom_id")
        if not component.get("label") and not component.get("emoji"):
            raise invalid_form("a button without a label")


def _walk(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for component in components:
        yield component
        yield from _walk(component.get("components", []))
        if "accessory" in component:
            yield component["accessory"]


def validate_commands(commands: list[dict[str, Any]]) -> None:
    """Refuse a list of commands that Discord would not accept."""
    for command in commands:
        # The documentation has nsfw, but the API description lacks it.
        if command.get("type") == 4:
            _validate_entry_point(command)
            continue
        validate_body("command", {field: value for field, value in command.items() if field != "nsfw"})
        is_slash = command.get("type", 1) == 1
        names = [command["name"], *(command.get("name_localizations") or {}).values()]
        if is_slash and any(not NAME.fullmatch(name) or name != name.lower() for name in names):
            raise invalid_form(f"APPLICATION_COMMAND_INVALID_NAME: {names}")
        if is_slash != bool(command.get("description")):
            raise invalid_form("a slash command has a description, other commands have none")
        _validate_options(command.get("options") or [])
        if _length(command) > 8000:
            raise invalid_form("APPLICATION_COMMAND_TOO_LARGE")
    for kind, limit in ((1, 100), (2, 15), (3, 15), (4, 1)):
        command_names = [command["name"] for command in commands if command.get("type", 1) == kind]
        if len(command_names) > limit or len(command_names) != len(set(command_names)):
            raise invalid_form("too many commands, or two of one name")


def _validate_entry_point(command: dict[str, Any]) -> None:
    """Refuse an entry point that docs.discord.com/developers/interactions/application-commands does not allow."""
    known_fields = {"type", "name", "name_localizations", "handler", "contexts", "integration_types", "nsfw"}
    if set(command) - known_fields or command.get("handler", 2) not in (1, 2):
        raise invalid_form("an entry point has a handler, no description and no options")
    if not all(1 <= len(name) <= 32 for name in (command["name"], *command.get("name_localizations", {}).values())):
        raise invalid_form("APPLICATION_COMMAND_INVALID_NAME")


def _validate_options(options: list[dict[str, Any]]) -> None:
    required = [bool(option.get("required")) for option in options]
    if required != sorted(required, reverse=True):
        raise invalid_form("required options come first")
    for option in options:
        names = [option["name"], *(option.get("name_localizations") or {}).values()]
        if any(not NAME.fullmatch(name) or name != name.lower() for name in names):
            raise invalid_form(f"APPLICATION_COMMAND_INVALID_NAME: {names}")
        if option.get("choices") and option.get("autocomplete"):
            raise invalid_form("choices and autocompletion exclude each other")
        if len(option.get("choices") or []) > 25:
            raise invalid_form("at most 25 choices")


def _length(command: dict[str, Any]) -> int:
    """Return the characters of names, descriptions and values. The longest translation of each text counts."""
    total = 0
    for field in ("name", "description"):
        total += max(map(len, [command.get(field) or "", *(command.get(f"{field}_localizations") or {}).values()]))
    for option in command.get("options") or []:
        total += _length(option) + sum(
            _length(choice) + len(str(choice["value"])) for choice in option.get("choices") or []
        )
    return total
