"""Variants of a platform's updates: each optional field missing or empty, and unknown fields everywhere."""

import json
from collections.abc import Collection, Iterator
from typing import Any

UNKNOWN = {"a_field_of_2027": {"id": "7", "type": ["x", None, 1.5]}}


def variants(sample: Any, required: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield each variant with its description.

    ``required`` has paths like ``message.chat.id``; their parents are required too. List items are ``0``, ``1`` and so on.
    """
    needed = {".".join(path.split(".")[:length]) for path in required for length in range(1, path.count(".") + 2)}
    for path in _paths(sample):
        name = ".".join(map(str, path))
        if name not in needed:
            yield f"without {name}", _changed(sample, path, remove=True)
            for empty in (None, type(_value(sample, path))()):
                yield f"{name} = {empty!r}", _changed(sample, path, empty)
    for path in [(), *_paths(sample)]:
        if isinstance(value := _value(sample, path), dict):
            yield f"more in {'.'.join(map(str, path)) or 'it'}", _changed(sample, path, {**UNKNOWN, **value})


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield (*path, key)
            yield from _paths(value[key], (*path, key))


def _value(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _changed(sample: Any, path: tuple[Any, ...], value: Any = None, *, remove: bool = False) -> Any:
    copy = json.loads(json.dumps(sample))
    if not path:
        return value
    holder = _value(copy, path[:-1])
    if remove:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return copy
