"""Digests of code, which show whether a table or a checkpoint was made by other code.

A digest covers the transitive dependencies of some roots: the functions, classes and constants that
they name, those that these name, and so on along the imports. Of a class, it covers the statements
that always run, and the methods and attributes whose names occur in that code. It ignores modules
that cannot change a value (the compiler, tasks, stores, errors), and packages without a root. The
code is read, not run. The digest does not depend on the names of modules, so a definition may move.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec, resolve_name
from typing import NamedTuple

from puzzle_tablebase.code_parts import FUNCTIONS, Piece, Statements, is_type_checking
from puzzle_tablebase.errors import SearchError

PACKAGE = __name__.partition(".")[0]
IGNORED_MODULES = (
    *("errors", "jit", "output", "process", "resources", "stores"),
    *("pipeline.memory", "pipeline.parallel", "pipeline.tasks", "pipeline.workers"),
)
"""Modules and packages of ours that cannot change a value, so a digest ignores them."""
IGNORED_PREFIXES = (".", *(f"{each}." for each in IGNORED_MODULES))
TRANSPARENT_DECORATORS = {
    *("cache", "cached_property", "classmethod", "compiled", "contextmanager", "lru_cache"),
    *("property", "staticmethod"),
}
"""Decorators without side effects; others may register the function somewhere."""
WHOLE = ""
"""Stands for all definitions of a module."""
PARSE_LOCK = threading.Lock()
"""Held while Python parses code: 3.11 may raise SystemError when two threads do (gh-106905)."""

Name = tuple[str, str]
"""A module and the name of a definition in it, or `Class.name` of a member of a class."""


class Code(NamedTuple):
    """The code that makes a table: where it begins, as `module:name`, and the table's form."""

    roots: tuple[str, ...]
    form: str = ""

    @property
    def digest(self) -> str:
        """The digest of this code, as it is in this process.

        >>> Code(("puzzle_tablebase.schema:Table",)).digest == Code(()).digest
        False
        """
        text = f"{self.form}\n{_digest_roots(self.roots)}"
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


@functools.cache
def _digest_roots(roots: tuple[str, ...]) -> str:
    return _reader.digest(roots)


class Source(NamedTuple):
    """The source of a module in Python."""

    text: bytes
    is_package: bool = False


def read_source(module: str) -> Source | None:
    """Read the source of a module without running it; None if it is not in Python."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):  # a notebook's `__main__` has no file
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    with open(spec.origin, "rb") as file:
        return Source(file.read(), spec.submodule_search_locations is not None)


class Module:
    """The definitions and imports of a module, by name, and the statements that an import runs."""

    def __init__(self, name: str, source: Source) -> None:
        self.is_package = source.is_package
        self._package = name if source.is_package else name.rpartition(".")[0]
        self.definitions = dict[str, Statements]()
        self.imports = dict[str, list[Name]]()
        self.always = Statements()
        self._pieces = dict[str, list[Piece]]()
        with PARSE_LOCK:
            tree = ast.parse(source.text)
        self._add_statements(tree.body)

    def _add_statements(self, body: Statements) -> None:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for bound, target in self.list_imports(node):
                    self.imports.setdefault(bound, []).append(target)
            elif isinstance(node, ast.If) and is_type_checking(node):
                self._add_statements(node.orelse)
            elif isinstance(node, ast.If):
                self.always.append(ast.Expr(node.test))
                self._add_statements([*node.body, *node.orelse])
            elif isinstance(node, ast.Try):
                handled = [each for handler in node.handlers for each in handler.body]
                self._add_statements([*node.body, *handled, *node.orelse, *node.finalbody])
            else:
                self._add_statement(node)

    def _add_statement(self, node: ast.stmt) -> None:
        names = _list_bound(node)
        for name in names:
            self.definitions.setdefault(name, []).append(node)
        if not names or not all(map(_is_transparent, getattr(node, "decorator_list", ()))):
            self.always.append(node)

    def list_imports(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Name]]:
        """List the names that an import binds, each with the name that it imports."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                yield alias.asname or alias.name.partition(".")[0], (alias.name, WHOLE)
            else:
                source = node.module or ""
                if node.level:
                    source = resolve_name("." * node.level + source, self._package)
                yield alias.asname or alias.name, (source, alias.name)

    def make_pieces(
        self, name: str, nodes: Sequence[ast.AST], *, is_method: bool = False
    ) -> list[Piece]:
        """Make the pieces of a definition, once for all tables."""
        if name not in self._pieces:
            self._pieces[name] = [Piece(node, is_method=is_method) for node in nodes]
        return self._pieces[name]


class CodeReader:
    """Reader of the code that definitions depend on; each module is parsed once.

    `read`: a function that returns a module's source; None if it has none in Python.
    """

    def __init__(self, read: Callable[[str], Source | None] = read_source) -> None:
        self._read = read
        self._modules = dict[str, Module | None]()

    def load(self, name: str) -> Module | None:
        """Load a module; None if it is not in Python."""
        if name not in self._modules:
            source = self._read(name)
            self._modules[name] = Module(name, source) if source else None
        return self._modules[name]

    def find_dependencies(self, roots: tuple[str, ...]) -> Dependencies:
        """Find all definitions that some roots depend on, these included.

        Raise SearchError for one whose module cannot be read.
        """
        return Dependencies(self, roots)

    def digest(self, roots: tuple[str, ...]) -> str:
        """Return the digest of all code that some roots depend on."""
        lines = sorted(
            f"{name} {text}\n" for name, text in self.find_dependencies(roots).describe()
        )
        return hashlib.sha256("".join(lines).encode()).hexdigest()


_reader = CodeReader()


class Dependencies:
    """The definitions that some roots depend on, directly or not."""

    def __init__(self, reader: CodeReader, roots: tuple[str, ...]) -> None:
        self._load = reader.load
        self._packages = {root.partition(":")[0].partition(".")[0] for root in roots}
        self.reached = dict[Name, list[Piece]]()
        self._resolved = dict[Name, list[Name]]()
        self._targets = dict[Piece, list[Name]]()
        self._used = set[str]()
        """The attributes that the code reads."""
        self._members = dict[Name, Sequence[ast.AST]]()
        """Members of classes: they count only if used. `Class.name`, `Class.method.name`."""
        for root in roots:
            module, _, name = root.partition(":")
            if self._load(module) is None:
                problem = f"The code of {module} cannot be read, so its tables have no digest."
                raise SearchError(problem)
            self._reach([*self._resolve(module, name)] or [(module, WHOLE)])
        count = 0
        while count < len(self.reached):
            count = len(self.reached)
            self._reach_members()

    def describe(self) -> Iterator[tuple[str, str]]:
        """List the definitions found, each with its code and the definitions of the names in it."""
        digests = {
            name: " ".join(piece.digest for piece in pieces if not piece.is_empty)
            for name, pieces in self.reached.items()
        }
        for (module, name), pieces in self.reached.items():
            if name == WHOLE and not digests[module, name]:  # nothing runs when it is imported
                continue
            targets = (each for piece in pieces for each in self._list_targets(module, piece))
            texts = sorted({digests.get(each, ".".join(each)) for each in targets})
            yield name, f"{digests[module, name]} {' '.join(texts)}"

    # ---- names ----------------------------------------------------------------------------------

    def _is_followed(self, module: str) -> bool:
        top, _, inner = module.partition(".")
        if top != PACKAGE:
            return top in self._packages
        return not f"{inner}.".startswith(IGNORED_PREFIXES)

    def _resolve(self, module: str, name: str) -> list[Name]:
        """Find the definitions of a name in a module; for others, return the imported name."""
        if (module, name) not in self._resolved:
            self._resolved[module, name] = []  # modules may import all names of each other
            self._resolved[module, name] = [*self._find_definitions(module, name)]
        return self._resolved[module, name]

    def _find_definitions(self, module: str, name: str) -> Iterator[Name]:
        if not self._is_followed(module):
            if module.partition(".")[0] != PACKAGE:
                yield module, name
            return
        loaded = self._load(module)
        if loaded is None or name == WHOLE or name in loaded.definitions:
            yield module, name
        elif name in loaded.imports:
            for target in loaded.imports[name]:
                yield from self._resolve(*target)
        elif loaded.is_package and self._load(f"{module}.{name}"):
            yield from self._resolve(f"{module}.{name}", WHOLE)
        else:
            for source, _ in loaded.imports.get("*", ()):
                yield from self._resolve(source, name)

    def _list_targets(self, module: str, piece: Piece) -> list[Name]:
        """List what `_find_targets` yields, once."""
        if piece not in self._targets:
            self._targets[piece] = [*self._find_targets(module, piece)]
        return self._targets[piece]

    def _find_targets(self, module: str, piece: Piece) -> Iterator[Name]:
        """Find the definitions of the names in a module's code, except those of Python."""
        loaded = self._load(module)
        assert loaded
        for name in piece.names:
            yield from self._resolve(module, name)
        for node in piece.imports:
            for _, target in loaded.list_imports(node):
                yield from self._resolve(*target)

    # ---- code -----------------------------------------------------------------------------------

    def _reach(self, pending: list[Name]) -> None:
        """Add definitions, and all that they name."""
        while pending:
            module, name = pending.pop()
            loaded = self._load(module) if self._is_followed(module) else None
            if loaded is None or (module, name) in self.reached:
                continue
            if (module, WHOLE) not in self.reached:
                self._add((module, WHOLE), loaded.make_pieces(WHOLE, loaded.always), pending)
            if name == WHOLE:
                for each in (*loaded.definitions, *loaded.imports):
                    pending += self._resolve(module, each)
            elif self.is_split(module, name):
                self._add_class(loaded, module, name, pending)
            else:
                pieces = loaded.make_pieces(name, loaded.definitions[name])
                self._add((module, name), pieces, pending)

    def _add(self, name: Name, pieces: list[Piece], pending: list[Name]) -> None:
        self.reached[name] = pieces
        for piece in pieces:
            self._used |= piece.attributes
            pending += self._list_targets(name[0], piece)
            for attribute, texts in piece.texts.items():
                self._members[name[0], f"{name[1]}.{attribute}"] = texts

    def is_split(self, module: str, name: str) -> bool:
        """Return whether a definition is a class of which only the used members count.

        A class with other bases, such as a named tuple, may use members that no code names.
        """
        loaded = self._load(module)
        nodes = loaded.definitions.get(name, []) if loaded else []
        if len(nodes) != 1 or not isinstance(node := nodes[0], ast.ClassDef):
            return False
        is_plain = not node.decorator_list and not node.keywords
        return is_plain and all(self._is_split_base(module, base) for base in node.bases)

    def _is_split_base(self, module: str, base: ast.expr) -> bool:
        found = self._resolve(module, base.id) if isinstance(base, ast.Name) else []
        return len(found) == 1 and self.is_split(*found[0])

    def _add_class(self, loaded: Module, module: str, name: str, pending: list[Name]) -> None:
        (node,) = loaded.definitions[name]
        assert isinstance(node, ast.ClassDef)
        always = Statements()
        for each in node.body:
            bound = _list_bound(each)
            if len(bound) != 1 or bound[0].startswith("__"):
                always.append(each)
            else:
                member = module, f"{name}.{bound[0]}"
                self._members[member] = [*self._members.get(member, ()), each]
        header = ast.ClassDef(node.name, node.bases, [], always, [])
        self._add((module, name), loaded.make_pieces(name, [header], is_method=True), pending)

    def _reach_members(self) -> None:
        """Add the members of classes whose names the code uses."""
        for (module, name), nodes in [*self._members.items()]:
            if name.rpartition(".")[2] in self._used and (module, name) not in self.reached:
                loaded, pending = self._load(module), list[Name]()
                assert loaded
                pieces = loaded.make_pieces(name, nodes, is_method=True)
                self._add((module, name), pieces, pending)
                self._reach(pending)


def _list_bound(node: ast.stmt) -> list[str]:
    """List the names that a statement only defines; [] if it does more."""
    if isinstance(node, FUNCTIONS | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    targets = list[ast.expr]()
    for target in node.targets if isinstance(node, ast.Assign) else []:
        targets += target.elts if isinstance(target, ast.Tuple) else [target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []


def _is_transparent(decorator: ast.expr) -> bool:
    """Return whether a decorator has no side effects."""
    while isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = getattr(decorator, "attr", None) or getattr(decorator, "id", "")
    return name in TRANSPARENT_DECORATORS
