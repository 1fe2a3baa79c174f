"""Files that people write are read strictly."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import binary, text

from registry.codec.file_io import LARGEST_DEPTH, parse_document, read_document
from registry.errors import CaveatError, InputError

BOMB = "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\n"


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (BOMB, "yaml-not-supported"),
        ("base: &base {a: 1}\nb: {<<: *base}", "yaml-not-supported"),
        ("a: 1\na: 2", "duplicate"),
        ('{"a": 1, "a": 2}', "duplicate"),
        ("a: .nan", "not-finite"),
        ("a: [1, -.inf]", "not-finite"),
        ('{"a": NaN}', "not-finite"),
        ("a: !!python/object/apply:os.system [id]", "yaml-not-supported"),
        ("a: [1, 2", "not-yaml"),
        ('{"a": 1', "not-json"),
        ("1: x", "not-valid"),
        ("a: b: c", "not-yaml"),
        ("[" * 5000, "too-deep"),
        ("\t- a", "not-yaml"),
        ("a: " + "[" * (LARGEST_DEPTH + 2) + "]" * (LARGEST_DEPTH + 2), "too-deep"),
    ],
)
def test_bad_files_are_refused_with_their_fault(written: str, code: str) -> None:
    """Bombs, references, tags, duplicate keys, NaN, depth: each by its own name."""
    with pytest.raises(InputError) as caught:
        parse_document(written, where="file.yaml")

    assert caught.value.code == code
    assert caught.value.faults[0].where.startswith("file.yaml")


def test_yaml_is_version_1_2() -> None:
    """`no` and `on` are words; 1_000 is not a number of thousands by accident; dates stay dates."""
    assert parse_document("a: no\nb: on\nc: 0.05", where="x") == {"a": "no", "b": "on", "c": 0.05}


@given(text(max_size=60))
def test_any_text_is_read_or_refused(written: str) -> None:
    """No text leads to anything but a document or a fault of ours."""
    try:
        parse_document(written, where="x")
    except CaveatError as error:
        assert error.faults


@given(content=binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No file leads to anything but a document or a fault of ours."""
    path = tmp_path_factory.mktemp("any") / "file.yaml"
    path.write_bytes(content)
    try:
        read_document(path)
    except CaveatError as error:
        assert error.faults


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A sparse file of 500 MB is refused by its size."""
    path = tmp_path / "large.yaml"
    with path.open("wb") as stream:
        stream.truncate(500_000_000)

    with pytest.raises(InputError, match="file-too-large"):
        read_document(path)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    """Not a traceback."""
    with pytest.raises(InputError, match="file-not-readable"):
        read_document(tmp_path / "nothing.yaml")
