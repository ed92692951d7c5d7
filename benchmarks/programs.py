"""Programs that compute: each keeps plain CPython busy for about a tenth of a second, and comes to one value.

They use what every arm might have: no classes but where classes are the point, and modules only where they are.
"""

from __future__ import annotations

from collections.abc import Mapping

PROGRAMS: Mapping[str, tuple[str, object]] = {
    "fib": (
        """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

fib(30)
""",
        832040,
    ),
    "loops": (
        """
total = 0
for a in range(1000):
    for b in range(1000):
        if (a ^ b) & 1:
            total += a - b
        else:
            total -= 1
total
""",
        -500000,
    ),
    "dicts": (
        """
counts = {}
for number in range(600000):
    key = number * 7919 % 5003
    counts[key] = counts.get(key, 0) + 1
heavy = 0
for key, count in counts.items():
    if count > 119:
        heavy += key
[len(counts), heavy]
""",
        [5003, 11615024],
    ),
    "strings": (
        """
lines = []
for number in range(80000):
    lines.append("row " + str(number) + ": " + "abc"[number % 3] * 3)
text = "\\n".join(lines)
found = 0
for line in text.split("\\n"):
    name, _, rest = line.partition(": ")
    if rest.upper().startswith("B") and name.endswith("7"):
        found += len(name.replace("row ", ""))
found
""",
        12962,
    ),
    "lists": (
        """
size = 90
left = [[row * column % 7 for column in range(size)] for row in range(size)]
right = [[(row + column) % 5 for column in range(size)] for row in range(size)]
product = []
for row in left:
    line = []
    for column in range(size):
        total = 0
        for place in range(size):
            total += row[place] * right[place][column]
        line.append(total)
    product.append(line)
sum([sum(line) for line in product])
""",
        3734820,
    ),
    "sort": (
        """
numbers = []
seed = 12345
for _ in range(120000):
    seed = (seed * 1103515245 + 12345) % 2147483648
    numbers.append(seed)
ordered = sorted(numbers)
backwards = sorted(numbers, key=lambda number: -(number % 1000))
[ordered[0], ordered[-1], ordered[60000], backwards[0] % 1000]
""",
        [29237, 2147465837, 1074371332, 999],
    ),
    "json": (
        """
import json

rows = [{"id": n, "name": "item " + str(n), "tags": ["a", "b"], "price": n / 4, "on": n % 2 == 0} for n in range(4000)]
total = 0
for _ in range(5):
    text = json.dumps(rows)
    total += len(text)
    rows = json.loads(text)
[total, rows[-1]["price"]]
""",
        [1666700, 999.75],
    ),
    "re": (
        """
import re

lines = "\\n".join([
    "2026-01-%02d host%d GET /item/%d?q=%d 200 %dms" % (n % 28 + 1, n % 7, n, n * 31 % 97, n % 900)
    for n in range(48000)
])
pattern = re.compile(r"(\\d{4})-(\\d\\d)-(\\d\\d) (host\\d) GET /item/(\\d+)\\?q=(\\d+) 200 (\\d+)ms")
total = 0
for match in pattern.finditer(lines):
    total += int(match.group(7)) - int(match.group(6))
[total, len(re.sub(r"host[0-3]", "front", lines)), len(re.findall(r"q=9\\d ", lines))]
""",
        [19181925, 2282001, 3465],
    ),
    "comprehensions": (
        """
total = 0
for turn in range(30):
    squares = [n * n for n in range(30000) if n % 3]
    by_rest = {n: n % 11 for n in squares if n & 1}
    total += sum(squares) + len(by_rest) + sum(n + turn for n in squares if n % 5 == 0)
total
""",
        216000000240000,
    ),
    "classes": (
        """
class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        return 0

    def scaled(self, factor):
        return type(self)(self.size * factor)

class Square(Shape):
    def area(self):
        return self.size * self.size

class Cube(Square):
    def area(self):
        return 6 * super().area()

total = 0
for number in range(120000):
    shape = Cube(number % 13) if number % 2 else Square(number % 17)
    total += shape.scaled(2).area()
total
""",
        93116952,
    ),
}
"""By name: the text, and what it comes to."""
