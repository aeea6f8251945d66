"""The files that the forge and editors read: forms, owners, the dev container."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from bot.settings import Settings
from tests.paths import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
ALLOWED = {  # keys of a field's attributes, by type
    "markdown": {"value"},
    "textarea": {"label", "description", "placeholder", "value", "render"},
    "input": {"label", "description", "placeholder", "value"},
    "dropdown": {"label", "description", "multiple", "options", "default"},
    "checkboxes": {"label", "description", "options"},
}
MAKE_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_issue_forms_are_valid(path: Path) -> None:
    """The keys are those of "Syntax for GitHub's form schema" (docs.github.com)."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    assert set(form) <= {"name", "description", "title", "labels", "assignees", "body"}
    for field in form["body"]:
        assert set(field) <= {"type", "id", "attributes", "validations"}
        assert set(field["attributes"]) <= ALLOWED[field["type"]]
        assert field["attributes"]["value" if field["type"] == "markdown" else "label"]
        assert set(field.get("validations", ())) <= {"required"}
        options = field["attributes"].get("options", [])
        assert all(isinstance(option, str) for option in options) or field["type"] == "checkboxes"
    ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert len(ids) == len(set(ids))


def test_form_for_faults_asks_for_doctor_and_version() -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "fault.yml").read_text(encoding="utf-8"))
    required = {field["id"] for field in form["body"] if field.get("validations", {}).get("required")}
    assert {"doctor", "version"} <= required
    [doctor] = [field for field in form["body"] if field.get("id") == "doctor"]
    assert "`buongioco doctor`" in doctor["attributes"]["label"]


def test_pull_request_template_names_make_targets() -> None:
    text = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    named_targets = set(re.findall(r"`make ([a-z-]+)`", text))
    assert {"check", "test", "texts"} <= named_targets <= MAKE_TARGETS, (
        "pull_request_template.md: name all three, and no target that does not exist"
    )


def test_rules_of_code_owners_match_files() -> None:
    """An invalid owner is shown as an error on the forge, so a placeholder stays in a comment."""
    rule_lines = (ROOT / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    for line in filter(None, (line.partition("#")[0].strip() for line in rule_lines)):
        pattern, *owners = line.split()
        assert pattern == "*" or list(ROOT.glob(pattern.strip("/"))), f"CODEOWNERS: no file matches {pattern}"
        assert owners, f"CODEOWNERS: {pattern} has no owner"
        assert all(re.fullmatch(r"@[A-Za-z0-9-]+(/[\w-]+)?", owner) for owner in owners), f"CODEOWNERS: {line}"
        assert "@ACCOUNT-OR-TEAM" not in owners, f"CODEOWNERS: replace the placeholder in {line!r}"


def test_dev_container_sets_up_a_supported_python() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["postCreateCommand"] == "make setup"
    assert container["forwardPorts"] == [Settings.model_fields["playground_port"].default]
    [version] = re.findall(r"python:(3\.\d+)-", container["image"])
    assert f"Python :: {version}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    # docs/testing.md lists the tools of tests.
    [tools] = re.findall(r"`apt install (.*?)`", (ROOT / "docs" / "testing.md").read_text(encoding="utf-8"))
    assert container["onCreateCommand"].endswith(f"--yes {tools}"), "devcontainer.json must install these tools"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_texts_names_missing_texts_by_file_and_line() -> None:
    result = subprocess.run(["make", "-s", "texts"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"All \d+ texts are in en, it\.\n", result.stdout)
