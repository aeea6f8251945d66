"""People's data: what is kept of a person, and how it is forgotten (docs/privacy.md)."""
