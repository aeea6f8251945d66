"""The texts that our pages' scripts show, by their names in `static/`."""

from bot.identity.pseudonyms import GUEST, NAME
from bot.tables.clock import CUT_SECONDS
from bot.texts import texts


def table_texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    shared = _live_texts(language) | _log_texts(language)
    return shared | {
        "home": _("First page"),
        "is_away": _("{name} is away."),
        "is_back": _("{name} is back."),
        "resign": _("Resign"),
        "menu": _("Menu"),
        "offline": _("No network: your moves are kept, and sent once you’re back."),
        "settings": _("Settings"),
        "only_here": _("This link works on this computer only: the bot’s host can open it to friends elsewhere."),
        "shut": _("Close"),
        "sounds": _("Sounds"),
        "pace": _("Robots play"),
        "pace_slow": _("slowly"),
        "pace_normal": _("at normal pace"),
        "pace_fast": _("fast"),
        "order": _("Sort my cards"),
        "card_order": _("Order of the cards"),
        "by_suit": _("by suit"),
        "by_rank": _("by rank"),
        "by_hand": _("by hand"),
        "by_hand_about": _("Drag a card sideways, or move it with Shift and the arrow keys."),
        "play": _("Play"),
        "pick_up": _("Pick up"),
        "hide": _("Hide my cards"),
        "hidden_about": _("Your cards are hidden. Tap the eye to show them, or hold it to peek."),
        "partner": _("with you"),
        "single": _("Play my card if only one is legal"),
        "early": _("At your turn: {card}"),
        "early_waits": _("Your turn: press a button, or tap your card."),
        "early_back": _("Back in your hand: {card}."),
        "days": _("days"),
        "copied": _("Copied"),
        "share": _("Share"),
        "rules": _("Rules"),
        "cut": _("✂️ Cut the pack"),
        "cut_here": _("Tap the pack where you like."),
        "cut_keys": _("Or choose with the arrow keys and press Enter."),
        "seal": _("Seal"),
        "seal_about": _("It fixes the bot’s secret. The pack will follow from the secret and the cut."),
        "send_link": _("Send this link to a friend:"),
        "anyone": _("Anyone may sit down"),
        "anyone_about": _("The table is on the first page as long as you’re here."),
        "go_on": _("Go on"),
        "how_points": _("How points count"),
        "your_hand": _("Your hand"),
        "your_packets": _("Your packets"),
        "on_the_table": _("On the table"),
        "cards": _("{count} cards"),
        "one_card": _("1 card"),
        "packet": _("packet {number}"),
        "gone": _("You’re no longer at this table: start another game."),
        "new_game": _("Another game"),
        "your_turn": _("Your turn"),
        "picture": _("Picture"),
        "analysis": _("Analysis"),
        "costliest": _("My costliest cards"),
        "costliest_about": _("The analysis finds the cards that cost you most."),
        "analysing": _("Being analysed…"),
        "not_analysed": _("The analysis didn’t work: try again in a minute."),
        "replay": _("Replay"),
    }


def offline_texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {
        "puzzle": _("Puzzle"),
        "puzzles": _("Puzzles that you opened"),
        "tables": _("Your tables"),
        "waiting": _("Your move waits for the network."),
    }


def push_texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {
        "blocked": _("Your browser blocks notifications from this site: allow them in its settings."),
        "off": _("Notifications are off in this browser."),
        "on": _("Notifications are on in this browser."),
        "failed": _("That didn’t work: try again later."),
    }


def chat_texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return _live_texts(language) | {
        "language": language,
        "act_as": _("Act as"),
        "host": _("Host"),
        "you": _("You"),
        "people": _("People"),
        "add_person": _("Add a person"),
        "name_of_person": _("Name of the new person"),
        "chats": _("Chats"),
        "add_group": _("Add a group"),
        "name_of_group": _("Name of the new group"),
        "personal_links": _("Personal links"),
        "links": _("Give each person their own link, and keep it secret."),
        "greeting": _("Write /challenge to play. See all I can do: /help"),
        "closed": _("block the bot"),
        "closed_about": _("Private chat closed: the bot can’t write to this person."),
        "commands": _("Commands"),
        "message": _("Message"),
        "message_or_command": _("Message or /command"),
        "send": _("Send"),
        "reply": _("Reply"),
        "no_reply": _("Do not reply"),
        "edited": _("edited"),
    }


def _live_texts(language: str) -> dict[str, str]:
    """Return the texts that the table's page and the playground share."""
    _ = texts(language).gettext
    return {
        "connecting": _("Connecting…"),
        "unsent": _("Not sent yet…"),
        "in_words": _("In words"),
        "copy": _("Copy"),
    }


def _log_texts(language: str) -> dict[str, str]:
    """Return the texts of a deal's log."""
    _ = texts(language).gettext
    return {"deal": _("Deal"), "log": _("Tricks of this deal"), "log_empty": _("No trick yet.")}


def replay_texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return _position_texts(language) | {
        "again": _("Try again"),
        "all_open": _("All hands open"),
        "analyse": _("Analyse"),
        "analysing": _("Being analysed. Deals done: {done} of {deals}."),
        "analysis": _("Analysis"),
        "back_to_game": _("Back to the game"),
        "check": _("Check the shuffle"),
        "choices": _("Your choices"),
        "costliest": _("The costliest moves"),
        "cut": _("Cut"),
        "deal_over": _("The deal is over."),
        "download": _("Download the record"),
        "everybody": _("Seen by everyone"),
        "fair": _("Is it fair?"),
        "fair_about": _("Your browser works out each pack from its secret, without asking the server."),
        "first": _("Start of the deal"),
        "given_away": _("Points given away: {points}"),
        "graph": _("Points so far, move by move"),
        "in_the_game": _("In the game:"),
        "is_fair": _("Every shuffle matches its seal."),
        "is_unfair": _("Not every shuffle matches its seal."),
        "keep_line": _("Save this line"),
        "kept": _("✓ Saved"),
        "kept_lines": _("Your lines"),
        "last": _("End of the deal"),
        "line_at": _("Deal {deal}, after move {move}: {text}"),
        "loading": _("One moment…"),
        "lost": _("−{points} points"),
        "lost_about": _("About −{points} points"),
        "lost_about_one": _("About −1 point"),
        "lost_one": _("−1 point"),
        "move": _("Move"),
        "moves": _("Moves"),
        "next": _("Next move"),
        "no_crypto": _("Browsers can’t check without https: download the record and check it elsewhere."),
        "no_decisions": _("no decisions to judge"),
        "no_game": _("There’s no game here: check the link, or the game is no longer in the archive."),
        "no_proof": _("These cards were laid out by hand."),
        "not_analysed": _("Nobody has had this game analysed lately."),
        "note": _("Your note on this move"),
        "note_about": _("Only in this browser"),
        "nothing_lost": _("Well played."),
        "open_hands": _("Judged with all hands open: no player and no hint could see them."),
        "pack": _("The pack, first card first"),
        "pause": _("Pause"),
        "play": _("Autoplay"),
        "play_on": _("Play on from here"),
        "playing_on": _("You play {name} from move {move}, the strong robot plays the others."),
        "previous": _("Previous move"),
        "remove": _("Remove"),
        "robot_thinks": _("The robot is thinking…"),
        "secret": _("Secret"),
        "spoiler_free": _("Hide what comes next"),
        "step_cut": _("{name} cut the pack, as an opponent of the dealer."),
        "step_dealer": _("The first dealer follows from the secret."),
        "step_other_cut": _("The cut is not the one that this browser made."),
        "step_own_cut": _("The cut is the one that this browser made."),
        "step_pack": _("Nobody cut: the pack follows from the secret alone."),
        "step_pack_cut": _("The pack follows from the secret and the cut."),
        "step_pack_wrong": _("The pack does not follow from secret and cut: {count} cards are in the wrong place."),
        "step_seal": _("The secret is the sealed one: its SHA-256 is the seal."),
        "table": _("Table"),
        "taken": _("points taken"),
        "trying": _("What if? From move {move} you move for everyone."),
        "undo": _("Take back"),
        "what_if": _("What if…?"),
        "where": _("Deal {deal}, move {move}"),
        "who": _("Cards"),
        "you": _("you"),
    }


def watch_texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return (
        _position_texts(language)
        | _log_texts(language)
        | {
            "away": _("The connection is gone. Trying again…"),
            "cancelled": _("The game was cancelled."),
            "closed": _("This table closed before the game began."),
            "gone": _("There’s nothing to watch here: the game is over, or its chat doesn’t let others watch."),
            "guest": _(GUEST),
            "late": _("{name}’s time is up."),
            "rematch": _("Watch the rematch"),
            "open": _("The table waits for players."),
            "played": _("{name} plays {rest}"),
            "replay": _("Replay"),
            "signalled": _("{name} plays {card} and says {signal}"),
            "somebody": _(NAME),
            "target": _("to {target}"),
            "cutting": _("{name} can cut the pack: {seconds} seconds.").format(name="{name}", seconds=CUT_SECONDS),
            "takes": _("{name} takes it"),
            "to_move": _("{name}’s turn."),
            "won": _("{side} won."),
        }
    )


def _position_texts(language: str) -> dict[str, str]:
    """Return the texts that the pages of replays and of watched tables share."""
    _ = texts(language).gettext
    return {
        "back": _("Back"),
        "bid": _("bid"),
        "deal": _("Deal"),
        "dealer": _("deals"),
        "declared": _("declared"),
        "double_nil": _("double nil"),
        "drawn": texts(language).ngettext("drawn", "drawn cards", 2),
        "draws_first": _("draws first"),
        "french": _("French suits"),
        "hand": _("hand"),
        "home": _("Home"),
        "italian": _("Italian suits"),
        "nil": _("nil"),
        "on_the_table": _("On the table"),
        "seal": _("Seal"),
        "stock": _("stock"),
        "suits": _("Suits"),
        "tricks": _("tricks"),
    }
