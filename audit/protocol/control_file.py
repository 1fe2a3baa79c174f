"""Files of controls, and of the known-bad responses that they name."""

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import from_document, json_schema
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.positive_control import DOSES, ControlDraft, ControlKind, ControlPlan
from registry.registration.context_specification import find_beside


def read_control(path: Path) -> ControlPlan:
    """Return the control in *path*, with the digest of the responses that it names; raises InputError."""
    draft = from_document(ControlDraft, read_document(path), where=str(path))
    doses = draft.doses if draft.doses is not None else DOSES if draft.kind is ControlKind.POLICY else ()
    responses = None if draft.responses is None else hashlib.sha256(_read_bytes(find_responses(path, draft.responses))).hexdigest()
    known = {field.name: getattr(draft, field.name) for field in fields(ControlPlan)}
    try:
        return ControlPlan(**{**known, "doses": tuple(doses), "responses": responses})
    except ValueError as error:
        raise InputError(Fault("not-valid", str(path), str(error))) from error


def control_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file of a control."""
    return json_schema(ControlDraft)


def find_responses(path: Path, name: str) -> Path:
    """Return the path of the responses that the control in *path* names."""
    return find_beside(path.parent, name, where=f"{path}, responses")


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(Fault("file-not-readable", str(path), error.strerror or "cannot be read")) from error
