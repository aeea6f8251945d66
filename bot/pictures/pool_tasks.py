"""The tasks of the painting process. The heavy imports happen only there."""

from bot.panel_picture import Subject


def paint(subject: Subject) -> bytes:
    from bot.pictures import painter  # noqa: PLC0415 - heavy, so only in the painting process

    return painter.paint(subject)


def warm_up() -> None:
    """Prepare the most common deck."""
    from bot.pictures import sprites  # noqa: PLC0415

    sprites.warm_up()
