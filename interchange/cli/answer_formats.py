"""The documents of `caveat export` and `caveat gate`, from which the JSON Schemas are made."""

from interchange.gate.gate_finding import Level, Rule
from registry.present.answer_formats import AnswerFormat, answer, group


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the commands of this package."""
    file = group(path=str, sha256=str)
    row = group(name=str, title=str, version=str, validator=str, needs=str, cards=bool, lost=list[str])
    finding = group(
        rule=Rule, level=Level, claim=str | None, message=str, path=str | None, line=int | None, page=int | None, waived=str | None,
        known=bool, fails=bool,
    )  # fmt: skip
    return (
        answer("export", "export", format=str, version=str, files=list[file], lost=list[str], record=str, record_sha256=str),
        answer("export-formats", "export", formats=list[row]),
        answer("gate-report", "gate", passed=bool, fail_on=Level, checked=list[str], findings=list[finding], file=str | None),
    )
