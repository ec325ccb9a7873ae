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

from validator import cli  # noqa: E402

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:], Path(__file__).resolve().parent))
