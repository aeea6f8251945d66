"""The workflows of the forge are valid and safe."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        # Not with the machine's shellcheck, which may be missing or of another version.
        ["actionlint", "-shellcheck=", "-pyflakes="],
        ["zizmor", "--offline", "--no-progress", "--quiet", "--min-severity", "medium", ".github"],
    ],
    ids=["actionlint", "zizmor"],
)
def test_workflows_pass_their_checkers(command: list[str]) -> None:
    program, *arguments = command
    result = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
