"""Tests of a group run in one process."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process runs all tests")
@pytest.mark.xdist_group("shown")
def test_xdist_groups_are_assigned(request: pytest.FixtureRequest) -> None:
    """pytest-xdist knows a group by the end of a test's name, and says nothing where it could not put it there."""
    assert request.node.nodeid.endswith("@shown")
