#!/usr/bin/env python3
"""Writes train.bin and test.bin, with one byte per token, into FOLDER.

    tokens.py FOLDER

The text is the licenses that every Debian machine has. MPL-2.0 is the test text and not in train.bin.
"""

import sys
from pathlib import Path

LICENSES = Path("/usr/share/common-licenses")
HELD_OUT = "MPL-2.0"


def ascii_bytes(path):
    return path.read_text(encoding="utf-8", errors="replace").encode("ascii", "replace")


def main(folder):
    files = sorted(path for path in LICENSES.iterdir() if path.is_file() and not path.is_symlink())
    parts = {"train.bin": b"", "test.bin": b""}
    for path in files:
        parts["test.bin" if path.name == HELD_OUT else "train.bin"] += ascii_bytes(path)
    for name, text in parts.items():
        if not text:
            sys.exit(f"tokens.py: {LICENSES} has no text for {name}")
        (Path(folder) / name).write_bytes(text)
        print(f"{name}: {len(text)} tokens")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
