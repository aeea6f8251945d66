"""aiogram's models of the Bot API's methods and types, each built when it is first asked for.

aiogram builds all of them and those of all types when it is imported, which takes seconds in every process with tests.
"""

from functools import cache
from unittest.mock import patch

from pydantic import BaseModel

with patch.object(BaseModel, "model_rebuild"):
    import aiogram.methods
    import aiogram.types


@cache
def type_model(name: str) -> type[BaseModel]:
    """The model of a type, as `InlineQuery`."""
    model: type[BaseModel] = getattr(aiogram.types, name)
    model.model_rebuild(_types_namespace=vars(aiogram.types))
    return model


class SetMySettings(BaseModel):
    """The method of November 2026, as the development version of aiogram has it; only the fields that we send."""

    callback_query_mode: str | None = None


@cache
def method_model(method: str) -> type[BaseModel]:
    """The model of a method by its name in the Bot API, as `sendMessage`."""
    if method == "setMySettings" and not hasattr(aiogram.methods, "SetMySettings"):
        return SetMySettings
    model: type[BaseModel] = getattr(aiogram.methods, method[0].upper() + method[1:])
    model.model_rebuild(_types_namespace=vars(aiogram.types))
    return model
