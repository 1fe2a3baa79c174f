"""Everything that a database has by way of schema, as comparable texts: tables, columns, indexes, views, triggers, rules, functions.

A foreign trigger, rule or view can swallow entries or show others, so it is not enough that all of ours is there: nothing else may be. What
belongs there is not listed here a second time: the migrations are run in an empty place, and both catalogues are compared.
"""

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, text

Catalogue = Mapping[tuple[str, str], str]
"""Kind and name of an object, and its definition. The name of what belongs to a table begins with the table."""

_SQLITE = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_stat_' ESCAPE '\\'"
"""Also automatic indexes. ANALYZE keeps figures for the planner in sqlite_stat1 to sqlite_stat4, which change no answer."""
_POSTGRESQL = {
    "table": """
        SELECT relname, concat_ws(' ', relkind, relpersistence, relrowsecurity, relforcerowsecurity, reloptions,
          (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid AND tgisinternal AND tgenabled NOT IN ('O', 'A')),
          CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END)
        FROM pg_class c WHERE relnamespace = :schema AND relkind NOT IN ('i', 'I')""",
    "column": """
        SELECT relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
          attcollation::regcollation, pg_get_expr(adbin, adrelid))
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = :schema AND relkind NOT IN ('i', 'I') AND attnum > 0 AND NOT attisdropped""",
    "constraint": """
        SELECT coalesce(relname, '') || '.' || conname, concat_ws(' ', contype, convalidated, pg_get_constraintdef(o.oid))
        FROM pg_constraint o LEFT JOIN pg_class c ON c.oid = conrelid WHERE connamespace = :schema AND contype <> 'n'""",
    "index": """
        SELECT c.relname, concat_ws(' ', indisvalid, indisunique, pg_get_indexdef(indexrelid))
        FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = :schema""",
    "trigger": """
        SELECT tgname, concat_ws(' ', tgenabled, pg_get_triggerdef(t.oid))
        FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = :schema AND NOT tgisinternal""",
    "rule": """
        SELECT relname || '.' || rulename, concat_ws(' ', ev_enabled, pg_get_ruledef(r.oid))
        FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE relnamespace = :schema AND rulename <> '_RETURN'""",
    "policy": """
        SELECT relname || '.' || polname, concat_ws(' ', polcmd, polpermissive, pg_get_expr(polqual, polrelid))
        FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = :schema""",
    "function": """
        SELECT proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
          CASE WHEN prokind = 'a' THEN 'aggregate' ELSE pg_get_functiondef(p.oid) END
        FROM pg_proc p WHERE pronamespace = :schema""",
    "inheritance": """
        SELECT parent.relname || '.' || child.relname, '' FROM pg_inherits
        JOIN pg_class parent ON parent.oid = inhparent JOIN pg_class child ON child.oid = inhrelid
        WHERE parent.relnamespace = :schema""",
}
"""Each gives a name and a definition; the schema is taken out of definitions, so that two schemas compare. The order of columns is left
out: it depends on what was dropped and restored, and every statement of ours names its columns."""


def read_catalogue(connection: Connection) -> Catalogue:
    """Return every object of the database behind *connection*, on PostgreSQL of its current schema."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql(_SQLITE).all()
        return {(kind, name): f"{table} {sql}" for kind, name, table, sql in rows}
    quoted = connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one()
    number = connection.execute(text("SELECT current_schema()::regnamespace::oid")).scalar_one()
    found: dict[tuple[str, str], str] = {}
    for kind, query in _POSTGRESQL.items():
        for name, definition in connection.execute(text(query), {"schema": number}):
            found[kind, name] = str(definition).replace(f"{quoted}.", "")
    return found


def compare_catalogues(expected: Catalogue, there: Catalogue) -> Iterator[str]:
    """Yield each difference in words: what is missing or differs, then what does not belong there."""
    for kind, name in expected:
        if there.get((kind, name)) != expected[kind, name]:
            yield f"{kind} {name} is missing or differs"
    for kind, name in there:
        if (kind, name) not in expected:
            yield f"{kind} {name} does not belong to this registry"
