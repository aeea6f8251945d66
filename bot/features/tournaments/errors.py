"""Refusals of tournaments."""

from bot.tables.errors import TableError


class NoSuchTournament(TableError):
    code = "no_such_tournament"
    sentence = "There is no tournament {code} any more."


class UnreadableTournament(TableError):
    """This release cannot read the tournament's log; `buongioco doctor` reports it. ``why`` names no card."""

    code = "unreadable_tournament"
    sentence = "I cannot read tournament {code}. Whoever hosts me can look into it."


class TooManyTournaments(TableError):
    code = "too_many_tournaments"
    sentence = "This chat has {most} tournaments already that are not over: finish one, or call one off."


class OrganisesTooMany(TableError):
    code = "organises_too_many"
    sentence = (
        "You organise {most} tournaments already that are not over, or were called off today before they began: "
        "finish one, or wait a day."
    )


class AlreadyEntered(TableError):
    code = "already_entered"
    sentence = "You have entered already."


class NotEntered(TableError):
    code = "not_entered"
    sentence = "You have not entered this tournament."


class HasBegun(TableError):
    code = "has_begun"
    sentence = "This tournament has begun: nobody enters any more, and nothing is changed."


class ChangedTooOften(TableError):
    code = "tournament_changed_too_often"
    sentence = "This tournament was changed too often: start it as it is, or call it off."


class NotRatedYet(TableError):
    """Many games are not rated yet, for example after an interrupted rebuild, so seeds would be wrong."""

    code = "not_rated_yet"
    sentence = "I am working out everybody's ratings anew, and teams are seeded by them: start it in some minutes."


class EnteredTooOften(TableError):
    code = "entered_too_often"
    sentence = "You have entered and left too often: you cannot enter this tournament any more."


class IsOver(TableError):
    code = "tournament_is_over"
    sentence = "This tournament is over."


class IsFull(TableError):
    code = "tournament_is_full"
    sentence = "All {most} places are taken."


class TooFewTeams(TableError):
    code = "too_few_teams"
    sentence = "Players needed to begin: {least}. Entered so far: {count}."


class TooFewPairs(TableError):
    code = "too_few_pairs"
    sentence = "Pairs needed to begin: {least}. So far: {count}."


class HasPartner(TableError):
    code = "has_partner"
    sentence = "One of you has a partner already."


class NoSuchPartner(TableError):
    code = "no_such_partner"
    sentence = "Whoever you want to play with has not entered this tournament, or has left it."


class NoPartners(TableError):
    code = "no_partners"
    sentence = "This game is for two: nobody has a partner."


class OnlyTheOrganiser(TableError):
    code = "only_the_organiser"
    sentence = "Only {name}, who opened this tournament, can do that."


class NotForPrograms(TableError):
    code = "not_for_programs"
    sentence = "Programs play no tournaments."


class TournamentsNeedMe(TableError):
    code = "tournaments_need_me"
    sentence = "Add me to this chat first: the card of a tournament is kept up to date there."


class WantsAnother(TableError):
    code = "wants_another"
    sentence = "That is you: whoever wants to play with you presses this button."
