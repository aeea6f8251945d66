"""The courses: their texts and cards. `bot.features.learn.step_games` lays out the cards.

The bot speaks as the learner's opponent. A text names cards by their codes, such as ``{3C}``. ``{ranks}`` are the ranks
from high to low, ``{suits}`` the suits with their names, and ``{R}``, ``{C}`` and ``{F}`` the letters of the court
cards, as the reader's cards show them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.texts import gettext_noop as _


@dataclass(frozen=True)
class Step:
    """A small table with one right move.

    ``wrong`` explains each legal wrong move; the key "" stands for all others. The engine explains illegal cards.
    ``praise`` follows the right move. Cards are codes: ``hand`` and ``packets`` (from the top) are the learner's,
    ``shown`` and ``other_packets`` the bot's, ``led`` is the card on the table. ``new`` are cards that can be declared
    now. ``stock`` lists the first cards of the stock. ``moves`` limits the choice.
    """

    text: str
    right: str
    praise: str
    wrong: Mapping[str, str] = field(default_factory=dict)
    hand: str = ""
    packets: tuple[str, ...] = ()
    led: str = ""
    shown: str = ""
    other_packets: tuple[str, ...] = ()
    new: str = ""
    stock: str = ""
    bids: tuple[int, int] | None = None
    tricks: tuple[int, int] = (0, 0)
    moves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Course:
    """A course, named after a game.

    ``deal`` seeds the shuffle of the last step. ``played`` are the moves before its five tricks. The learner has seat
    0.
    """

    title: str
    line: str
    game: str
    steps: tuple[Step, ...]
    deal: str
    played: str
    dealer: int = 1


COUNTS = _(
    "An ace is worth 1 point. Each 3, 2, {R}, {C} and {F} is worth a third, other cards nothing. I lead the {3C}. You "
    "can’t follow suit, so any card will do, but it can’t win. Which one costs nothing?"
)
ACE_GIVEN = _("The ace is a whole point: keep it.")
THIRD_GIVEN = _("That’s a third of a point. Another card is worth nothing.")
NOTHING_GIVEN = _("Worth nothing: I get only the third of my own 3.")
LATE = _("Declare first. Once you’ve played a card it’s too late.")
BUONGIOCO = _("💬 “Buongioco!” That’s what players call out when they declare. Three points for you.")
AGAIN = _("Three points for you. If you draw the fourth 2 later, you can declare your 2s again.")

TRESSETTE = Course(
    title="Tressette",
    line=_("the game for two, Metà Mazzo: start here"),
    game="metamazzo",
    steps=(
        Step(
            _(
                "We each play a card: that’s a trick. The first card sets the suit ({suits}), and the highest card of "
                "that suit takes it. High to low: {ranks}. I lead the {2C}. Take it!"
            ),
            "play 3C",
            _("The 3 is the highest."),
            {"": _("My 2 is higher. Only a 3 beats it.")},
            hand="3C AC 5C RB",
            led="2C",
        ),
        Step(
            _("After 3 and 2, the ace is third. I lead the {AD}. Take it!"),
            "play 2D",
            _("The 2 beats the ace."),
            {"": _("My ace is higher. Only a 3 or a 2 beats it.")},
            hand="2D RD 6D 4D",
            led="AD",
        ),
        Step(
            _(
                "You must follow suit if you can: play the suit of the first card. I lead the {5S}. Which card can you "
                "play?"
            ),
            "play 7S",
            _("You followed suit. No suit beats the others: if I can’t follow, I can’t win."),
            hand="3D 7S FB",
            led="5S",
        ),
        Step(
            COUNTS,
            "play 4S",
            NOTHING_GIVEN,
            {"play AD": ACE_GIVEN, "play RB": THIRD_GIVEN},
            hand="AD RB 4S",
            led="3C",
        ),
        Step(
            _("You play second, so your card can’t be beaten any more. I lead the {7D}. Bring home a whole point!"),
            "play AD",
            _("Your ace is safe. At the end three thirds make a point, and leftover thirds are lost."),
            {
                "play 3D": _("It takes the trick, but scores only a third. Your ace is worth a point."),
                "play 4D": _("My 7 is higher, so I take the trick."),
            },
            hand="3D AD 4D",
            led="7D",
        ),
        Step(
            _(
                "Three 3s, three 2s or three aces in your hand are worth 3 points, and all four are worth 4. Declare "
                "them before you play. What do you have?"
            ),
            "declare three 2 missing C",
            BUONGIOCO,
            {"": LATE},
            hand="2D AC 6C 2S 5S 2B",
            new="2D 2S 2B AC",
        ),
        Step(
            _(
                "After each trick we both draw a card and show it. You’ve just drawn the {3D}. The 3, 2 and ace of one "
                "suit are a napoletana, worth 3 points."
            ),
            "declare napoletana D",
            AGAIN,
            {"": LATE},
            hand="3D 2D AD FS 7B",
            new="3D",
        ),
        Step(
            _(
                "The last trick is worth one more point. I lead the {7D}. My last card lies open at the top, because "
                "you saw me draw it: the {RB}. Which card do you give away?"
            ),
            "play 6C",
            _("Now your 3 takes the last trick."),
            {"play 3B": _("Keep the 3. It beats my last card.")},
            hand="6C 3B",
            led="7D",
            shown="RB",
        ),
    ),
    deal="learn metamazzo 97",
    played=("3S,4S,2D,5D,3D,AD,7D,4B,FD,5B,AB,7B,CD,FS,4C,AC,AS,5S,CS,6S,RS,7S,2S,5C,3C,6C,3B,RB,4D,RD"),
)

PACKETS = Course(
    title="Pizzichino",
    line=_("for two, with some cards in open packets"),
    game="pizzichino",
    steps=(
        Step(
            _(
                "We each have two packets as a hand and two open ones. Play from your hand or from the top of a "
                "packet. The highest card of the suit led ({suits}) takes the trick. High to low: {ranks}. I lead the "
                "{2C}. Take it!"
            ),
            "play 3C",
            _("The 3 is the highest. Now the next card of that packet is open."),
            {"": _("My 2 is higher. Your {3C} is on a packet.")},
            hand="RD 5C",
            packets=("3C 6S", "7S 4D"),
            led="2C",
            other_packets=("FS CB", "6D"),
        ),
        Step(
            _("You must follow suit if you can, from a packet too. I lead the {6B}. Which card can you play?"),
            "play FB",
            _("It takes the trick. No suit beats the others: if I can’t follow, I can’t win."),
            hand="AD 4S",
            packets=("FB 2C", "7C 5D"),
            led="6B",
            other_packets=("RS 5S", "CC"),
        ),
        Step(
            COUNTS,
            "play 6D",
            NOTHING_GIVEN,
            {"play AS": ACE_GIVEN, "": THIRD_GIVEN},
            hand="6D AS",
            packets=("RB 4D", "2S 5D"),
            led="3C",
            other_packets=("7B 4B", "FD"),
        ),
        Step(
            _(
                "Some cards score in your hand. The 3, 2 and ace of one suit are a napoletana, worth 3 points. Declare "
                "it at your first turn, before you play."
            ),
            "declare napoletana S",
            BUONGIOCO,
            {"": LATE},
            hand="5D 3S 2S AS 7B",
            packets=("RD 6C", "4C 7D"),
            other_packets=("CD 5C", "FB"),
            new="3S 2S AS",
        ),
        Step(
            _(
                "Cards on packets don’t score until you pick them up. At your turn you can pick up a 3, 2 or ace. "
                "Which one helps you?"
            ),
            "pick 3",
            _("You have three 2s now, and the next card of that packet is open."),
            {"": _("Wait: with the {2B} in your hand you have three 2s.")},
            hand="2D 2S",
            packets=("2B FC", "6S 5C"),
            other_packets=("RC 4S", "7D"),
        ),
        Step(
            _("Three 3s, 2s or aces are worth 3 points, all four 4 points. Declare your new combination."),
            "declare three 2 missing C",
            BUONGIOCO,
            {"": LATE},
            hand="2D 2S 2B",
            packets=("FC", "6S 5C"),
            other_packets=("RC 4S", "7D"),
            new="2B",
        ),
        Step(
            _("You see my packets too, and here are my last two cards. Lead the ace that I can’t take."),
            "play AC",
            _("I must follow with the {7C}: a whole point for you."),
            {"play AD": _("My {2D} takes it. Lead the other one.")},
            hand="AD",
            packets=("AC",),
            other_packets=("2D", "7C"),
        ),
        Step(
            _(
                "The last trick is worth one more point. I lead the {7D}, and my last card is the {RB}. Which card do "
                "you give away?"
            ),
            "play 6C",
            _("Now your 3 takes the last trick."),
            {"play 3B": _("Keep the 3. It beats my last card.")},
            hand="6C",
            packets=("3B",),
            led="7D",
            other_packets=("RB",),
        ),
    ),
    deal="learn pizzichino 32",
    played=(
        "take 1 4 6 7,hold 4 7,hold 3 8,2C,pick 5,3C,AC,FC,2D,4D,3D,7D,5C,CC,AD,4S,CD,5B,"
        "6D,6C,FS,6S,CS,7C,RS,FD,7B,pick 5,FB,RD,CB,3S,pick 1,pick 1,2S,RB,AB"
    ),
)

SPADES = Course(
    title="Spades",
    line=_("for two: choose cards, then say how many tricks you’ll take"),
    game="spades",
    steps=(
        Step(
            _(
                "We draw our cards in turns. Keep the card you draw and the next one is thrown away unseen. Throw it "
                "away and you keep the next one. Spades beat every other suit, and here’s the highest."
            ),
            "keep",
            _("The {AS} always takes a trick."),
            {"pass": _("Nothing beats the {AS}: keep it.")},
            hand="4C 9D KH 7H",
            stock="AS 5D",
        ),
        Step(
            _("High to low: {ranks}. Now you’ve drawn a low card. Keep it, or take the next one unseen?"),
            "pass",
            _("Good: you got the {JD} instead."),
            {"keep": _("A 2 takes nothing. The next card is almost always better.")},
            hand="4C 9D KH 7H AS",
            stock="2D JD",
        ),
        Step(
            _(
                "We each play a card: that’s a trick. Follow suit if you can: play the suit of the first card. The "
                "highest card takes the trick. I lead the {KH}. Take it!"
            ),
            "play AH",
            _("The ace is the highest."),
            {"play 3H": _("My king is higher. Play the ace.")},
            hand="AH 3H 5S",
            led="KH",
        ),
        Step(
            _("If you can’t follow suit, play any card. Spades beat every other suit. I lead the {AH}. Take it!"),
            "play 2S",
            _("The lowest spade beats the highest heart."),
            {"": _("It can’t win. Only a spade takes this trick.")},
            hand="9C 4D 2S",
            led="AH",
        ),
        Step(
            _("You can’t lead a spade until one has been played. Lead the card that is most likely to win."),
            "play AC",
            _("Once a spade has been played, you can lead spades too."),
            {"play 4D": _("Almost any diamond beats a 4. Lead the ace.")},
            hand="AC 4D KS 6S",
        ),
        Step(
            _(
                "Before the first trick you bid how many tricks you’ll take: 10 points each if you make it, minus 10 "
                "each if you don’t. Count your aces and highest spades."
            ),
            "bid 5",
            _("Five tricks, 50 points: {AS} {KS} {QS} {AH} {AC}."),
            {
                "bid 3": _("You can bid more: a trick above your bid brings only 1 point."),
                "bid 4": _("You can bid more: a trick above your bid brings only 1 point."),
                "": _("Too many: you can count on five."),
            },
            hand="AC 9C 5C 8D 6D 2D AH 7H 3H AS KS QS 4S",
            moves=("bid 3", "bid 4", "bid 5", "bid 6", "bid 7"),
        ),
        Step(
            _(
                "A trick above your bid is a bag: 1 point, but every tenth bag costs 100. You bid 3 and have 3. I lead "
                "the {5D}. Don’t take it!"
            ),
            "play 3D",
            _("No bag, no danger."),
            {"play 9D": _("One trick too many. Play lower than my 5.")},
            hand="7C 4C 9D 3D 2H",
            led="5D",
            bids=(3, 5),
            tricks=(3, 5),
        ),
        Step(
            _(
                "A bid of 0 is nil: 100 points if you take no trick, minus 100 if you do. You bid nil. I lead the "
                "{TC}. Don’t take it!"
            ),
            "play 8C",
            _("Your nil is safe so far. Say it only with low cards."),
            {"play KC": _("You take the trick, and your nil is lost.")},
            hand="KC 8C 5D 4H 3H",
            led="TC",
            bids=(0, 6),
            tricks=(0, 8),
        ),
    ),
    dealer=0,
    deal="learn spades 194",
    played=(
        "draw,keep,draw,keep,pass,pass,pass,pass,pass,keep,pass,pass,keep,pass,keep,keep,"
        "pass,keep,keep,pass,keep,keep,keep,keep,pass,pass,keep,pass,bid 6,bid 6,KD,QD,AD,"
        "3S,AH,TH,KC,JC,TC,QC,KH,8H,AS,6S,9S,TS"
    ),
)

COURSES = {"tressette": TRESSETTE, "packets": PACKETS, "spades": SPADES}
