"""JSON and forms in requests to platforms and their answers."""

import json
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

import orjson


def load_json(text: str | bytes | bytearray | memoryview) -> Any:
    """Parse JSON; accept lone surrogates, which names can contain and orjson refuses."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(bytes(text) if isinstance(text, memoryview) else text)


def dump_json(value: object) -> bytes:
    """Return a value as JSON, which `load_json` can read."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value).encode()


def multipart(
    fields: Mapping[str, str], field_name: str, filename: str, content: bytes, content_type: str
) -> tuple[bytes, str]:
    """Return a multipart/form-data body and its Content-Type. ``field_name`` is the field with the file.

    Building it with aiohttp's FormData would double the time of a call.
    """
    boundary = token_hex(16)
    start = f'--{boundary}\r\nContent-Disposition: form-data; name="'
    head = "".join(f'{start}{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    head += f'{start}{field_name}"; filename="{filename}"\r\nContent-Type: {content_type}\r\n\r\n'
    body = b"".join((head.encode("utf-8", "replace"), content, f"\r\n--{boundary}--\r\n".encode()))
    return body, f"multipart/form-data; boundary={boundary}"
