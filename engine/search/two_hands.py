"""Open endings of two hands of Tressette, solved exactly: alpha-beta over tricks, on sets of cards.

Cards of one suit that follow each other in one hand, with no card of the other's left between them and of the same
worth, are one move. Positions are remembered with the bounds found for them. Everything that is still to be taken
belongs to one of the two, so a position has one value: the thirds that its leader takes from here, with the last
trick's.
"""

from typing import NamedTuple

from engine.cards import ITALIAN
from engine.search.compiled import Ints, compiled, ints, place_of, zeros
from engine.tressette import THIRDS, TressetteDeal

WORTH = ints(THIRDS)
SUIT = ints(ITALIAN.suit_of)
LAST = TressetteDeal.LAST_TRICK
RANKS = 10
SUIT_BITS = (1 << RANKS) - 1

TABLE_SIZE = 1 << 17
AGES = 1 << 20

DEPTHS = 24
WIDTH = 24
"""Room for the moves of so many tricks, so many for the lead and for the answer."""

NODES, AGE, MOST_NODES = 0, 1, 2
"""Places in ``counters``: positions so far, what is added to keys so that other deals' do not count, and the limit."""


def new_age(counters: Ints, ages: int, keys: Ints) -> None:
    """Count one on; when ages begin again, so does the memory."""
    counters[AGE] = (counters[AGE] + 1) % ages
    if counters[AGE] == 0:
        for place in range(len(keys)):
            keys[place] = 0


class Memory(NamedTuple):
    """Positions remembered from solve to solve, and room for the work.

    What lies below a packet's top is part of a position and not of its key: `renew` between deals.
    """

    leaders: Ints
    others: Ints
    bounds: Ints
    moves: Ints
    counters: Ints

    def renew(self) -> None:
        """Another deal begins: what is remembered of those before counts no more."""
        new_age(self.counters, AGES, self.leaders)


def new_memory(most_nodes: int) -> Memory:
    """Memory for solves that give up after so many positions."""
    return Memory(
        zeros(TABLE_SIZE), zeros(TABLE_SIZE), zeros(TABLE_SIZE), zeros(DEPTHS * 2 * WIDTH), ints([0, 0, most_nodes])
    )


@compiled
def one_of_each(mine: int, rest: int, opens: Ints) -> int:
    """The lowest of each run of cards in one suit that are one move. ``rest`` is what is left of that suit:
    what lies between two of mine parts them, and so does another worth, or what one of them uncovers.
    """
    chosen, run = 0, -1
    left = rest if mine else 0
    while left:
        low = left & -left
        left ^= low
        if not mine & low:
            run = -1
            continue
        card = place_of(low)
        if run < 0 or WORTH[card] != WORTH[run] or opens[card] or opens[run]:
            chosen |= low
        run = card
    return chosen


@compiled
def leads_into(moves: Ints, start: int, leader: int, other: int, rest: int, opens: Ints) -> int:
    """List what there is to lead, the best guess first; returns how many."""
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        theirs = other & mask
        mine = one_of_each(leader & mask, rest & mask, opens)
        while mine:
            low = mine & -mine
            mine ^= low
            card = place_of(low)
            if not theirs:
                guess = 40 + WORTH[card]
            elif theirs < low:
                guess = 60 + 4 * WORTH[card]
            else:
                guess = 20 - 6 * WORTH[card]
            moves[start + count] = guess << 6 | card
            count += 1
    sort(moves, start, count)
    return count


@compiled
def replies_into(moves: Ints, start: int, card: int, other: int, rest: int, opens: Ints) -> int:
    """List what there is to answer a lead with, the best guess first; returns how many."""
    count = 0
    led = SUIT[card]
    follow = other & led
    playable = follow if follow else other
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        mine = one_of_each(playable & mask, rest & mask, opens)
        while mine:
            low = mine & -mine
            mine ^= low
            reply = place_of(low)
            if follow and reply > card:
                guess = 30 + 4 * (WORTH[card] + WORTH[reply])
            else:
                guess = 30 - 4 * (WORTH[card] + WORTH[reply])
            moves[start + count] = guess << 6 | reply
            count += 1
    sort(moves, start, count)
    return count


@compiled
def sort(moves: Ints, start: int, count: int) -> None:
    """Put the highest first."""
    for place in range(start + 1, start + count):
        move, at = moves[place], place
        while at > start and moves[at - 1] < move:
            moves[at] = moves[at - 1]
            at -= 1
        moves[at] = move


@compiled
def takes_all(leader: int, other: int) -> bool:
    """Whether nothing that the leader holds can be beaten."""
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        mine = leader & mask
        if mine and (mine & -mine) < (other & mask):
            return False
    return True


@compiled
def best(
    leader: int,
    other: int,
    rest: int,
    left: int,
    low: int,
    high: int,
    depth: int,
    opens: Ints,
    memory: Memory,
) -> int:
    """What the leader takes from here, of ``left`` thirds: exact between ``low`` and ``high``, elsewhere a bound.

    ``rest`` are all cards not yet played, those that lie below others among them; ``opens[card]`` is what its play
    uncovers.
    """
    counters, moves = memory.counters, memory.moves
    if leader == 0:
        return left
    if left <= low or high <= 0:
        return left if left <= low else 0
    if rest == leader | other and takes_all(leader, other):
        return left
    counters[NODES] += 1
    if counters[NODES] > counters[MOST_NODES]:
        return 0
    place = ((leader % 1000003) * 1009 + (other % 999983) * 917) & (TABLE_SIZE - 1)
    key = leader | counters[AGE] << 40
    least, most, known = 0, left, -1
    if memory.leaders[place] == key and memory.others[place] == other:
        packed = memory.bounds[place]
        least, most, known = packed & 63, packed >> 6 & 63, (packed >> 12) - 1
        if least >= high or least == most:
            return least
        if most <= low:
            return most
    floor, ceiling = max(low, least), min(high, most)
    start = depth * 2 * WIDTH
    count = leads_into(moves, start, leader, other, rest, opens)
    if known >= 0:
        for at in range(start, start + count):
            if moves[at] & 63 == known:
                moves[at] |= 1 << 20
        sort(moves, start, count)
    value, chosen = -1, -1
    for at in range(start, start + count):
        card = moves[at] & 63
        alpha = max(floor, value)
        after = (leader ^ (1 << card)) | opens[card]
        answers = replies_into(moves, start + WIDTH, card, other, rest, opens)
        worst = 1000
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            reply = moves[reply_at] & 63
            answered = (other ^ (1 << reply)) | opens[reply]
            gain = WORTH[card] + WORTH[reply]
            beta = min(ceiling, worst)
            remaining, unplayed = left - gain, rest ^ (1 << card) ^ (1 << reply)
            if reply > card and SUIT[reply] == SUIT[card]:
                got = remaining - best(
                    answered,
                    after,
                    unplayed,
                    remaining,
                    remaining - beta,
                    remaining - alpha,
                    depth + 1,
                    opens,
                    memory,
                )
            else:
                got = gain + best(
                    after,
                    answered,
                    unplayed,
                    remaining,
                    alpha - gain,
                    beta - gain,
                    depth + 1,
                    opens,
                    memory,
                )
            if got < worst:
                worst = got
                if worst <= alpha:
                    break
        if worst > value:
            value, chosen = worst, card
            if value >= ceiling:
                break
    if counters[NODES] > counters[MOST_NODES]:
        return 0
    if value > floor:
        least = max(least, value)
    if value < ceiling:
        most = min(most, value)
    memory.leaders[place], memory.others[place] = key, other
    memory.bounds[place] = least | most << 6 | (chosen + 1) << 12
    return value


@compiled
def values_into(
    values: Ints,
    mine: int,
    theirs: int,
    led: int,
    rest: int,
    left: int,
    low: int,
    high: int,
    depth: int,
    opens: Ints,
    memory: Memory,
) -> bool:
    """For each card that the side to move may play, the thirds of ``left`` that it then takes; False if that took more
    nodes than `counters` allows. ``led`` is the card on the table, or -1; it is no longer in ``theirs`` nor ``rest``,
    and ``left`` counts it. ``low``, ``high`` and ``depth`` are for `best`, and arguments because numba would compile it
    anew for each number that it can read in a call, and could not keep what calls itself in such ways.
    """
    moves = memory.moves
    memory.counters[NODES] = 0
    start = (DEPTHS - 1) * 2 * WIDTH
    if led < 0:
        count = leads_into(moves, start, mine, theirs, rest, opens)
    else:
        count = replies_into(moves, start, led, mine, rest | 1 << led, opens)
    for at in range(start, start + count):
        card = moves[at] & 63
        after, unplayed = (mine ^ (1 << card)) | opens[card], rest ^ (1 << card)
        if led >= 0:
            gain = WORTH[card] + WORTH[led]
            remaining = left - gain
            if card > led and SUIT[card] == SUIT[led]:
                values[card] = gain + best(after, theirs, unplayed, remaining, low, high, depth, opens, memory)
            else:
                values[card] = remaining - best(theirs, after, unplayed, remaining, low, high, depth, opens, memory)
            continue
        worst = high
        answers = replies_into(moves, start + WIDTH, card, theirs, rest, opens)
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            reply = moves[reply_at] & 63
            answered, still = (theirs ^ (1 << reply)) | opens[reply], unplayed ^ (1 << reply)
            gain = WORTH[card] + WORTH[reply]
            remaining = left - gain
            if reply > card and SUIT[reply] == SUIT[card]:
                got = remaining - best(
                    answered,
                    after,
                    still,
                    remaining,
                    remaining - worst,
                    remaining - low,
                    depth,
                    opens,
                    memory,
                )
            else:
                got = gain + best(
                    after,
                    answered,
                    still,
                    remaining,
                    low,
                    worst - gain,
                    depth,
                    opens,
                    memory,
                )
            worst = min(worst, got)
        values[card] = worst
    return memory.counters[NODES] <= memory.counters[MOST_NODES]
