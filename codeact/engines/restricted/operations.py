# ruff: noqa: N802 - the visitor's methods are named after the nodes
"""Operators: which of them need a guard, and the cheapest form of it.

A call of a guard costs more than the operator. So a guard is left out where the text shows that nothing can grow, and
where an operand is a plain name the common types are told apart in place: reading a name twice has no effect, but in text
that is evaluated in a mapping of the program's. Where all operands are names and numbers, one look at the names is enough
for all of the operators (see `formulas`).
"""

from __future__ import annotations

import ast

from codeact.engines.restricted.formulas import DIGIT, Formula, Growth, formula_of, is_number
from codeact.engines.restricted.names import Sort, sort
from codeact.engines.restricted.refusals import refusal
from codeact.engines.restricted.rewriter import LOAD, Rewriter, at

_FOLDABLE_BASE = 10_000
_FOLDABLE_EXPONENT = 64
_PLAIN_CALLS = frozenset({"abs", "bool", "float", "hash", "id", "int", "len", "ord", "round", "str"})
_NESTED = frozenset({ast.BinOp, ast.UnaryOp})
_SHORT = 24
_LINE = 1000
_GROWING = {ast.Mult: ".mul", ast.Pow: ".pow", ast.LShift: ".lshift", ast.Mod: ".mod"}


class Operations(Rewriter):
    """The part of the policy that is about operators."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Operators that can make much of little are judged by the sizes of their operands."""
        formula = formula_of(node) if self.steady and _may_grow(node) else None
        if formula is not None and (formula.operators > 1 or formula.grows):
            return self._visit_formula(node, formula)
        node = self.node_contents_visit(node)
        left, right = node.left, node.right
        guard = _guard_of(node)
        if guard is None:
            return node
        if guard == ".mod" and isinstance(left, ast.Constant):
            guard = ".percent"
        if guard in {".pow", ".lshift", ".percent"}:
            return self.guard(guard, node, [left, right])
        either = guard != ".mul" or is_number(left) or is_number(right)
        known = right if guard == ".mul" and is_number(left) else left
        made = self._unless(known, ".numbers" if either else ".floats", node, guard, [left, right])
        if formula is not None and len(formula.names) == 1:
            self.numeric.add(made)
        return made

    def _visit_formula(self, node: ast.BinOp, formula: Formula) -> ast.expr:
        """Arithmetic of names as it stands, where one look at the names shows that nothing large can come of it."""
        for name in formula.names.values():
            self.visit(name)
        judged = self._judged(node)
        if judged is node:
            return node
        made = at(ast.IfExp(self._test(node, formula), node, judged), node)
        self.numeric.add(made)
        return made

    def _test(self, node: ast.AST, formula: Formula) -> ast.expr:
        tests = [test for name in formula.names.values() for test in self._tests(name, formula)]
        return tests[0] if len(tests) == 1 else at(ast.BoolOp(ast.And(), tests), node)

    def _tests(self, name: ast.Name, formula: Formula) -> list[ast.expr]:
        kind = self.guard(".type", name, [name])
        growth = formula.growth[name.id]
        if growth is Growth.ADDED:
            return [at(ast.Compare(kind, [ast.In()], [self.name(".numbers", name)]), name)]
        whole = at(ast.Compare(kind, [ast.Is()], [self.name(".integer", name)]), name)
        if growth is Growth.MULTIPLIED:
            return [whole, self._between(at(ast.Constant(-DIGIT), name), name, at(ast.Constant(DIGIT), name))]
        short = self._between(self.name(".least", name), name, self.name(".most", name))
        real = at(ast.Compare(kind, [ast.Is()], [self.name(".real", name)]), name)
        return [at(ast.BoolOp(ast.Or(), [at(ast.BoolOp(ast.And(), [whole, short]), name), real]), name)]

    def _between(self, least: ast.expr, name: ast.Name, most: ast.expr) -> ast.expr:
        return at(ast.Compare(least, [ast.Lt(), ast.Lt()], [name, most]), name)

    def _judged(self, node: ast.expr) -> ast.expr:
        """A formula with a guard for each operator that needs one."""
        if isinstance(node, ast.UnaryOp):
            operand = self._judged(node.operand)
            return node if operand is node.operand else at(ast.UnaryOp(node.op, operand), node)
        if not isinstance(node, ast.BinOp):
            return node
        left, right = self._judged(node.left), self._judged(node.right)
        same = left is node.left and right is node.right
        made = node if same else at(ast.BinOp(left, node.op, right), node)
        guard = _guard_of(node)
        if guard is None:
            return made
        if guard in {".mul", ".pow"}:
            return self._unless(left, ".floats", made, guard, [left, right])
        return self.guard(guard, node, [left, right])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """The same in place. Targets are evaluated once, as the language has it."""
        target = node.target
        guard = _GROWING.get(type(node.op))
        if isinstance(target, ast.Attribute) and sort(target.attr) is Sort.SPECIAL:
            row = refusal("writing")
            self.refuse(node, f"the attribute {target.attr} cannot be changed in place: {row.why}", row.instead)
            return node
        if isinstance(target, ast.Name):
            left = at(ast.Name(target.id, LOAD), target)
            formula = formula_of(ast.BinOp(left, node.op, node.value)) if guard and self.steady else None
            node = self.node_contents_visit(node)
            if isinstance(node.op, ast.Add):
                return node if self._ends(node.value) else self._extended(node, left)
            if guard is None or (is_number(node.value) and isinstance(node.value.value, float)):  # type: ignore[attr-defined]
                return node
            judged = self._assign(node, ".i" + guard[1:], [left, node.value])
            return judged if not formula else at(ast.If(self._test(node, formula), [node], [judged]), node)
        if guard is None:
            node = self.node_contents_visit(node)
            if isinstance(node.op, ast.Add) and not self._ends(node.value):
                node.value = self.guard(".charged", node, [node.value])
            return node
        operator = self.text(guard[1:], node)
        if isinstance(target, ast.Subscript):
            parts = [self.visit(part) for part in (target.value, _index(target.slice))]
            place = self.guard(".item", target, parts)
            call = self.guard(".item_in_place", node, [operator, place, self.visit(node.value)])
        elif isinstance(target, ast.Attribute):
            name = self.text(self.mangled(target.attr), target)
            place = self.guard(".attribute", target, [self.visit(target).value, name])
            call = self.guard(".attribute_in_place", node, [operator, place, self.visit(node.value)])
        else:
            return self.node_contents_visit(node)
        return at(ast.Expr(call), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Equality follows structures as deep as they go."""
        node = self.node_contents_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return node
        left, right = node.left, node.comparators[0]
        if self._plain(left) or self._plain(right):
            return node
        guard = ".eq" if isinstance(node.ops[0], ast.Eq) else ".ne"
        if left in self.numeric and _short([right]):
            test, number, judged = left.test, left.body, left.orelse  # type: ignore[attr-defined]
            plain = at(ast.Compare(number, node.ops, [right]), node)
            return at(ast.IfExp(test, plain, self.guard(guard, node, [judged, right])), node)
        return self._unless(left, ".scalars", node, guard, [left, right])

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Keys are judged before they are hashed."""
        node = self.node_contents_visit(node)
        node.keys = [None if key is None else self._key(key) for key in node.keys]
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """The items of a set too."""
        node = self.node_contents_visit(node)
        node.elts = [self._key(item) for item in node.elts]
        return node

    def _key(self, node: ast.expr) -> ast.expr:
        """What is to be a key: a tuple is hashed as deep as it goes, and all that it shares as often as it does."""
        if isinstance(node, ast.Starred) or self._plain(node):
            return node
        if node in self.numeric:
            node.orelse = self.guard(".key", node, [node.orelse])  # type: ignore[attr-defined]
            return node
        return self._unless(node, ".scalars", node, ".key", [node])

    def _plain(self, node: ast.expr) -> bool:
        """Whether it can only be a number or a text."""
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.UnaryOp(op=ast.Not()) | ast.Compare():
                return True
            case ast.UnaryOp(operand=operand):
                return self._plain(operand)
            case ast.IfExp():
                return node in self.plain
            case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.RShift()):
                return isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant)
            case ast.Call(func=ast.Name(id=name)):
                return name.lstrip(".") in _PLAIN_CALLS and self.builtin(name)
        return False

    def _unless(self, known: ast.expr, types: str, node: ast.expr, guard: str, args: list[ast.expr]) -> ast.expr:
        """The node itself when a name's type is among `types`, the guard otherwise.

        Both hold the operands, so long ones are left to the guard: nested in each other they would double each time.
        """
        call = self.guard(guard, node, args)
        if not self.steady or not isinstance(known, ast.Name) or not _short(args):
            return call
        kind = self.guard(".type", node, [at(ast.Name(known.id, LOAD), known)])
        test = at(ast.Compare(kind, [ast.In()], [self.name(types, node)]), node)
        return at(ast.IfExp(test, node, call), node)

    def _ends(self, node: ast.expr) -> bool:
        """Whether the text shows that it is no iterator: what a list grows by must come to an end."""
        return self._plain(node) or isinstance(node, (ast.List, ast.Tuple, ast.ListComp, ast.Set, ast.Dict))

    def _extended(self, node: ast.AugAssign, left: ast.Name) -> ast.stmt:
        """`name += value`, judged where the name is no number or text: for these, a look at the type is all it costs."""
        judged = self._assign(node, ".iadd", [left, node.value])
        if not self.steady:
            return judged
        kind = self.guard(".type", node, [left])
        known = at(ast.Compare(kind, [ast.In()], [self.name(".scalars", node)]), node)
        return at(ast.If(known, [node], [judged]), node)

    def _assign(self, node: ast.AugAssign, guard: str, args: list[ast.expr]) -> ast.Assign:
        return at(ast.Assign([node.target], self.guard(guard, node, args)), node)


def _may_grow(node: ast.BinOp) -> bool:
    """Whether an operator in it may need a guard."""
    return type(node.op) in _GROWING or type(node.left) in _NESTED or type(node.right) in _NESTED


def _guard_of(node: ast.BinOp) -> str | None:
    """The guard that an operator needs."""
    left, right = node.left, node.right
    if isinstance(node.op, ast.Add):
        same = isinstance(left, ast.Name) and isinstance(right, ast.Name) and left.id == right.id
        return ".add" if same else None
    guard = _GROWING.get(type(node.op))
    return None if guard is None or _harmless(node.op, left, right) else guard


def _harmless(op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
    """Whether the text shows that nothing large can come of it."""
    if isinstance(op, ast.Mod):
        return isinstance(left, ast.Constant) and not isinstance(left.value, (str, bytes))
    if isinstance(op, ast.LShift):
        return False
    if _floating(left) or _floating(right):
        return True
    if isinstance(op, ast.Mult):
        return is_number(right) and (is_number(left) or _is_short_text(left, right))
    return (
        isinstance(left, ast.Constant)
        and isinstance(right, ast.Constant)
        and type(left.value) is int
        and type(right.value) is int
        and left.value <= _FOLDABLE_BASE
        and right.value <= _FOLDABLE_EXPONENT
    )


def _is_short_text(text: ast.expr, times: ast.expr) -> bool:
    """Whether it is a constant text that is not repeated too often."""
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str) and isinstance(times, ast.Constant)):
        return False
    return type(times.value) is int and times.value * len(text.value) <= _LINE


def _floating(node: ast.expr) -> bool:
    """Whether it is arithmetic with a constant that has a point: no sequence and no integer comes of it."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        return (_floating(left) and (_floating(right) or is_number(right))) or (is_number(left) and _floating(right))
    return isinstance(node, ast.UnaryOp) and _floating(node.operand)


def _short(nodes: list[ast.expr]) -> bool:
    """Whether these are few nodes, with everything in them."""
    pending: list[ast.AST] = [node for node in nodes if not isinstance(node, (ast.Name, ast.Constant))]
    for _ in range(_SHORT):
        if not pending:
            return True
        pending += ast.iter_child_nodes(pending.pop())
    return False


def _index(node: ast.expr) -> ast.expr:
    """A subscript as an expression of its own."""
    if not isinstance(node, ast.Slice):
        return node
    parts = [part or at(ast.Constant(None), node) for part in (node.lower, node.upper, node.step)]
    return at(ast.Call(at(ast.Name(".slice", LOAD), node), parts, []), node)
