"""Forms: windows with several choices, which some platforms can show in answer to a command or press."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

FormAnswers = Mapping[str, tuple[str, ...]]  # the chosen values of each field, by its name


class FormOption(NamedTuple):
    value: str
    label: str
    description: str = ""


@dataclass(frozen=True)
class FormField:
    """A question. ``menu`` and ``radio`` take one option, ``boxes`` any number. ``chosen`` are marked at first."""

    name: str
    label: str
    kind: Literal["menu", "radio", "boxes"]
    options: tuple[FormOption, ...]
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A window with fields.

    Its answers come back as another press of the button with this ``payload``, or as another command of this name.
    """

    payload: str
    title: str
    fields: tuple[FormField, ...]
