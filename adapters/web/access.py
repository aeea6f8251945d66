"""Checks of a request's `Host`, `Origin` and proxy headers.

Any site can make a browser send requests here, even under a name of its own (DNS rebinding), so `Host` and `Origin` are
checked. A proxy connects from this machine, so without its headers its requests would look local.
"""

from collections.abc import Collection
from typing import NamedTuple

from aiohttp import web
from multidict import CIMultiDictProxy

from adapters.web.refusals import Refused
from bot.http.addresses import AUTHORITY, LOOPBACK, Visitor, is_forwarded, is_own_name
from bot.settings import Settings

PORTS = {"http": 80, "https": 443}

VISITOR: web.RequestKey[Visitor] = web.RequestKey("visitor", Visitor)  # an account that counts instead of the address


class Address(NamedTuple):
    """An origin: scheme, name in lower case, and port."""

    scheme: str
    name: str
    port: int

    @classmethod
    def parse(cls, scheme: str, authority: str) -> "Address | None":
        """Parse a name with or without a port, as in `Host`; None if it is malformed."""
        match = AUTHORITY.fullmatch(authority.lower())
        if match is None or scheme not in PORTS:
            return None
        port = int(match["port"] or PORTS[scheme])
        return cls(scheme, match["name"].strip("[]"), port) if 0 < port < 65536 else None

    @classmethod
    def parse_origin(cls, origin: str) -> "Address | None":
        """Parse an `Origin`, or a URL without a path."""
        scheme, separator, authority = origin.partition("://")
        return cls.parse(scheme.lower(), authority) if separator else None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return f"{self.scheme}://{name}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


class Access:
    """The check of every request. If the site ``is_open``, people other than the host can enter, by personal links."""

    def __init__(self, settings: Settings) -> None:
        self.public = Address.parse_origin(settings.public_url) if settings.public_url else None
        self.is_networked = settings.playground_host not in LOOPBACK
        self.is_open = self.is_networked or self.public is not None
        self._monitoring_names = settings.permitted_monitoring_names

    def check(
        self,
        headers: "CIMultiDictProxy[str]",
        version: tuple[int, int],
        is_monitoring: bool,
        is_framed: bool = False,
        app_origins: Collection[str] = (),
    ) -> None:
        """Raise `Refused` for a request from another site's page, under a wrong name, or through an unexpected proxy.

        ``is_monitoring`` is true for the paths of `bot.running.monitoring`, ``is_framed`` for a page in another site's
        frame (`bot.site.mini_app`). ``app_origins`` are the origins under which apps show our pages.
        """
        if not self.is_open and is_forwarded(headers, version):
            raise Refused("The playground does not accept a proxy: set BUONGIOCO_PUBLIC_URL to the proxy's address.")
        hosts, origins = headers.getall("Host", []), headers.getall("Origin", [])
        public = None if is_monitoring else self.public
        scheme = public.scheme if public else "http"
        host = Address.parse(scheme, hosts[0]) if len(hosts) == 1 else None
        permitted = self._monitoring_names if is_monitoring else ()
        is_own = host and (host == public if public else is_own_name(host.name, self.is_networked, permitted))
        if not is_own:
            raise Refused("The playground does not answer to this name.")
        # The scheme that the visitor used, if the proxy says so.
        used = _last_header_value(headers, "X-Forwarded-Proto").lower() or scheme
        if public and {"ws": "http", "wss": "https"}.get(used, used) != scheme:
            raise Refused(f"The playground is at {public} only.")
        is_from_app = len(origins) == 1 and origins[0] in app_origins
        if len(origins) > 1 or (origins and not is_from_app and Address.parse_origin(origins[0]) != host):
            raise Refused("The playground answers its own page only.")
        # Another site can embed our address as a picture or frame. The request would use up its reader's limits.
        if headers.get("Sec-Fetch-Site") == "cross-site" and not (
            headers.get("Sec-Fetch-Mode") == "navigate" and (is_framed or headers.get("Sec-Fetch-Dest") == "document")
        ):
            raise Refused("Another site's page sent this request. Other sites can only link here.")

    def visitor(self, request: web.Request) -> Visitor:
        """Return the visitor whose limits a request counts towards. Our proxy names them last in X-Forwarded-For."""
        if VISITOR in request:
            return request[VISITOR]
        forwarded = _last_header_value(request.headers, "X-Forwarded-For") if self.public else ""
        return Visitor.from_address(forwarded[:64] or request.remote or "")


def _last_header_value(headers: "CIMultiDictProxy[str]", name: str) -> str:
    """Return our proxy's value of a header, or "". Some proxies append it, others send a second header line."""
    return ",".join(headers.getall(name, [])).rpartition(",")[2].strip()
