"""Links from page to page: relative, so that a site works in any folder."""

import posixpath

from hypothesis import given
from hypothesis import strategies as st

from web.pages.addresses import Linker, LinkStyle, PageSettings

FOLDERS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(lambda parts: "".join(f"{part}/" for part in parts))
ADDRESSES = st.tuples(FOLDERS, st.sampled_from(["", "style.css"])).map(lambda parts: f"/{parts[0]}{parts[1]}")


@given(here=ADDRESSES, address=ADDRESSES, rest=st.sampled_from(["", "?q=a/b", "#part", "?q=1#a/b"]))
def test_a_link_leads_where_a_relative_path_leads(here: str, address: str, rest: str) -> None:
    """The standard library gives the same path; a folder of files names the file of a page."""
    folder = here if here.endswith("/") else posixpath.dirname(here)
    path = posixpath.relpath(address, folder)
    slash = "/" if address.endswith("/") else ""

    assert Linker(here, PageSettings(links=LinkStyle.CLEAN))(address + rest) == f"{path}{slash}{rest}"
    file = ("index.html" if path == "." else f"{path}/index.html") if slash else path
    assert Linker(here, PageSettings(links=LinkStyle.FILES))(address + rest) == f"{file}{rest}"
