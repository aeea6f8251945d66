"""Groups of tests that run in one process, which starts their shared resources once.

See also `ONE_BROWSER` in `tests/browser.py` and `ON_A_CLUSTER` in `tests/stores.py`.
"""

import pytest

COMPILED_SEARCHES = pytest.mark.xdist_group("searches")
"""Mark of tests that use compiled searches. One process compiles them for all, if they are not compiled yet."""
