"""The pages for participants, operators and the public. The pages are rendered on the server and need no scripts."""
