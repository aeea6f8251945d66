"""The people that a person played lately, and challenges to them from a page."""
