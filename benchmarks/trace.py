"""Reads Chromium's traces: what the main thread of a page did, by processor time.

On a busy machine a task takes much longer than the processor time that it gets, so wall time says little.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

CATEGORIES = ["toplevel", "devtools.timeline"]
TASKS = frozenset({"ThreadControllerImpl::RunTask", "RunTask"})
PARTS = {
    "FunctionCall": "script",
    "EvaluateScript": "script",
    "v8.compileModule": "script",
    "v8.evaluateModule": "script",
    "RunMicrotasks": "script",
    "MinorGC": "script",
    "MajorGC": "script",
    "UpdateLayoutTree": "style",
    "Layout": "layout",
    "PrePaint": "paint",
    "Paint": "paint",
    "Layerize": "paint",
    "Commit": "paint",
    "ParseHTML": "parsing",
    "ParseAuthorStyleSheet": "parsing",
    "HitTest": "events",
    "EventDispatch": "events",
}
"""The part of a task to which an event's own time counts. Nested events of this table count separately."""


class Task(NamedTuple):
    at: float  # seconds since the thread's first event
    cpu: float  # milliseconds
    wall: float  # milliseconds
    parts: dict[str, float]  # milliseconds of processor time without nested parts; parts below 1 ms are left out


def main_tasks(trace: bytes) -> list[Task]:
    """Return the outermost tasks, in order, of the thread that computed the most styles: the page's main thread."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    style_counts = Counter((event["pid"], event["tid"]) for event in events if event["name"] == "UpdateLayoutTree")
    if not style_counts:
        return []
    (thread, _count), *_others = style_counts.most_common(1)
    own = [event for event in events if event.get("ph") == "X" and (event["pid"], event["tid"]) == thread]
    own.sort(key=lambda event: (event["ts"], -event.get("dur", 0)))
    begin = own[0]["ts"]
    return [_task(group, begin) for group in _outer_tasks(own)]


def _outer_tasks(events: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Group events by the outermost task around them. Each group begins with that task."""
    group: list[dict[str, Any]] = []
    end = 0
    for event in events:
        if event["ts"] < end:
            group.append(event)
        elif event["name"] in TASKS:
            if group:
                yield group
            group, end = [event], event["ts"] + event.get("dur", 0)
    if group:
        yield group


def _task(group: list[dict[str, Any]], begin: float) -> Task:
    parts: defaultdict[str, float] = defaultdict(float)
    enclosing: list[tuple[float, str]] = []  # the ends and parts of the events around the current one
    for event in group[1:]:
        part = PARTS.get(event["name"])
        if part is None:
            continue
        while enclosing and enclosing[-1][0] <= event["ts"]:
            enclosing.pop()
        cpu = event.get("tdur", 0) / 1000
        parts[part] += cpu
        if enclosing:
            parts[enclosing[-1][1]] -= cpu
        enclosing.append((event["ts"] + event.get("dur", 0), part))
    task = group[0]
    shown = {part: cpu for part, cpu in sorted(parts.items(), key=lambda item: -item[1]) if cpu >= 1}
    return Task((task["ts"] - begin) / 1e6, task.get("tdur", 0) / 1000, task.get("dur", 0) / 1000, shown)
