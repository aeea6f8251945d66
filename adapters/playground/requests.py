"""What a page may ask for, read strictly: anybody may send anything, and all but this is refused in one line."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import from_json

from adapters.playground.chat_store import Refused
from bot.panel import LONGEST_PAYLOAD

LONGEST_SHOWN = 80
"""Characters of what was sent that a refusal repeats at most."""


def _encodable(text: str) -> str:
    # Half of a surrogate pair is a string to Python and to nobody else.
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds a character that is none") from None
    return text


def _fits_a_button(payload: str) -> str:
    if len(payload.encode()) > LONGEST_PAYLOAD:
        raise ValueError(f"has more than {LONGEST_PAYLOAD} bytes")
    return payload


Text = Annotated[str, AfterValidator(_encodable)]
Short = Annotated[Text, StringConstraints(max_length=32)]
Number = Annotated[int, Field(ge=1, le=2**53)]
"""What JavaScript counts exactly."""


class Request(BaseModel):
    """A request: ``n`` names it, so that one sent twice counts once; ``as`` is who asks, where a tab may choose."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    n: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{4,16}\z")]
    who: Short | None = Field(None, alias="as")


class Say(Request):
    """Write a message in a chat, perhaps a command."""

    do: Literal["say"]
    chat: Short
    text: Text
    reply_to: Number | None = None


class PressRequest(Request):
    """Press a message's button."""

    do: Literal["press"]
    chat: Short
    message: Number
    payload: Annotated[Text, AfterValidator(_fits_a_button)]


class FetchFile(Request):
    """Have the file that a message brought."""

    do: Literal["file"]
    chat: Short
    message: Number


class GoPrivate(Request):
    """Press a button that leads to the private chat, there to be shown the table with this code."""

    do: Literal["private"]
    code: Short = ""


class ClosePrivate(Request):
    """Close the private chat to the bot, or open it."""

    do: Literal["close"]
    closed: bool


class AddPerson(Request):
    """Add somebody."""

    do: Literal["add_person"]
    name: Text


class AddChat(Request):
    """Add a group."""

    do: Literal["add_chat"]
    name: Text


AnyRequest = Say | PressRequest | FetchFile | GoPrivate | ClosePrivate | AddPerson | AddChat
READER: TypeAdapter[AnyRequest] = TypeAdapter(Annotated[AnyRequest, Field(discriminator="do")])


def decoded(text: str | bytes) -> dict[str, Any]:
    """A message as the object that it must be; Refused if it is none, nested too deeply, or no text that can be."""
    try:
        found = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise Refused(f"this is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused("a request is a JSON object")
    return found


def parse_request(found: dict[str, Any]) -> AnyRequest:
    """The request that an object is; Refused says what is wrong with it."""
    try:
        return READER.validate_python(found)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        if fault["type"].startswith("union_tag"):
            raise Refused("there is no such request") from None
        where = ".".join(map(str, fault["loc"][1:]))
        # Quoted as JSON, so that it is one line whatever was sent.
        shown = f"{json.dumps(where[:LONGEST_SHOWN])}: " if where else ""
        raise Refused(f"{shown}{fault['msg'].removeprefix('Value error, ')}") from None
