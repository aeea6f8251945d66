"""Courses on the web pages, with the same steps as in chats and without scripts."""

import re

import pytest
from playwright.async_api import Browser, expect

from adapters.web import people
from bot.features.learn.courses import COURSES
from bot.features.learn.feature import LearnFeature
from bot.features.learn.progress import Reached
from tests.bot.features.learn.answers import right_indexes, robot_taps
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import PHONE, open_page, take_screenshot
from tests.web.test_tables import Visitor, open_browser

HEADING = re.compile(r'<h1 class="title">([^<]*)</h1>')


async def tap(visitor: Visitor, course: str, step: int, taps: str = "") -> str:
    """Send a lesson's form and return the next page."""
    answer = await visitor.post(f"/learn/{course}", step=str(step), taps=taps)
    assert answer.status == 303
    status, text = await visitor.get(answer.headers["Location"])
    assert status == 200
    return text


@pytest.mark.parametrize("name", COURSES)
async def test_whole_course_is_won_on_the_page(site: OpenPlayground, name: str) -> None:
    course = COURSES[name]
    async with open_browser(site) as anna:
        status, text = await anna.get("/learn")
        assert status == 200
        assert f'href="/learn/{name}"' in text
        status, text = await anna.get(f"/learn/{name}")
        for step, index in enumerate(right_indexes(course), 1):
            assert HEADING.findall(text) == [f"{course.title} · {step} of 9"]
            assert f'name="taps" value="{index}"' in text
            text = await tap(anna, name, step, str(index))
            assert "✅" in text
        taps = robot_taps(course)
        for end in range(len(taps)):
            assert f'name="taps" value="{taps[: end + 1]}"' in text
            text = await tap(anna, name, 9, taps[: end + 1])
            assert ("Buongioco has" in text) == ('class="held"' in text)
            assert (">previous trick<" in text) == ('class="laid past"' in text)
        assert "🏆 You win" in text
        assert f'name="game" value="{course.game}"' in text
        # Nothing is stored about a person without a session.
        assert not await site.worker.store.client.keys("{learn}:*")
        assert not await site.worker.store.client.keys("game:*")


async def test_guest_continues_where_they_stopped(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        await anna.play()
        await tap(anna, "spades", 3)
        assert "Spades · 3/9" in (await anna.get("/learn"))[1]
        assert HEADING.findall((await anna.get("/learn/spades"))[1]) == ["Spades · 3 of 9"]
        [person] = await site.worker.store.client.hkeys("{learn}:spades")
        progress = site.worker.feature(LearnFeature).progress
        assert await progress.courses_of(person.decode()) == {"spades": Reached("3")}
        # A browser or chat can load a link that nobody has followed.
        await anna.get("/learn/spades?step=9")
        await anna.get("/learn/packets?step=2")
        assert await progress.courses_of(person.decode()) == {"spades": Reached("3")}


async def test_tap_of_a_signed_in_person_stores_their_profile(site: OpenPlayground) -> None:
    # Steps of unused people are deleted with their profiles, so a person with a step needs a profile.
    async with open_browser(site) as anna:
        await anna.play()
        [id_] = await site.worker.store.client.hkeys(people.PEOPLE)
        person = f"{people.PLATFORM}:{id_.decode()}"
        await site.worker.people.erase(person)
        await tap(anna, "spades", 3)
        assert (await site.worker.people.reload(person)).is_known


async def test_browser_reloads_a_step_with_a_one_time_form(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, anna.session.get(f"{site.url}learn/spades") as answer:
        assert answer.headers["Cache-Control"] == "no-store"


async def test_wrong_tap_is_explained_on_the_page(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        text = (await anna.get("/learn/tressette?step=1&taps=3"))[1]
        assert "❌ You must follow suit: play cups." in text
        assert HEADING.findall(text) == ["Tressette · 1 of 9"]


async def test_steps_that_do_not_exist_are_not_found(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        for path in ("chess", "spades?step=0", "spades?step=1&taps=9", "spades?step=9&taps=x"):
            assert (await anna.get(f"/learn/{path}"))[0] == 404, path
        assert (await anna.post("/learn/chess", step="1")).status == 404
        assert (await anna.post("/learn/spades", step="9", taps="x")).status == 404


@pytest.mark.long
class TestInBrowser:
    pytestmark = ONE_BROWSER

    async def test_course_is_tapped_on_a_phone(self, playground: OpenPlayground, browser: Browser) -> None:
        page = await open_page(browser, playground.url, **PHONE)
        await page.get_by_role("link", name="Learn in three minutes").click()
        await check_accessibility(page)
        await take_screenshot(page, "learn")
        for name, course in COURSES.items():
            await page.goto(f"{playground.url}learn/{name}")
            for step, index in enumerate(right_indexes(course), 1):
                await check_accessibility(page)
                assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                await take_screenshot(page, f"learn-{name}-{step}")
                await page.locator(f"[name=taps][value='{index}']").click()
                await expect(page.locator(".line")).to_contain_text("✅")
            taps = robot_taps(course)
            for end in range(1, len(taps) + 1):
                await page.locator(f"[name=taps][value='{taps[:end]}']").click()
            await expect(page.locator(".words")).to_contain_text("You win")
            await check_accessibility(page)
            await take_screenshot(page, f"learn-{name}-won")
