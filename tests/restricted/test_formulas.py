"""Arithmetic of names: as it stands for ordinary numbers, and judged as ever for everything else."""

from __future__ import annotations

import time
from decimal import Decimal
from fractions import Fraction

import pytest

FORMULAS = (
    "a * b",
    "a * b % 7",
    "a * 3 + b",
    "(a + b) * (a - b)",
    "-a * b + 1",
    "a ** 2 + b ** 3",
    "a * a * a * a * b",
    "a << 3 | b",
    "a % b",
    "a * b // 3",
    "a + a + b * 2",
    "a * b == b * a",
    "{a % 5: b * a}",
    "[a * b for a in range(3) for b in range(3) if a * b % 2 == b % 2]",
)
NUMBERS = (
    0, 5, -7, True, 1 << 30, -(1 << 30), (1 << 30) - 1, 1 << 100, 2.5, float("inf"), 3 + 1j, Decimal(3), Fraction(1, 3),
)  # fmt: skip
OTHERS = (0, 5, -2, 2.5, "a", "%d", b"%d", [1], (2, 3), {1})


@pytest.mark.parametrize("values", [NUMBERS, OTHERS], ids=["numbers", "others"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_it_gives_what_python_gives(run, formula, values):
    head = f"from decimal import Decimal\nfrom fractions import Fraction\ndef f(a, b): return {formula}\n"
    head += f"inf = float('inf')\nvalues = {values!r}\n"
    program = (
        f"{head}told = []\nfor a in values:\n    for b in values:\n        try: told.append(repr(f(a, b)))\n"
        "        except Exception as error: told.append(type(error).__name__ + str(error))\n"
    )
    names: dict[str, object] = {}
    exec(program, names)
    assert run(f"{program}told").value == names["told"]


@pytest.mark.parametrize(
    "program",
    [
        "x = 2\nfor _ in range(40): x = x * x",
        "x = 2\nfor _ in range(40): x *= x",
        "x = 3\nfor _ in range(40): x = x ** 8",
        "x = 3\nfor _ in range(40): x **= 8",
        "x = 3\nfor _ in range(40): x = (x + 1) * (x - 1) % 7 + x * x",
        "x = 3\nfor _ in range(40): x *= x * x",
        "x, s = 10**10, 'ab'\ns * x",
        "x, s = 10**10, 'ab'\ns *= x",
        "x, s = 10**10, 'ab'\nx *= s",
        "x, s = 10**10, 'ab'\nx * 2 * s",
        "x, s = 10**10, [0]\ns * x * 1",
        "x, s = 1, '%1000000000d'\ns * 1 % x",
        "x, s = 1, '%1000000000d'\ns %= x",
        "x, s = 1, '%'\ny = s + '1000000000d' * x\ny % x",
    ],
)
def test_bombs_are_refused(run, program):
    begun = time.monotonic()
    assert run(program).fault.kind == "memory"
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "program",
    [
        "class I(int):\n    def __lt__(self, other): return True\n    __gt__ = __le__ = __ge__ = __lt__\nx = I(1 << 400_000)\nx * x",
        "class I(int):\n    def __mul__(self, other): return '%1000000000d'\nx = I(1)\nx * 3 % 5",
        "class F(float):\n    def __rmul__(self, other): return '%1000000000d'\nx, y = 2, F(1)\nx * y % 5",
        "class A:\n    def __rmul__(self, other): return '%1000000000d'\nx, y = 2.0, A()\nx * y % 5",
        "class A:\n    def __radd__(self, other): return '%1000000000d'\nx, y = 2, A()\n(x + y) % 5",
        "int = type = str\nx = 1 << 400_000\nx * x",
    ],
)
def test_what_only_seems_a_number_is_judged(run, program):
    assert run(program).fault.kind == "memory"


DEEP = "t = ()\nfor _ in range(40): t = (t, t)\n"
"""Every level is there twice: to look at all of it takes longer than anybody has."""


@pytest.mark.parametrize(
    "program",
    [
        "class A:\n    def __mod__(self, other): return t\na, b = A(), A()\na % 2 == b % 2",
        "class A:\n    def __mod__(self, other): return t\na = A()\n{a % 2: 1}",
        "a = 1\n{(5 % 2 if a > 3 else t): 1}",
        "class A:\n    def __rmul__(self, other): return t\na, x = A(), 2.0\n{x * a: 1}",
    ],
)
def test_what_they_give_is_compared_and_hashed_with_care(run, program):
    begun = time.monotonic()
    assert run(DEEP + program).fault.kind == "memory"
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize("inner", ["x % (", "x * f(", "x == f(", "1 if x == f("])
def test_nesting_does_not_double_what_is_compiled(run, inner):
    depth = 18
    outer = " else 0" if inner.startswith("1 if") else ""
    program = f"def f(y): return y\nx = 5\ny = {inner * depth}x + 1{f'){outer}' * depth}"
    begun = time.monotonic()
    run(program)
    assert time.monotonic() - begun < 1.5


_COUNTING = (
    "class N:\n    def __mul__(self, other): return NotImplemented\n    __rmul__ = __mul__\n"
    "    def __init__(self, n=10**10): self.n = n\n    def __index__(self): return self.n\n"
)


@pytest.mark.parametrize(
    "program",
    [
        f"{_COUNTING}'x' * N()",
        f"{_COUNTING}N() * b'x'",
        f"{_COUNTING}a = [0]\na *= N()",
        f"{_COUNTING}d = {{1: [0]}}\nd[1] *= N()",
        f"{_COUNTING}'x'.__mul__(N())",
        f"{_COUNTING}(0,).__rmul__(N())",
        f"{_COUNTING}from collections import UserList\nUserList('x') * N()",
        f"{_COUNTING}import math\nmath.factorial(N(10**5))",
        f"{_COUNTING}import math\nmath.perm(N(10**5), N(10**5))",
        f"{_COUNTING}import math\nmath.comb(N(2 * 10**6), N(10**6))",
        f"{_COUNTING}import math\nmath.lcm(N(1 << 400_000), N((1 << 400_000) - 1))",
        f"{_COUNTING}import itertools\nitertools.combinations([0], N(10**9))",
        "class I(int):\n    def __gt__(self, other): return False\nimport math\nmath.factorial(I(10**5))",
        "class N:\n    def __index__(self): return 10**10\n[0].__imul__(N())",
        "class T(tuple):\n    def __iter__(self): return iter(())\n'%*d' % T((10**9, 1))",
        "class T(tuple):\n    def __iter__(self): return iter(())\n'%s' * 100 % T(('x' * 10**7,) * 100)",
    ],
)
def test_what_a_class_hides_is_judged(run, program):
    assert run(program).fault.kind == "memory"


def test_a_multiplication_of_a_class_comes_before_its_index(run):
    program = (
        "class N:\n    def __mul__(self, other): return 'mul', other\n    def __rmul__(self, other): return 'rmul', other\n"
        "    def __index__(self): return 2\n"
        "class M(N):\n    def __mul__(self, other): return NotImplemented\n    __rmul__ = __mul__\n"
        "class S(str):\n    def __mul__(self, other): return type(other).__name__\n"
        "a, b = [1], [1]\na *= N()\nb *= M()\n"
        "told = [N() * 'x', 'x' * N(), M() * 'x', 'x' * M(), a, b, S('x') * N(), S('x') * M(), 'x'.__mul__(N())]\n"
    )
    names: dict[str, object] = {}
    exec(program, names)
    assert run(f"{program}told").value == names["told"]


@pytest.mark.parametrize("digits", ["N(-(10**8))", "I(-(10**8))"])
def test_rounding_takes_no_longer_for_digits_of_a_class(run, digits):
    hiding = "class I(int):\n    def __neg__(self): return 0\n"
    assert run(f"{_COUNTING}{hiding}round(7, {digits})").value == 0


@pytest.mark.parametrize(
    "step",
    [
        "x = x << 63 << 63",
        "x = x * 9223372036854775807",
        "x *= -1000003",
        "x = 5 - x * 65537 * 257",
        "x = grown(x)",
        "x <<= 60",
    ],
)
def test_an_integer_that_a_loop_makes_longer_by_a_word_ends_at_the_limit(run, step):
    """What divides long integers, in one step of C, may count on it."""
    result = run(f"def grown(y):\n    return (y + 1) * 1000000007\nx = 3\nwhile True:\n    {step}")
    assert result.fault.kind == "memory"
    assert "at most 524,288" in result.fault.message


@pytest.mark.parametrize(
    "value", ["7", "2.5", "True", "2j", "1 << 40", "1 << 520000", "Fraction(1, 3)", "'ab'", "[1]", "None"]
)
@pytest.mark.parametrize("term", ["x * 1000", "x * 2", "1000 * x", "x << 7", "-x * 9 + 1", "x % 7 * 31"])
def test_what_is_scaled_comes_to_what_it_comes_to_in_python(run, value, term):
    program = f"from fractions import Fraction\nx = {value}\ntry:\n    y = {term}\nexcept TypeError as error:\n    y = str(error)\n"
    expected: dict[str, object] = {}
    exec(program, expected)
    assert run(f"{program}(type(y).__name__, str(y)[:50] if type(y) is not int else y % 1000003)").value == (
        type(expected["y"]).__name__,
        str(expected["y"])[:50] if type(expected["y"]) is not int else expected["y"] % 1000003,
    )


@pytest.mark.parametrize(
    "call",
    [
        "tuple(A())",
        "f(*A())",
        "print(*A())",
        "tuple(reversed(B()))",
        "list(map(tuple, [A()]))",
        "import itertools\nlist(itertools.product(A()))",
    ],
)
def test_a_tuple_is_not_made_as_long_as_a_class_says(run, call):
    # Were it, the interpreter would refuse to make it.
    says = "class A:\n    def __iter__(self): return iter((1, 2))\n    def __length_hint__(self): return 10**17\n"
    says += "class B:\n    def __len__(self): return 2**60\n    def __getitem__(self, i): return [][i]\n"
    assert run(f"{says}def f(*a): return a\n{call}").outcome.fault is None
