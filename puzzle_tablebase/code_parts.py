"""Code as text: normalized syntax trees, without the parts that cannot change a value.

Ignored are comments, docstrings, annotations, imports for type checkers, the arguments of raised
exceptions and texts that only they use, texts of progress, and descriptions of tables and columns.
The text is the same on every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

MESSAGE_ARGUMENTS = {
    "Column": {2: "meaning"},
    "Table": {1: "meaning", 2: "rank"},
    "make_goal_table": {1: "meaning"},
    "report": {0: "doing"},
}
"""Calls with arguments that are only printed, by the function: their positions and names."""
IGNORED_FIELDS = {"annotation", "ctx", "kind", "returns", "type_comment", "type_params"}
"""Fields of Python's syntax trees that do not change what a program does."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

Statements = list[ast.stmt]


class Piece:
    """A part of a module: its code, and the names that it uses.

    `is_method`: attributes of `self` that are only assigned a text are pieces of their own.
    """

    def __init__(self, node: ast.AST | Statements, *, is_method: bool = False) -> None:
        self.names = set[str]()
        """The names that are read."""
        self.attributes = set[str]()
        """The attributes that are read, of any object."""
        self.imports = list[ast.Import | ast.ImportFrom]()
        self.texts = dict[str, list[ast.expr]]()
        """The texts assigned to attributes of `self`, by attribute."""
        self._parts = list[str]()
        self._text_names, self._unused, self._outer = set[str](), set[str](), set[str]()
        """Names that get a text; those of them that are never read; names of an outer scope."""
        self._is_method = is_method
        self._is_inside = False
        self._add(node)

    @cached_property
    def digest(self) -> str:
        """A digest of its normalized code."""
        text = "\n".join(self._parts)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of it, as of a docstring."""
        return not self._parts

    def _add(self, value: object) -> None:
        if isinstance(value, list):
            for each in value:
                self._add(each)
        elif not isinstance(value, ast.AST):
            self._parts.append(ascii(value))
        elif visit := VISITORS.get(type(value)):
            visit(self, value)
        else:
            self._add_fields(value)

    def _add_fields(self, node: ast.AST) -> None:
        self._parts.append(type(node).__name__)
        for name in node._fields:
            value = getattr(node, name, None)
            if value is not None and value != [] and name not in IGNORED_FIELDS:
                self._parts.append(name)
                self._add(value)
        self._parts.append(".")

    # ---- names ----------------------------------------------------------------------------------

    def _add_name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.names.add(node.id)
        self._parts += ["Name", node.id]

    def _add_attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self.attributes.add(node.attr)
        self._add_fields(node)

    def _add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.imports.append(node)

    # ---- ignored parts --------------------------------------------------------------------------

    def _add_expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._add_fields(node)

    def _add_if(self, node: ast.If) -> None:
        if is_type_checking(node):
            self._add(node.orelse)
        else:
            self._add_fields(node)

    def _add_raise(self, node: ast.Raise) -> None:
        self._parts.append("Raise")
        if isinstance(node.exc, ast.Call):  # the class counts, and no function that makes an error
            error = node.exc.func
            name = str(getattr(error, "id", None) or getattr(error, "attr", ""))
            self._add(error if name.strip("_")[:1].isupper() else None)
        else:
            self._add(node.exc)

    def _add_assert(self, node: ast.Assert) -> None:
        self._parts.append("Assert")
        self._add(node.test)

    def _add_call(self, node: ast.Call) -> None:
        function = node.func
        called = getattr(function, "id", None) or getattr(function, "attr", "")
        if called in MESSAGE_ARGUMENTS:
            positions = MESSAGE_ARGUMENTS[called]
            arguments = [each for at, each in enumerate(node.args) if at not in positions]
            keywords = [each for each in node.keywords if each.arg not in positions.values()]
            node = ast.Call(function, arguments, keywords)
        elif called == "getattr" and isinstance(node.args[1], ast.Constant):
            self.attributes.add(str(node.args[1].value))
        self._add_fields(node)

    def _add_annotated(self, node: ast.AnnAssign) -> None:
        if node.value:
            self._add(ast.Assign([node.target], node.value))
        else:  # a field of a class: their order counts
            self._add_fields(node)

    def _add_assignment(self, node: ast.Assign) -> None:
        kept = list[tuple[ast.expr, ast.expr]]()
        pairs = _list_pairs(node)
        for target, value in pairs:
            local, own = _get_local(target), _get_own(target)
            if not is_text(value):
                kept.append((target, value))
            elif self._is_method and own:
                self.texts.setdefault(own, []).append(value)
            else:
                self._text_names.update({local} - {""})
                kept += [(target, value)] if local not in self._unused else []
        if len(kept) == len(pairs):
            self._add_fields(node)
        for target, value in kept if len(kept) < len(pairs) else ():
            self._add_fields(ast.Assign([target], value))

    def _add_augmented(self, node: ast.AugAssign) -> None:
        if is_text(node.value) and _get_local(node.target) in self._unused:
            return
        if isinstance(node.target, ast.Name) and not is_text(node.value):
            self.names.add(node.target.id)
        self._add_fields(node)

    # ---- f-strings, whose trees differ: 3.12 ends some with an empty text -----------------------

    def _add_f_string(self, node: ast.JoinedStr) -> None:
        self._parts.append("JoinedStr")
        text = ""
        for value in node.values:
            if isinstance(value, ast.Constant):
                text += str(value.value)
                continue
            self._parts.append(ascii(text))
            text = ""
            self._add(value)
        self._parts += [ascii(text), "."]

    # ---- functions ------------------------------------------------------------------------------

    def _add_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if self._is_inside:
            self._add_fields(node)
            return
        unused = set[str]()
        while True:
            part = Piece([], is_method=self._is_method)
            part._is_inside, part._unused = True, unused
            part._add_fields(node)
            more = part._text_names - part.names - part._outer - unused
            if not more:
                break
            unused |= more  # another text may be used in one of these only
        self._parts += part._parts
        self.names |= part.names
        self.attributes |= part.attributes
        self.imports += part.imports
        for name, texts in part.texts.items():
            self.texts.setdefault(name, []).extend(texts)

    def _add_outer(self, node: ast.Global | ast.Nonlocal) -> None:
        self._outer.update(node.names)
        self._add_fields(node)


def is_type_checking(node: ast.If) -> bool:
    """Return whether an `if` statement is `if TYPE_CHECKING`."""
    test = node.test
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def is_text(node: ast.AST) -> bool:
    """Return whether an expression is a string or an f-string, or made of these."""
    if isinstance(node, ast.IfExp):
        return is_text(node.body) and is_text(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_text(node.left) and is_text(node.right)
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)


def _list_pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """List the targets of an assignment with their values; [] for `a = b = value`."""
    target, value = node.targets[0], node.value
    if len(node.targets) > 1:
        return []
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return [(target, value)]
    is_split = len(target.elts) == len(value.elts)
    return [*zip(target.elts, value.elts, strict=True)] if is_split else [(target, value)]


def _get_local(target: ast.expr) -> str:
    """Return the variable that is assigned to; "" for another target."""
    return target.id if isinstance(target, ast.Name) else ""


def _get_own(target: ast.expr) -> str:
    """Return the attribute of `self` that is assigned to; "" for another target."""
    is_own = isinstance(target, ast.Attribute) and _get_local(target.value) == "self"
    return target.attr if isinstance(target, ast.Attribute) and is_own else ""


VISITORS: dict[type[ast.AST], Callable[[Piece, Any], None]] = {
    ast.Name: Piece._add_name,
    ast.Attribute: Piece._add_attribute,
    ast.Import: Piece._add_import,
    ast.Expr: Piece._add_expression,
    ast.If: Piece._add_if,
    ast.Raise: Piece._add_raise,
    ast.Assert: Piece._add_assert,
    ast.Call: Piece._add_call,
    ast.AnnAssign: Piece._add_annotated,
    ast.Assign: Piece._add_assignment,
    ast.AugAssign: Piece._add_augmented,
    ast.JoinedStr: Piece._add_f_string,
    ast.FunctionDef: Piece._add_function,
    ast.Global: Piece._add_outer,
    ast.ImportFrom: Piece._add_import,
    ast.AsyncFunctionDef: Piece._add_function,
    ast.Nonlocal: Piece._add_outer,
}
"""The methods for nodes that need special treatment, by the node's type."""
