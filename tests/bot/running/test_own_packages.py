"""The bot refuses to start next to another distribution's package of the same name."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from bot.running.own_packages import ForeignPackage, check_own_packages
from tests.bot.command import environment
from tests.paths import ROOT

CHECK = "from bot.running.own_packages import check_own_packages; check_own_packages()"


def test_checkout_has_its_own_packages() -> None:
    check_own_packages()


def test_package_from_another_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ForeignPackage, match="finds the package engine in another place"):
        check_own_packages(tmp_path)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the bot's installed wheel."""
    builder = WheelBuilder(str(ROOT))
    [wheel] = builder.build(directory=str(tmp_path / "wheels"))
    zipfile.ZipFile(wheel).extractall(tmp_path)
    return tmp_path


def run_check(site: Path) -> str:
    own_environment = environment(site, PYTHONPATH=str(site), PYTHONSAFEPATH="1", PYTHONDONTWRITEBYTECODE="1")
    result = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=site, env=own_environment, capture_output=True, text=True, check=False
    )
    return result.stderr.strip().splitlines()[-1] if result.returncode else ""


def test_files_of_another_distribution_are_refused(site: Path) -> None:
    assert run_check(site) == ""
    (site / "adapters" / "heads").mkdir()
    assert "has put heads into the bot's package adapters" in run_check(site)
    (site / "adapters" / "heads").rmdir()
    with (site / "adapters" / "__init__.py").open("a") as file:
        file.write("import torch\n")
    assert "has put __init__.py into the bot's package adapters" in run_check(site)
