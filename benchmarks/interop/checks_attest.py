"""in-toto, DSSE and SCITT: run in the environment `attest`. Arguments: the folder of exports; its file `log.vkey` holds the log's key."""

import base64
import copy
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.protobuf.json_format import Parse
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementProto
from proofbundle import intoto
from scitt_cose import verify_receipt
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

FOLDER = Path(sys.argv[1])
RAW = base64.b64decode((FOLDER / "log.vkey").read_text().strip().split("+", 2)[2])[1:]
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()


def pem(raw):
    return Ed25519PublicKey.from_public_bytes(raw).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def verify_dsse(envelope, raw=RAW):
    key_id = envelope["signatures"][0]["keyid"]
    key = SSlibKey(key_id, "ed25519", "ed25519", {"public": raw.hex()})
    try:
        Envelope.from_dict(copy.deepcopy(envelope)).verify([key], 1)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def read_statement(envelope):
    try:
        proto = Parse(base64.b64decode(envelope["payload"]), StatementProto())
        Statement.copy_from_pb(proto).validate()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def check_envelope(path):
    envelope = json.loads(path.read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    faults = [verify_dsse(envelope), read_statement(envelope)]
    if path.name.endswith(".svr.dsse.json"):
        result = intoto.verify_svr_dsse(envelope, RAW)
        faults.append("" if result["ok"] else f"proofbundle: {result}")
    else:
        is_valid, detail = intoto.classify_eval_result_v02_predicate(statement)
        faults.append("" if is_valid else f"proofbundle: {detail}")
    body = bytearray(base64.b64decode(envelope["payload"]))
    body[-3] ^= 1
    changed = {**envelope, "payload": base64.b64encode(bytes(body)).decode()}
    broken = copy.deepcopy(statement)
    del broken["subject"][0]["digest"]
    unbound = {**envelope, "payload": base64.b64encode(json.dumps(broken).encode()).decode()}
    if path.name.endswith(".svr.dsse.json"):
        field = not intoto.classify_svr_predicate_shape({**statement, "predicate": {"properties": 1}})[0]
    else:
        wrong = copy.deepcopy(statement)
        wrong["predicate"]["claims"][0]["threshold"] = 0.3
        field = not intoto.classify_eval_result_v02_predicate(wrong)[0]
    return faults, {
        "one changed byte": bool(verify_dsse(changed)),
        "another key": bool(verify_dsse(envelope, OTHER)),
        "subject without digest": bool(read_statement(unbound)),
        "wrong field": field,
    }


def check_receipt(path):
    receipt = path.read_bytes()
    leaf = Path(str(path).replace(".receipt.cose", ".statement.json")).read_bytes()

    def run(data=receipt, entry=leaf, key=RAW):
        return verify_receipt(data, leaf_entry_hex=entry.hex(), log_public_key_pem=pem(key))

    result = run()
    changed = bytearray(receipt)
    changed[-1] ^= 1
    return ["" if result.ok else "; ".join(result.errors)], {
        "one changed byte": not run(data=bytes(changed)).ok,
        "another leaf": not run(entry=leaf + b" ").ok,
        "another key": not run(key=OTHER).ok,
    }


def main():
    rows = []
    for pattern, format_, check in (
        ("*.svr.dsse.json", "in-toto", check_envelope),
        ("*.eval.dsse.json", "in-toto --draft", check_envelope),
        ("*.receipt.cose", "scitt", check_receipt),
    ):
        for path in sorted(FOLDER.rglob(pattern)):
            faults, rejected = check(path)
            rows.append({"format": format_, "file": path.name, "faults": [fault for fault in faults if fault], "rejected": rejected})
    print(json.dumps(rows))


main()
