"""Pages from the templates in `templates/`, in the language of whoever reads them."""

import json
import re
from functools import cached_property
from typing import Any

from adapters.web.assets import Assets
from bot.texts import texts

BLACK_SIGNS = re.compile("[♠♣]\N{VARIATION SELECTOR-16}?")


class Templates:
    """Writes pages. Whatever a template is given is escaped; only templates hold markup."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    @cached_property
    def _environment(self) -> Any:
        # Not before a page is asked for: most bots that run never show one.
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

        environment = Environment(
            loader=PackageLoader("adapters.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        environment.globals["asset"] = self._assets.url
        environment.filters["signed"] = _mark_black_suits
        return environment

    def page(self, template: str, language: str, /, **values: object) -> str:
        """The page of a template, such as "home.html". ``data`` among the values is what its script is given, as JSON:
        the page has it as its element ``page-data``.
        """
        data = values.pop("data", None)
        written = None if data is None else _json_in_html(data)
        text: str = self._environment.get_template(template).render(
            _=texts(language).gettext, language=language, data=written, **values
        )
        return text


def _mark_black_suits(text: str) -> str:
    """A text with the signs of the black suits in elements of their own: on a dark ground they are drawn light."""
    from markupsafe import Markup, escape  # noqa: PLC0415 - as Jinja

    return Markup(BLACK_SIGNS.sub(r'<span class="sign">\g<0></span>', str(escape(text))))  # noqa: S704 - it is escaped


def _json_in_html(data: object) -> str:
    """JSON that can stand in a script element: nothing in it ends that."""
    from markupsafe import Markup  # noqa: PLC0415 - as Jinja

    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - what could mean anything in HTML has just been escaped
