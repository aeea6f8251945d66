"""Table codes in addresses and forms."""

import re

from aiohttp import web

from adapters.web.api.operations import CODE
from bot.parsing.codes_and_links import read_pasted


def code_of(request: web.Request) -> str:
    """Return the table code in an address, which can have any form that people write; redirect from a watch id."""
    pasted = read_pasted(request.match_info["code"])
    if pasted is None or pasted.kind == "game":
        raise web.HTTPNotFound()
    if pasted.kind == "watch":
        raise web.HTTPSeeOther(f"/t/{pasted.id}")
    return pasted.id


def parse_code(text: str) -> str:
    """Return the text if it is a table's code, otherwise an empty string."""
    return text if re.fullmatch(CODE, text) else ""
