"""The campaign kind `queries`: answers to counting queries, and synthetic rows, of a table that a custodian holds."""
