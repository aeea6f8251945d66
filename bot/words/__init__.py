"""Games in words, for panels, pictures and web pages: cards, moves, scores, rules and transcripts."""
