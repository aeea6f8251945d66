"""Sharing of tables between the workers on one store, and the choice of a leader."""
