"""Which tests one process has to itself: what they share is started there, and once. See also `ONE_BROWSER` and
`ON_A_CLUSTER`, beside what they are about.
"""

import pytest

COMPILED_SEARCHES = pytest.mark.xdist_group("searches")
"""For tests that think with compiled searches: where nothing is compiled yet, one process compiles for all."""
