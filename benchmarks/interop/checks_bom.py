"""CycloneDX and OSCAL: run in the environment `bom`. Argument: the folder of exports."""

import json
import sys
import tempfile
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from trestle.oscal.assessment_results import AssessmentResults

FOLDER = Path(sys.argv[1])
CYCLONEDX = JsonStrictValidator(SchemaVersion.V1_7)


def validate_bom(document):
    error = CYCLONEDX.validate_str(json.dumps(document))
    return "" if error is None else str(error)[:300]


def validate_oscal(document):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            AssessmentResults.oscal_read(path)
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
    return ""


def find_undefined(document):
    """Return the references of a BOM that name nothing: the schema does not look for these."""
    text = json.dumps(document)
    defined = set()
    used = set()

    def walk(value, key=""):
        if isinstance(value, dict):
            for name, item in value.items():
                if name == "bom-ref":
                    defined.add(item)
                walk(item, name)
        elif isinstance(value, list):
            for item in value:
                walk(item, key)
        elif isinstance(value, str) and key in {
            "target",
            "evidence",
            "counterEvidence",
            "assessor",
            "requirement",
            "claims",
            "counterClaims",
        }:
            used.add(value)

    walk(json.loads(text))
    return sorted(used - defined)


def main():
    rows = []
    for path in sorted(FOLDER.rglob("*.cdx.json")):
        document = json.loads(path.read_bytes())
        faults = [validate_bom(document), *(f"undefined reference {name}" for name in find_undefined(document))]
        rejected = {
            "unknown field": bool(validate_bom({**document, "verdict": "holds"})),
            "wrong field": bool(validate_bom({**document, "version": "1"})),
        }
        rows.append({"format": "cyclonedx", "file": path.name, "faults": [fault for fault in faults if fault], "rejected": rejected})
    for path in sorted(FOLDER.rglob("*.oscal.json")):
        document = json.loads(path.read_bytes())
        inner = document["assessment-results"]
        wrong = json.loads(path.read_bytes())
        wrong["assessment-results"]["results"][0]["findings"][0]["target"]["status"]["state"] = "undetermined"
        rejected = {
            "unknown field": bool(validate_oscal({"assessment-results": {**inner, "verdict": "holds"}})),
            "wrong field": bool(validate_oscal(wrong)),
        }
        fault = validate_oscal(document)
        rows.append({"format": "oscal", "file": path.name, "faults": [fault] if fault else [], "rejected": rejected})
    print(json.dumps(rows))


main()
