"""Every Eval Ever: run in the environment `eee` (Python 3.12 or newer). Argument: the folder of exports."""

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
COMMAND = [str(Path(sys.executable).parent / "every_eval_ever"), "validate", "--format", "json"]


def validate(root, path):
    """Return what the validator says against the file, warnings included."""
    run = subprocess.run([*COMMAND, str(path.relative_to(root))], cwd=root, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else (run.stdout + run.stderr)[:500]


rows = []
for root in sorted({path.parents[4] for path in FOLDER.rglob("data/*/*/*/*.json")}):
    for path in sorted(root.glob("data/*/*/*/*.json")):
        fault = validate(root, path)
        content = path.read_bytes()
        rejected = {}
        for name, change in (("unknown field", {"verdict": "holds"}), ("wrong field", {"retrieved_timestamp": 1})):
            path.write_text(json.dumps({**json.loads(content), **change}), encoding="utf-8")
            rejected[name] = bool(validate(root, path))
        path.write_bytes(content)
        os.sync()
        rows.append({"format": "eee", "file": str(path.relative_to(root)), "faults": [fault] if fault else [], "rejected": rejected})
print(json.dumps(rows))
