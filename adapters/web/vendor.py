"""The libraries of our pages, in `static/vendor/`, so that the bot needs no build step.

Only their imports are adapted, and their source maps left out.

`python -m adapters.web.vendor` checks the files against `LIBRARIES`. To update a library, change its version and
integrity there, run it with ``--renew``, which downloads from the npm registry, and copy the digests it prints.
"""

import argparse
import hashlib
import io
import sys
import tarfile
import urllib.request
from base64 import b64encode
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "static" / "vendor"
REGISTRY = "https://registry.npmjs.org"


class Library(NamedTuple):
    """A library. ``integrity`` is the registry's; ``files`` maps paths in the package to our name and SHA-256."""

    name: str
    version: str
    integrity: str
    files: dict[str, tuple[str, str]]


LIBRARIES = (
    Library(
        "preact",
        "11.2.0",
        "sha512-/HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxMPZ7xBg==",
        {
            "dist/preact.mjs": ("preact.js", "225d7a773766e6fb2cfcc45274fe41d2059f5782f3f2c4569aa5132a2d3a2902"),
            "hooks/dist/hooks.mjs": (
                "preact-hooks.js",
                "5c65ab263688d0805862fd0807c779af02c2799c44fda0873dfcb870d0da70a0",
            ),
            "LICENSE": ("preact.LICENSE.txt", "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4"),
        },
    ),
    Library(
        "htm",
        "3.1.1",
        "sha512-983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ==",
        {
            "dist/htm.module.js": ("htm.js", "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4"),
            "LICENSE": ("htm.LICENSE.txt", "740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f"),
        },
    ),
)


def find_changed() -> list[str]:
    """Return the names of files that differ from `LIBRARIES`."""
    files = dict(file for library in LIBRARIES for file in library.files.values())
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in FOLDER.iterdir()}
    return [name for name, digest in files.items() if digests.get(name) != digest]


def fetch(library: Library) -> dict[str, bytes]:
    """Download a library and return its files by our names. Raises ValueError if its integrity does not match."""
    address = f"{REGISTRY}/{library.name}/-/{library.name}-{library.version}.tgz"
    with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - the registry's own address, by https
        package = answer.read()
    integrity = f"sha512-{b64encode(hashlib.sha512(package).digest()).decode()}"
    if integrity != library.integrity:
        raise ValueError(f"{library.name} {library.version} has the integrity {integrity}, not {library.integrity}")
    files = {}
    with tarfile.open(fileobj=io.BytesIO(package), mode="r:gz") as archive:
        for path, (name, _digest) in library.files.items():
            file = archive.extractfile(f"package/{path}")
            assert file
            files[name] = _adapt_script(file.read()) if name.endswith("js") else file.read()
    return files


def _adapt_script(script: bytes) -> bytes:
    # Browsers need paths, and an import map would be inline code.
    script = script.replace(b'from"preact"', b'from"./preact.js"')
    # Source maps are not included.
    script_lines = [line for line in script.splitlines() if not line.startswith(b"//# sourceMappingURL")]
    return b"\n".join(script_lines) + b"\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true", help="download the files again")
    if parser.parse_args().renew:
        FOLDER.mkdir(exist_ok=True)
        for library in LIBRARIES:
            for name, content in fetch(library).items():
                (FOLDER / name).write_bytes(content)
                print(name, hashlib.sha256(content).hexdigest())  # noqa: T201
    changed_names = find_changed()
    for name in changed_names:
        print(f"{name} differs from LIBRARIES: run with --renew", file=sys.stderr)  # noqa: T201
    return bool(changed_names)


if __name__ == "__main__":
    sys.exit(main())
