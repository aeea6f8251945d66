"""What the process that paints is asked to do. What painting takes is imported there alone, and little else."""

from bot.picture import Subject


def paint(scene: Subject) -> bytes:
    """The picture of a scene, as PNG."""
    from bot.pictures import painter  # noqa: PLC0415 - heavy: for the process that paints alone

    return painter.paint(scene)


def warm_up() -> None:
    """Have the usual deck at hand."""
    from bot.pictures import sprites  # noqa: PLC0415

    sprites.warm_up()
