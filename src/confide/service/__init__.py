"""The web service, in which several operators run campaigns with real people over HTTP. The service is a thin layer
over `confide.campaign`.

- `access`: identities of callers, and their rights.
- `work`: drafts, participation, and settlements that continue after a process ends.
"""
