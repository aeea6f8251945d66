"""The picture of a lesson's table."""

from dataclasses import replace

from bot.features.learn.lesson import Lesson
from bot.panel_picture import CardStyle
from bot.pictures.scene import Scene
from bot.pictures.scene_builder import hand_scene


def lesson_scene(lesson: Lesson, style: CardStyle) -> Scene | None:
    """Return a lesson's table with the points of its deal. The learner's cards have a title, for newcomers."""
    scene = hand_scene(lesson.snapshot, lesson.language, lesson.suits, style)
    if scene is None:
        return None
    own_side, bot_side = (side._replace(points=points) for side, points in zip(scene.sides, lesson.score, strict=True))
    line = lesson.words.text("Your hand") if scene.hand and scene.is_my_turn else scene.line
    return replace(scene, sides=(own_side, bot_side), line=line, is_compact=True)
