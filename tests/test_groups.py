"""pytest-xdist runs the tests of a group in one process."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process runs all tests")
@pytest.mark.xdist_group("example")
def test_xdist_groups_are_assigned(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith("@example"), "pytest-xdist did not append the group to the test's name"
