"""Lua scripts for the store. Each is a file next to the module that runs it."""

from functools import cache
from pathlib import Path


@cache
def read_script(module: str, *names: str) -> str:
    """Return the text of ``NAME.lua`` next to a module, given by its ``__file__``. Several files are joined."""
    return "".join(Path(module).with_name(f"{name}.lua").read_text(encoding="utf-8") for name in names)


DELETE_IF = read_script(__file__, "delete_if")
