"""Runs a module's functions as a changed source has them, in this process, without touching a file."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from types import CodeType, FunctionType, ModuleType
from typing import Any


@contextmanager
def functions_of(changed: str | bytes, *, source: str | bytes, module: ModuleType) -> Iterator[None]:
    """Within the block, the functions and methods of the module that differ have their code from `changed`.

    Code that ran when the module was imported stays as it is: constants, decorators, defaults of parameters.
    """
    before, after = (_functions(compile(text, module.__name__, "exec")) for text in (source, changed))
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if _body(old) != _body(new)]
    assert pairs, f"The change is in no function of {module.__name__}."
    live = {_live(module, old): (old, new) for old, new in pairs}
    for function, (old, new) in live.items():
        # A change may leave out the only `super()`.
        function.__code__ = new.replace(co_freevars=old.co_freevars)
    try:
        yield
    finally:
        for function, (old, _) in live.items():
            function.__code__ = old


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Functions and methods, without those inside of others."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if each.co_flags & inspect.CO_NEWLOCALS and each.co_flags & inspect.CO_OPTIMIZED:
                yield each
            else:
                yield from _functions(each)  # a class


def _body(code: CodeType) -> tuple[Any, ...]:
    """What the code does, wherever it is in its file."""
    constants = (_body(each) if isinstance(each, CodeType) else (type(each), each) for each in code.co_consts)
    return code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, *constants


def _live(module: ModuleType, code: CodeType) -> FunctionType:
    """The function that has the code, in whatever wraps it."""
    *owners, name = code.co_qualname.split(".")
    found: Any = vars(reduce(getattr, owners, module))[name]
    wrapped = (getattr(found, each, None) for each in ("fget", "fset", "func", "__func__", "run"))
    functions = [inspect.unwrap(each) for each in (*wrapped, found) if callable(each)]
    (function,) = {
        each: None
        for each in functions
        if isinstance(each, FunctionType) and _body(each.__code__) == _body(code)
    }
    return function
