"""How long `caveat --help` takes, beside the bare interpreter and Click alone.

Run: python benchmarks/help.py
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("caveat"))
ROUNDS = 15
CLICK = "import click; click.command()(lambda: None).main(['--help'], standalone_mode=False)"


def measure(command: list[str]) -> float:
    """Return the median seconds of a call, after one to warm the disk."""
    subprocess.run(command, check=True, capture_output=True)
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    bare = measure([sys.executable, "-c", "pass"])
    click = measure([sys.executable, "-c", CLICK])
    ours = measure([COMMAND, "--help"])
    print(f"caveat --help          {ours * 1000:>6.0f} ms   (limit 150)")
    print(f"Click alone            {click * 1000:>6.0f} ms   ratio {ours / click:.1f}")
    print(f"the interpreter alone  {bare * 1000:>6.0f} ms   ratio {ours / bare:.1f}")


if __name__ == "__main__":
    main()
