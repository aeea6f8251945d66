"""The tasks of the painting process. The heavy imports happen only there."""

from bot.picture import Subject


def paint(scene: Subject) -> bytes:
    from bot.pictures import painter  # noqa: PLC0415 - heavy: for the process that paints alone

    return painter.paint(scene)


def warm_up() -> None:
    """Prepare the most common deck."""
    from bot.pictures import sprites  # noqa: PLC0415

    sprites.warm_up()
