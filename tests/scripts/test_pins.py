"""`make pins` writes the digests of actions and base images, and says which it could not read."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts import pins
from tests.paths import ROOT

DIGEST = "sha256:" + "ab" * 32
WORKFLOW = """
    steps:
      - uses: actions/checkout@v6
      - uses: ./.github/workflows/ci.yml
      - with:
          driver-opts: image=moby/buildkit:1
          sbom: generator=docker/scanner:1
"""
DOCKERFILE = "FROM python:3.14-slim AS build\nFROM python:3.14-slim\nCOPY --from=build /app /app\n"
COMPOSE = "services:\n  bot:\n    image: ghcr.io/anna/buongioco:1.0.0\n  valkey:\n    image: valkey/valkey:9-alpine\n"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with unpinned names, in the current folder. A local repository stands in for actions/checkout."""
    action = tmp_path / "action"
    git("init", "--quiet", str(action))
    settings = {
        "user.name": "A",
        "user.email": "a@example.org",
        f"url.{action}.insteadOf": "https://github.com/actions/checkout",
        f"url.{tmp_path}/missing/.insteadOf": "https://github.com/",
    }
    for number, (name, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", name)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    for tag in ("v6.9.0", "v6.10.0", "v7.0.0"):
        git("-C", str(action), "commit", "--quiet", "--allow-empty", "--message", tag)
        git("-C", str(action), "tag", "--annotate", tag, "--message", tag)
    folder = tmp_path / "project"
    (folder / ".github" / "workflows").mkdir(parents=True)
    monkeypatch.chdir(folder)
    Path(".github/workflows/ci.yml").write_text(WORKFLOW, encoding="utf-8")
    Path("Dockerfile").write_text(DOCKERFILE, encoding="utf-8")
    Path("compose.yaml").write_text(COMPOSE, encoding="utf-8")
    # A stand-in for the program docker.
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(f"#!/bin/sh\necho {DIGEST}\n", encoding="utf-8")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}{os.pathsep}{os.environ['PATH']}")
    pins.read_action.cache_clear()
    pins.read_image.cache_clear()
    return tmp_path


def read_file(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def test_pins_are_written_and_can_be_renewed(project: Path) -> None:
    assert len(pins.find_unpinned()) == 5
    commit = git("-C", str(project / "action"), "rev-parse", "v6.10.0^{commit}")
    for _ in range(2):
        assert pins.main() == 0
        pinned = WORKFLOW.replace("checkout@v6", f"checkout@{commit} # v6.10.0").replace(":1", f":1@{DIGEST}")
        assert read_file(".github/workflows/ci.yml") == pinned
        assert read_file("Dockerfile") == DOCKERFILE.replace("3.14-slim", f"3.14-slim@{DIGEST}")
        # The bot's image has no digest, because a release of the project names it.
        assert read_file("compose.yaml") == COMPOSE.replace("9-alpine", f"9-alpine@{DIGEST}")
    assert pins.find_unpinned() == []


def test_unread_digest_leaves_the_name_and_is_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bin" / "docker").write_text("#!/bin/sh\necho no network >&2\nexit 1\n", encoding="utf-8")
    Path(".github/workflows/ci.yml").write_text(WORKFLOW.replace("checkout", "other"), encoding="utf-8")
    assert pins.main() == 1
    error_lines = capsys.readouterr().err.splitlines()
    assert error_lines[0].startswith(".github/workflows/ci.yml: cannot read the digest of actions/other: fatal: ")
    assert error_lines[1:] == [
        ".github/workflows/ci.yml: cannot read the digest of moby/buildkit:1: no network",
        ".github/workflows/ci.yml: cannot read the digest of docker/scanner:1: no network",
        "Dockerfile: cannot read the digest of python:3.14-slim: no network",
        "compose.yaml: cannot read the digest of valkey/valkey:9-alpine: no network",
    ]
    assert read_file("Dockerfile") == DOCKERFILE


def test_workflows_use_pinned_actions() -> None:
    names = []
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        names += re.findall("uses: (?![.]/)(.*)", path.read_text(encoding="utf-8"))
    assert len(names) > 10
    assert [name for name in names if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name)] == []
