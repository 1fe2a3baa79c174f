"""What the installed command `caveat` runs first: its own installation takes precedence on the search path.

A module of its own, with a name that no other package uses: a folder `registry/` on the user's PYTHONPATH would otherwise be imported
instead of ours before any of our code could do something about it. Child processes get this search path too.
"""

import sys
import sysconfig
from pathlib import Path

SUMMARIES = {
    "ablation": "Estimate ΔED of each cue in score tables (CSV, JSONL or Parquet).",
    "audit": "Audits: plan, lock, import scores or reported evidence, read the outcome.",
    "backup": "Write all that the registry holds now to the new FILE, and beside it FILE.checkpoint, which it can be held to.",
    "card": "System cards: register a file, list what is registered, show one.",
    "claim": "Claims: register them from a file, show their outcomes, revise, withdraw, contest.",
    "classify": "Classify the claim in FILE (YAML or JSON) and say what may still be claimed.",
    "completion": "Print the completion script of SHELL.",
    "contamination": "Read a skill-contamination run again: contrasts with intervals by task, beside what was published.",
    "contest": "Contestations: object to a claim or a specification, answer, decide, escalate, and see what a rival would change.",
    "contrast": "Compare arms of score tables (CSV, JSONL or Parquet): differences, ratios, mitigation.",
    "db": "The database: bring its tables up to date, back, or compare them with what they should be.",
    "demo": "Build a registry, audit it and print its supplements, on bundled inputs, offline.",
    "estimate": "Estimate ED = Φ_test − Φ_deploy from score tables (CSV, JSONL or Parquet).",
    "explain": "Explain an error or warning CODE of a message; without CODE, list all codes.",
    "export": "Write the log as a bundle: one file that another registry verifies without trusting who sends it.",
    "import": "Verify the bundle FILE and take over the log in it, beside this registry's own.",
    "init": "Make a registry, its authority and its keys in the current folder.",
    "judge": "Say how far a judge's scores vary, err, and depend on the context, for each judge in score tables.",
    "key": "Keys that sign checkpoints of the log, PDF files, and what an authority states.",
    "log": "The log of statements: the audit trail, its checkpoints, and proofs from it.",
    "model": "Model versions: which comes from which, what is no longer offered, and what that makes stale.",
    "probe": "Read what responses in RUN say of being tested.",
    "rebuild": "Replay the log of the registry into the empty database at URL, verifying every leaf on the way.",
    "report": "Draw the supplements of claims (CLM-…) and cards (CRD-…; with all their claims) into a folder.",
    "restore": "Bring the backup FILE back into the registry of this folder, which must be empty or missing.",
    "schema": "Print the JSON Schema of a format, or the names of all.",
    "score": "Score or re-score the responses in the run folder RUN, and write its score table.",
    "skills": "Run a skill-contamination study: does loading a skill make the generated code worse?",
    "spec": "Specifications: what is measured, how it is scored, and under which contexts.",
    "verify": "Check supplements (PDF, HTML, JSON), proofs, checkpoints, bundles and registry files.",
}
"""The first sentences of the commands' help. `caveat --help` prints them without loading every command, which takes half a second."""


def put_installation_first(path: list[str], folder: str, standard: set[str]) -> list[str]:
    """Return the search path *path* with *folder* before everything but the standard library.

    Site packages may contain modules with names of the standard library, so that stays first.

    Args:
        folder: the folder that contains the running code.
        standard: the folders of Python's standard library.
    """
    library = [entry for entry in path if entry in standard]
    return [*library, folder, *(entry for entry in path if entry not in standard and entry != folder)]


def find_standard_library() -> set[str]:
    """Return the folders of Python's standard library, as they are written in `sys.path`."""
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    zipped = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    return {entry for entry in sys.path if entry in folders or Path(entry).name in (zipped, "lib-dynload")}


def main() -> None:
    """Run `caveat` from the installation that contains this file."""
    sys.path[:] = put_installation_first(sys.path, str(Path(__file__).resolve().parent), find_standard_library())
    from registry.cli.main import main as run  # noqa: PLC0415  (found on the path that was set a line ago)

    run(SUMMARIES)


if __name__ == "__main__":
    main()
