"""Modules that worker processes of bots need, imported in the process they are forked from (`tests.forked`)."""

import engine.robots.analysis
import engine.robots.hints  # noqa: F401
from bot.pictures import pool_tasks
from engine.robots import strong

strong.compile_searches()
pool_tasks.warm_up()
