"""Hugging Face `.eval_results/*.yaml`: the evaluation side of a replay as a score of a benchmark on the Hub."""

from interchange.formats.citations import quote_yaml
from interchange.formats.export_record import METHOD, ExportedFile, ExportRequest, FieldReader, format_moment, format_number
from interchange.formats.outcome_facts import describe_standing, find_reading, list_arms, read_outcome
from registry.records.verdict import Mode, VerdictStanding

_ANOTHER = "no --field takes its place: publish an audit with one usable figure, or choose another format (caveat export --list)"

LOST = (
    "quote",
    "θ and direction",
    "intervals",
    "deployment side and Evaluation Differential",
    "restricted text",
    "numbers of tasks and contexts",
    "plan and lock",
    "objections",
    "history",
    "proof",
)
WARNING = "On the Hub this file puts the score of the evaluation side on a leaderboard, without interval and without the deployment side."


def map_hugging_face(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the file.

    Raises:
        InputError: `export-field-missing`: benchmark or task on the Hub are not stated, or the record has no one usable evaluation figure.
    """
    supplement = request.record.claim
    fields = FieldReader(request, "hf")
    dataset = fields.read("dataset_id", "the benchmark's id on the Hub, such as cais/hle")
    task = fields.read("task_id", "the task of the benchmark, as its eval.yaml on the Hub names it")
    figures = [arm for arm in list_arms(supplement) if arm.part == "test"]
    reading = find_reading(supplement)
    if reading is not None and reading.mode is Mode.TECHNICAL:
        fields.lack("value", "the evidence is unusable, so its figures are no score", advice=_ANOTHER)
    elif len(figures) != 1:
        fields.lack("value", f"the record has {len(figures)} evaluation figures, and the format takes one", advice=_ANOTHER)
    outcome = read_outcome(supplement)
    if reading is not None and VerdictStanding.PROVISIONAL in (reading.verdict_standing, outcome.standing):
        # A leaderboard shows the value alone; the note with the standing is not part of it.
        fields.lack("value", "the outcome is provisional, and a leaderboard has no place to say so", advice=_ANOTHER)
    elif reading is not None and reading.mode is Mode.NOISY:
        problem = "the outcome is inconclusive because its intervals are wide, and a leaderboard has no place for intervals"
        fields.lack("value", problem, advice=_ANOTHER)
    fields.refuse_missing()
    notes = f"{outcome.words}; {describe_standing(supplement)}; {METHOD}; {request.record.title}; record sha256:{request.record.sha256}"
    lines = [
        "- dataset:",
        f"    id: {quote_yaml(dataset)}",
        f"    task_id: {quote_yaml(task)}",
        f"  value: {format_number(figures[0].figure.value)}",
    ]
    audit = supplement.audit
    if audit is not None and audit.runs:
        lines.append(f"  date: {quote_yaml(format_moment(audit.runs[0].payload.started_at))}")
    if url := request.stated.get("source_url", "").strip():
        lines += ["  source:", f"    url: {quote_yaml(url)}", f"    name: {quote_yaml('Supplement')}"]
    lines.append(f"  notes: {quote_yaml(notes)}")
    return (ExportedFile(path=f"{request.record.name}.yaml", content=("\n".join(lines) + "\n").encode()),)
