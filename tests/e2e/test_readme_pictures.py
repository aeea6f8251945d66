"""The README shows pictures of the running product, and `tests.e2e.readme_pictures` still draws them."""

import io
import re
from typing import ClassVar

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.async_api import Browser

from tests.browser import ONE_BROWSER
from tests.e2e.readme_pictures import NAMES, PICTURES, draw_all
from tests.open_playground import OpenPlayground
from tests.paths import ROOT

MAX_BYTES = 400_000  # bytes of all pictures together
SIZE = (48, 48)
MAX_DIFFERENCE = 24  # mean difference of a colour, of 255, at the small size: fonts differ between machines


def test_readme_shows_small_pictures() -> None:
    names = re.findall(r"docs/pictures/(\w+)\.png", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(names) == sorted(NAMES)
    assert sum((PICTURES / f"{name}.png").stat().st_size for name in NAMES) < MAX_BYTES


class TestDrawing:
    pytestmark: ClassVar = [*ONE_BROWSER, pytest.mark.long]

    async def test_product_looks_like_the_pictures(self, playground: OpenPlayground, browser: Browser) -> None:
        for name, picture in (await draw_all(browser, playground)).items():
            stored, drawn = (
                Image.open(source).convert("RGB").resize(SIZE)
                for source in (PICTURES / f"{name}.png", io.BytesIO(picture))
            )
            difference = max(ImageStat.Stat(ImageChops.difference(stored, drawn)).mean)
            assert difference < MAX_DIFFERENCE, f"{name}.png is out of date: python -m tests.e2e.readme_pictures"
