"""The campaign kind `regression`: its file, its pages, its study."""
