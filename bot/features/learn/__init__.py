"""A tutorial of three courses: eight taps on small tables, then the last five tricks of a deal."""
