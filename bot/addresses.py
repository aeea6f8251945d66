"""Names and addresses of those who connect: by which name a server may be asked, and as whom a visitor is counted."""

import ipaddress
import re
import socket
from collections.abc import Collection, Mapping
from typing import NamedTuple

LOOPBACK = ("127.0.0.1", "::1", "localhost")
AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(:(?P<port>[0-9]{1,5}))?")

FORWARDED = ("forwarded", "via", "cdn-loop", "cf-connecting-ip", "true-client-ip", "x-real-ip", "x-client-ip")
FORWARDED_PREFIXES = ("x-forwarded", "x-original-", "x-cluster-client")
"""Headers, in lower case, that reverse proxies add and that no browser sends by itself."""

NETWORK_FACTOR = 8
"""How many times as much the network around an address (`Visitor`) may have as the address itself.

A school or a carrier's customers share a network; one machine must not use all of it.
"""


class Visitor(NamedTuple):
    """By what somebody is counted: their ``address``, and the ``network`` around it.

    A household has a whole IPv6 network of 64 bits, so that network counts as one address. The network around it has 48
    bits; of IPv4 it has 24.
    """

    address: str
    network: str

    @classmethod
    def from_address(cls, address: str) -> "Visitor":
        """From an address, perhaps with a port, as some proxies write it. Any other text stands for itself."""
        found = AUTHORITY.fullmatch(address.lower())
        try:
            one = ipaddress.ip_address(found["name"].strip("[]") if found else address)
        except ValueError:
            return cls(address, address)
        if isinstance(one, ipaddress.IPv6Address):
            one = one.ipv4_mapped or one
        if isinstance(one, ipaddress.IPv4Address):
            return cls(str(one), _network(one, 24))
        return cls(_network(one, 64), _network(one, 48))


def is_forwarded(headers: Mapping[str, str], version: tuple[int, int]) -> bool:
    """Return whether a proxy passes this request on for somebody else; ``version`` is that of HTTP.

    No browser speaks HTTP/1.0 any more. A proxy that was told nothing else does, and adds no header.
    """
    return version < (1, 1) or any(
        name.lower() in FORWARDED or name.lower().startswith(FORWARDED_PREFIXES) for name in headers
    )


def host_name(authority: str) -> str:
    """Return the name in a `Host` header, in lower case and without port and brackets; empty if it is not valid."""
    found = AUTHORITY.fullmatch(authority.lower())
    return found["name"].strip("[]") if found else ""


def is_own_name(name: str, is_networked: bool, permitted: Collection[str] = ()) -> bool:
    """Return whether a name can mean only this machine, so that no stranger's site can have it (DNS rebinding).

    ``is_networked`` is whether the server listens for other machines, ``permitted`` are names that the host has set.
    """
    if name == "localhost" or name in permitted:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        own = socket.gethostname().lower()
        return is_networked and name in (own, f"{own}.local")
    return is_networked or address.is_loopback


def _network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, bits: int) -> str:
    """Return the network of this many bits that contains an address."""
    return str(ipaddress.ip_network((address.packed, bits), strict=False))
