"""The language of code, tests and docs: the words and lengths that docs/contributing.md asks for."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("adapters", "benchmarks", "bot", "engine", "examples", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts)
PLAIN_WORDS = {
    "whoever": "the person who",
    "whatever": "any, or name the thing",
    "anew": "again",
    "in place of": "instead of",
    "of whom": "whose, or name the person",
    "is to be": "must be",
    "are to be": "must be",
    "was to be": "should have been",
    "by itself": "automatically",
    "by themselves": "automatically",
    "what stands": "the content",
    "thereof": "of it",
    "everybody": "everyone",
    "for ever": "forever",
    "for good": "permanently",
    "in vain": "without success",
}
HEAVY = re.compile(rf"\b({'|'.join(PLAIN_WORDS)})\b".replace(" ", r"\s+"), re.IGNORECASE)
MAX_TEST_NAME = 60
LONG_TEST_NAME = re.compile(rf"^ *(?:async )?def (test_\w{{{MAX_TEST_NAME - 4},}})", re.MULTILINE)


def read_prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, with their line numbers."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_use_plain_words(folder: str) -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in FILES if path.is_relative_to(ROOT / folder)}
    faults = [
        f"{path.relative_to(ROOT)}:{line}: write {PLAIN_WORDS[word.lower()]!r} instead of {word!r}"
        for path, source in sources.items()
        if path != Path(__file__) and HEAVY.search(source)
        for line, text in read_prose(source)
        for word in HEAVY.findall(" ".join(text.split()))
    ]
    assert not faults, "\n".join(faults)


def test_docs_use_plain_words() -> None:
    faults = [
        f"{page.name}:{line}: write {PLAIN_WORDS[' '.join(word.lower().split())]!r} instead of {word!r}"
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        for line, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for word in HEAVY.findall(text)
    ]
    assert not faults, "\n".join(faults)


def test_names_of_tests_are_short() -> None:
    faults = [
        f"{path.relative_to(ROOT)}: {name} has {len(name)} characters; use {MAX_TEST_NAME} or fewer"
        for path in FILES
        if path.name.startswith("test_")
        for name in LONG_TEST_NAME.findall(path.read_text(encoding="utf-8"))
    ]
    assert not faults, "\n".join(faults)
