"""`functools`, `itertools`, `operator` and `contextlib`, through the guards."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable
from types import FunctionType, UnionType
from typing import Any

from codeact.engines.restricted import lazy
from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.names import is_special
from codeact.engines.restricted.output import Output, divert, restore

_OPERATORS = (
    "abs and_ call contains countOf delitem floordiv ge getitem gt iand ifloordiv indexOf index inv "
    "invert ior irshift is_ is_not isub itemgetter itruediv ixor imatmul le length_hint lt matmul neg not_ or_ pos rshift "
    "setitem sub truediv truth xor"
)


def make_functools(parts: Parts) -> dict[str, Any]:
    """The names of `functools`."""
    own = parts.world.own

    guest = parts.guards[".guest"]

    def update_wrapper(wrapper: Any, wrapped: Any, **_: Any) -> Any:
        """Only what a program has made is written to, and only text and its own fields are copied."""
        if not guest(wrapper):
            return wrapper
        for name in _COPIED:
            text = getattr(wrapped, name, None)
            if isinstance(text, str):
                setattr(wrapper, name, text)
        if guest(wrapped):
            if isinstance(wrapper, FunctionType):
                wrapper.__annotations__ = dict(getattr(wrapped, "__annotations__", ()))
            inside = getattr(wrapped, "__dict__", {})
            fields = {name: value for name, value in inside.items() if type(name) is str and not is_special(name)}
            getattr(wrapper, "__dict__", {}).update(fields)
            wrapper.__wrapped__ = wrapped
        return wrapper

    def wraps(wrapped: Any, **_: Any) -> Callable[[Any], Any]:
        return lambda wrapper: update_wrapper(wrapper, wrapped)

    def total_ordering(cls: Any) -> Any:
        if cls not in own:
            msg = "total_ordering decorates classes of this program"
            raise TypeError(msg)
        return functools.total_ordering(cls)

    def reduce(function: Any, iterable: Any, /, *initial: Any) -> Any:
        return functools.reduce(function, parts.world.meter.closely(iterable), *initial)

    return {
        **take("functools", "cache cached_property cmp_to_key lru_cache partial partialmethod"),
        "reduce": reduce,
        "WRAPPER_ASSIGNMENTS": _COPIED,
        "WRAPPER_UPDATES": ("__dict__",),
        **_dispatching(parts),
        "total_ordering": total_ordering,
        "update_wrapper": update_wrapper,
        "wraps": wraps,
    }


_COPIED = ("__module__", "__name__", "__qualname__", "__doc__")


def _dispatching(parts: Parts) -> dict[str, Any]:
    """Functions that are chosen by the type of their first argument.

    What a function says of its argument is looked up by the world: the standard ones would evaluate a text.
    """

    def kinds(cls: Any) -> list[Any]:
        if typing.get_origin(cls) in {typing.Union, UnionType}:
            return [kind for one in typing.get_args(cls) for kind in kinds(one)]
        if cls is parts.world.builtins["type"]:
            return [type]
        return [kind for kind, known in parts.world.stand_ins.items() if known is cls] or [cls]

    def register(real: Any, cls: Any, func: Any) -> Any:
        if func is None:
            plain = getattr(cls, "__func__", cls)
            if not isinstance(plain, FunctionType):
                return lambda func: register(real, cls, func)
            hints = parts.load("typing").get_type_hints(plain)
            if not hints:
                msg = "register() needs a type: f.register(int), or an annotation of the first argument"
                raise TypeError(msg)
            cls, func = next(iter(hints.values())), cls
        for kind in kinds(cls):
            if not isinstance(kind, type):
                msg = f"register() takes a class or a union of classes, not {parts.text.repr(kind)}"
                raise TypeError(msg)
            real.register(kind, func)
        return func

    def singledispatch(func: Any) -> Any:
        real = functools.singledispatch(func)
        name = getattr(func, "__name__", "singledispatch function")

        def call(*args: Any, **named: Any) -> Any:
            if not args:
                msg = f"{name} requires at least 1 positional argument"
                raise TypeError(msg)
            return real.dispatch(type(args[0]))(*args, **named)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = getattr(func, "__doc__", None)
        vars(call).update(
            dispatch=lambda cls: real.dispatch(kinds(cls)[0]),
            register=lambda cls, func=None: register(real, cls, func),
            registry=real.registry,
        )
        return call

    class singledispatchmethod:
        def __init__(self, func: Any) -> None:
            self._real = functools.singledispatch(func)
            self.func = func

        def register(self, cls: Any, method: Any = None) -> Any:
            return register(self._real, cls, method)

        def __get__(self, obj: Any, cls: Any = None) -> Any:
            def call(*args: Any, **named: Any) -> Any:
                return self._real.dispatch(type(args[0])).__get__(obj, cls)(*args, **named)

            call.__name__ = call.__qualname__ = getattr(self.func, "__name__", "method")
            call.__doc__ = getattr(self.func, "__doc__", None)
            return call

    singledispatchmethod.__module__, singledispatchmethod.__qualname__ = "functools", "singledispatchmethod"
    return {"singledispatch": singledispatch, "singledispatchmethod": singledispatchmethod}


def make_itertools(parts: Parts) -> dict[str, Any]:
    """The names of `itertools`."""
    return lazy.make_itertools(parts.world.meter, parts.sizes)


def make_operator(parts: Parts) -> dict[str, Any]:
    """The names of `operator`."""
    guards = parts.guards
    read = guards[".read"]

    def follow(target: Any, path: str) -> Any:
        for name in path.split("."):
            target = read(target, name)
        return target

    def attrgetter(*paths: str) -> Callable[[Any], Any]:
        if not paths or not all(type(path) is str for path in paths):
            msg = "attribute name must be a string"
            raise TypeError(msg)
        if len(paths) == 1:
            return lambda target: follow(target, paths[0])
        return lambda target: tuple(follow(target, path) for path in paths)

    def methodcaller(name: str, /, *args: Any, **named: Any) -> Callable[[Any], Any]:
        return lambda target: read(target, name)(*args, **named)

    return {
        **take("operator", _OPERATORS),
        **{
            name: guards["." + name]
            for name in ("add", "iadd", "eq", "ne", "mul", "mod", "pow", "lshift", "imul", "imod", "ipow", "ilshift")
        },
        "concat": guards[".add"],
        "iconcat": guards[".iadd"],
        "attrgetter": attrgetter,
        "methodcaller": methodcaller,
    }


def make_contextlib(parts: Parts) -> dict[str, Any]:
    """The names of `contextlib`; what is printed can be led into a file of the program's."""
    output = parts.world.builtins

    return {
        **take(
            "contextlib",
            "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack ContextDecorator "
            "ExitStack aclosing asynccontextmanager closing contextmanager nullcontext suppress",
        ),
        "redirect_stderr": _redirecting("redirect_stderr", output[".stderr"]),
        "redirect_stdout": _redirecting("redirect_stdout", output[".stdout"]),
    }


def _redirecting(name: str, output: Output) -> type:
    class Redirect:
        def __init__(self, new_target: Any) -> None:
            self._target = new_target

        def __enter__(self) -> Any:
            divert(output, self._target)
            return self._target

        def __exit__(self, *_: object) -> None:
            restore(output)

    Redirect.__module__, Redirect.__name__, Redirect.__qualname__ = "contextlib", name, name
    return Redirect
