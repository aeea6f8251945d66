"""Modules that a bot's worker processes need. `tests.forked` forks these processes after it has imported them."""

import fcntl
from pathlib import Path

import engine.robots.analysis
import engine.robots.hints  # noqa: F401
from bot.pictures import pool_tasks
from engine.robots import strong

# Without a cache, compiling takes most of a minute. One process does it, and the others of a test run read its cache.
with Path(__file__).open() as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    strong.compile_searches()
pool_tasks.warm_up()
