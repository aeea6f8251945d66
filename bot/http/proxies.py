"""The proxy for requests to platforms, from the environment (``HTTPS_PROXY``, ``NO_PROXY``)."""

from functools import cache
from urllib.request import getproxies, proxy_bypass


def proxy_for(url: str) -> str | None:
    scheme, _, after_scheme = url.partition("://")
    return _proxy_to(scheme, after_scheme.partition("/")[0])


@cache
def _proxy_to(scheme: str, host: str) -> str | None:
    """Return the cached proxy. A thread in which aiohttp looks it up would cost more than the request."""
    proxy = getproxies().get(scheme)
    return None if proxy is None or proxy_bypass(host) else proxy
