"""Refusals of tournaments."""

from bot.tables.errors import TableError


class NoSuchTournament(TableError):
    code = "no_such_tournament"
    sentence = "Tournament {code} is gone: open another one with /tournament."


class UnreadableTournament(TableError):
    """This release cannot read the tournament's log; `buongioco doctor` reports it. ``why`` names no card."""

    code = "unreadable_tournament"
    sentence = "I can’t open tournament {code} any more: tell the bot’s host."


class TooManyTournaments(TableError):
    code = "too_many_tournaments"
    sentence = "This chat already has {most} unfinished tournaments: finish one or call one off."


class OrganisesTooMany(TableError):
    code = "organises_too_many"
    sentence = "You already organise {most} tournaments, counting those called off today: finish one or wait a day."


class AlreadyEntered(TableError):
    code = "already_entered"
    sentence = "You’re already in this tournament: wait for the first round."


class NotEntered(TableError):
    code = "not_entered"
    sentence = "You’re not in this tournament: only its players can do that."


class HasBegun(TableError):
    code = "has_begun"
    sentence = "Too late: this tournament has already started."


class ChangedTooOften(TableError):
    code = "tournament_changed_too_often"
    sentence = "This tournament was changed too often: start it as it is, or call it off."


class NotRatedYet(TableError):
    """Many games are not rated yet, for example after an interrupted rebuild, so seeds would be wrong."""

    code = "not_rated_yet"
    sentence = "I’m still working out the ratings for the seeds: start in a few minutes."


class EnteredTooOften(TableError):
    code = "entered_too_often"
    sentence = "You’ve joined and left this tournament too often: join the next one."


class IsOver(TableError):
    code = "tournament_is_over"
    sentence = "This tournament is over: open another one with /tournament."


class IsFull(TableError):
    code = "tournament_is_full"
    sentence = "All {most} places are taken: join the next tournament."


class TooFewTeams(TableError):
    code = "too_few_teams"
    sentence = "It takes {least} players to start (so far: {count}): wait for more."


class TooFewPairs(TableError):
    code = "too_few_pairs"
    sentence = "It takes {least} pairs to start (so far: {count}): wait for more."


class HasPartner(TableError):
    code = "has_partner"
    sentence = "One of you already has a partner: choose someone else."


class NoSuchPartner(TableError):
    code = "no_such_partner"
    sentence = "This player isn’t in the tournament: choose someone else."


class NoPartners(TableError):
    code = "no_partners"
    sentence = "This game is for two: you play without a partner."


class OnlyTheOrganiser(TableError):
    code = "only_the_organiser"
    sentence = "Only the organiser can do that: ask {name}."


class NotForPrograms(TableError):
    code = "not_for_programs"
    sentence = "Programs can’t play in tournaments: open a table instead."


class TournamentsNeedMe(TableError):
    code = "tournaments_need_me"
    sentence = "Add me to this chat first: I keep the tournament’s message up to date here."
