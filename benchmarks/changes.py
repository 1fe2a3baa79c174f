"""What it costs to tell which of 10,000 claims changed, and how: 20 of them, ten times as many, none; beside the states of both ends.

The registry is that of `benchmarks/staleness.py`; then some claims are withdrawn. Rows are compared with their statements as always.

Run: python benchmarks/changes.py [CLAIMS]
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.bulk_import_store import open_ledger, settle
from benchmarks.staleness import fill, measure
from registry.folder.supplement_changes import collect_changes
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.store.ledger import Ledger
from registry.store.supplement_states import find_states

FEW, MANY = 20, 200


def withdraw(ledger: Ledger, claims: list[str]) -> int:
    """Withdraw *claims*, and return the size of the log."""
    with ledger.write(actor="EXAMPLE") as writer:
        writer.append_many([ClaimEvent(claim=one, event=ClaimEventKind.WITHDRAW, reason="retracted") for one in claims])
    with ledger.view() as view:
        return view.log_size


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as folder:
        ledger = open_ledger(f"sqlite:///{Path(folder, 'store.db')}")
        fill(ledger, settle(ledger), count)
        with ledger.view() as view:
            size, names = view.log_size, [one.claim for one in view.list_claims()]
        few = withdraw(ledger, names[:FEW])
        many = withdraw(ledger, names[FEW : FEW + MANY])

        def states() -> int:
            with ledger.view(size) as before, ledger.view(few) as after:
                return len(find_states(before)) + len(find_states(after))

        def changes(since: int, upto: int) -> int:
            with ledger.view(since) as before, ledger.view(upto) as after:
                return len(collect_changes(before, after).changes)

        measured = {
            "states of both ends": measure(states),
            "nothing changed": measure(lambda: changes(size, size)),
            f"{FEW} claims changed": measure(lambda: changes(size, few)),
            f"{MANY} claims changed": measure(lambda: changes(few, many)),
        }
        base = measured["states of both ends"][2]
        for what, (found, seconds, cpu) in measured.items():
            print(f"{what:22} {found:7,} {seconds:7.3f} s {cpu:7.3f} s CPU, {cpu / base:5.2f} × the states of both ends")
        ledger.close()


if __name__ == "__main__":
    main()
