"""Fuzz tests: thousands of malformed requests must be answered and change nothing."""
