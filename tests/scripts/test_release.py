"""`make release` writes a version, tags it and begins the next one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.release import find_placeholders, main
from tests.paths import ROOT

CHANGELOG = "# Changelog\n\n## Unreleased\n\n- A new game.\n\n## 1.0.0 - 2026-01-01\n\n- The first.\n"
RENAME = "sed -i.old s/Unreleased/1.1.0/ CHANGELOG.md"
RAISE = "sed -i.old s/.dev0// pyproject.toml; rm *.old; git commit -qam x"
UNOWN = "echo '# nobody' > .github/CODEOWNERS; git commit -qam x"
UNFILL = "echo 'git clone URL .' > README.md; git add .; git commit -qm x"
UNPIN = "echo FROM python:3.14 > Dockerfile; git add .; git commit -qm x"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def read_file(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["release", *words])
    return main()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout that can be released, in the current folder. A script stands in for the signing program."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    signer = tmp_path / "signer"
    signer.write_text(
        '#!/bin/sh\ncat >/dev/null\nprintf "\\n[GNUPG:] SIG_CREATED \\n" >&2\necho signature\n', encoding="utf-8"
    )
    signer.chmod(0o755)
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("pyproject.toml").write_text('[project]\nname = "buongioco"\nversion = "1.1.0.dev0"\n', encoding="utf-8")
    Path("CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    Path(".github").mkdir()
    Path(".github/CODEOWNERS").write_text("# Reviewers\n* @ada\n", encoding="utf-8")
    git("init", "--quiet", "--initial-branch", "main")
    settings = {"user.name": "A", "user.email": "a@example.org", "user.signingKey": "A", "gpg.program": str(signer)}
    for name, value in settings.items():
        git("config", name, value)
    git("add", ".")
    git("commit", "--quiet", "--message", "Begin")
    git("clone", "--quiet", "--bare", ".", "../origin")
    git("remote", "add", "origin", "../origin")
    git("fetch", "--quiet", "origin")
    return folder


@pytest.mark.usefixtures("checkout")
def test_release_is_tagged_and_the_next_version_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "prepare", "1.1.0") == 0
    # After a failed build, `prepare` runs again although the version is already written.
    assert run(monkeypatch, "prepare", "1.1.0") == 0
    assert run(monkeypatch, "tag", "1.1.0") == 0
    assert git("log", "--format=%s").splitlines() == ["Begin 1.1.1", "Release 1.1.0", "Begin"]
    assert 'version = "1.1.0"\n' in git("show", "v1.1.0:pyproject.toml")
    assert "signature" in git("cat-file", "tag", "v1.1.0")
    released = git("show", "v1.1.0:CHANGELOG.md").splitlines()
    assert released[2].startswith("## 1.1.0 - 20")
    assert 'version = "1.1.1.dev0"\n' in read_file("pyproject.toml")
    assert read_file("CHANGELOG.md").splitlines()[2:5] == ["## Unreleased", "", released[2]]
    assert git("status", "--porcelain") == ""
    [push] = re.findall("^Publish it with: (.*)$", capsys.readouterr().out, re.MULTILINE)
    subprocess.run(push.split(), check=True)
    git("checkout", "--quiet", "v1.1.0")
    assert run(monkeypatch, "check", "1.1.0") == 0


@pytest.mark.parametrize(
    ("version", "fault", "reason"),
    [
        ("1.1", "true", "name a version"),
        ("1.1.0", "git tag v1.1.0", "the tag v1.1.0 exists"),
        ("1.1.0", "git checkout --quiet -b other", "this is not the branch main"),
        ("1.1.0", "touch new.py", "commit or remove these files first"),
        ("1.1.0", UNPIN, "run `make pins` first"),
        ("1.1.0", UNFILL, "fill in what docs/releasing.md lists:\nREADME.md:1: git clone URL ."),
        ("1.1.0", UNOWN, "write the account or team that reviews changes"),
        ("1.1.0", "git commit -qm x --allow-empty; git push -q origin main; git reset -q --hard @~", "run `git pull`"),
        ("1.1.0", "sed -i.old '/new game/d' CHANGELOG.md; rm *.old", "CHANGELOG.md has nothing under Unreleased"),
    ],
)
@pytest.mark.usefixtures("checkout")
def test_release_is_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str, fault: str, reason: str
) -> None:
    subprocess.run(["sh", "-c", fault], check=True)
    assert run(monkeypatch, "prepare", version) == 1
    assert capsys.readouterr().err.startswith(f"release: {reason}")
    assert "1.1.0.dev0" in read_file("pyproject.toml")


@pytest.mark.usefixtures("checkout")
def test_notes_are_the_changelog_section(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "notes", "1.0.0") == 0
    assert capsys.readouterr().out == "- The first.\n"
    assert run(monkeypatch, "notes", "2.0.0") == 1


@pytest.mark.parametrize(
    ("version", "fault", "why"),
    [
        ("1.1.0", "true", "the tag v1.1.0 has the version 1.1.0.dev0"),
        ("1.1.0.dev0", "true", "the tag v1.1.0.dev0 names no release"),
        ("1.1.0", f"{RENAME}; {RAISE}", "the tag v1.1.0 is not on main"),
        ("1.1.0", f"{RAISE}; git push -q origin main", "CHANGELOG.md has no section 1.1.0"),
        ("1.1.0", f"{RENAME}; {RAISE}; {UNPIN}; git push -q origin main", "run `make pins` first"),
    ],
)
@pytest.mark.usefixtures("checkout")
def test_tag_is_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str, fault: str, why: str
) -> None:
    subprocess.run(["sh", "-c", fault], check=True)
    assert run(monkeypatch, "check", version) == 1
    assert capsys.readouterr().err.startswith(f"release: {why}")


def test_docs_list_the_files_that_the_owner_fills_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    described = read_file("docs/releasing.md")
    for line in find_placeholders():
        assert f"`{line.partition(':')[0]}`" in described, line
