# Made by tests/typed/stubs.py from the call of `doors` in __init__.py.
__all__: list[str] = []
