"""A tutorial of three courses. Each has eight taps on small tables, then the last five tricks of a deal."""
