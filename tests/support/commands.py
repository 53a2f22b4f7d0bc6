"""Command lines by kind; `tests/golden` holds their output."""

import shlex

COMMANDS = {
    "eight": """
        query eight 378546201
        query eight 152703846
        query eight 1 5 2 7 0 3 8 4 6
        query eight '[[3, 7, 8], [5, 4, 6], [2, _, 1]]' --goal '123/4_5/678'
        query eight --hardest
        query eight --hardest --goal edge --json
        sample eight --size 3 --seed 5
        sample eight --distance 31 --size 2 --distinct
        sample eight --goal 087654321 --json
        query eight 123456780
        query eight 283104765 --goal centre
        query eight 123405786 --goal 123456780 --path
        query eight 087654321 --goal 103245768
        query eight 123405786 --boards
        query eight 867254301 --json
        query eight 378546201 --solutions
        query eight 283104765 --solutions --json
        query eight 283104765 --path --json
        check eight 378546201 UULDDRURULLDDRRULDLURULDDRR
        check eight 152703846 '4, 8, 7, 4, 5, 2, 3, 6' --json
        check eight 152703846 DLURURDDUD
        check eight 152703846 DLURURDDD
        check eight 152703846 DLUruRDD
        check eight 152703846 9
        check eight 152703846 unreachable --goal centre
    """,
    "senet": """
        query senet ABAAABBB.B...A.
        query senet ABABABABAB.....
        query senet A B A B A B A B A B _ _ _ _ _
        sample senet --size 2 --seed 1
        sample senet --distance 1 --json
        query senet BAABABABAB.....
        query senet ABAAABBB.B...A. --path
        query senet ABAAABBB.B...A. --json
        query senet .....BBBBBAAAAA
        query senet abaaabbb.b...a. --turn b
        query senet ABAAABBB.B...A. --turn B --json
        query senet ABABBBAAAB..... --turn a
        check senet ABAAABBB.B...A. '9-14 4x7'
        check senet ABAAABBB.B...A. '9-14 4-7' --json
    """,
    "knight": """
        query knight b1
        query knight a1 --to h7
        query knight e4 --closed
        query knight h8 --number 31 --json
        query knight c3 --board 5x5
        query knight a1 --board 6x6 --number 12345
        query knight a1 --board 6x6 --closed --json
        query knight a1 --board 6x6 --count
        query knight b1 --board 5x5 --count
        query knight c3 --board 5x5 --count --json
        query knight --count --board 5x5
        query knight a1 --count --closed --board 6x6
        query knight --count --closed --board 6x6 --json
        sample knight --board 5x5 --seed 1
        query knight --count --board 6x6 --json
        query knight --count --board 3x3
        check knight a1 'a1 b3 c1' --board 5x5
        check knight a1 2323 --json
    """,
    "no": """
        query eight 123456780 --goal centre
        query eight 213456780 --goal 123456780
        query senet BBBBB.....AAAAA
        query senet ABABABABAB..... --turn B
        query knight a1 --to c3
        query knight a1 --to a1
        query knight a1 --to b1 --closed
        query knight b1 --number 32
        query knight a1 --board 5x5 --to b1
        query knight b1 --board 5x5
        query knight a1 --board 5x5 --closed
        query knight a1 --board 5x5 --number 304
        query knight c3 --board 5x5 --to b2
        query knight a1 --board 9x9
        query knight a1 --board 9x9
        query knight --count --board 12x9
        query knight a1 --closed --rank 0 --board 5x5
        precompute knight_tours_7x7
        precompute knight_tours_9x9 --dry-run
        precompute knight_closed_ranks_4x5
        precompute knight_ranks_3x3
        precompute knight_ranks_2x9
        precompute knight_ranks_4x4
        sample eight --distance 32
        sample senet --distance 16
        sample knight --closed --board 4x4
        sample knight --board 4x4
    """,
    "bad": """
        query eight 133456789
        query eight 12345678
        query eight 1234567800
        query eight １２３４５６７８０
        query eight abcdefghi
        query eight ''
        query eight 378 546 21
        query eight m.csv
        query eight outputs/manifest.json
        query eight 378546201 152703846
        query knight a1 b3
        query eight 123456780 --hardest
        query eight --hardest --path
        query eight 123456780 --goal top
        query eight 123456780 --goal 123456789
        query eight 123456780 --path --solutions
        query eight 123456780 --goal ''
        query senet AAAAAAABBB.....
        query senet ABABABABAB....
        query senet ababababac.....
        query senet ABABABABAB..... --turn C
        query knight i9
        query knight A10
        query knight b1 --to k1
        query knight b1 --board 8by8
        query knight b1 --board 0x3
        query knight b1 --number one
        query knight b1 --number 0 --to a3
        query knight b1 --count --to a3
        query knight b1 --closed --rank 1 --number 1
        query knight b1 --closed --rank one
        query knight b1 --closed --rank 1 --to c3
        query knight b1 --rank 1 --count
        query knight --closed --rank-of a1 --rank 1
        query knight a1 --closed --rank 0 --board 26x9
        query knight '' --count --board 5x5
        query knight '' --count --board=5x5
        query knight --closed --rank-of 'a1 c2 e1'
        query knight a1 --closed --rank-of 'a1 c2 e1'
        query knight a1 --rank 1
        query knight --rank-of 'a1 c2 e1' --board 7x7
        precompute eight --parquet
        precompute knight_ranks_8x8 --dry-run
        precompute knight_ranks_9x9
        precompute knight_closed_ranks_9x8
        precompute knight_closed_ranks_6
        precompute knight_tours_27x3
        precompute fifteen_5-5-4
        precompute nothing
        precompute eight --memory 1e400
        precompute eight --memory inf
        precompute eight --memory nan
        precompute eight --memory=-1
        precompute eight --memory 0
        sample hanoi
        check eight 123450786
        check eight 123 D
        check eight 123450786 D --input x
        check eight 123450786 D --goal 123
        check sliding 123450 D
        check knight z9 1
        check hanoi 1 1
        sample senet --goal corner
        sample eight --distance x
        sample eight --size 0
        precompute --jobs many
        help hanoi
        query knight --count --to a3
        precompute hanoi
        precompute knight_tour_6x6
        precompute sliding
        precompute sliding_4x4
        precompute knight_counts_5x5
        precompute knight_tours_3
        remove eight
        remove knight_tours_3x4
        histogram hanoi
        histogram knight
        graph eight
        histogram eight --svg layers.png
        histogram eight --svg - --json
        diff outputs
        diff outputs s3:/tables
        diff outputs nowhere://tables
        clean eight
        clean --yes=no
        precompute --jobs 0
        precompute --memory much
        precompute eight --memory 0.0001
        sample knight --size x
        sample knight --seed -1
        query eight M.PARQUET
        query senet x/y.jsonl.gz
        query knight m.txt
        query eight 378546201 m.csv
        query eight 378546201 152703846 1 2
        query eight 378546201 nothing
        query senet ABABABABAB..... BBBBBAAAAA.....
        query knight a1 b3 c5
        query knight a1 --board 3x13
        query eight 378546201 --outputs ''
        query eight --hardest --boards
        query senet ABABABABAB..... --hardest
        query knight --rank ''
        query sliding 123450
        query sliding 123450 --board 2y3
        query sliding 12345 --board 2x3
        query sliding 123450 --board 2x3 --goal 12345
        sample eight --distance -1
        sample eight --goal 12
        sample eight --distance 31 --size 3 --distinct
        sample eight --size ''
        sample senet --size 756638 --distinct
        sample sliding
        sample sliding --board 9x9
        sample knight --board '' --seed 1
        sample knight --board 8x8
        sample knight --board 9x9
        sample knight --size 1000000001
        sample knight --board 5x5 --size 10000001 --distinct
        sample knight --json --format csv
        sample knight --closed --board 5x6 --output x.txt
        histogram eight --output x.csv --json
        histogram senet --board 3x4
        histogram sliding
        histogram eight --json --svg -
    """,
    "usage": """
        nope
        preco
        help nope
        diff a
        diff a b c d
        histogram
        query nope
        query Eight 378546201
        eight 378546201
        query eight --nope 123456780
        query eight 123456780 --output-format csv
        query --hardest
        sample eight --count 5
        query eight --goal
        query eight --boards
        query eight - --boards
        query eight - --hardest
        query eight --hardest --svg -
        query eight 378546201 --json --svg -
        query eight m.csv --format csv
        query eight --input no-such-file
        query eight --input .
        query eight --input ''
        query eight --input-format ''
        query eight --format xml
        query eight --format ''
        query eight --output /no/such/folder/x.csv
        query eight --output ''
        query eight --column ''
        query eight 123456780 --strict
        query eight 123456780 --input-format csv
        query eight 123456780 --input x
        query eight 123456780 --input ''
        query eight 123456780 --format ''
        query eight '' --format csv
        report --output - --format svg
        query knight - --rank 1
    """,
    "missing": """
        query eight 123456780 --outputs none
        query eight 123456708 --goal edge --outputs none
        query senet ABABABABAB..... --outputs none
        query knight b1 --outputs none
        query knight a1 --board 6x6 --outputs none
        query knight a1 --board 3x4
        query knight b1 --closed --rank 5
        query knight c3 --board 7x7 --rank 5
        sample knight --board 7x7
        sample knight --closed
        query knight a1 --board 2x7 --count
        query knight a1 --board 8x8 --count
        query knight --count --board 7x7
        query eight 123456780 --outputs 'a folder'
        histogram eight --outputs none
        check eight 123450786 D --outputs none
        status --outputs none
        status --outputs none --json
        sample sliding --board 2x3
        sample knight --closed --board 6x7
        diff none outputs
        diff outputs none
    """,
    "overview": """
        histogram eight
        histogram senet
        histogram senet --json
        precompute --dry-run
        precompute knight_counts_7x8 knight_ranks_7x7 --dry-run
        precompute sliding_3x4_12 --dry-run --json
        graph
        graph --json
        diff outputs outputs
        diff outputs outputs --json
        clean
        clean --json
        clean --yes --outputs none
        --version
        -V
    """,
    "help": """
        precompute --help
        precompute eight --help
        precompute senet -h
        precompute fifteen --help
        precompute eight senet --help
        precompute sliding --help
        help sample
        help check eight
        help sample senet
        help help
    """,
}
EXITS = {"no": 1, "bad": 2, "usage": 2, "missing": 3}
"""The exit code of every command of a group; 0 where none is named."""


def lines(group: str) -> list[list[str]]:
    return [shlex.split(line) for line in COMMANDS[group].strip().splitlines()]
