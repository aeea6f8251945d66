"""Lua lives in files, and each file is used."""

import re

from tests.paths import ROOT

PRODUCT = [ROOT / package for package in ("engine", "bot", "adapters")]


def test_python_modules_contain_no_lua() -> None:
    modules = [path for package in PRODUCT for path in package.rglob("*.py")]
    inline = re.compile(r"redis\.call|\b(?:KEYS|ARGV)\[")
    offenders = [path for path in modules if inline.search(path.read_text(encoding="utf-8"))]
    assert not offenders, f"move the Lua of {offenders} to .lua files next to them"


def test_each_script_is_read_by_a_module_next_to_it() -> None:
    scripts = [path for package in PRODUCT for path in package.rglob("*.lua")]
    assert len(scripts) > 40
    for script in scripts:
        modules = "".join(path.read_text(encoding="utf-8") for path in script.parent.glob("*.py"))
        assert re.search(rf'"{script.stem}(?:\.lua)?"', modules), f"no module next to {script} reads it: delete it"
