"""A person's recent opponents, and challenges to them from a page."""
