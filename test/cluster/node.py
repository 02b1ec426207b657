"""One node of the cluster of the tests: ClickHouse out of npm's chdb, told to listen.

usage: CHDB_LIBRARY=…/libchdb.so node.py ARGUMENT…    the arguments of clickhouse-local

It takes commands from a terminal that nobody types into: without one it ends as soon as a client
resets a connection. It ends when it is killed.
"""
import ctypes
import os
import pty
import sys


def main():
    library = ctypes.CDLL(os.environ["CHDB_LIBRARY"])
    run = library.chdb_query_cmdline
    run.restype = ctypes.c_void_p
    run.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    read_error = library.chdb_result_error
    read_error.restype = ctypes.c_void_p
    read_error.argtypes = [ctypes.c_void_p]
    _, terminal = pty.openpty()
    os.dup2(terminal, sys.stdin.fileno())
    arguments = [argument.encode() for argument in ["clickhouse-local", *sys.argv[1:]]]
    result = run(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None))
    error = read_error(result)
    if error:
        sys.exit(ctypes.string_at(error).decode())


main()
