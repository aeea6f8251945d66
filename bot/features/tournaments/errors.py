"""Errors of tournaments."""

from bot.tables.errors import TableError


class NoSuchTournament(TableError):
    sentence = "Tournament {code} is gone: open another one with /tournament or /league."


class UnreadableTournament(TableError):
    """This release cannot read the tournament's log; `buongioco doctor` reports this. ``why`` names no card."""

    sentence = "I can’t open tournament {code} any more: tell the bot’s host."


class TooManyTournaments(TableError):
    sentence = "This chat already has {most} unfinished tournaments: finish one or call one off."


class OrganisesTooMany(TableError):
    sentence = "You already organise {most} tournaments, counting those called off today: finish one or wait a day."


class AlreadyEntered(TableError):
    sentence = "You’re already in this tournament: wait for the first round."


class NotEntered(TableError):
    sentence = "You’re not in this tournament: only its players can do that."


class HasBegun(TableError):
    sentence = "Too late: this tournament has already started."


class OthersEntered(TableError):
    sentence = "Others are already in, and didn’t agree to that: open another tournament for everyone."


class ChangedTooOften(TableError):
    sentence = "This tournament was changed too often: start it as it is, or call it off."


class NotRatedYet(TableError):
    """Many games are not rated yet, for example after an interrupted rebuild, so seeds would be wrong."""

    sentence = "I’m still working out the ratings for the seeds: start in a few minutes."


class EnteredTooOften(TableError):
    sentence = "You’ve joined and left this tournament too often: join the next one."


class IsOver(TableError):
    sentence = "This tournament is over: open another one with /tournament or /league."


class IsFull(TableError):
    sentence = "All {most} places are taken: join the next tournament."


class TooFewTeams(TableError):
    sentence = "It takes {least} players to start (so far: {count}): wait for more."


class TooFewPairs(TableError):
    sentence = "It takes {least} pairs to start (so far: {count}): wait for more."


class HasPartner(TableError):
    sentence = "One of you already has a partner: choose someone else."


class NoSuchPartner(TableError):
    sentence = "This player isn’t in the tournament: choose someone else."


class NoPartners(TableError):
    sentence = "This game is for two: you play without a partner."


class OnlyTheOrganiser(TableError):
    sentence = "Only the organiser can do that: ask {name}."


class NotForPrograms(TableError):
    sentence = "Programs can’t play in tournaments: open a table instead."


class BotNotInChat(TableError):
    sentence = "Add me to this chat first: I keep the tournament’s message up to date here."
