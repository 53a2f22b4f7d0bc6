"""A single query or check of the command line: its arguments, and its answer as text or picture.

A command line with simple arguments is answered on the fast path, without loading Typer; the full
command line declares its options from the same list and calls the same function.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, TablebaseError
from puzzle_tablebase.process import watch_signals
from puzzle_tablebase.queries.prober import get_prober_class, open_prober, pose
from puzzle_tablebase.queries.questions import ALL, CHECK, QUERY, Option, format_json, is_keyless
from puzzle_tablebase.registry import is_registered
from puzzle_tablebase.stores import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.queries.prober import BaseProber, Prober
    from puzzle_tablebase.queries.questions import Answer, Judgement, Options


SVG = Option("svg", "Also draw the answer as an SVG picture.", "FILE")
JSON = Option("json", "Print the answer as one JSON object.")
OUTPUTS = Option(
    "outputs", "Folder with the tables (default: $PIPELINE_OUTPUTS, or outputs).", "DIR"
)

OptionTexts = dict[str, str | bool]
"""The options given on a command line, by name: a text, or True for a flag."""


def list_options(prober: type[BaseProber]) -> tuple[Option, ...]:
    """Return all options of the queries of a prober's puzzle."""
    own = [option for option in prober.options if {QUERY, ALL} & {*option.verbs}]
    return (*own, *((SVG,) if prober.has_pictures else ()), JSON, OUTPUTS)


def answer_fast(arguments: list[str]) -> str | None:
    """Answer `pipeline query` with these arguments if they are simple enough for the fast path.

    None for other arguments: they need Typer.
    """
    prober = _find_prober_class(arguments)
    if not prober:
        return None
    parsed = parse_simple_words(arguments[1:], list_options(prober))
    if parsed is None or not (parsed[0] or is_keyless(prober.options, parsed[1])):
        return None
    words, texts = parsed
    return answer_as_text(arguments[0], " ".join(words) if words else None, texts)


def judge_fast(arguments: list[str]) -> str | None:
    """Judge an answer for `pipeline check` as `answer_fast` answers; None if Typer is needed."""
    prober = _find_prober_class(arguments)
    if not prober or "check" not in prober.commands:
        return None
    own = (option for option in prober.options if CHECK in option.verbs)
    parsed = parse_simple_words(arguments[1:], (*own, JSON, OUTPUTS))
    if parsed is None or len(parsed[0]) < 2:
        return None
    return judge_as_text(arguments[0], *parsed)[0]


def _find_prober_class(arguments: list[str]) -> type[BaseProber] | None:
    """Return the prober class of the puzzle in the first argument; None if it names none."""
    if not arguments or arguments[0].startswith("-") or not is_registered(arguments[0]):
        return None
    return get_prober_class(arguments[0])


def answer_as_text(name: str, key: str | None, texts: OptionTexts) -> str:
    """Answer one query as text to print, and write its picture if the options name a file."""
    if key is None or texts:
        # the answer may go to a file, which must be whole or not there; or it may need polars,
        # which takes over the interrupt and waits for its own work
        watch_signals()
    options = {**texts}
    svg, is_json, outputs = (options.pop(own.name, None) for own in (SVG, JSON, OUTPUTS))
    if svg == "-" and is_json:
        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")
    opened = open_prober(name, open_store(outputs))
    prober, parsed = pose(opened, ALL if key is None else QUERY, options)
    work = "reading all states" if key is None else prober.long_work
    try:
        answer = _answer_slowly(prober, key, parsed, work) if work else prober.answer(key, parsed)
    except TablebaseError as error:
        _print_known(error, is_json)
        raise
    text = f"{answer.to_json()}\n" if is_json else answer.to_text()
    if svg is not None:
        from puzzle_tablebase.output import write_output

        # after the text: options that `to_text` rejects must leave no picture behind
        write_output(str(svg), answer.to_svg().encode())
        if svg == "-":
            return ""
    return text


def _answer_slowly(prober: Prober, key: str | None, options: Options, work: str) -> Answer:
    """Answer a question; after a second, print what is being done."""
    from puzzle_tablebase.pipeline.terminal import announcing

    with announcing(work):
        return prober.answer(key, options)


def judge_as_text(name: str, words: list[str], texts: OptionTexts) -> tuple[str, Judgement]:
    """Judge one answer, the words after its key; return the judgement as text to print, too."""
    from puzzle_tablebase.queries.judging import judge  # a query does not need it

    if texts:
        watch_signals()  # as for a query
    options = {**texts}
    is_json, outputs = (options.pop(own.name, None) for own in (JSON, OUTPUTS))
    prober, parsed = pose(open_prober(name, open_store(outputs)), CHECK, options)
    try:
        judged = judge(prober, words[0], " ".join(words[1:]), parsed)
    except TablebaseError as error:
        _print_known(error, is_json)
        raise
    return f"{judged.to_json()}\n" if is_json else judged.to_text(), judged


def _print_known(error: TablebaseError, is_json: object) -> None:
    """Print the facts that are known despite an error, as JSON."""
    if is_json and error.known:
        from puzzle_tablebase.pipeline.terminal import print_answer

        print_answer(format_json(error.known) + "\n")


def parse_simple_words(
    arguments: list[str], options: tuple[Option, ...]
) -> tuple[list[str], OptionTexts] | None:
    """Parse arguments to words and options; None if they are not that simple.

    >>> parse_simple_words(["b1", "--to", "c3"], (Option("to", "Where the tour ends.", "SQUARE"),))
    (['b1'], {'to': 'c3'})
    >>> parse_simple_words(["b1", "--help"], ()) is None
    True
    """
    options_by_flag = {option.flag: option for option in options}
    words = []
    values: OptionTexts = {}
    rest = iter(arguments)
    for argument in rest:
        option = options_by_flag.get(argument)
        if option is None:
            if argument.startswith("-"):
                return None
            words.append(argument)
        elif option.metavar:
            values[option.name] = value = next(rest, "-")
            if value.startswith("-"):
                return None
        else:
            values[option.name] = True
    return words, values
