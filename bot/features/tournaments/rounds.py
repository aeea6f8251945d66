"""The number of rounds of each form."""

from bot.features.tournaments.tournament import Tournament

MIN_ROUNDS = 3  # rounds of a Swiss tournament or a duplicate, unless the organiser chose a number


def rounds_in_all(t: Tournament) -> int:
    """Return the number of rounds, unless the tournament ends early."""
    teams = len(t.teams)
    doublings, each = max(teams - 1, 0).bit_length(), teams - 1 + teams % 2
    match t.form:
        case "knockout":
            return doublings
        case "league":
            return 1
        case "roundrobin":
            return each
        case "swiss" | "duplicate":
            rounds = t.options["rounds"]
            return min(max(MIN_ROUNDS, doublings) if rounds == "auto" else int(rounds), each)
