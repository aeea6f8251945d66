"""By what a visitor is counted."""

import pytest

from adapters.web.access import network_of


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.9", "192.0.2.9"),
        ("192.0.2.9:51034", "192.0.2.9"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]:51034", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.9", "192.0.2.9"),
        ("unknown", "unknown"),
        ("_hidden", "_hidden"),
        ("", ""),
    ],
)
def test_a_household_counts_as_one_whichever_of_its_addresses_it_uses(address: str, counted: str) -> None:
    assert network_of(address) == counted
