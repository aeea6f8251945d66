"""Pin the workflows' actions and the base images by digest: `make pins`.

Digests are read online, with git and Docker. An action moves to the newest release of its major version. A name whose
digest cannot be read is not changed, and the output says why.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

# The files that name actions or images.
PATTERNS = (".github/workflows/*.yml", "Dockerfile", "compose.yaml", "dist/**/*.yaml")
TIMEOUT = 60.0  # seconds for each digest
UNPINNED = "not pinned by digest"

ACTION = re.compile(r"(?<=uses: )(?P<name>[\w-]+/[\w.-]+)(?P<path>/[\w./-]+)?@(?P<ref>[\w.]+)(?: # (?P<tag>v[\d.]+))?")
# This project's own image has a version and no digest here.
IMAGE = re.compile(
    r"(?P<start>^FROM |--from=|^[ -]*image: |driver-opts: image=|sbom: generator=)"
    r"(?P<name>(?!\S*/buongioco:)[\w./-]+:[\w.-]+)(?:@(?P<digest>sha256:\w+))?",
    re.MULTILINE,
)


class UnreadError(Exception):
    """A digest could not be read. The text says why."""


def run(*command: str) -> str:
    """Return the output of a command. Raise UnreadError if it fails."""
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except FileNotFoundError:
        raise UnreadError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise UnreadError(f"{command[0]} did not answer") from None
    except subprocess.CalledProcessError as error:
        raise UnreadError((error.stderr.strip() or f"{command[0]} failed").splitlines()[0]) from None
    return result.stdout


@cache
def read_action(name: str, major: str) -> tuple[str, str]:
    """Return the newest tag of an action's major version, and the id of its commit."""
    commits = {}
    for line in run("git", "ls-remote", "--tags", f"https://github.com/{name}", f"v{major}.*").splitlines():
        commit, tag = line.split("\trefs/tags/")
        # A line with ^{} follows that of an annotated tag, and has the commit.
        if re.fullmatch(r"v\d+\.\d+\.\d+", tag := tag.removesuffix("^{}")):
            commits[tag] = commit
    if not commits:
        raise UnreadError(f"it has no release v{major}.x.y")
    newest = max(commits, key=lambda tag: [int(number) for number in tag[1:].split(".")])
    return newest, commits[newest]


@cache
def read_image(name: str) -> str:
    """Return the digest of an image for all platforms."""
    digest = run("docker", "buildx", "imagetools", "inspect", name, "--format", "{{.Manifest.Digest}}").strip()
    if not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        raise UnreadError("docker gave no digest")
    return digest


def pin_action(found: re.Match[str]) -> str:
    tag = found["tag"] or found["ref"]
    tag, commit = read_action(found["name"], tag.removeprefix("v").partition(".")[0])
    return f"{found['name']}{found['path'] or ''}@{commit} # {tag}"


def pin_image(found: re.Match[str]) -> str:
    return f"{found['start']}{found['name']}@{read_image(found['name'])}"


def refuse_unpinned(found: re.Match[str]) -> str:
    groups = found.groupdict()
    if not groups.get("digest") and not (groups.get("tag") and re.fullmatch("[0-9a-f]{40}", groups["ref"])):
        raise UnreadError(UNPINNED)
    return found[0]


def replace_names(
    text: str, pin_action: Callable[[re.Match[str]], str], pin_image: Callable[[re.Match[str]], str]
) -> tuple[str, list[str]]:
    """Return a file's text with its names replaced, and a line for each name that could not be replaced."""
    problems = []

    def attempt(pin: Callable[[re.Match[str]], str], found: re.Match[str]) -> str:
        try:
            return pin(found)
        except UnreadError as error:
            problems.append(f"{found['name']}: {error}")
            return found[0]

    text = ACTION.sub(lambda found: attempt(pin_action, found), text)
    text = IMAGE.sub(lambda found: attempt(pin_image, found), text)
    return text, list(dict.fromkeys(problems))


def find_files() -> list[Path]:
    return sorted(path for pattern in PATTERNS for path in Path().glob(pattern))


def find_unpinned() -> list[str]:
    """Return a line for each action and image without a digest."""
    return [
        f"{path}: {problem}"
        for path in find_files()
        for problem in replace_names(path.read_text(encoding="utf-8"), refuse_unpinned, refuse_unpinned)[1]
    ]


def main() -> int:
    count = 0
    for path in find_files():
        before = path.read_text(encoding="utf-8")
        after, problems = replace_names(before, pin_action, pin_image)
        path.write_text(after, encoding="utf-8")
        count += len(problems)
        for problem in problems:
            print(f"{path}: cannot read the digest of {problem}", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
