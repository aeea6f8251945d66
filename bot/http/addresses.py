"""Host names and client addresses of web requests."""

import ipaddress
import re
import socket
from collections.abc import Collection, Mapping
from typing import NamedTuple

LOOPBACK = ("127.0.0.1", "::1", "localhost")
AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(:(?P<port>[0-9]{1,5}))?")

FORWARDED = ("forwarded", "via", "cdn-loop", "cf-connecting-ip", "true-client-ip", "x-real-ip", "x-client-ip")
FORWARDED_PREFIXES = ("x-forwarded", "x-original-", "x-cluster-client")
"""Headers, in lower case, that reverse proxies add and browsers do not send."""

NETWORK_FACTOR = 8
"""Limits of the network around an address (`Visitor`), as a multiple of the address's own limits.

For example, a school or the customers of a carrier share a network. One machine must not use up the network's limits.
"""


class Visitor(NamedTuple):
    """The keys under which a client is counted: an ``address`` and the ``network`` around it.

    A household has a whole IPv6 network with a prefix of 64 bits, so that prefix is its ``address``. The prefix of a
    ``network`` has 48 bits for IPv6 and 24 bits for IPv4.
    """

    address: str
    network: str

    @classmethod
    def from_address(cls, address: str) -> "Visitor":
        """Parse an address, with or without a port. Text that is not an address is used as it is."""
        match = AUTHORITY.fullmatch(address.lower())
        try:
            ip_address = ipaddress.ip_address(match["name"].strip("[]") if match else address)
        except ValueError:
            return cls(address, address)
        if isinstance(ip_address, ipaddress.IPv6Address):
            ip_address = ip_address.ipv4_mapped or ip_address
        if isinstance(ip_address, ipaddress.IPv4Address):
            return cls(str(ip_address), _network(ip_address, 24))
        return cls(_network(ip_address, 64), _network(ip_address, 48))


def is_forwarded(headers: Mapping[str, str], version: tuple[int, int]) -> bool:
    """Return whether a proxy forwards this request for another client; ``version`` is the HTTP version.

    Browsers no longer use HTTP/1.0, but a proxy with default settings does, and adds no header.
    """
    return version < (1, 1) or any(
        name.lower() in FORWARDED or name.lower().startswith(FORWARDED_PREFIXES) for name in headers
    )


def host_name(authority: str) -> str:
    """Return the name in a `Host` header in lower case, without port and brackets; empty if it is not valid."""
    match = AUTHORITY.fullmatch(authority.lower())
    return match["name"].strip("[]") if match else ""


def is_own_name(name: str, is_networked: bool, permitted_names: Collection[str]) -> bool:
    """Return whether a name can mean only this machine, so that no foreign site can use it (DNS rebinding).

    ``is_networked``: the server accepts connections from other machines. The host has set ``permitted_names``.
    """
    if name == "localhost" or name in permitted_names:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        own_name = socket.gethostname().lower()
        return is_networked and name in (own_name, f"{own_name}.local")
    return is_networked or address.is_loopback


def _network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, bits: int) -> str:
    return str(ipaddress.ip_network((address.packed, bits), strict=False))
