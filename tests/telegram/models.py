"""aiogram's models of the Bot API, each built on first use.

On import aiogram builds all of them, which takes seconds in every test process.
"""

from functools import cache
from unittest.mock import patch

from pydantic import BaseModel

from tests.telegram.widgets import MODELS

with patch.object(BaseModel, "model_rebuild"):
    import aiogram.methods
    import aiogram.types


@cache
def type_model(name: str) -> type[BaseModel]:
    """Return the model of a type such as `InlineQuery`."""
    model: type[BaseModel] = getattr(aiogram.types, name)
    model.model_rebuild(_types_namespace=vars(aiogram.types))
    return model


class SetMySettings(BaseModel):
    """The method setMySettings, which aiogram has only in its development version, with the field that we send."""

    callback_query_mode: str | None = None


@cache
def method_model(method: str) -> type[BaseModel]:
    """Return the model of a method by its name in the Bot API, such as `sendMessage`."""
    if method in MODELS:
        return MODELS[method]
    if method == "setMySettings" and not hasattr(aiogram.methods, "SetMySettings"):
        return SetMySettings
    model: type[BaseModel] = getattr(aiogram.methods, method[0].upper() + method[1:])
    model.model_rebuild(_types_namespace=vars(aiogram.types))
    return model
