"""Words and sentences about matches."""

from collections.abc import Sequence

from bot.features.duels.duel import DEALS, SIDES, Duel
from bot.features.duels.matches.match import MIN_PAIRS, Match, total_score
from bot.features.duels.texts import points_sentences
from bot.identity.names import distinct_names
from bot.identity.pseudonyms import localize_name
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from engine import GAMES


def heading(match: Match, language: str) -> str:
    _ = texts(language).gettext
    return _("🏟️ Match · {game}").format(game=_(GAMES[match.game].name))


def group_names(known_names: Sequence[str], language: str) -> list[str]:
    """Return the names of both groups for texts. A group without a known name gets a number."""
    _ = texts(language).gettext
    plain_names = [name or _("Group {number}").format(number=number) for number, name in enumerate(known_names, 1)]
    return [isolate_name(name) for name in distinct_names(plain_names)]


def names_of(people: Sequence[str], language: str) -> list[str]:
    """Return names for a list in which no two look alike."""
    return [isolate_name(name) for name in distinct_names([localize_name(name, language) for name in people])]


def result_text(match: Match, duels: Sequence[Duel], groups: Sequence[str], language: str) -> str:
    """Return how a match ended; empty while it is open or played."""
    _ = texts(language).gettext
    match match.closing:
        case "":
            return ""
        case "time":
            return _("No group accepted in time.")
        case "off":
            return _("The match was called off.")
        case "few":
            return _("The match is off: both groups needed {least} players who could meet.").format(least=MIN_PAIRS)
    score = total_score(duels)
    if score.winner is None:
        return _("The match is a draw: {score}.").format(score=score.text())
    sentence = _("{group} wins the match {score}.")
    text = sentence.format(group=groups[score.winner], score=score.text(score.winner))
    return " ".join([text, *points_sentences(score, language)])


def pair_texts(duels: Sequence[Duel], language: str) -> list[str]:
    """Return a line for each duel: both names, the deals won, and how many deals each has played."""
    _ = texts(language).gettext
    people = names_of([player.name for duel in duels for player in duel.players], language)
    lines = []
    for number, duel in enumerate(duels):
        first, second = people[2 * number : 2 * number + 2]
        line = f"{first} {duel.score.text()} {second}"
        counts = [duel.count(side) for side in SIDES]
        if counts != [DEALS, DEALS]:
            line += " · " + _("played {first} and {second} of {deals}").format(
                first=counts[0], second=counts[1], deals=DEALS
            )
        lines.append(line)
    return lines
