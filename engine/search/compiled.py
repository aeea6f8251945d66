"""What searches are made of that must be fast: functions on plain integers and arrays of them, which numba compiles
where it is installed and Python runs as they stand where it is not.

Such a function keeps to a small language: integers below 2**62, arrays made here, loops, and calls of others like it.
"""

from collections.abc import Callable, Iterable, MutableSequence
from hashlib import blake2b
from importlib.resources import files
from typing import Any, TypeVar

numba: Any
numpy: Any
try:
    import numba
    import numpy
except ImportError:
    numba = numpy = None

if numba is not None:
    # numba looks at the file that a function stands in, and not at those that it calls into or has constants of: with
    # one of them changed it would go on with what was there before. So what is compiled is kept by all the sources.
    _sources = (one for part in ("engine", "engine.search") for one in files(part).iterdir())
    _texts = sorted(one.read_bytes() for one in _sources if one.name.endswith(".py"))
    _digest = blake2b(b"".join(_texts), digest_size=6).hexdigest()
    numba.config.CACHE_DIR = f"{numba.config.CACHE_DIR or files('engine.search') / '__pycache__'}/{_digest}"

COMPILED = numba is not None
"""Whether numba is here: searches are then some hundred times as fast."""

Ints = MutableSequence[int]

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Have a function compiled when it is first called; what was compiled is kept for the next process."""
    if numba is None:
        return function
    made: F
    try:
        made = numba.njit(cache=True)(function)
    except RuntimeError:
        # There is no folder to keep it in.
        made = numba.njit(function)
    return made


def ints(values: Iterable[int]) -> Ints:
    """An array of integers, as compiled functions take them."""
    listed: Ints = list(values)
    if numba is None:
        return listed
    array: Ints = numpy.array(listed, dtype=numpy.int64)
    return array


def zeros(count: int) -> Ints:
    """An array of so many noughts."""
    if numba is None:
        return [0] * count
    array: Ints = numpy.zeros(count, dtype=numpy.int64)
    return array


PLACE = ints([next((place for place in range(64) if (1 << place) % 67 == rest), 0) for rest in range(67)])


@compiled
def place_of(bit: int) -> int:
    """The index of the only bit of a number: 67 leaves another rest for each."""
    return PLACE[bit % 67]
