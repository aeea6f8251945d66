"""Panels: what people read and press, each a pure function of what its viewer may know, and a language."""
