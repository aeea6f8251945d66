"""Variants of a platform's updates: each optional field missing or empty, and unknown fields everywhere."""

import json
from collections.abc import Collection, Iterator
from typing import Any

UNKNOWN = {"a_field_of_2027": {"id": "7", "type": ["x", None, 1.5]}}


def iter_variants(sample: Any, required: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield each variant with its description.

    ``required`` has paths like ``message.chat.id``; their parents are required too. List items are ``0``, ``1`` and so
    on.
    """
    required_paths = {
        ".".join(path.split(".")[:length]) for path in required for length in range(1, path.count(".") + 2)
    }
    for path in _iter_paths(sample):
        name = ".".join(map(str, path))
        if name not in required_paths:
            yield f"without {name}", _change_value(sample, path, remove=True)
            for empty in (None, type(_read_value(sample, path))()):
                yield f"{name} = {empty!r}", _change_value(sample, path, empty)
    for path in [(), *_iter_paths(sample)]:
        if isinstance(value := _read_value(sample, path), dict):
            yield f"more in {'.'.join(map(str, path)) or 'it'}", _change_value(sample, path, {**UNKNOWN, **value})


def _iter_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield (*path, key)
            yield from _iter_paths(value[key], (*path, key))


def _read_value(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _change_value(sample: Any, path: tuple[Any, ...], value: Any = None, *, remove: bool = False) -> Any:
    copy = json.loads(json.dumps(sample))
    if not path:
        return value
    holder = _read_value(copy, path[:-1])
    if remove:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return copy
