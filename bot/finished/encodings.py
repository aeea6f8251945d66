"""Recognition of files that are not plain UTF-8 text, by their first bytes."""

BOM = b"\xef\xbb\xbf"  # byte order mark that Windows editors write before UTF-8
GZIP = b"\x1f\x8b"
WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"{\0", b"\0{", b"\0\0\0{")  # starts of JSON in UTF-16 and UTF-32


def encoding_fault(start: bytes) -> str:
    """Return why a text with these first four bytes is not UTF-8, or "" if it can be."""
    if start.startswith(WIDE):
        return "is UTF-16 or UTF-32 text, as PowerShell's > writes it: save it as UTF-8"
    return ""
