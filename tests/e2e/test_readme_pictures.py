"""The product looks like the README's pictures."""

import io

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.async_api import Browser

from tests.browser import ONE_BROWSER
from tests.e2e.readme_pictures import PICTURES, draw_all
from tests.open_playground import OpenPlayground

pytestmark = [*ONE_BROWSER, pytest.mark.long]

SIZE = (48, 48)
MAX_DIFFERENCE = 24  # largest mean difference of colour values, from 0 to 255; fonts differ between machines


async def test_product_looks_like_the_readme_pictures(playground: OpenPlayground, browser: Browser) -> None:
    for name, picture in (await draw_all(browser, playground)).items():
        stored_picture, drawn_picture = (
            Image.open(source).convert("RGB").resize(SIZE) for source in (PICTURES / f"{name}.png", io.BytesIO(picture))
        )
        difference = max(ImageStat.Stat(ImageChops.difference(stored_picture, drawn_picture)).mean)
        assert difference < MAX_DIFFERENCE, f"{name}.png is out of date: python -m tests.e2e.readme_pictures"
