"""What the tests of signatures and of hostile PDFs share."""

from datetime import UTC, datetime

AT = datetime(2026, 11, 22, 3, 0, 0, tzinfo=UTC)
