"""The code of the deal of the day is in its folder. Few other product files name it."""

import re
from pathlib import Path

import bot

ROOT = Path(bot.__file__).parents[1]
SUFFIXES = (".py", ".lua", ".js", ".css", ".html")

TOUCH_POINTS = {
    "the list of features": ["bot/registry.py"],
    "the list of commands": ["bot/command_names.py", "bot/command_words.py"],
    "the store's entries and keys": ["bot/store/entries.py", "bot/store/keys.py", "bot/tables/table_state.py"],
    "notifications of browsers": [
        "adapters/web/push.py",
        "adapters/web/static/push.js",
        "adapters/web/templates/settings.html",
        "bot/features/web_push/sending.py",
        "bot/notification.py",
    ],
    "the time zone of the days": ["bot/settings.py"],
    "the file of /mydata": ["bot/features/privacy/mydata.py"],
    "the host's command": ["bot/cli/daily.py", "bot/cli/main.py", "bot/cli/verify.py"],
    "the web page": [
        "adapters/telegram/app_links.py",
        "adapters/web/app_sharing.py",
        "adapters/web/feature_pages.py",
        "adapters/web/installing.py",
        "adapters/web/link_previews.py",
        "adapters/web/other_addresses.py",
        "adapters/web/routes.py",
        "adapters/web/static/daily.css",
        "adapters/web/table_pages.py",
        "adapters/web/templates/daily.html",
        "adapters/web/templates/home.html",
        "bot/pictures/links.py",
    ],
}


def mentions_daily(path: Path) -> bool:
    # Puzzles are daily too, and use bot/days/draws.py.
    text = re.sub("daily_?draws|daily puzzles", "", f"{path.name} {path.read_text('utf-8')}", flags=re.I)
    return re.search("daily|deal of the day", text, re.I) is not None


def test_only_listed_files_name_the_deal_of_the_day() -> None:
    product = (path for package in ("adapters", "bot", "engine") for path in (ROOT / package).rglob("*"))
    folder = ROOT / "bot" / "features" / "daily"
    files = [
        str(path.relative_to(ROOT))
        for path in product
        if path.suffix in SUFFIXES and folder not in path.parents and mentions_daily(path)
    ]
    expected = sorted(file for files in TOUCH_POINTS.values() for file in files)
    assert sorted(files) == expected, (
        "avoid the words, move code into bot/features/daily, or add the file to TOUCH_POINTS"
    )
    assert len(TOUCH_POINTS) <= 8
