"""The service: campaigns with real people, for several operators, over HTTP. A thin shell over `confide.campaign`.

- `access`: who somebody is, and what she may do.
- `work`: drafts, participation, and settlements that go on whatever dies.
"""
