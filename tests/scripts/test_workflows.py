"""The workflows of the forge are valid and safe."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.paths import ROOT

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        # Do not use the machine's shellcheck, which can be missing or of another version.
        ["actionlint", "-shellcheck=", "-pyflakes="],
        ["zizmor", "--offline", "--no-progress", "--quiet", "--min-severity", "medium", ".github"],
    ],
    ids=["actionlint", "zizmor"],
)
def test_workflows_pass_their_checkers(command: list[str]) -> None:
    program, *arguments = command
    result = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def load_release_jobs() -> dict[str, Any]:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    jobs: dict[str, Any] = workflow["jobs"]
    return jobs


def find_earlier(jobs: dict[str, Any], name: str) -> set[str]:
    """Return all jobs that must pass before a job."""
    needs = jobs[name].get("needs", [])
    needs = {needs} if isinstance(needs, str) else set(needs)
    return needs.union(*(find_earlier(jobs, need) for need in needs))


def test_jobs_that_publish_wait_for_checks_and_run_no_packages() -> None:
    jobs = load_release_jobs()
    publishing = [name for name, job in jobs.items() if "write" in job.get("permissions", {}).values()]
    assert publishing == ["image", "publish"]
    for name in publishing:
        assert {"check", "test", "packages"} <= find_earlier(jobs, name)
        commands = "\n".join(step.get("run", "") for step in jobs[name]["steps"])
        assert not re.search(r"\b(make|pip|uvx?)\b", commands)
