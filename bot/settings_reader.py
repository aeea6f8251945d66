"""Reading the settings from the environment and `.env`, with an error line for each setting that is wrong."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from io import StringIO
from typing import Any, Literal, get_args, get_origin

from dotenv.parser import parse_stream
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from bot.secret_settings import ENCODING, SECRETS
from bot.settings import ENV_FILE, PREFIX, BadSetting, Settings, variable_names

MIN_SIMILARITY = 0.85  # by difflib, between a name in `.env` and the setting of which it counts as a misspelling
LONGEST_SHOWN = 60  # how many characters of a wrong value an error shows


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. Raise BadSetting with a line for each invalid or unknown one."""
    in_file = _names_in_file()
    problems = [
        f"{name} is not a setting{_hint(name)}"
        for name in (os.environ if environment is None else environment)
        if name.upper().startswith(PREFIX) and name.upper() not in variable_names()
    ]
    problems += [
        f"{name} (line {line} of {ENV_FILE.absolute()}) is not a setting{_hint(name)}"
        for name, line in in_file.items()
        if name.upper() not in variable_names()
        and (name.upper().startswith(PREFIX) or _closest_setting(name, MIN_SIMILARITY))
    ]
    try:
        settings = Settings()
    except ValidationError as error:
        problems += [_error_line(dict(detail)) for detail in error.errors()]
    if problems:
        raise BadSetting("\n".join(problems))
    return settings


def _names_in_file() -> dict[str, int]:
    """Return the names set in `.env`, each with its line. Raise BadSetting if the file cannot be parsed."""
    path = ENV_FILE.absolute()
    try:
        # A folder of this name is a virtual environment.
        text = ENV_FILE.read_text(ENCODING) if ENV_FILE.is_file() else ""
    except OSError as error:
        raise BadSetting(f"{path} cannot be read ({error.strerror}): give it to the bot's user, chmod 600.") from None
    except UnicodeDecodeError:
        raise BadSetting(f"{path} cannot be read: save it as UTF-8 text.") from None
    lines_by_name, problems = {}, []
    for binding in parse_stream(StringIO(text)):
        statement = binding.original.string
        line = binding.original.line + statement[: len(statement) - len(statement.lstrip())].count("\n")
        if binding.key is not None and binding.value is not None:
            lines_by_name[binding.key] = line
        elif binding.key is not None or binding.error:
            # The line itself could be a secret.
            problems.append(f"Line {line} of {path} cannot be read: write NAME=value and close all quotes.")
    if problems:
        raise BadSetting("\n".join(problems))
    return lines_by_name


def _closest_setting(name: str, min_similarity: float) -> str:
    """Return the setting with the most similar name; empty if none is similar enough."""
    return "".join(get_close_matches(name.upper(), variable_names(), 1, min_similarity))


def _hint(name: str) -> str:
    closest = _closest_setting(name, 0.6)
    return f"; did you mean {closest}?" if closest else f"; the settings are: {', '.join(variable_names())}"


def _error_line(detail: dict[str, Any]) -> str:
    """Return a line with the setting's name, its valid values, and the current value unless it is secret."""
    name = str(detail["loc"][0])  # name of the field or of its variable
    fields = {field.validation_alias or name: field for name, field in Settings.model_fields.items()}
    field = fields.get(name) or Settings.model_fields[name]
    variable = str(field.validation_alias or f"{PREFIX}{name}".upper())
    message = str(detail["msg"]).removeprefix("Value error, ")
    demand = _demand(field) or (message if message.startswith("must ") else f"cannot be read ({message})")
    value = str(detail["input"])
    # Addresses can contain a password.
    is_secret = variable in SECRETS.values() or "@" in value
    shown_value = value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"
    return f"{variable} {demand}" + ("" if is_secret else f"; it is {shown_value!r}")


def _demand(field: FieldInfo) -> str:
    """Return "must be" with the valid values of a setting; empty if its type does not determine them."""
    if field.annotation is bool:
        return "must be true or false"
    if get_origin(field.annotation) is Literal:
        return f"must be one of {', '.join(get_args(field.annotation))}"
    if field.annotation in (int, int | None):
        lowest, highest = (
            next(getattr(limit, end) for limit in field.metadata if hasattr(limit, end)) for end in ("ge", "le")
        )
        return f"must be a whole number from {lowest} to {highest}"
    return ""
