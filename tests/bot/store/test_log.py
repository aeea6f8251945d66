"""Logs can be folded without loss, and invalid logs are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.store.log import STAMPS_KEPT, Log, add_stamp, make_head, strip_stamp, unfold

TEXT = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(st.tuples(TEXT, TEXT)), st.lists(st.tuples(TEXT, TEXT)))
def test_folded_log_keeps_entries_and_the_latest_stamps(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> None:
    entries = [add_stamp(*entry) for entry in old]
    new_entries = [add_stamp(*entry) for entry in new]
    log = unfold([make_head(entries), *new_entries])
    assert log.version == len(old) + len(new)
    latest = max(1, len(old) - STAMPS_KEPT)
    assert log.entries == [*entries[:1], *map(strip_stamp, entries[1:latest]), *entries[latest:], *new_entries]
    assert list(map(strip_stamp, unfold([make_head(log.entries)]).entries)) == list(map(strip_stamp, log.entries))


def test_missing_table_is_an_empty_log() -> None:
    assert unfold([]).version == 0
    assert unfold([b"0 "]).version == 0


def test_folded_deal_is_small() -> None:
    entries = [
        add_stamp(f"{n % 2} play {rank}{suit}", f"u{n}")
        for n, (suit, rank) in enumerate((s, r) for s in "DCSB" for r in "A234567FCR")
    ]
    assert sum(map(len, entries)) > 500
    assert len(make_head(entries)) < 220


def test_update_is_found_among_the_latest_entries() -> None:
    folded = [add_stamp(f"old {number}", f"u{number}") for number in range(STAMPS_KEPT)]
    first = add_stamp("first", "open")
    log = unfold(
        [make_head([first, add_stamp("oldest", "u"), *folded]), add_stamp("new", "n1"), add_stamp("newer", "n2")]
    )
    # A worker with the table in memory finds the same updates.
    in_memory = Log([]).with_entries([first, add_stamp("oldest", "u"), *folded]).with_entries(log.entries[-2:])
    for current in (log, in_memory):
        results = [
            current.has_update(update) for update in ("u", "u0", "u1", "u2", f"u{STAMPS_KEPT - 1}", "n1", "n2", "n3")
        ]
        assert results == [False, False, False, True, True, True, True, False]
        # The update that opened the table is never forgotten.
        assert current.was_opened_by("open")


def test_log_is_newly_opened_until_the_second_update() -> None:
    log = Log([]).with_entries([add_stamp("first", "open"), add_stamp("second", "open")])
    assert Log([]).is_newly_opened
    assert log.is_newly_opened
    assert not log.with_entries([add_stamp("third", "u1")]).is_newly_opened
    assert not unfold([make_head(log.with_entries([add_stamp("third", "u1")]).entries)]).is_newly_opened


def test_tabs_and_newlines_are_refused_in_stamps() -> None:
    for text, update in (("a\tb", "u"), ("a\nb", "u"), ("a", "u\n")):
        with pytest.raises(ValueError, match="cannot hold a tab or a newline"):
            add_stamp(text, update)


@pytest.mark.parametrize("entries", [[b"x "], [b""], [b"3 "], [b"-1 "], [b"3 \xff\xff damaged"]])
def test_invalid_log_is_refused(entries: list[bytes]) -> None:
    with pytest.raises(ValueError, match="head of a table's log"):
        unfold(entries)
