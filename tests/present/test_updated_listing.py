"""A list as CSV that is brought up to date, instead of being written anew."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from registry.present.listings import Column, ListChoice, Listing, render_csv, update_csv


@dataclass(frozen=True)
class Item:
    """A row of a list."""

    name: str
    text: str | None


TEXTS = st.text(st.sampled_from('ab",;\n\r \u202e=é'), max_size=6) | st.none()
NAMES = [f"row-{number}" for number in range(6)]


def build_listing(items: dict[str, str | None]) -> Listing[Item]:
    columns: tuple[Column[Item], ...] = (Column(name="name", read=lambda item: item.name), Column(name="text", read=lambda item: item.text))
    rows = [Item(name, text) for name, text in items.items()]
    return Listing(document={}, field="items", rows=rows, describe=lambda item: item.name, columns=columns, none="None.")


@given(before=st.dictionaries(st.sampled_from(NAMES), TEXTS), changed=st.dictionaries(st.sampled_from(NAMES), TEXTS | st.just("gone")))
def test_an_updated_list_is_the_one_written_anew(before: dict[str, str | None], changed: dict[str, str | None]) -> None:
    """Or there is none, where the reader changes a text: one with a bare carriage return."""
    new = {name: text for name, text in changed.items() if text != "gone"}
    after = {name: text for name, text in {**before, **new}.items() if changed.get(name) != "gone"}

    updated = update_csv(render_csv(build_listing(before), ListChoice()), build_listing(new), "name", changed.__contains__)

    if updated is not None or not any("\r" in (text or "") for text in (*before.values(), *new.values())):
        assert updated == render_csv(build_listing(after), ListChoice())


def test_a_file_of_other_columns_is_not_updated() -> None:
    listing = build_listing({"row-1": "a"})

    assert update_csv(b"\xef\xbb\xbfother\n1\n", listing, "name", lambda _name: False) is None
    assert update_csv(b"", listing, "name", lambda _name: False) is None
