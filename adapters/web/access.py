"""From where pages may be asked for: by which name, from which page, and whether through a proxy.

The name (`Host`) and the page's (`Origin`) are looked at because a browser can be made to send requests here by any
site, also under a name of that site's own (DNS rebinding). A proxy is looked at because it connects from this machine,
whoever speaks to it.
"""

from typing import NamedTuple

from aiohttp import web
from multidict import CIMultiDictProxy

from adapters.web.refusals import Refused
from bot.addresses import AUTHORITY, LOOPBACK, Visitor, is_forwarded, is_own_name
from bot.settings import Settings

PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """An origin: scheme, name in lower case, and port."""

    scheme: str
    name: str
    port: int

    @classmethod
    def parse(cls, scheme: str, authority: str) -> "Address | None":
        """From a name with or without a port, as in `Host`; None if it is neither."""
        found = AUTHORITY.fullmatch(authority.lower())
        if found is None or scheme not in PORTS:
            return None
        port = int(found["port"] or PORTS[scheme])
        return cls(scheme, found["name"].strip("[]"), port) if 0 < port < 65536 else None

    @classmethod
    def parse_origin(cls, origin: str) -> "Address | None":
        """From an `Origin`, or an address without a path."""
        scheme, separator, authority = origin.partition("://")
        return cls.parse(scheme.lower(), authority) if separator else None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return f"{self.scheme}://{name}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


class Access:
    """Who may come in. Opened, to a network or by a public address, the playground takes each by their own link."""

    def __init__(self, settings: Settings) -> None:
        self.public = Address.parse_origin(settings.public_url) if settings.public_url else None
        self.is_networked = settings.playground_host not in LOOPBACK
        self.is_open = self.is_networked or self.public is not None
        self._monitoring_names = settings.permitted_monitoring_names

    def check(
        self, headers: "CIMultiDictProxy[str]", version: tuple[int, int], is_watching: bool, is_framed: bool = False
    ) -> None:
        """Refused for a request that another site had a browser make, that came by another name, or that a proxy passed
        on to a playground that was not opened. ``is_watching`` is whether it is for `bot.monitoring`, ``is_framed``
        whether for a page that another site shows in a frame (`bot.mini_app`).
        """
        if not self.is_open and is_forwarded(headers, version):
            raise Refused("The playground is not open to a proxy: the host sets BUONGIOCO_PUBLIC_URL to its address.")
        hosts, origins = headers.getall("Host", []), headers.getall("Origin", [])
        public = None if is_watching else self.public
        scheme = public.scheme if public else "http"
        host = Address.parse(scheme, hosts[0]) if len(hosts) == 1 else None
        permitted = self._monitoring_names if is_watching else ()
        is_own = host and (host == public if public else is_own_name(host.name, self.is_networked, permitted))
        if not is_own:
            raise Refused("The playground does not answer to this name.")
        if public and not _uses_scheme(headers, scheme):
            raise Refused(f"The playground is at {public} only.")
        if len(origins) > 1 or (origins and Address.parse_origin(origins[0]) != host):
            raise Refused("The playground answers its own page only.")
        # What another site's page brings as if it were a picture or a frame would be counted as its reader's asking.
        if headers.get("Sec-Fetch-Site") == "cross-site" and not (
            headers.get("Sec-Fetch-Mode") == "navigate" and (is_framed or headers.get("Sec-Fetch-Dest") == "document")
        ):
            raise Refused("Another site's page has asked for this: only its links lead here.")

    def visitor(self, request: web.Request) -> Visitor:
        """By what whoever asks is counted. With a public address the proxy before us says it, and that stands last."""
        said = _last_header_value(request.headers, "X-Forwarded-For") if self.public else ""
        return Visitor.from_address(said[:64] or request.remote or "")


def _uses_scheme(headers: "CIMultiDictProxy[str]", scheme: str) -> bool:
    """Whether the visitor came by this scheme, as far as the proxy says."""
    said = _last_header_value(headers, "X-Forwarded-Proto").lower() or scheme
    return {"ws": "http", "wss": "https"}.get(said, said) == scheme


def _last_header_value(headers: "CIMultiDictProxy[str]", name: str) -> str:
    """What the proxy before us says in a header; empty if it says nothing. Some proxies put it behind what the visitor
    sent, others into a second line.
    """
    return ",".join(headers.getall(name, [])).rpartition(",")[2].strip()
