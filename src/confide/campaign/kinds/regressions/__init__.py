"""The campaign kind `regression`: the tables of its campaign file, its plan, and its pages."""
