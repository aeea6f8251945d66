"""A table's log: its entries in order, as bytes.

The number of entries is the table's version. Old entries are folded into the log's head, which keeps long games small.

    head: number of folded entries, a space, zlib of those entries joined by newlines (empty if there are none)

An entry is text without newlines. Its last field, behind a tab, is the key of the update that caused it (`add_stamp`).
The key distinguishes a repeated press from a late one.
"""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

EMPTY_HEAD = b"0 "
STAMPS_KEPT = 32  # number of latest entries that always keep their stamps

# zlib's preset dictionary. If it changes, the schema version must change.
COMMON_ENTRIES = b"\n".join(
    f"{seat} {move}".encode()
    for move in (
        *(f"declare three {rank} missing {suit}" for rank in "32A" for suit in "DCSB"),
        *(f"pick {number}" for number in range(1, 9)),
        *(f"play {rank}{suit}" for suit in "DCSB" for rank in "7654FCR32A"),
    )
    for seat in (0, 1)
)


class Log(NamedTuple):
    """A table's whole log, with the oldest entry first."""

    entries: list[bytes]

    @property
    def version(self) -> int:
        return len(self.entries)

    @property
    def last_entry(self) -> bytes:
        """The last entry; empty for an empty log. Its stamp distinguishes this log from others of the same version."""
        return self.entries[-1] if self.entries else b""

    def with_entries(self, entries: Sequence[bytes]) -> "Log":
        """Return the log with these entries appended.

        Old entries lose their stamps and share memory. The first entry keeps its stamp, which names the update that
        opened the table.
        """
        all_entries = [*self.entries, *entries]
        for index in range(max(1, self.version - STAMPS_KEPT), len(all_entries) - STAMPS_KEPT):
            all_entries[index] = _intern(strip_stamp(all_entries[index]))
        return Log(all_entries)

    def has_update(self, update: str) -> bool:
        return b"\t%b\n" % update.encode() in b"\n".join([*self.entries[-STAMPS_KEPT:], b""])

    def starts_with(self, other: "Log") -> bool:
        """Return whether another log is the beginning of this one. Stamps are ignored."""
        return other.version <= self.version and all(
            entry == other_entry or strip_stamp(entry) == strip_stamp(other_entry)
            for entry, other_entry in zip(self.entries, other.entries, strict=False)
        )

    def was_opened_by(self, update: str) -> bool:
        return bool(self.entries) and self.entries[0].partition(b"\t")[2] == update.encode()

    @property
    def is_newly_opened(self) -> bool:
        """True if only the update that opened the table has added entries."""
        return len({entry.partition(b"\t")[2] for entry in self.entries}) <= 1


@lru_cache(maxsize=4096)
def _intern(entry: bytes) -> bytes:
    """Return the same object for equal entries. Most moves occur at many tables."""
    return entry


def make_head(entries: Sequence[bytes]) -> bytes:
    """Return a head for these entries. Only the first and the latest keep their stamps."""
    if not entries:
        return EMPTY_HEAD
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=COMMON_ENTRIES)
    latest = max(1, len(entries) - STAMPS_KEPT)
    shortened = [entries[0], *map(strip_stamp, entries[1:latest]), *entries[latest:]]
    compressed = compressor.compress(b"\n".join(shortened)) + compressor.flush()
    return b"%d %s" % (len(entries), compressed)


def unfold(elements: Sequence[bytes]) -> Log:
    """Return the log of a stored list. Raise ValueError if the list is damaged."""
    if not elements:
        return Log([])
    count, _, compressed = elements[0].partition(b" ")
    entries: list[bytes] = []
    if compressed:
        try:
            entries = zlib.decompressobj(-15, zdict=COMMON_ENTRIES).decompress(compressed).split(b"\n")
        except zlib.error as error:
            raise ValueError(f"the head of a table's log is damaged: {error}") from None
    if not count.isdigit() or len(entries) != int(count):
        raise ValueError("the head of a table's log does not hold as many entries as it says")
    return Log([*entries, *elements[1:]])


def add_stamp(text: str, update: str) -> bytes:
    """Append an update's key to an entry. Raise ValueError for a tab or a newline."""
    if any(char in text + update for char in "\t\n"):
        raise ValueError(f"an entry cannot hold a tab or a newline: {text!r}, {update!r}")
    return f"{text}\t{update}".encode()


def strip_stamp(entry: bytes) -> bytes:
    return entry.partition(b"\t")[0]
