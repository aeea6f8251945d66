"""The joined scripts and styles of a page."""

import re

import pytest
from playwright.async_api import Browser

from adapters.web.assets import Assets
from adapters.web.bundles import SCRIPTS, STYLES, BadModule, find_loaded, join_scripts, join_styles
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground

pytestmark = ONE_BROWSER

MODULES = {
    "main.js": """// @ts-check
import { count, grow as more } from "./lib/count.js";
import twice from "./lib/twice.js";
/** Later. @type {() => Promise<any>} */
const late = () => import("./late.js");
document.title = String(twice(more(count)) + (await late()).seven);
""",
    "lib/count.js": 'export { grow } from "./grow.js";\nexport const count = 3;\n',
    "lib/grow.js": "export async function unused() { return 0; }\nexport function grow(number) { return number + 1; }\n",
    "lib/twice.js": "export default (number) => 2 * number;",
    "late.js": 'import{a as n}from"./min.js";export const seven = await Promise.resolve(n);',
    "min.js": "var x=7;export{x as a};",
}


@pytest.mark.long
async def test_joined_modules_run_as_separate_ones(playground: OpenPlayground, browser: Browser) -> None:
    modules = MODULES | {"late.js": MODULES["late.js"].replace(";export", ";\nexport")}
    page = await (await browser.new_context()).new_page()
    await page.goto(f"{playground.url}rules")
    await page.evaluate(f"async () => {{{join_scripts(modules, ['main.js'])}}}")
    assert await page.title() == "15"


async def test_name_that_no_module_exports_is_refused() -> None:
    modules = MODULES | {"lib/count.js": "const count = 3;\n"}
    with pytest.raises(BadModule, match=r"main.js: lib/count.js does not export count"):
        join_scripts(modules, ["main.js"])


async def test_unknown_form_of_export_is_refused() -> None:
    with pytest.raises(BadModule, match=r"main.js: a form of import or export"):
        join_scripts({"main.js": "export * from './other.js';\n"}, ["main.js"])


async def test_modules_that_import_each_other_are_refused() -> None:
    modules = {
        "main.js": 'import { a } from "./other.js";\nexport const b = () => a;\n',
        "other.js": 'import { b } from "./main.js";\nexport const a = () => b;\n',
    }
    with pytest.raises(BadModule, match=r"import each other: \S+ → \S+"):
        join_scripts(modules, ["main.js"])
    modules["other.js"] = 'export const a = () => import("./main.js");\n'
    assert "load('main.js')" in join_scripts(modules, ["main.js"])


async def test_late_module_of_a_bundle_runs_only_when_needed() -> None:
    script = join_scripts(MODULES, ["main.js"])
    assert "load('late.js')" in script
    assert script.rstrip().endswith("await load('main.js');")


async def test_only_files_that_pages_load_are_listed() -> None:
    files = {
        "page.js": 'import { a } from "./lib/a.js";\nimport("./late.js");\nnew URL("late.css", import.meta.url);',
        "lib/a.js": 'import { b } from "./b.js";',
        "lib/b.js": "",
        "late.js": 'import "./page.js";',
        "late.css": "",
        "bundle.js": "await load('bundled.js');",
        "bundled.js": "",
    }
    assert find_loaded(files, ['{{ asset("page.js") }} {{ asset("bundle.js") }}']) == files.keys() - {"bundled.js"}
    loaded = Assets().loaded_files
    assert {"table.bundle.js", "table.bundle.css", "offline.js", "endings.css", "vendor/htm.js"} < set(loaded)
    assert {"table.js", "drag.js", "controls.css", "service_worker.js"}.isdisjoint(loaded)


async def test_bundles_have_no_comments_and_all_rules() -> None:
    files = Assets()._files
    for name in SCRIPTS:
        assert not re.search(rb"^[ \t]|^//|/\*\*", files[name].body, re.MULTILINE)
    for name, parts in STYLES.items():
        assert b"/*" not in files[name].body
        assert files[name].body.count(b"}") == sum(files[part].body.count(b"}") for part in parts)
    styles = {"a.css": "/* A; */\na > b, c :hover {\n  color: red;\n}\n", "b.css": "d { width: calc(1px + 2px); }\n"}
    assert join_styles(styles, ["b.css", "a.css"]) == "d{width:calc(1px + 2px);}a > b,c :hover{color:red;}"
