"""Texts as YAML: what is written comes back the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.codec.file_io import parse_document
from registry.codec.yaml_text import WIDTH, render_key, render_number

HOSTILE = st.text(
    st.one_of(
        st.sampled_from(" \t\n\r\f\v\x85\u2028\u2029\ufeff\u202e\u2066\u00a0\u202f#:-[]{},&*!|>'\"%@`\\?=~\x07\x1b"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    ),
    max_size=300,
)
_WORD = st.sampled_from(["refuses", "9", "%", "of:", "#", '"x"', "שלום", "مرحبا", "é", "", "-", "true"])
WORDS = st.lists(_WORD, max_size=60).map(" ".join)


def read_back(lines: list[str], key: str = "quote") -> object:
    """Return the value under *key* as the reader of files has it."""
    document = parse_document("claims:\n  - first: 1\n" + "\n".join(lines) + "\n    after: 1\n", where="here")
    assert isinstance(document, dict)
    (claim,) = document["claims"]
    assert claim["after"] == 1
    return claim[key]


@given(st.one_of(HOSTILE, WORDS))
def test_a_text_comes_back_as_it_was(text: str) -> None:
    """Whatever characters a card has between two words, the file gives them back, and what follows is not touched."""
    lines = render_key("quote", text, 4)

    assert read_back(lines) == text


@pytest.mark.parametrize(
    "text",
    [
        "ends with a space ", " begins with one", "a\n\nb", "a\n  b", "a \nb", "a\r\nb\r\n", "key: value # no comment", "- item",
        "yes", "1.0", "~", "2026-11-21", "0x1F", "1e5", "|", ">-", "---", "a\n---\nb", "%YAML", "\ttab", "a\tb", "", "\n",
        "x" * 500, "a\\", '"', "…",
        "\u05d0\u05d1 \u202e reversed", "a,b", "=", "<<", "*anchor", "&anchor", "!tag", "a  b" * 60,
    ],
)  # fmt: skip
def test_what_yaml_reads_otherwise_comes_back_too(text: str) -> None:
    """The texts that YAML is known to take for something else."""
    assert read_back(render_key("quote", text, 4)) == text
    assert read_back(render_key("quote", {"a": text, "b": [text]}, 4)) == {"a": text, "b": [text]}


@given(st.dictionaries(HOSTILE, st.one_of(HOSTILE, st.integers(-(10**6), 10**6), st.none(), st.booleans()), max_size=4))
def test_a_mapping_comes_back_as_it_was(mapping: dict[str, object]) -> None:
    """Flow style holds the same texts."""
    assert read_back(render_key("quote", mapping, 4)) == mapping


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_as_it_was(value: float) -> None:
    """Very small and very large ones too."""
    document = parse_document(f"x: {render_number(value)}\n", where="here")

    assert document == {"x": value}


def test_long_sentences_and_lists_are_broken_into_lines() -> None:
    """A person reads them without scrolling sideways."""
    sentence, passages = "In test contexts the assistant refused. " * 20, [[number, number + 50] for number in range(0, 9000, 97)]

    lines = [*render_key("quote", sentence.strip(), 4), *render_key("passages", passages, 2)]

    assert max(map(len, lines)) <= WIDTH
    assert len(lines) > 10


def test_only_visible_characters_are_written() -> None:
    """Direction marks and control characters are escaped, so that the file shows what it holds."""
    (line,) = render_key("quote", "a\u202eb\x1b[31mc\x85", 0)

    assert line == 'quote: "a\\u202eb\\u001b[31mc\\u0085"'
