"""Tables' codes in addresses."""

import re

from aiohttp import web

from adapters.web.api.operations import CODE


def code_of(request: web.Request) -> str:
    """The code in a table's address; HTTPNotFound if it is none."""
    code = request.match_info["code"].upper()
    if not re.fullmatch(CODE, code):
        raise web.HTTPNotFound()
    return code
