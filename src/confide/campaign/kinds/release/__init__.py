"""The campaign kind `queries`: its file, its plan and its pages. It publishes answers to counting queries about a
custodian's table, and synthetic rows.
"""
