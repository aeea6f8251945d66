"""Privacy: the stored data of a person, and how to delete it (docs/privacy.md)."""
