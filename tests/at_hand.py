"""What processes that work for bots need, imported in the one that they are forked from (`tests.forked`)."""

import engine.robots.analysis
import engine.robots.hints  # noqa: F401
from bot.pictures import painting
from engine.robots import strong

strong.compile_searches()
painting.warm_up()
