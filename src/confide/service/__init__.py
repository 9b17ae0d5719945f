"""The service: campaigns with real people, for several operators, over HTTP. A thin shell over `confide.campaign`.

- `access`: identities of callers, and their rights.
- `work`: drafts, participation, and settlements that go on after any process ends.
"""
