"""Pages and their files: safe headers, caching in browsers, and the reader's language."""

import json
import re
from datetime import date
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import aiohttp
import pytest
from markupsafe import escape
from redis.exceptions import ConnectionError as StoreConnectionError

from adapters.web import vendor
from adapters.web.assets import Assets, deck_name
from adapters.web.templates import Templates
from bot.features.daily.site import DayPage
from bot.panel import Panel, Span
from bot.panel_picture import DECKS, Deck
from bot.pictures.cards import PACKS, sprite_svg
from bot.texts import texts
from bot.words.rules import rules_text
from bot.words.safety import safety_lines
from engine import GAMES
from tests.open_playground import OpenPlayground
from tests.web.page_addresses import PAGES

STATIC = Path(vendor.__file__).parent / "static"


def find_addresses(page: str) -> list[str]:
    return re.findall(r'(?:href|src)="(/[^"]+)"', page)


@pytest.mark.parametrize("path", ["", "chat"])
async def test_page_and_its_files_have_safe_headers(
    site: OpenPlayground, session: aiohttp.ClientSession, path: str
) -> None:
    async with session.get(site.url + path) as answer:
        assert answer.status == 200
        # The form on the first page can be sent only once.
        assert answer.headers["Cache-Control"] == ("no-cache" if path else "no-store")
        policy = answer.headers["Content-Security-Policy"]
        page = await answer.text()
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    # The page contains nothing that the security policy would block.
    assert not re.search(r"<script(?![^>]*(src=|application/json))|<style|\son\w+=|\sstyle=", page)
    files = [address for address in find_addresses(page) if address.startswith("/static/")]
    assert len(files) >= 3
    for file in files:
        async with session.get(site.url + file[1:]) as answer:
            assert answer.status == 200
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            tag = answer.headers["ETag"]
        async with session.get(site.url + file[1:], headers={"If-None-Match": tag}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")


async def test_file_of_another_release_is_served_uncached(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    """A page opened before an update can still request the file."""
    for path in ("static/0123456789abcdef/site.css", "cards/0123456789abcdef/french-easy.svg"):
        async with session.get(site.url + path) as answer:
            assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize(
    "path", ["static/x/../../pages.py", "static/x/%2e%2e/pages.py", "static/x/nothing.js", "cards/x/italian-odd.svg"]
)
async def test_unknown_paths_are_not_found(site: OpenPlayground, session: aiohttp.ClientSession, path: str) -> None:
    async with session.get(site.url + path) as answer:
        assert answer.status == 404
        assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize(("language", "expected"), [("it-IT,it;q=0.9", "Chat di prova"), ("fr", "Playground chat")])
async def test_first_page_is_in_the_readers_language(
    site: OpenPlayground, session: aiohttp.ClientSession, language: str, expected: str
) -> None:
    async with session.get(site.url, headers={"Accept-Language": language}) as answer:
        assert expected in await answer.text()


@pytest.mark.parametrize(
    ("language", "expected"),
    [("it-IT", ["Come funziona", "/sfida"]), ("en", ["How to play", "/challenge"])],
)
async def test_how_to_play_is_in_the_readers_language(
    site: OpenPlayground, session: aiohttp.ClientSession, language: str, expected: list[str]
) -> None:
    async with session.get(f"{site.url}how-to-play", headers={"Accept-Language": language}) as answer:
        page = await answer.text()
    assert answer.status == 200
    assert all(word in page for word in expected)


@pytest.mark.parametrize(("header", "language"), [("it-IT", "it"), ("en", "en"), ("fr", "en")])
async def test_safety_page_is_linked_in_the_readers_language(
    site: OpenPlayground, session: aiohttp.ClientSession, header: str, language: str
) -> None:
    title = texts(language).gettext("Play safely")
    for page in ("", "how-to-play"):
        async with session.get(site.url + page, headers={"Accept-Language": header}) as answer:
            assert re.search(f'<a [^>]*href="/safety">{title}</a>', await answer.text())
    async with session.get(f"{site.url}safety", headers={"Accept-Language": header}) as answer:
        assert answer.status == 200
        list_items = re.findall("<li>(.*)</li>", await answer.text())
    assert list_items == safety_lines(language)


async def test_first_page_names_the_game_of_the_day(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.get(site.url, headers={"Accept-Language": "en"}) as answer:
        page = await answer.text()
    names = "|".join(kind.name for kind in GAMES.values())
    assert re.search(rf'href="/daily">[^<]*<small>({names}) · \d+ (h|min) left</small>', page)


async def test_daily_page_folds_the_seal(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.get(f"{site.url}daily", headers={"Accept-Language": "en"}) as answer:
        page = await answer.text()
    seal_match = re.search("<summary>🔒 Fair shuffle</summary>[^<]* <code>([0-9a-f]{64})</code>", page)
    assert seal_match
    assert page.count(seal_match[1][:12]) == 1


async def test_chat_page_has_a_button_for_the_first_command(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    async with session.get(site.chat_url, headers={"Accept-Language": "it"}) as answer:
        page = await answer.text()
    assert 'data-command="/sfida metamazzo">/sfida metamazzo</button>' in page
    assert '<a id="home" href="/"' in page


def test_small_text_has_marked_suits_or_a_folded_secret() -> None:
    seal = "ab" * 32
    spans = (Span("Seven of ♠", "small"), Span(f"Seal: {seal}", "small"))
    day = DayPage(date(2026, 11, 27), Panel(spans), False, "testa", seal)
    page = Templates(Assets()).page("daily.html", "en", day=day, yesterday=False, name="", chat_name="")
    assert '<small>Seven of <span class="sign">♠</span></small>' in page
    assert f"<code>{seal}</code></details></small>" in page


async def test_strangers_get_the_first_page_without_the_store(
    site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_command: object, **_options: object) -> None:
        raise StoreConnectionError("away")

    async with session.get(site.url) as answer:
        assert re.search(r"Deal of the day <small>[^<]+ · \d+ (h|min) left</small>", await answer.text())
    monkeypatch.setattr(site.worker.store.client, "execute_command", fail)
    async with session.get(site.url) as answer:
        assert answer.status == 200
        assert "Deal of the day <small></small>" in await answer.text()


def test_script_data_cannot_close_its_element() -> None:
    page = Templates(Assets()).page("message.html", "en", text="", watch_id="", data={"name": "</script><b>&\u2028"})
    [data] = re.findall(r'id="page-data">(.*)</script>', page)
    assert data == '{"name":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026\u2028"}'


@pytest.mark.parametrize("deck", DECKS, ids=map(deck_name, DECKS))
def test_deck_file_has_each_card_once_and_is_small(deck: Deck) -> None:
    sprite = ET.fromstring(sprite_svg(deck))  # noqa: S314 - our own
    assert [drawing.get("id") for drawing in sprite] == [*PACKS[deck.suits].codes, "back"]
    assert len(Assets()._sprites[deck_name(deck)].gzipped) < 30_000


@pytest.mark.parametrize(
    ("accepted_encodings", "encoding"),
    [("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gzip"), ("identity", None)],
)
async def test_files_are_compressed_as_the_browser_accepts(
    site: OpenPlayground, session: aiohttp.ClientSession, accepted_encodings: str, encoding: str | None
) -> None:
    assets = site.site.assets
    for path, asset in (
        (assets.url("table.js"), assets._files["table.js"]),
        (assets.cards_url("italian-classic"), assets._sprites["italian-classic"]),
    ):
        async with session.get(site.url + path[1:], headers={"Accept-Encoding": accepted_encodings}) as answer:
            assert answer.headers.get("Content-Encoding") == encoding
            assert answer.headers["Vary"] == "Accept-Encoding"
            assert await answer.read() == asset.body


def test_vendored_libraries_match_their_hashes() -> None:
    assert vendor.find_changed() == [], "files in the vendor folder do not match their hashes"
    names = {name for library in vendor.LIBRARIES for name, _digest in library.files.values()}
    # The type declarations are ours: the compiler gets the libraries' types from its own packages.
    assert {file.name for file in vendor.FOLDER.iterdir() if not file.name.endswith(".d.ts")} == names
    packages = json.loads((Path(__file__).parent / "types" / "package.json").read_text())["devDependencies"]
    versions = {library.name: library.version for library in vendor.LIBRARIES}
    assert versions.items() <= packages.items(), "tests/web/types/package.json must name the vendored versions"


def test_changed_library_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in vendor.FOLDER.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(vendor, "FOLDER", tmp_path)
    assert vendor.find_changed() == []
    (tmp_path / "htm.js").write_text("alert(1)")
    (tmp_path / "preact.js").unlink()
    assert vendor.find_changed() == ["preact.js", "htm.js"]


@pytest.mark.parametrize(("language", "common"), [("it", "Quaranta carte di quattro semi"), ("en", "no trumps")])
async def test_each_game_has_a_page_of_rules(
    site: OpenPlayground, session: aiohttp.ClientSession, language: str, common: str
) -> None:
    for game in GAMES:
        await check_rules_page(site, session, game, language, common)


async def check_rules_page(
    site: OpenPlayground, session: aiohttp.ClientSession, game: str, language: str, common: str
) -> None:
    async with session.get(f"{site.url}rules/{game}", headers={"Accept-Language": language}) as answer:
        page = await answer.text()
        assert answer.status == 200
    for line in rules_text(language, game).lines:
        assert str(escape(line)) in page
    # Games based on Tressette show Tressette's rules below their own.
    assert (common in page) == (game != "spades")
    assert page.count("<use ") == (13 if game == "spades" else 10)
    links = [address for address in find_addresses(page) if address.startswith("/rules")]
    assert f"/rules/{game}" not in links
    for link in links:
        async with session.get(site.url + link[1:]) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(("language", "label"), [("it", "Torna al tavolo"), ("en", "Back to the table")])
async def test_rules_opened_at_a_table_lead_back(
    site: OpenPlayground, session: aiohttp.ClientSession, language: str, label: str
) -> None:
    for query, is_back in (("?t=ABCDEF", True), ("?t=../x", False), ("", False)):
        async with session.get(f"{site.url}rules/testa{query}", headers={"Accept-Language": language}) as answer:
            page = await answer.text()
        addresses = list(find_addresses(page))
        assert addresses.count("/t/ABCDEF") == (2 if is_back else 0)
        assert page.count(label) == (2 if is_back else 0)
        # The other rules lead back too.
        assert ("/rules/spades?t=ABCDEF" in addresses) == is_back


async def test_no_link_leads_nowhere(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    addresses = {f"/{page}" for page in PAGES}
    for page in PAGES:
        async with session.get(f"{site.url}{page}") as answer:
            addresses |= {unescape(address).partition("#")[0] for address in find_addresses(await answer.text())}
    for address in sorted(addresses):
        async with session.get(f"{site.url}{address.removeprefix('/')}") as answer:
            assert answer.status == 200, address


async def test_unknown_address_links_to_the_first_page(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    headers = {"Accept": "text/html,*/*", "Accept-Language": "it"}
    for path in ("nothing", "rules/nothing", "t/nonsense-code", "g/"):
        async with session.get(site.url + path, headers=headers) as answer:
            page = await answer.text()
            assert answer.status == 404
            assert 'href="/"' in page
            assert "Qui non c’è niente" in page
            assert "Content-Security-Policy" in answer.headers
    async with session.get(f"{site.url}nothing", headers={"Accept": "*/*"}) as answer:
        assert "<" not in await answer.text()


@pytest.mark.parametrize(
    ("text", "leads_to"),
    [
        (" k7qf2m ", "/t/K7QF2M"),
        ("https://cards.example.org/t/K7QF2M", "/t/K7QF2M"),
        ("https://cards.example.org/t/K7QF2M-ABCDEFGHJKMN", "/t/K7QF2M-ABCDEFGHJKMN"),
        ("K7QF2M-abcdefghjkmn", "/t/K7QF2M-ABCDEFGHJKMN"),
        ("http://127.0.0.1:8765/g/K7QF2M-1f0e9a#d2m5", "/g/K7QF2M-1f0e9a"),
        ("K7QF2M-1F0E9A", "/g/K7QF2M-1f0e9a"),
        ("https://evil.example/steal-it-now", ""),
        ("//evil.example", ""),
        ("", ""),
        ("K7QF2M\r\nX: y", "/t/K7QF2M"),
        ("https://cards.example.org/t/K7QF2M?fbclid=1", "/t/K7QF2M"),
        ("/join K7QF2M", "/t/K7QF2M"),
        ("K7QF2M.", "/t/K7QF2M"),
        ("<https://t.me/buongioco_bot?start=join-K7QF2M>", "/t/K7QF2M"),
        ("Anna ti invita.\nPer sederti scrivimi /entra k7qf2m", "/t/K7QF2M"),
    ],
)
async def test_code_or_link_leads_to_its_table(
    site: OpenPlayground, session: aiohttp.ClientSession, text: str, leads_to: str
) -> None:
    async with session.get(f"{site.url}go", params={"to": text}, allow_redirects=False) as answer:
        assert answer.status == (303 if leads_to else 404)
        assert answer.headers.get("Location", "") == leads_to


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("t/k7qf2m-abcdefghjkmn", "/t/K7QF2M-ABCDEFGHJKMN"),
        ("t/K7QF2M-ABCDEFGHJKMN)", "/t/K7QF2M-ABCDEFGHJKMN"),
        ("g/K7QF2M-1F0E9A.", "/g/K7QF2M-1f0e9a"),
    ],
)
async def test_link_with_extra_characters_still_works(
    site: OpenPlayground, session: aiohttp.ClientSession, path: str, leads_to: str
) -> None:
    async with session.get(f"{site.url}{path}", allow_redirects=False) as answer:
        assert (answer.status, answer.headers.get("Location")) == (303, leads_to)
