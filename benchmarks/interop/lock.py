"""Write the requirement files of `make interop`: exact versions with the SHA-256 of each file that pip chooses here.

Run it with the interpreter of the group: `python lock.py attest`. pip resolves the group and reports digests; no address is kept. A file of
another system or Python version has another digest, so a group built elsewhere is locked there again.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
GROUPS = {
    "attest": ("in-toto-attestation==0.9.3", "securesystemslib==1.6.0", "proofbundle==6.3.1", "scitt-cose==0.5.0"),
    "bom": ("cyclonedx-python-lib[json-validation]==11.12.*", "compliance-trestle==5.2.0"),
    "cff": ("cffconvert==2.0.0",),
    "cite": ("datacite==1.4.1", "jsonschema>=4", "junitparser==5.0.3", "lxml", "bibtexparser==2.1.0", "citeproc-py==0.11.1"),
    "eee": ("every-eval-ever==0.3.0",),
    "graph": ("verocase==0.7.2", "roc-validator==0.13.0", "rocrate==0.13.0", "prov==3.2.3", "huggingface_hub==2.4.0"),
}
"""What each group needs; validators do not fit one environment, since they need different versions of the same libraries."""


def lock(group: str) -> list[str]:
    """Return the lines of the requirement file of *group*, as pip resolves it with this interpreter."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", report.name]
        subprocess.run([*command, *GROUPS[group]], check=True)
        chosen = json.loads(Path(report.name).read_text(encoding="utf-8"))["install"]
    lines = []
    for item in sorted(chosen, key=lambda item: item["metadata"]["name"].casefold()):
        digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
        lines += [f"{item['metadata']['name']}=={item['metadata']['version']} \\", f"    --hash=sha256:{digest}"]
    return lines


def main() -> None:
    """Write the files of the groups that are named."""
    for group in sys.argv[1:] or GROUPS:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        head = [f"# Group {group} of `make interop`, resolved by pip for Linux x86-64, Python {version}. Made by lock.py; do not edit."]
        (HERE / f"requirements-{group}.txt").write_text("\n".join([*head, *lock(group), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
