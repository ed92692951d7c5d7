"""Refusals: what of Python a program may not use on this engine, why, and what to write instead.

This is the one table of it: the errors say its words, and the documentation prints it. Everything else of the language
is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that is refused.

    Attributes:
        what: the construct, as Python spells it.
        kind: `builtin` for names, `attribute` for what is read or written behind a dot, `method` for what a class may
            not define, `syntax` for the rest.
        why: the reason, in a few words.
        instead: the idiom that does the same here.
        example: a short program that meets it.
        names: the names by which the policy and the guards find it.
    """

    what: str
    kind: Literal["builtin", "attribute", "method", "syntax"]
    why: str
    instead: str
    example: str
    names: tuple[str, ...] = ()

    def told(self) -> str:
        """Reason and idiom, where an error has one text."""
        return f"{self.why}; {self.instead}"


_FRAMES = (
    "gi_frame gi_code gi_yieldfrom gi_running gi_suspended cr_frame cr_code cr_await cr_origin cr_running cr_suspended "
    "ag_frame ag_code ag_await ag_running f_back f_builtins f_code f_generator f_globals f_lineno f_locals f_trace"
)
_PICKLING = "__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__ __getinitargs__"

REFUSALS: tuple[Refusal, ...] = (
    # --- builtins ------------------------------------------------------------------------------------------------
    Refusal(
        "`input()`",
        "builtin",
        "nobody can be asked in the sandbox",
        "use the tools and the names that are given",
        "input()",
        ("input",),
    ),
    Refusal(
        "`exit()`, `quit()`",
        "builtin",
        "it is for people at a prompt",
        "return, or call sys.exit()",
        "exit()",
        ("exit", "quit"),
    ),
    Refusal(
        "`breakpoint()`",
        "builtin",
        "there is no debugger in the sandbox",
        "use print",
        "breakpoint()",
        ("breakpoint",),
    ),
    Refusal(
        "`memoryview()`",
        "builtin",
        "it shares memory that nobody has measured",
        "use bytes, whose slices are copies",
        "memoryview(b'x')",
        ("memoryview",),
    ),
    Refusal(
        "`__import__()`",
        "builtin",
        "modules come by import statements",
        "write an import statement",
        "__import__('math')",
        ("__import__",),
    ),
    Refusal(
        "`eval`, `exec`, `compile`, `globals`, `locals` as values",
        "builtin",
        "it sees the names of the place where it is called",
        "call it by its name there, in a lambda if need be",
        "f = eval",
        ("eval", "exec", "compile", "globals", "locals"),
    ),
    Refusal(
        "`vars()`, `dir()` without an argument",
        "builtin",
        "it would have to see the names of the place where it is called",
        "use locals(), or give it an object",
        "vars()",
        ("vars()", "dir()"),
    ),
    Refusal(
        "`__file__`, `__builtins__`, `__spec__`, `__loader__`",
        "builtin",
        "a program is no file here and has no loader",
        "call builtins by their names",
        "__file__",
        ("__file__", "__builtins__", "__spec__", "__loader__", "__path__", "__package__", "__cached__"),
    ),
    # --- attributes ----------------------------------------------------------------------------------------------
    Refusal(
        "`x.__traceback__`, `x.with_traceback()`, `x.tb_frame` and the like",
        "attribute",
        "tracebacks lead into the interpreter",
        "str(error) and type(error).__name__ tell what happened; raise the error itself",
        "try: 1 / 0\nexcept ZeroDivisionError as e: e.__traceback__",
        ("__traceback__", "with_traceback", "tb_frame", "tb_next", "tb_lasti", "tb_lineno"),
    ),
    Refusal(
        "`x.__context__`",
        "attribute",
        "what an error met on its way may be the host's",
        "write `raise … from error` and read __cause__",
        "try: 1 / 0\nexcept ZeroDivisionError as e: e.__context__",
        ("__context__",),
    ),
    Refusal(
        "`x.obj` of an error",
        "attribute",
        "it is the live object that failed",
        "str(error) names what is missing",
        "try: None.x\nexcept AttributeError as e: e.obj",
        ("obj",),
    ),
    Refusal(
        "`x.gi_frame`, `x.cr_frame`, `x.f_locals` and the like",
        "attribute",
        "frames lead into the interpreter",
        "let the generator yield what it knows, or keep it in an object",
        "(i for i in []).gi_frame",
        tuple(_FRAMES.split()),
    ),
    Refusal(
        "`f.__globals__`, `f.__closure__`, `f.__builtins__`",
        "attribute",
        "it leads to names that are not the program's",
        "use globals(), or keep what functions share in an object",
        "(lambda: 1).__globals__",
        ("__globals__", "__closure__"),
    ),
    Refusal(
        "`__self__`, `__func__`, `__wrapped__`, `__code__`, `__defaults__` of functions that are not the program's",
        "attribute",
        "it leads into the host's code",
        "call the function as it is",
        "[].append.__self__",
        ("__self__", "__func__", "__wrapped__", "__code__", "__defaults__", "__kwdefaults__"),
    ),
    Refusal(
        "`f.__code__ = …`, `x.__class__ = …`, `c.__bases__ = …`, `c.__name__ = …`",
        "attribute",
        "what a function or an object is does not change",
        "make a new one, or keep the difference in a field",
        "def f(): pass\nf.__code__ = f.__code__",
        ("writing",),
    ),
    Refusal(
        "`c.__subclasses__()`, `c.__mro__`, `c.__bases__` of classes that are not the program's",
        "attribute",
        "it leads to the host's classes",
        "ask issubclass(), or keep a registry in __init_subclass__",
        "int.__subclasses__()",
        ("__subclasses__", "__mro__", "mro", "__bases__", "__base__"),
    ),
    Refusal(
        "`x.__origin__`, `x.__args__`, `x.__parameters__`",
        "attribute",
        "it leads to the interpreter's own types",
        "use typing.get_origin(x) and typing.get_args(x)",
        "list[int].__origin__",
        ("__origin__", "__args__", "__parameters__", "__orig_bases__", "__orig_class__"),
    ),
    Refusal(
        "`x.__dataclass_fields__`",
        "attribute",
        "it can be changed under the class",
        "use dataclasses.fields(x)",
        "from dataclasses import dataclass\n@dataclass\nclass A: x: int\nA.__dataclass_fields__",
        ("__dataclass_fields__", "__dataclass_params__"),
    ),
    Refusal(
        "`x._name` of an object that is not the program's",
        "attribute",
        "its private names are the host's",
        "use its public names",
        "import random\nrandom._x",
        ("private",),
    ),
    Refusal(
        "`x.__class__` of a literal, or by getattr() of an object that is not the program's",
        "attribute",
        "a class by name is the first step out",
        "type(x) gives the class; type(x).__name__ its name",
        "().__class__",
        ("__class__",),
    ),
    # --- methods -------------------------------------------------------------------------------------------------
    Refusal(
        "`__del__`",
        "method",
        "it would run at any time, also after the run",
        "use a with statement, or try/finally",
        "class A:\n    def __del__(self): pass",
        ("__del__",),
    ),
    Refusal(
        "`__getattribute__`",
        "method",
        "it would stand between every read and its object",
        "define __getattr__, which is asked for what is not there",
        "class A:\n    def __getattribute__(self, name): return 1",
        ("__getattribute__",),
    ),
    Refusal(
        "`__getattr__` that does not look at the name",
        "method",
        "it would answer for every name",
        "write `def __getattr__(self, name)`, undecorated, and raise AttributeError(name) for what it does not know",
        "class A:\n    def __getattr__(self, name): return 1",
        ("__getattr__",),
    ),
    Refusal(
        "`__new__` that is no plain function, or gives an object that is not the program's",
        "method",
        "what makes objects may not pass others off as its own",
        "write `def __new__(cls, …)`, undecorated, and return super().__new__(cls) or plain data",
        "class A:\n    def __new__(cls): return len\nA()",
        ("__new__",),
    ),
    Refusal(
        "`__class_getitem__`",
        "method",
        "it would make subscripts of a class call the program",
        "inherit from typing.Generic[T], or write a class method",
        "class A:\n    def __class_getitem__(cls, item): return cls",
        ("__class_getitem__",),
    ),
    Refusal(
        "`__reduce__`, `__getstate__`, `__setstate__`, `__getnewargs__` and the like",
        "method",
        "objects are not pickled here",
        "define __copy__ and __deepcopy__",
        "class A:\n    def __reduce__(self): return A, ()",
        tuple(_PICKLING.split()),
    ),
    Refusal(
        "`__prepare__`, `__mro_entries__`, `mro`, and `__eq__` or `__hash__` of a metaclass",
        "method",
        "how classes are made and told apart is the interpreter's own",
        "define __new__, __init__ or __call__ of the metaclass, or __init_subclass__ of the class",
        "class M(type):\n    def __prepare__(name, bases): return {}",
        ("__prepare__", "__mro_entries__", "metaclass"),
    ),
    Refusal(
        "`__match_args__` that is not a tuple of plain attribute names",
        "method",
        "patterns read those attributes unseen",
        "write the tuple out: __match_args__ = ('x', 'y')",
        "class A: __match_args__ = tuple('xy')",
        ("__match_args__",),
    ),
    # --- syntax --------------------------------------------------------------------------------------------------
    Refusal(
        "`except*` for an error that is no group",
        "syntax",
        "except* is for exception groups here",
        "catch a single error with except",
        "try: 1 / 0\nexcept* ZeroDivisionError: pass",
        ("except*",),
    ),
    Refusal(
        "`format`, `encode`, `obj` and special names in a class pattern",
        "syntax",
        "a pattern reads it past every guard",
        "match the class alone and read the attribute in the block",
        "match 'a':\n    case str(format=f): pass",
        ("pattern",),
    ),
    Refusal(
        "variables named `_getattr_`, `_getitem_`, `_write_` and the like",
        "syntax",
        "it is the name of a guard in other sandboxes",
        "choose another name",
        "_getattr_ = 1",
        ("_x_",),
    ),
    Refusal(
        "`from m import _name`, relative imports",
        "syntax",
        "modules hold public names only",
        "import the public name",
        "from random import _inst",
        ("import",),
    ),
    Refusal(
        "functions and classes nested more than 40 levels deep",
        "syntax",
        "compiling them takes time with the square of the depth",
        "define them at the top of the program",
        "".join(f"{' ' * level}def f{level}():\n" for level in range(42)) + " " * 42 + "pass",
        ("depth",),
    ),
    Refusal(
        "formats wider than 1,000,000 characters",
        "syntax",
        "the text would fill the memory",
        "write the text in parts",
        "f'{1:>2000000}'",
        ("width",),
    ),
    Refusal(
        "other special names",
        "attribute",
        "it belongs to the interpreter",
        "use what the language has in its place",
        "(lambda: 1).__type_params__",
        ("other",),
    ),
)
"""What is refused."""

_BY_NAME = {name: row for row in REFUSALS for name in row.names}


def refusal(name: str) -> Refusal:
    """The row that a name belongs to."""
    return _BY_NAME.get(name) or _BY_NAME["other"]


EVALUATORS = frozenset({"eval", "exec", "compile", "globals", "locals"})
"""Builtins that see the names of the place where they are called; they are no values."""

RAISING: dict[str, type[Exception]] = {
    "breakpoint": RuntimeError,
    "exit": NameError,
    "input": EOFError,
    "memoryview": TypeError,
    "quit": NameError,
}
"""Builtins that are there to say at a call that they cannot be called."""

MISSING = frozenset(
    name
    for row in REFUSALS
    if row.kind == "builtin"
    for name in row.names
    if name.isidentifier() and name not in RAISING
)
"""Names of builtins that do not exist, or not as values."""
