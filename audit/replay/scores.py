"""The scores of a run folder: every scoring stays, and the latest of a response, scorer and repeat counts."""

from collections.abc import Iterable, Iterator

from audit.replay.database import Database
from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_json, to_document
from registry.records.score import Score


class ScoreStore(Database):
    """The part of a run folder's database that holds scores."""

    def add_scores(self, scores: Iterable[Score]) -> None:
        """Keep *scores*; a later scoring of the same response, scorer and repeat counts, and the earlier stays."""
        with self._write() as write:
            write.executemany(
                "INSERT INTO score (response, scorer, repeat, document) VALUES (?,?,?,?)",
                (
                    (one.response, one.scorer, -1 if one.repeat is None else one.repeat, canonical_bytes(to_document(one)).decode())
                    for one in scores
                ),
            )

    def list_scores(self, scorer: str) -> Iterator[Score]:
        """Give the scores that count of the scorer with this digest, by response and repeat."""
        sql = (
            "SELECT document FROM score WHERE id IN (SELECT max(id) FROM score WHERE scorer = ? GROUP BY response, repeat)"
            " ORDER BY response, repeat"
        )
        for (document,) in self._read(sql, (scorer,)):
            yield from_json(Score, document, where=str(self.path))

    def find_scores(self, scorer: str, response: str) -> list[Score]:
        """Return the scores that count of one response by the scorer with this digest, by repeat; empty when it was not scored."""
        latest = "SELECT max(id) FROM score WHERE scorer = ? AND response = ? GROUP BY repeat"
        sql = f"SELECT document FROM score WHERE id IN ({latest}) ORDER BY repeat"  # noqa: S608 (no text of others)
        with self._lock:
            rows = self._connection.execute(sql, (scorer, response)).fetchall()
        return [from_json(Score, document, where=str(self.path)) for (document,) in rows]

    def list_scorers(self) -> list[str]:
        """Return the digests of the scorers that scored anything here, in the order of their digests."""
        return [scorer for (scorer,) in self._read("SELECT DISTINCT scorer FROM score ORDER BY scorer")]

    def list_judges(self, scorer: str) -> list[str]:
        """Return the models that judged for the scorer with this digest, as they were returned, in the order of their names."""
        sql = "SELECT DISTINCT json_extract(document, '$.judge') AS judge FROM score WHERE scorer = ? AND judge IS NOT NULL ORDER BY judge"
        return [judge for (judge,) in self._read(sql, (scorer,))]
