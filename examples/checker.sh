#!/bin/sh
# A contest's checker: checker.sh INPUT OUTPUT ANSWER accepts any shortest line.
# Exit codes are those of testlib: 0 ok, 1 wrong answer, 2 presentation error, 3 fail.
exec pipeline check eight --testlib "$@"
