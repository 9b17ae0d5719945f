"""The list of kernels that are compiled before the tests run names kernels that are there, by types that they take."""

from __future__ import annotations

import json
from importlib import import_module

from numba.core.dispatcher import Dispatcher

import compiled_kernels
from confide._compiled import Later


def test_every_kernel_of_the_list_is_there_and_takes_what_is_said() -> None:
    listed = json.loads(compiled_kernels.FILE.read_text(encoding="utf-8"))
    assert len(listed) > 50
    for name, texts in listed.items():
        place, _, attribute = name.partition(":")
        module = import_module(place)
        found = getattr(module, attribute)
        assert isinstance(found, Dispatcher | Later), name
        arguments = found.py_func.__code__.co_argcount
        for text in texts:
            assert len(compiled_kernels.signature(text, module)) <= arguments, f"{name} {text}"
