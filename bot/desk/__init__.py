"""The desk: what people ask for, by commands and buttons, and what they are answered."""
