"""Tables of guests at which anyone may sit down, listed on the first page."""
