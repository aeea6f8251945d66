"""Recognising files that are not plain UTF-8 text by their first bytes."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark with which Windows editors begin UTF-8."""

GZIP = b"\x1f\x8b"

WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"{\0", b"\0{", b"\0\0\0{")
"""How JSON begins in UTF-16 and UTF-32, with and without a byte order mark."""


def encoding_fault(start: bytes) -> str:
    """Say why a text that begins with these four bytes cannot be read as UTF-8; "" if it may be."""
    if start.startswith(WIDE):
        return "is UTF-16 or UTF-32 text, as PowerShell's > writes it: save it as UTF-8"
    return ""
