"""The README shows pictures of the running product, and `tests.e2e.readme_pictures` still draws them."""

import io
import re

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.async_api import Browser

from tests.browser import ONE_BROWSER
from tests.e2e.readme_pictures import NAMES, PICTURES, draw_all
from tests.open_playground import Open
from tests.paths import ROOT

LARGEST = 400_000  # bytes of all pictures together
SIZE = (48, 48)
MOST_DIFFERENCE = 24  # mean difference of a colour, of 255, at the small size: fonts differ between machines


def test_readme_shows_small_pictures() -> None:
    shown = re.findall(r"docs/pictures/(\w+)\.png", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(NAMES)
    assert sum((PICTURES / f"{name}.png").stat().st_size for name in NAMES) < LARGEST


class TestDrawing:
    pytestmark = (*ONE_BROWSER, pytest.mark.long)

    async def test_product_looks_like_the_pictures(self, playground: Open, browser: Browser) -> None:
        for name, picture in (await draw_all(browser, playground)).items():
            shown, drawn = (
                Image.open(source).convert("RGB").resize(SIZE)
                for source in (PICTURES / f"{name}.png", io.BytesIO(picture))
            )
            difference = max(ImageStat.Stat(ImageChops.difference(shown, drawn)).mean)
            assert difference < MOST_DIFFERENCE, f"{name}.png is out of date: python -m tests.e2e.readme_pictures"
