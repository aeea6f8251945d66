"""Portraits at the seats."""

from pathlib import Path
from xml.etree import ElementTree as ET

from bot.robots.names import ROBOT_NAMES
from bot.site.portraits import PEOPLE, ROBOT_FACES, choose_portraits
from bot.tables.chairs import Chair

FACES = Path(__file__).parents[3] / "adapters" / "web" / "static" / "faces.svg"


def test_each_portrait_is_drawn_once() -> None:
    sprite = ET.fromstring(FACES.read_text())  # noqa: S314 - our own
    assert sorted(str(drawing.get("id")) for drawing in sprite) == sorted([*ROBOT_FACES.values(), *PEOPLE])


def test_each_robot_has_its_own_face() -> None:
    chairs = [Chair(f"robot:{level}", f"🤖 {name}") for level, names in ROBOT_NAMES.items() for name in names]
    assert choose_portraits(chairs) == tuple(ROBOT_FACES.values())


def test_people_keep_different_faces() -> None:
    anna, other_anna, bruno = Chair("web:1", "Anna"), Chair("web:2", "Anna"), Chair("web:3", "Bruno")
    portraits = choose_portraits((anna, None, other_anna, bruno))
    assert portraits == choose_portraits((anna, None, other_anna, bruno))
    assert portraits[1] == ""
    assert len({*portraits}) == 4
    assert choose_portraits((anna,)) == choose_portraits((Chair("telegram:9", "Anna"),)) == portraits[:1]
