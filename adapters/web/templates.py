"""Renders the templates in `templates/`."""

import re
from functools import cached_property
from typing import Any

from adapters.web.assets import Assets
from bot.texts import texts

BLACK_SIGNS = re.compile("[♠♣]\N{VARIATION SELECTOR-16}?")
SECRET = re.compile("(?P<start>[0-9a-f]{12})[0-9a-f]{52}")  # a seal or a secret of a deal


class Templates:
    """The template engine. It escapes all values: only templates contain markup."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    @cached_property
    def _environment(self) -> Any:
        # Import this late, because most bots never show a page.
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

        environment = Environment(
            loader=PackageLoader("adapters.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        environment.globals["asset"] = self._assets.url
        environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
        environment.filters["mark_black_suits"] = _mark_black_suits
        environment.filters["fold_secret"] = _fold_secret
        return environment

    def page(self, template: str, language: str, /, **values: object) -> str:
        """Render a template such as "home.html". ``data`` is JSON for its script, in the element ``page-data``."""
        defaults = {"_": texts(language).gettext, "language": language, "notice": "", "app": "", "reader_tag": None}
        return str(self._environment.get_template(template).render(defaults | values))


def _mark_black_suits(text: str) -> str:
    """Wrap the signs of black suits in elements, which dark styles draw light."""
    from markupsafe import Markup, escape  # noqa: PLC0415 - as Jinja

    return Markup(BLACK_SIGNS.sub(r'<span class="sign">\g<0></span>', str(escape(text))))  # noqa: S704 - it is escaped


def _fold_secret(line: str) -> str:
    """Shorten a line's secret. Pressing the line shows all of its digits."""
    from markupsafe import Markup, escape  # noqa: PLC0415 - as Jinja

    if not (match := SECRET.search(line)):
        return _mark_black_suits(line)
    short = escape(SECRET.sub(r"\g<start>…", line).strip())
    return Markup("<details><summary>{}</summary><code>{}</code></details>").format(short, match[0])
