"""What the log says of keys, in its order."""

from sqlalchemy import select

from registry.records.dossier import Recorded
from registry.records.log_seal import KeyEvent
from registry.store.reader import Reader
from registry.store.seal_tables import key_event


def list_key_events(reader: Reader) -> tuple[Recorded[KeyEvent], ...]:
    """Return every key event that is seen, in log order."""
    return reader.recorded_by(select(key_event.c.seq).where(reader.visible(key_event)))
