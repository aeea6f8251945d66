"""The file with the host's link to an open playground."""

import stat
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.site.host_link import delete_link, link_path, show_link
from bot.store.folder import lock_folder
from tests.bot.command import run_command

LINK = "http://127.0.0.1:8080/#key=secret"


def test_link_file_is_private_and_deleted_by_its_writer(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    show_link(folder, LINK)
    assert link_path(folder).read_text() == f"{LINK}\n"
    assert stat.S_IMODE(link_path(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    delete_link(folder, "another")
    assert link_path(folder).exists()
    delete_link(folder, LINK)
    assert not link_path(folder).exists()


@pytest.mark.parametrize("obstacle", ["writable by others", "a folder in its place"])
def test_link_that_cannot_be_saved_is_logged(tmp_path: Path, obstacle: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    if obstacle == "writable by others":
        folder.chmod(0o777)
    else:
        link_path(folder).mkdir()
    before = sorted(folder.iterdir())
    with capture_logs() as logs:
        show_link(folder, LINK)
    assert sorted(folder.iterdir()) == before
    [line] = [line for line in logs if line["log_level"] == "warning" and line["event"].startswith("playground")]
    assert line["event"] == "playground_host_link_not_saved"
    assert "secret" not in str(logs)


def test_link_of_a_killed_bot_is_not_shown(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with lock_folder(folder):
        show_link(folder, LINK)
        assert run_command(tmp_path, "link").stdout == f"{LINK}\n"
    result = run_command(tmp_path, "link")
    assert (result.returncode, result.stdout) == (2, "")
    assert f"No bot is running with the data folder {folder}" in result.stderr
    assert "secret" not in result.stderr
    # With the host's own store, the command cannot know whether a bot runs.
    assert run_command(tmp_path, "link", REDIS_URL="redis://127.0.0.1").stdout == f"{LINK}\n"
