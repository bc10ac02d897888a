"""Apps of a user of their own, in a sandbox."""


def in_sandbox(board, *writable):
    """Keys of one that reads the programs of its board, and writes to the journals and `writable`."""
    return {"user": "auto", "sandbox": "default", "read_only_paths": [str(board.programs)],
            "read_write_paths": [str(board.journals), *writable]}
