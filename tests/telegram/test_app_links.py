"""Links that open a page in the main Mini App."""

import re

import pytest

from adapters.telegram.app_links import UNKNOWN_PAGE, app_link, page_of

PAGES = [
    "/t/K7QF2M",
    "/t/K7QF2M-ABCDEFGH",
    "/g/K7QF2M-0a1b2c",
    "/g/K7QF2M-0a1b2c#d2m5",
    "/g/K7QF2M-0a1b2c#d2",
    "/duel/K7QF2M",
    "/match/K7QF2M",
    "/tournament/K7QF2M",
    "/puzzle?id=0a1b",
    "/learn/tressette",
    "/puzzle",
    "/daily",
    "/duel",
    "/tournaments",
]


@pytest.mark.parametrize("page", PAGES)
def test_link_names_its_page(page: str) -> None:
    link, _, start = app_link("buongioco_bot", page).partition("?startapp=")
    assert link == "https://t.me/buongioco_bot"
    assert re.fullmatch("[A-Za-z0-9_-]{1,512}", start)
    assert page_of(start) == page


@pytest.mark.parametrize(
    "page",
    [
        "/",
        "",
        "/in?t=K7QF2M#secret",
        "/in",
        "/p/a_b",
        "/t/K7QF2M/live",
        "/t/K7QF2M#d2m5",
        "/g/K7QF2M-0a1b2c#d2m5~3D",
        "/daily#top",
        "/settings",
    ],
)
def test_page_that_the_app_cannot_open_has_no_link(page: str) -> None:
    assert app_link("buongioco_bot", page) == ""


@pytest.mark.parametrize(
    "start", ["out", "t", "t_", "t_a_b", "in_x", "//example.com", "t_../x", "t_a_d2m5", "daily\n", "x" * 513]
)
def test_unknown_start_value_leads_to_the_first_page(start: str) -> None:
    assert page_of(start) == UNKNOWN_PAGE
