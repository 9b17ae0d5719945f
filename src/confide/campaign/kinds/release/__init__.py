"""The campaign kind `queries`: answers to counting queries about a custodian's table, and synthetic rows."""
