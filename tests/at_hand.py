"""Modules that a bot's worker processes need. `tests.forked` forks these processes after it has imported them."""

import engine.robots.analysis
import engine.robots.hints  # noqa: F401
from bot.pictures import pool_tasks
from tests.groups import compile_searches

compile_searches()
pool_tasks.warm_up()
