"""Words and sentences about duels."""

from bot.features.duels.duel import DAY, DEALS, SIDES, Duel, Score
from bot.identity.names import distinct_names
from bot.identity.pseudonyms import localize_name
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from bot.words.wording import signed_text
from engine import GAMES

HOUR = 3600


def player_names(duel: Duel, language: str) -> list[str]:
    """Return the names of both sides for texts. An unknown opponent is left out."""
    return [isolate_name(name) for name in plain_names(duel, language)]


def plain_names(duel: Duel, language: str) -> list[str]:
    """Return the names of `player_names` for buttons, tables and notifications, without isolation."""
    names = [localize_name(player.name, language) for player in duel.players]
    if not duel.is_accepted and duel.invited:
        invited = duel.invited
        names.append(f"@{invited.handle}" if invited.handle else localize_name(invited.name, language))
    return distinct_names(names)


def heading(duel: Duel, language: str) -> str:
    _ = texts(language).gettext
    return _("⚔️ Duel · {game}").format(game=_(GAMES[duel.game].name))


def time_left(duel: Duel, language: str, now: int) -> str:
    return time_until(duel.ends, language, now)


def time_until(end: int, language: str, now: int) -> str:
    """Return the time left until an end, in words that change rarely."""
    ngettext = texts(language).ngettext
    seconds = max(0, end - now)
    if seconds < 2 * DAY:
        hours = max(1, seconds // HOUR)
        return ngettext("{count} h left", "{count} h left", hours).format(count=hours)
    days = -(-seconds // DAY)
    return ngettext("{count} day left", "{count} days left", days).format(count=days)


def margin_text(duel: Duel, side: int, deal: int, language: str) -> str:
    _ = texts(language).gettext
    result = duel.result(side, deal)
    if result is None:
        return _("not played")
    return _("given up") if result.margin is None else signed_text(result.margin)


def result_text(duel: Duel, language: str) -> str:
    """Return how a duel ended; empty while it is played."""
    _ = texts(language).gettext
    names = player_names(duel, language)
    if not duel.closing:
        return ""
    if not duel.is_accepted:
        if duel.closing == "declined" and len(names) > 1:
            return _("{name} declined.").format(name=names[1])
        return _("Nobody accepted in time.") if duel.closing == "time" else _("Challenge withdrawn.")
    score = duel.score
    if score.winner is None:
        return _("The duel is a draw: {score}.").format(score=score.text())
    sentence = _("{name} wins the duel {score}.").format(name=names[score.winner], score=score.text(score.winner))
    return " ".join([sentence, *points_sentences(score, language)])


def points_sentences(score: Score, language: str) -> list[str]:
    """Return the sentence that points decide; none if one side won more deals."""
    if score.winner is None or score.wins[0] != score.wins[1]:
        return []
    winner_points, loser_points = score.margins[score.winner], score.margins[1 - score.winner]
    line = texts(language).gettext("The points decide: {ours} against {theirs}.")
    return [line.format(ours=signed_text(winner_points), theirs=signed_text(loser_points))]


def unfinished_texts(duel: Duel, language: str) -> list[str]:
    """Return a sentence about each player who did not finish a duel that is over."""
    _ = texts(language).gettext
    if not duel.has_result:
        return []
    names, sentence = player_names(duel, language), _("{name} didn’t finish: {count} of {deals} deals.")
    return [
        sentence.format(name=names[side], count=duel.count(side), deals=DEALS)
        for side in SIDES
        if duel.next_deal(side) is not None
    ]


def shareable_text(duel: Duel, side: int, language: str, pages_url: str) -> str:
    """Return a duel's score as text to send to friends, from one side. It reveals no cards."""
    names = plain_names(duel, language)
    marks = {side: "🟩", 1 - side: "⬜", None: "🟨"}
    squares = "".join(marks[duel.deal_winner(deal)] for deal in duel.compared_deals)
    lines = [heading(duel, language), f"{names[side]} {duel.score.text(side)} {names[1 - side]}", squares]
    if pages_url:
        lines.append(f"{pages_url}/duel/{duel.code}")
    return "\n".join(lines)
