"""The visitors of an app's proxy: people in a frame whose requests all come from the platform's addresses.

Their limits count accounts. Until a session is known, a request counts for the proxy's address, which all visitors
share. So each request extends the time for which a session is known. A session that has ended still has its account's
limits until then.
"""

from aiohttp import web
from cachetools import TTLCache

from adapters.web.access import VISITOR
from adapters.web.people import FRAMED, WebPeople
from bot.http.addresses import Visitor
from bot.site.mini_app import MiniApp

KNOWN_SECONDS, MAX_KNOWN = 600.0, 10_000


class AppVisitors:
    def __init__(self, people: WebPeople) -> None:
        self._people = people
        self._person_of_cookie: TTLCache[str, str] = TTLCache(MAX_KNOWN, KNOWN_SECONDS)

    def recognize(self, request: web.Request, apps: dict[str, MiniApp]) -> bool:
        """Count a request for its reader's account, if an earlier look-up knows it."""
        cookie = request.cookies.get(FRAMED, "")
        person = self._person_of_cookie.get(cookie)
        if person is None:
            return False
        self._person_of_cookie[cookie] = person
        return self._note(request, person, apps)

    async def look_up(self, request: web.Request, apps: dict[str, MiniApp]) -> None:
        """Look up the account behind a request, after it was counted for its address."""
        has_proxy = any(app.page_origin for app in apps.values())
        cookie = request.cookies.get(FRAMED, "") if has_proxy else ""
        if cookie in self._person_of_cookie:
            return
        if person := await self._people.sessions.authenticate(cookie) if cookie else "":
            self._person_of_cookie[cookie] = person
            self._note(request, person, apps)

    @staticmethod
    def _note(request: web.Request, person: str, apps: dict[str, MiniApp]) -> bool:
        app = apps.get(person.partition(":")[0])
        if app is None or not app.page_origin:
            return False
        request[VISITOR] = Visitor(person, person)
        return True
