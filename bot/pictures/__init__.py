"""Pictures of tables and results.

A builder (`scene_builder`, `results`, `rules`) describes a picture, a layout (`scene_layout`, `sheet_layout`) places
its items, and `painter` paints them in another process (`pool`).
"""
