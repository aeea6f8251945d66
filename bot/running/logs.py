"""Logging: text on a terminal, otherwise a line of JSON per event.

Hidden cards and secrets are never logged above level debug. Libraries of adapters log addresses with tokens, so only
their warnings and errors are shown.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from bot.metrics import LOG_EVENTS


@contextmanager
def _hidden(module: str) -> Iterator[None]:
    """Make a module that is not yet imported look as if it were not installed."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


# structlog imports rich if it is installed, as with typer, for tracebacks that we never show: 0.2 s and 9 MB.
with _hidden("rich"):
    import structlog

# Tracebacks have no local variables, because these hold hands and tokens.
WITHOUT_LOCALS = structlog.processors.ExceptionRenderer(
    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
)


class _ForgivingFile:
    """A file that drops failed writes: a full disk or a closed pipe must not stop the bot.

    It is not an IOBase, because an IOBase flushes when the interpreter ends, which prints an error on Python 3.14.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def count_event(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Count warnings and errors. A line of a library counts under its logger's name, because its text varies."""
    if event["level"] in ("warning", "error", "critical"):
        record: logging.LogRecord | None = event.get("_record")
        LOG_EVENTS.labels(event["level"], record.name if record else event["event"]).inc()
    return event


def set_up(level: str) -> None:
    on_terminal = sys.stderr.isatty()
    shared_processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        count_event,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if on_terminal else "iso", utc=not on_terminal),
    ]
    renderer: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if on_terminal
        else [WITHOUT_LOCALS, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared_processors, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _ForgivingFile(sys.stderr))),
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared_processors,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
