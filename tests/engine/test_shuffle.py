"""Shuffles follow docs/fairness.md, are unbiased and differ by purpose."""

from collections import Counter
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from engine.cards import FRENCH, ITALIAN
from engine.shuffle import Cut, commitment, draw_cards, first_dealer, shuffle_pack
from tests.paths import DOCS

FAIRNESS = (DOCS / "fairness.md").read_text(encoding="utf-8")


def code_block(heading: str) -> str:
    """Return the Python block under a heading of docs/fairness.md."""
    return FAIRNESS.split(f"## {heading}")[1].split("```python\n")[1].split("```")[0]


def test_code_in_the_docs_gives_the_same_packs() -> None:
    namespace: dict[str, object] = {}
    source = code_block("Recompute a pack")
    assert len([line for line in source.splitlines() if line.strip()]) <= 12, "docs/fairness.md: keep the code short"
    assert "engine" not in source, "docs/fairness.md: the code must not use the engine"
    exec(source, namespace)  # noqa: S102 - the code of the documentation is under test
    pack = namespace["pack"]
    for number in range(200):
        secret = sha256(str(number).encode()).digest()
        assert pack(secret.hex(), "DCSB", "A234567FCR") == list(shuffle_pack(ITALIAN, secret))  # type: ignore[operator]
        assert pack(secret.hex(), "CDHS", "23456789TJQKA") == list(shuffle_pack(FRENCH, secret))  # type: ignore[operator]
        cut = Cut(secret.hex()[: 1 + number % 64], 1)
        assert pack(secret.hex(), "DCSB", "A234567FCR", cut.text) == list(shuffle_pack(ITALIAN, secret, cut))  # type: ignore[operator]


def test_test_vectors_in_the_docs_are_correct() -> None:
    rows = FAIRNESS.split("## Test vectors")[1].split("- secret")[1:]
    assert len(rows) == 4
    for row in rows:
        secret, committed, *texts, italian, french = row.split("`")[1::2]
        raw, cut = bytes.fromhex(secret), Cut(texts[0], 1) if texts else None
        vectors = commitment(raw), " ".join(shuffle_pack(ITALIAN, raw, cut)), " ".join(shuffle_pack(FRENCH, raw, cut))
        assert vectors == (committed, italian, french), f"docs/fairness.md: wrong test vector for secret {secret}"


@given(secret=st.binary(min_size=32, max_size=32), text=st.text("0123456789abcdef", min_size=1, max_size=64))
def test_cut_replaces_the_secret_only_in_the_shuffle(secret: bytes, text: str) -> None:
    mixed = sha256(secret + b"cut:" + text.encode("ascii")).digest()
    assert shuffle_pack(ITALIAN, secret, Cut(text, 0)) == shuffle_pack(ITALIAN, mixed)
    assert shuffle_pack(FRENCH, secret, Cut(text, 1)) == shuffle_pack(FRENCH, mixed)


def test_every_card_is_equally_likely_in_every_place() -> None:
    places = Counter(
        (index, code) for n in range(4000) for index, code in enumerate(shuffle_pack(ITALIAN, n.to_bytes(32, "big")))
    )
    assert len(places) == 1600
    # 100 are expected in each of 1600 cells. Chi-squared has 39 × 39 degrees of freedom. Five standard deviations are
    # allowed.
    chi_squared = sum((count - 100) ** 2 / 100 for count in places.values())
    assert abs(chi_squared - 1521) < 5 * (2 * 1521) ** 0.5


def test_draws_for_different_purposes_differ() -> None:
    pool = [str(number) for number in range(26)]
    assert draw_cards(pool, 26, bytes(32), "exchange 0") != draw_cards(pool, 26, bytes(32), "exchange 1")


def test_shorter_draw_is_a_prefix_of_a_longer_one() -> None:
    pool = [str(number) for number in range(26)]
    assert draw_cards(pool, 3, bytes(32), "x") == draw_cards(pool, 26, bytes(32), "x")[:3]
    assert draw_cards(pool, 1, bytes(32), "x") == draw_cards(pool, 2, bytes(32), "x")[:1]
    assert draw_cards(pool[:1], 1, bytes(32), "x") == ("0",)


def test_draws_have_no_modulo_bias() -> None:
    """If every byte were used, the first 56 of 200 numbers would be twice as likely: 44 % of all draws."""
    low = sum(first_dealer(200, number.to_bytes(32, "big")) < 56 for number in range(4000))
    assert 0.25 < low / 4000 < 0.31


def test_first_dealer_can_be_any_seat() -> None:
    assert {first_dealer(4, bytes([number]) * 32) for number in range(50)} == {0, 1, 2, 3}
