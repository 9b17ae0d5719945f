"""The pages: server-rendered, for participants, operators and the public; usable without scripts."""
