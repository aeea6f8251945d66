"""The picture of a puzzle: all hands open, the reader's below."""

from bot.features.puzzles.texts import PuzzleText
from bot.panel_picture import CardStyle, Deck
from bot.pictures.scene import Card, Holder, Light, PlayedCard, Scene, Side
from bot.texts import texts
from bot.words.table_lines import capitalize
from engine.puzzles.puzzle import Puzzle


def puzzle_scene(language: str, suits: str, style: CardStyle, puzzle: Puzzle) -> Scene:
    _ = texts(language).gettext
    position = PuzzleText(language, suits, puzzle)
    faces = position.words.faces

    def card(code: str, light: Light = "") -> Card:
        return Card(faces.drawn_code(code), light)

    here, trick = puzzle.position(), position.trick()
    best = position.code(here.best_card) if trick else ""
    playable = {puzzle.pack.codes[line.cards[0]] for line in puzzle.lines}
    # The pictures' font lacks fractions.
    own_label, other_label = (label.replace("⅓", " 1/3").replace("⅔", " 2/3") for label in position.taken_labels())
    names = [capitalize(name) for name in position.names]
    return Scene(
        deck=Deck(faces.deck, style),
        sides=(
            Side(" + ".join(names[::2]), "", (own_label,), is_to_move=True),
            Side(" + ".join(names[1::2]), "", (other_label,)),
        ),
        target=_("Puzzle"),
        line=position.order(),
        is_my_turn=True,
        trick=tuple(PlayedCard(card(code), name, wins=code == best) for name, code in trick),
        others=tuple(
            Holder(
                names[seat] if len(names) > 2 else "",
                tuple(card(code) for code in position.codes(seat)),
                note=position.seat_note(seat),
            )
            for seat in range(1, len(names))
        ),
        is_compact=True,
        hand=tuple(card(code, "playable" if code in playable else "dim") for code in position.codes(0)),
    )
