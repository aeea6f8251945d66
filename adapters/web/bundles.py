"""Joins the files of a page: a slow network then needs one request for all scripts, and one for all styles.

Each module becomes an async function that returns its exports, and `load` calls it once. So an `import()` still runs
its module only when it is needed. Comments and indents are left out.
"""

import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from posixpath import dirname, join, normpath

# The name of each bundle, and the files that it starts with.
SCRIPTS = {
    "table.bundle.js": ("notice.js", "reader.js", "table.js"),
    "telegram.bundle.js": ("telegram_app.js",),
}
STYLES = {"table.bundle.css": ("notice.css", "site.css", "table.css", "controls.css", "hint.css", "bubbles.css")}
# Modules that a page loads after its first card. They share no state with the modules of a bundle.
APART = frozenset({"offline.js", "offline_storage.js", "searching.js"})

COMMENT_LINE = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STYLE_SPACE = re.compile(r"\s*([{};,])\s*|(?<=:) ")  # spaces that styles do not need
DOC_COMMENT = re.compile(r"/\*\*.*?\*/ ?", re.DOTALL)
IMPORT = re.compile(r'^import\s*(?:(\w+)|\{([^}]*)\})\s*from\s*"([^"]+)";', re.MULTILINE)
EXPORT_FROM = re.compile(r'^export\s*\{([^}]*)\}\s*from\s*"([^"]+)";', re.MULTILINE)
EXPORT_LIST = re.compile(r"\bexport\s*\{([^}]*)\};?")
DECLARATION = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
DEFAULT = re.compile(r"\bexport default ")
FILE_NAME = re.compile(r'"([\w./-]+\.(?:js|css|svg))"')
LATE_IMPORT = re.compile(r'\bimport\("([^"]+)"\)')
LOADER = """const loaded = {};
const load = (name) => loaded[name] ||= modules[name]();
"""


class BadModule(Exception):
    """A module has a form that bundles do not support."""


def join_styles(files: Mapping[str, str], names: Iterable[str]) -> str:
    text = STYLE_COMMENT.sub("", "".join(files[name] for name in names))
    return STYLE_SPACE.sub(r"\1", text)


def join_scripts(files: Mapping[str, str], entries: Iterable[str]) -> str:
    """Return a script that runs the modules ``entries`` in order. Raises `BadModule`."""
    entries, modules = list(entries), dict[str, _Module]()
    unread = list(entries)
    while unread:
        name = unread.pop()
        if name not in modules:
            modules[name] = _Module(name, files[name])
            unread += modules[name].needs
    for module in modules.values():
        module.check(modules)
    try:
        TopologicalSorter({name: module.waits for name, module in modules.items()}).prepare()
    except CycleError as fault:
        # The modules would wait for each other forever.
        raise BadModule(f"modules import each other: {' → '.join(fault.args[1])}") from fault
    functions = "".join(f"{name!r}: async () => {{\n{module.body}}},\n" for name, module in modules.items())
    runs = "".join(f"await load({name!r});\n" for name in entries)
    return f"const modules = {{\n{functions}}};\n{LOADER}{runs}"


def find_loaded(files: Mapping[str, str], pages: Iterable[str]) -> set[str]:
    """Return the names of the files that pages load: those that a page names, and those that these name in turn."""
    loaded = set[str]()
    unread = [path for page in pages for path in FILE_NAME.findall(page)]
    while unread:
        name = unread.pop()
        if name in files and name not in loaded:
            loaded.add(name)
            unread += [normpath(join(dirname(name), path)) for path in FILE_NAME.findall(files[name])]
    return loaded


class _Module:
    """A module as the body of an async function.

    ``exports`` maps each exported name to its expression, and ``imports`` lists names with the module they come from.
    ``needs`` are other modules, and ``waits`` those of them that run first.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.exports: dict[str, str] = {}
        self.imports: list[tuple[str, str]] = []
        self.needs: list[str] = []
        self.waits: list[str] = []
        # Indents inside templates mean nothing either: htm drops spaces next to a line's end.
        text = INDENT.sub("", COMMENT_LINE.sub("", DOC_COMMENT.sub("", text)))
        text = EXPORT_FROM.sub(self._export_from, text)
        text = IMPORT.sub(self._import, text)
        text = LATE_IMPORT.sub(self._import_late, text)
        text = EXPORT_LIST.sub(self._export_list, text)
        text = DECLARATION.sub(self._export_declaration, text)
        if DEFAULT.search(text):
            text = DEFAULT.sub("const exported = ", text)
            self.exports["default"] = "exported"
        if re.search(r"^(?:import|export)\b(?!\()", text, re.MULTILINE):
            raise BadModule(f"{name}: a form of import or export that bundles do not know")
        exports = ", ".join(name if name == local else f"{name}: {local}" for name, local in self.exports.items())
        self.body = f"{text.rstrip()}\nreturn {{ {exports} }};\n"

    def check(self, modules: Mapping[str, "_Module"]) -> None:
        """Raise `BadModule` if the module imports a name that its source does not export."""
        for name, source in self.imports:
            if name not in modules[source].exports:
                raise BadModule(f"{self.name}: {source} does not export {name}")

    def _need(self, path: str) -> str:
        module = normpath(join(dirname(self.name), path))
        self.needs.append(module)
        return module

    def _import(self, match: re.Match[str]) -> str:
        default, names, source = match[1], match[2], self._need(match[3])
        self.waits.append(source)
        pairs = [("default", default)] if default else _pairs(names)
        self.imports += [(name, source) for name, _local in pairs]
        bindings = ", ".join(f"{name}: {local}" for name, local in pairs)
        return f"const {{ {bindings} }} = await load({source!r});"

    def _import_late(self, match: re.Match[str]) -> str:
        if normpath(join(dirname(self.name), match[1])) in APART:
            return match[0]
        return f"load({self._need(match[1])!r})"

    def _export_from(self, match: re.Match[str]) -> str:
        source, variable = self._need(match[2]), f"from{len(self.needs)}"
        self.waits.append(source)
        for name, exported in _pairs(match[1]):
            self.imports.append((name, source))
            self.exports[exported] = f"{variable}.{name}"
        return f"const {variable} = await load({source!r});"

    def _export_list(self, match: re.Match[str]) -> str:
        self.exports |= {exported: name for name, exported in _pairs(match[1])}
        return ""

    def _export_declaration(self, match: re.Match[str]) -> str:
        self.exports[match[1]] = match[1]
        return ""


def _pairs(names: str) -> list[tuple[str, str]]:
    """Split "a, b as c" into pairs of a name and its name elsewhere."""
    pairs = []
    for part in filter(None, map(str.strip, names.split(","))):
        name, _as, alias = part.partition(" as ")
        pairs.append((name, alias or name))
    return pairs
