"""A single query of the command line: its arguments, its answer as text, and its picture.

A command line with simple arguments is answered on the fast path, without loading Typer; the full
command line declares its options from the same list and calls the same function. A key that is none
may be the name of a file, or several keys, and the error then says so.
"""

from __future__ import annotations

import os

from puzzle_tablebase.errors import BadRequest, NotationError, TablebaseError, quote
from puzzle_tablebase.process import watch_signals
from puzzle_tablebase.puzzles import is_registered
from puzzle_tablebase.queries.answer import format_json
from puzzle_tablebase.queries.dispatch import get_reader_class, open_reader, pose
from puzzle_tablebase.queries.options import ALL, QUERY, Option, is_keyless
from puzzle_tablebase.stores.access import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.queries.answer import Answer
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Reader


SVG = Option("svg", "Also draw the answer as an SVG picture.", "FILE")
JSON = Option("json", "Print the answer as one JSON object.")
OUTPUTS = Option(
    "outputs", "Folder with the tables (default: $PIPELINE_OUTPUTS, or outputs).", "DIR"
)

OptionTexts = dict[str, str | bool]
"""The options given on a command line, by name: a text, or True for a flag."""

MAX_WORDS = 3
"""The words of a key that are looked up, to find out whether they are keys of their own."""


def list_options(kind: type[Reader]) -> tuple[Option, ...]:
    """Return all options of the queries of a reader's puzzle."""
    own = [option for option in kind.options if {QUERY, ALL} & {*option.verbs}]
    return (*own, *((SVG,) if kind.has_pictures else ()), JSON, OUTPUTS)


def answer_fast(arguments: list[str]) -> str | None:
    """Answer `pipeline query` with these arguments if they are simple enough for the fast path.

    None for other arguments: they need Typer.
    """
    if not arguments or arguments[0].startswith("-") or not is_registered(arguments[0]):
        return None
    kind = get_reader_class(arguments[0])
    parsed = parse_simple_query(arguments[1:], list_options(kind))
    if parsed is None or (parsed[0] is None and not is_keyless(kind, parsed[1])):
        return None
    return answer_as_text(arguments[0], *parsed)


def answer_as_text(name: str, key: str | None, texts: OptionTexts) -> str:
    """Answer one query as text to print, and write its picture if the options name a file."""
    options = {**texts}
    svg, is_json, outputs = (options.pop(own.name, None) for own in (SVG, JSON, OUTPUTS))
    if svg is not None:  # a file that a signal must not leave behind
        watch_signals()
    require_one_printed(svg, as_json=bool(is_json))
    opened = open_reader(name, open_store(outputs))
    reader, parsed = pose(opened, ALL if key is None else QUERY, options)
    try:
        answer = _ask(reader, key, parsed)
    except TablebaseError as error:
        if is_json and error.known:
            from puzzle_tablebase.pipeline.terminal import (
                print_answer,  # a plain answer does not need it
            )

            print_answer(format_json(error.known) + "\n")
        raise
    text = f"{answer.to_json()}\n" if is_json else answer.to_text()
    if svg is not None:
        from puzzle_tablebase.output import STANDARD, write_output

        # after the text: options that `to_text` rejects must leave no picture behind
        write_output(str(svg), answer.to_svg().encode())
        if svg == STANDARD:
            return ""
    return text


def _ask(reader: Reader, key: str | None, options: Options) -> Answer:
    """Answer a question; if its key is none, say so of a file's name or of several keys, too."""
    try:
        return reader.answer(key, options)
    except NotationError as error:
        raise (key and find_key_hint(reader, options, key)) or error from None


def require_one_printed(svg: object, *, as_json: bool) -> None:
    """Raise BadRequest if a picture and JSON would both go to standard output, or if the picture's
    file name has the suffix of another format."""
    if svg:
        from puzzle_tablebase.output import require_svg_name

        require_svg_name(str(svg))
    if svg == "-" and as_json:
        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")


def parse_simple_query(
    arguments: list[str], options: tuple[Option, ...]
) -> tuple[str | None, OptionTexts] | None:
    """Parse arguments to a key, if there is one, and options; None if they are not that simple.

    >>> parse_simple_query(["b1", "--to", "c3"], (Option("to", "Where the tour ends.", "SQUARE"),))
    ('b1', {'to': 'c3'})
    >>> parse_simple_query(["b1", "--help"], ()) is None
    True
    """
    options_by_flag = {option.flag: option for option in options}
    keys = []
    values: OptionTexts = {}
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            keys.append(argument)
            continue
        option = options_by_flag.get(argument)
        if option is None:
            return None
        if not option.metavar:
            values[option.name] = True
            continue
        value = next(rest, None)
        if value is None or value.startswith("-"):
            return None
        values[option.name] = value
    return " ".join(keys) if keys else None, values


def find_key_hint(reader: Reader, options: Options, key: str) -> BadRequest | None:
    """Return the error for a key that is the name of a file, or several keys; None otherwise."""
    noun, words = reader.key.lower(), key.split()
    for name in [key] if os.path.exists(key) else [*words, key]:
        if is_file_name(name):
            return make_file_error(name, noun)
    if len(words) > 1 and all(reader.has_key(word, options) for word in words[:MAX_WORDS]):
        problem = f"{len(words):,} {noun}s are given, and a single query answers one"
        hint = "Answer several with --input FILE, or from a pipe"
        if len(words) == 2 and any(option.name == "to" for option in reader.options):
            hint = f"Did you mean {words[0]} --to {words[1]}? {hint}"
        return BadRequest(problem, hint)
    return None


def make_file_error(name: str, noun: str) -> BadRequest:
    """Make the error for a file's name in place of a key."""
    import shlex

    kind = "a file" if os.path.exists(name) else "the name of a file"
    return BadRequest(f"{quote(name)} is {kind}, not a {noun}", f"Use --input {shlex.quote(name)}")


def is_file_name(text: str) -> bool:
    """Return whether a text names an existing file, or ends like the name of a batch's input.

    >>> is_file_name("m.csv"), is_file_name("m.jsonl.gz"), is_file_name("378/546/2.1")
    (True, True, False)
    """
    from pathlib import PurePath

    from puzzle_tablebase.queries.answer import COMPRESSED_SUFFIXES, INPUT_FORMATS

    suffixes = [suffix.lower() for suffix in PurePath(text).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        return True
    known = {suffix for of_format in INPUT_FORMATS.values() for suffix in of_format}
    if suffixes and suffixes[-1] in known:
        return True
    return os.path.exists(text) and not os.path.isdir(text)
