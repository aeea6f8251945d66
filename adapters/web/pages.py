"""The pages that are the same for everybody."""

from aiohttp import web

from adapters.web.site import Site, spoken
from bot.commands import command_called
from bot.texts import language_of


class Pages:
    """Answers for them."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def chat(self, request: web.Request) -> web.Response:
        challenge = command_called("challenge")
        assert challenge
        word = challenge.name_in(language_of(spoken(request)))
        return self._site.page(request, "chat.html", challenge=f"/{word}")
