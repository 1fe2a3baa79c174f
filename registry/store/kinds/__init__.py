"""The kinds of statement, declared by subject. `registry.store.statement_kind` says what a declaration holds."""
