"""Other words for commands, in all languages, as people at the bar would say them.

Their names are in `bot.command_names`. A word has no spaces, hyphens or underscores: ``miarrendo`` is understood as
``mi_arrendo`` and ``mi arrendo`` too.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

SHORTEST_WORD, LONGEST_SHORT_WORD = 3, 5  # letters of the shortest word that is compared, and of the longest short one
MIN_SIMILARITY = 0.7  # by difflib, between a word and the command of which it counts as a misspelling
MAX_PARTS = 4  # parts of a word that is written with spaces

# Words that work in every chat, by the command's English name.
OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    "challenge": ("sfidare", "giochiamo", "nuovapartita"),
    "find": ("findopponent", "avversario", "trovaavversario"),
    "daily": ("today", "oggi", "dealoftheday", "smazzata", "smazzatadelgiorno"),
    "duel": ("duels", "duelli"),
    "puzzle": ("puzzles", "problemi"),
    "hand": ("mycards", "myhand", "lemiecarte"),
    "tables": ("mytables", "mygames", "imieitavoli", "lemiepartite"),
    "join": ("siediti", "unisciti"),
    "invite": ("invito", "invitare"),
    "rules": ("howtoplay", "howdoyouplay", "howdoiplay", "comesigioca", "regolamento"),
    "learn": ("lesson", "lessons", "tutorial", "lezione", "lezioni", "insegnami"),
    "analyse": ("analyze", "analizza"),
    "resign": (
        *("surrender", "giveup", "igiveup", "iresign"),
        *("arrenditi", "arrendersi", "arrendo", "miarrendo", "abbandona", "abbandono", "rinuncio"),
    ),
    "tournament": ("tournaments", "tornei"),
    "league": ("leagues", "lega", "campionati"),
    "match": ("groupmatch", "incontri"),
    "leaderboard": ("leaderboards", "ranking", "classifiche", "graduatoria"),
    "stats": ("statistics",),
    "honours": ("honors", "albodoro"),
    "nickname": ("nick", "nomignolo"),
    "block": ("blocklist", "bloccati"),
    "mydata": ("imieidati",),
    "forget": ("forgetme", "deleteme", "dimentica", "cancellami"),
    "help": ("aiutami",),
}

# Words that other bots have too: in a group they are for this bot only if they name it.
COMMON_WORDS: Mapping[str, tuple[str, ...]] = {
    "challenge": ("play", "newgame", "gioca", "giocare", "partita"),
    "find": ("search", "trova"),
    "puzzle": ("quiz",),
    "hand": ("cards", "carte"),
    "tables": ("games", "partite"),
    "join": ("sit", "partecipa"),
    "invite": ("invitation",),
    "rules": ("istruzioni",),
    "learn": ("teach",),
    "analyse": ("analysis", "review"),
    "resign": ("quit", "concede", "leave", "lascio", "esci"),
    "leaderboard": ("top",),
    "stats": ("profile", "profilo"),
    "honours": ("champions", "records", "campioni", "record"),
    "settings": ("options", "preferences", "language", "opzioni", "preferenze", "lingua"),
    "nickname": ("name", "nome"),
    "mydata": ("data", "export", "dati", "esporta"),
    "forget": ("delete", "cancella"),
    "help": ("commands", "menu", "info", "comandi", "guida"),
    "score": (
        *("scores", "points", "whatsthescore", "whatisthescore", "whoswinning", "whoiswinning"),
        *("whoseturn", "whoseturnisit", "whosturn", "whosturnisit", "ismyturn", "isitmyturn", "myturn"),
        *("punti", "quantosiamo", "aquantosiamo", "quantostiamo", "aquantostiamo", "comesiamo"),
        *("comestiamo", "achepuntosiamo", "quantifatti", "chivince", "chistavincendo", "achitocca", "toccaame"),
        *("dichièilturno", "turno", "turn"),
    ),
    "hint": (
        *("hints", "tip", "whatnow", "nowwhat", "whatnext", "whatdoido", "whatshouldido", "whatcanido"),
        *("whatdoiplay", "whatshouldiplay", "consigli", "suggerimento", "suggerimenti", "suggerisci", "eora"),
        *("eadesso", "cosafaccio", "chefaccio", "chedevofare", "cosadevofare", "chepossofare", "cosapossofare"),
        *("chegioco", "cosagioco"),
    ),
    "start": ("hello", "hi", "ciao", "salve", "inizia"),
}


def plain_word(word: str) -> str:
    return "".join(char for char in word.casefold() if char.isalnum())


def closest_word(word: str, known_words: Iterable[str]) -> str:
    """Return the known word of which ``word`` is the beginning or a misspelling; otherwise an empty string.

    A short word must have the same first letter: ``stop`` is not ``top``.
    """
    plain = plain_word(word)
    if len(plain) < SHORTEST_WORD:
        return ""
    candidates = [
        known_word for known_word in known_words if known_word[0] == plain[0] or len(plain) > LONGEST_SHORT_WORD
    ]
    completed_word = min((known_word for known_word in candidates if known_word.startswith(plain)), key=len, default="")
    return completed_word or "".join(get_close_matches(plain, candidates, 1, MIN_SIMILARITY))
