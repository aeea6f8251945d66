"""Addresses of the pages that need no table, game or person. Tests of all pages use them, so a new page is tested too."""

from aiohttp import web

from adapters.web.installing import OFFLINE
from adapters.web.routes import ROUTES
from adapters.web.site import COOKIE_CHECK

NO_PAGES = {"/lobby", "/find/state", "/notice", "/go", "/manifest.webmanifest", "/sw.js", OFFLINE, COOKIE_CHECK}
"""Addresses that answer a script, redirect, or belong to the installed site."""

PAGES = tuple(
    path.removeprefix("/")
    for method, path, _handler in ROUTES
    if method is web.get and "{" not in path and path not in NO_PAGES
)
