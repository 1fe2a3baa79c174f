"""The documents of `caveat export`, from which the JSON Schemas are made."""

from registry.present.answer_formats import AnswerFormat, answer, group


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the commands of this package."""
    file = group(path=str, sha256=str)
    row = group(name=str, title=str, version=str, validator=str, needs=str, cards=bool, lost=list[str])
    return (
        answer("export", "export", format=str, version=str, files=list[file], lost=list[str], record=str, record_sha256=str),
        answer("export-formats", "export", formats=list[row]),
    )
