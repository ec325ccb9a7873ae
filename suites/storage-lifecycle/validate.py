#!/usr/bin/env python3
"""Validates the storage-lifecycle suite and leaves validation-result.json behind.

    python3 validate.py                       validate (exit 0 PASSED, 1 BLOCKED)
    python3 validate.py --without-production  the same for the suite alone: ends BLOCKED
    python3 validate.py --fmt [--check]       canonical layout of the JSON files
    python3 validate.py --seal                write SHA256SUMS anew
    python3 validate.py --help                all options

This file and what it imports first need only the standard library, so that a
missing dependency is told in the evidence and not by a traceback.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The folder is hashed: neither write compiled files into it nor trust any found there.
sys.dont_write_bytecode = True
sys.pycache_prefix = str(Path(__file__).resolve().parent / "__pycache__" / "unused")

ROOT = Path(__file__).resolve().parent

if sys.version_info < (3, 8):
    # Too old even to look for packages: leave no older evidence that might say PASSED.
    if (ROOT / "validation-result.json").exists():
        (ROOT / "validation-result.json").unlink()
    sys.stderr.write("BLOCKED: Python 3.9 or newer is needed, this is {}.{}\n".format(*sys.version_info[:2]))
    sys.exit(3)

from validator import cli  # noqa: E402

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], ROOT))
