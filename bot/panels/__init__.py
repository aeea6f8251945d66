"""Panels: texts and buttons, each a pure function of a viewer's knowledge and language."""
