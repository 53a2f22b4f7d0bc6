"""All of Senet, layer by layer: the results of `oracles.senet_layers`, complete and in seconds.

A position is a number: the squares of the mover's pieces, bit 1 for square 1, above 16 bits of the
rival's. A ply is one throw by one piece, tried on a whole layer at once.
"""

from collections.abc import Iterator

import polars as pl

from tests.support.oracles import SENET_OPENING

PLIES = [(throw, start) for throw in range(1, 6) for start in range(1, 16 - throw)]
OWN, RIVAL = pl.col("board") // 2**16, pl.col("board") & 0xFFFF


def layers() -> Iterator[pl.DataFrame]:
    """Yield the positions first reached after 0, 1, 2 ... plies with that side to move."""
    pieces = [sum(2**i for i, p in enumerate(SENET_OPENING, 1) if p == side) for side in "AB"]
    opening = {"board": pieces[0] * 2**16 + pieces[1], "lines": 1}
    layer = pl.DataFrame([opening | {"dice": "", "starts": "", "moves": ""}])
    mover, rival = "A", "B"
    faced = {side: layer.select("board").clear() for side in "AB"}
    while len(layer):
        faced[mover].extend(layer.select("board"))
        yield layer.select(_notation(mover, rival).alias("position"), "lines", "dice", "moves")
        layer = _next(layer.with_row_index("before"), faced[rival])
        mover, rival = rival, mover


def _next(layer: pl.DataFrame, faced: pl.DataFrame) -> pl.DataFrame:
    """Return the positions one ply on, each with its smallest line: by throws, then starts."""
    numbered = layer.select(
        "before",
        "board",
        "lines",
        *(pl.col(name).rank("dense").cast(pl.Int64) for name in ("dice", "starts")),
    )
    plies = pl.concat([_play(numbered, throw, start) for throw, start in PLIES])
    result = plies.join(faced, on="board", how="anti").group_by("board")
    smallest = pl.all().exclude("lines").get(pl.col("order").arg_min())
    joined = result.agg(pl.sum("lines"), smallest).join(layer.drop("board", "lines"), on="before")
    move = pl.format(
        "{}{}{}",
        "start",
        pl.when("swap").then(pl.lit("x")).otherwise(pl.lit("-")),
        pl.col("start") + pl.col("throw"),
    )
    return joined.select(
        "board",
        "lines",
        dice=pl.format("{}{}", "dice", "throw"),
        starts=pl.col("starts") + pl.lit("123456789abcdef").str.slice(pl.col("start") - 1, 1),
        moves=pl.concat_str("moves", move, separator=" ").str.strip_chars_start(),
    )


def _play(layer: pl.DataFrame, throw: int, start: int) -> pl.DataFrame:
    """Play one throw with the piece on one square, wherever it is legal; then the rival moves."""
    origin, target = 2**start, 2 ** (start + throw)
    swap = RIVAL & target != 0
    guarded = swap & (RIVAL & (target * 2 | target // 2) != 0)
    legal = (OWN & origin != 0) & (OWN & target == 0) & ~guarded
    exchanged = pl.when("swap").then(origin + target).otherwise(0)
    order = ((pl.col("dice") * 8 + throw) * 2**20 + pl.col("starts")) * 16 + start
    return (
        layer.filter(legal)
        .with_columns(swap=swap)
        .select(
            (RIVAL ^ exchanged) * 2**16 + (OWN ^ (origin + target)),
            "lines",
            "before",
            "swap",
            throw=pl.lit(throw),
            start=pl.lit(start),
            order=order,
        )
    )


def _notation(mover: str, rival: str) -> pl.Expr:
    squares = [
        pl.when(OWN & 2**square != 0)
        .then(pl.lit(mover))
        .when(RIVAL & 2**square != 0)
        .then(pl.lit(rival))
        .otherwise(pl.lit("."))
        for square in range(1, 16)
    ]
    return pl.concat_str(squares)
