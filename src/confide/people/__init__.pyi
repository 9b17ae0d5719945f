# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
__all__: list[str] = []
