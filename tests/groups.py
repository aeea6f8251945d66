"""Groups of tests that run in one process, which starts their shared resources once.

See also `ONE_BROWSER` in `tests/browser.py` and `ON_A_CLUSTER` in `tests/stores.py`.
"""

import fcntl
from functools import cache
from pathlib import Path

import pytest

from engine.robots import strong

COMPILED_SEARCHES = pytest.mark.xdist_group("searches")
"""Mark of tests that use compiled searches. `tests/conftest.py` compiles them before the first one."""


@cache
def compile_searches() -> None:
    """Compile the searches, or load them if another process of the test run has compiled them.

    Without a cache, compiling takes most of a minute. The other processes wait and read the cache of the first one.
    """
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        strong.compile_searches()
