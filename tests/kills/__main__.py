"""Kills on the playground: python -m tests.kills --kills 1000 --seed 1"""

from tests.kills.harness import main, on_playground

main(on_playground)
