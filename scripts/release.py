"""Steps of `make release VERSION=1.0.0`, and the check and the notes of a release for the workflow.

`prepare` checks the checkout and writes the version and its date, `tag` commits and tags them, and begins the next
version. `make release` tests and builds in between. After a failure it can run again.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from scripts.pins import find_unpinned

PROJECT, CHANGELOG, OWNERS = Path("pyproject.toml"), Path("CHANGELOG.md"), Path(".github/CODEOWNERS")
WRITTEN = [str(PROJECT), str(CHANGELOG)]
UNRELEASED = "## Unreleased\n"
PLACEHOLDER = re.compile(r"@ACCOUNT-OR-TEAM|ghcr\.io/OWNER/|--repo OWNER/|clone URL")
VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


class ReleaseError(Exception):
    """The release cannot continue. The text says why."""


def git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except subprocess.CalledProcessError:
        raise ReleaseError(f"git {arguments[0]} failed") from None


def read_version() -> str:
    [version] = re.findall(r'^version = "(.+)"$', PROJECT.read_text(encoding="utf-8"), re.MULTILINE)
    return str(version)


def write_version(version: str) -> None:
    text = PROJECT.read_text(encoding="utf-8")
    PROJECT.write_text(text.replace(f'version = "{read_version()}"', f'version = "{version}"', 1), encoding="utf-8")


def version_notes(version: str) -> str:
    """Return a version's section of the changelog. "Unreleased" also counts as a version."""
    sections = re.split(r"^## ", CHANGELOG.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for section in sections:
        heading, _, notes = section.partition("\n")
        if heading.split(" - ")[0] == version:
            return notes.strip()
    raise ReleaseError(f"{CHANGELOG} has no section {version}")


def refuse_unpinned() -> None:
    if unpinned := find_unpinned():
        raise ReleaseError("run `make pins` first:\n" + "\n".join(unpinned))


def find_placeholders() -> list[str]:
    """Return each line with a word that only the owner of the repository can fill in, with its file."""
    return [
        f"{name}:{number}: {line.strip()}"
        for name in git("ls-files", ".env.example", ".github", "dist", "*.md").splitlines()
        for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1)
        if PLACEHOLDER.search(line)
    ]


def refuse_placeholders() -> None:
    if found := find_placeholders():
        raise ReleaseError("fill in what docs/releasing.md lists:\n" + "\n".join(found))
    if not re.search(r"^\* +@[A-Za-z0-9]", OWNERS.read_text(encoding="utf-8"), re.MULTILINE):
        raise ReleaseError(f"write the account or team that reviews changes into {OWNERS}")


def prepare(version: str) -> None:
    if not VERSION.fullmatch(version):
        raise ReleaseError("name a version, such as `make release VERSION=1.0.0`")
    if git("tag", "--list", f"v{version}"):
        raise ReleaseError(f"the tag v{version} exists")
    if git("branch", "--show-current") != "main":
        raise ReleaseError("this is not the branch main")
    others = [line for line in git("status", "--porcelain").splitlines() if line.split()[-1] not in WRITTEN]
    if others:
        raise ReleaseError("commit or remove these files first:\n" + "\n".join(others))
    refuse_unpinned()
    refuse_placeholders()
    git("fetch", "--quiet", "origin", "main")
    if git("rev-list", "HEAD..FETCH_HEAD"):
        raise ReleaseError("run `git pull` first: origin has newer commits on main")
    if read_version() == version:
        return
    if not version_notes("Unreleased"):
        raise ReleaseError(f"{CHANGELOG} has nothing under Unreleased")
    heading = f"## {version} - {datetime.now(UTC):%Y-%m-%d}\n"
    text = CHANGELOG.read_text(encoding="utf-8")
    CHANGELOG.write_text(text.replace(UNRELEASED, heading, 1), encoding="utf-8")
    write_version(version)


def tag(version: str) -> None:
    if git("status", "--porcelain"):
        git("commit", "--quiet", "--message", f"Release {version}", *WRITTEN)
    git("tag", "--sign", f"v{version}", "--message", f"Buongioco {version}")
    major, minor, patch = version.split(".")
    following = f"{major}.{minor}.{int(patch) + 1}"
    write_version(f"{following}.dev0")
    text = CHANGELOG.read_text(encoding="utf-8")
    CHANGELOG.write_text(text.replace("## ", f"{UNRELEASED}\n## ", 1), encoding="utf-8")
    git("commit", "--quiet", "--message", f"Begin {following}", *WRITTEN)
    print(f"Publish it with: git push --atomic origin main v{version}")


def check(version: str) -> None:
    """Check a tagged commit before anything of it is published."""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"the tag v{version} names no release")
    if read_version() != version:
        raise ReleaseError(f"the tag v{version} has the version {read_version()}")
    if git("rev-list", "origin/main..HEAD"):
        raise ReleaseError(f"the tag v{version} is not on main")
    version_notes(version)
    refuse_unpinned()
    refuse_placeholders()


def print_notes(version: str) -> None:
    print(version_notes(version))


def main() -> int:
    step, version = sys.argv[1:]
    try:
        {"prepare": prepare, "tag": tag, "check": check, "notes": print_notes}[step](version)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
