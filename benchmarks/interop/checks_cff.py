"""CFF: run in the environment `cff`. Argument: the folder of exports."""

import json
import sys
from pathlib import Path

from cffconvert import Citation

FOLDER = Path(sys.argv[1])


def validate(text):
    try:
        Citation(text).validate()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


rows = []
for path in sorted(FOLDER.rglob("CITATION.cff")):
    text = path.read_text(encoding="utf-8")
    fault = validate(text)
    rejected = {
        "unknown field": bool(validate(text + "verdict: holds\n")),
        "wrong field": bool(validate(text.replace("type: dataset", "type: report", 1))),
    }
    rows.append({"format": "cff", "file": f"{path.parent.name}/{path.name}", "faults": [fault] if fault else [], "rejected": rejected})
print(json.dumps(rows))
