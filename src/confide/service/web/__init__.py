"""The pages for participants, operators and the public. They are rendered on the server and need no scripts."""
