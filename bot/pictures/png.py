"""A picture as a PNG file (W3C's PNG specification, third edition).

Compression is most of what painting takes, and Pillow's, by zlib, takes half as long again, for larger files. Which
bytes libdeflate writes depends on its version, never on the processor.
"""

import zlib

import deflate
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"

COMPRESSION = 5
"""Of libdeflate, 1 to 12; with 6 it takes a fifth longer for three parts in a hundred less."""

BITS, PALETTE, DEFLATE, ADAPTIVE, WHOLE = 8, 3, 0, 0, 0
"""What a header says: bits a pixel, numbers of colours, the two methods that there are, and not interlaced."""

UNFILTERED = b"\0"
"""Stands before each row: numbers of colours have no differences worth writing."""


def encode_png(image: Image.Image) -> bytes:
    """The file of an image of mode P, whose pixels are numbers in its palette."""
    width, height = image.size
    # Pillow fills rows that are to be one byte longer with a zero, which is what stands before the next.
    rows = UNFILTERED + image.tobytes("raw", "P", width + 1)[:-1]
    about = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((BITS, PALETTE, DEFLATE, ADAPTIVE, WHOLE))
    chunks = (
        _chunk(b"IHDR", about),
        _chunk(b"PLTE", bytes(image.getpalette() or ())),
        _chunk(b"IDAT", bytes(deflate.zlib_compress(rows, COMPRESSION))),
        _chunk(b"IEND", b""),
    )
    return SIGNATURE + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(data, zlib.crc32(kind)).to_bytes(4, "big")
