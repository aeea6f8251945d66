"""Games in words, for panels, pictures and pages alike: cards, moves, scores, rules and how a game went."""
