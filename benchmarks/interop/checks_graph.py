"""LTAC: run in the environment `graph`. Argument: the folder of exports."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(sys.argv[1])


def validate(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.ltac"
        path.write_text(text, encoding="utf-8")
        # Run as a module: the console script ends with 1 where all is well.
        command = [sys.executable, "-m", "verocase", "--ltac", str(path), "--validate", "--error"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else (run.stdout + run.stderr)[:300]


rows = []
for path in sorted(FOLDER.rglob("*.ltac")):
    text = path.read_text(encoding="utf-8")
    fault = validate(text)
    rejected = {"unknown field": bool(validate(text + "  - Verdict V: holds\n")), "a second claim of one name": bool(validate(text + text))}
    rows.append({"format": "case", "file": path.name, "faults": [fault] if fault else [], "rejected": rejected})
print(json.dumps(rows))
