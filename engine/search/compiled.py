"""Fast functions for searches, on plain integers and arrays of them.

numba compiles them if it is installed; otherwise Python runs them. Such functions must use only floats, integers
below 2**62, arrays made here, loops, and calls of each other.
"""

import warnings
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
    # numba's cache notices only changes in a function's own file, not in the files of functions that it calls or of
    # constants that it uses. So the cache folder's name depends on all sources.
    _search = files(__name__.rpartition(".")[0])
    _sources = (path for folder in (_search / "..", _search) for path in folder.iterdir())
    _texts = sorted(path.read_bytes() for path in _sources if path.name.endswith(".py"))
    _digest = blake2b(b"".join(_texts), digest_size=6).hexdigest()
    numba.config.CACHE_DIR = f"{numba.config.CACHE_DIR or _search / '__pycache__'}/{_digest}"

COMPILED = numba is not None  # searches are about a hundred times as fast with numba

Ints = MutableSequence[int]

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function when it is first called, and cache the result for other processes."""
    if numba is None:
        return function
    made: F
    try:
        made = numba.njit(cache=True)(function)
    except RuntimeError:
        # There is no writable cache folder. Python shows a line's warning once.
        text = f"each start compiles searches, because {numba.config.CACHE_DIR} cannot keep them: set NUMBA_CACHE_DIR"
        warnings.warn(text, RuntimeWarning, stacklevel=1)
        made = numba.njit(function)
    return made


def int_array(values: Iterable[int]) -> Ints:
    """Return an array of integers for compiled functions."""
    listed: Ints = list(values)
    if numba is None:
        return listed
    array: Ints = numpy.array(listed, dtype=numpy.int64)
    return array


def zeros(count: int) -> Ints:
    if numba is None:
        return [0] * count
    array: Ints = numpy.zeros(count, dtype=numpy.int64)
    return array


BIT_INDEX = int_array(
    [next((index for index in range(64) if (1 << index) % 67 == residue), 0) for residue in range(67)]
)


@compiled
def bit_index(bit: int) -> int:
    """Return the index of a number's only bit; modulo 67 each power of two has a different remainder."""
    return BIT_INDEX[bit % 67]
