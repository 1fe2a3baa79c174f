"""Files in formats that others own: exports of claims and audits, and the gate that checks a draft against the registry."""
