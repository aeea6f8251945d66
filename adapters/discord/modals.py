"""Forms as Discord's modals, and the answers in them.

Each field is a label with one component: docs.discord.com/developers/components/reference#label
"""

from typing import Any

from adapters.discord.interactions import Fields, Unreadable
from adapters.discord.limits import LONGEST_FIELD, LONGEST_OPTION, LONGEST_TITLE
from bot.form import Form, FormAnswers, FormField, FormOption

LABEL = 18
KINDS = {"menu": 3, "radio": 21, "boxes": 22}  # types of components


def modal_body(form: Form) -> Fields:
    """Return a modal's body. Its custom id is the form's payload."""
    components = [
        {"type": LABEL, "label": field.label[:LONGEST_FIELD], "component": _component(field)} for field in form.fields
    ]
    return {"custom_id": form.payload, "title": form.title[:LONGEST_TITLE], "components": components}


def read_answers(data: Fields) -> FormAnswers:
    """Return the chosen values of each field of a sent modal. Raises Unreadable."""
    components = data.get("components")
    answers = {}
    for label in components if isinstance(components, list) else ():
        component = label.get("component") if isinstance(label, dict) else None
        if not isinstance(component, dict) or not isinstance(component.get("custom_id"), str):
            raise Unreadable("a field without a name")
        # A radio group has one value, the other kinds have several.
        values: Any = component.get("values", [component.get("value")])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise Unreadable("a field without values")
        answers[component["custom_id"]] = tuple(values)
    if not answers:
        raise Unreadable("a form without fields")
    return answers


def _component(field: FormField) -> Fields:
    component = {
        "type": KINDS[field.kind],
        "custom_id": field.name,
        "options": [_option(option, option.value in field.chosen) for option in field.options],
    }
    if field.kind == "boxes":
        return {**component, "required": False, "min_values": 0, "max_values": len(field.options)}
    return component


def _option(option: FormOption, is_chosen: bool) -> Fields:
    fields = {"value": option.value, "label": option.label[:LONGEST_OPTION], "default": is_chosen}
    return {**fields, "description": option.description[:LONGEST_OPTION]} if option.description else fields
