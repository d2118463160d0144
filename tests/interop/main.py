#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""main.py RANT FOLDER NAMESPACE [suite]: called by interop.sh, in the emitters' namespace; NAMESPACE is the reflectors'."""
import sys

import harness
import test_decoder
import test_reflectors
import test_sender
import test_suite


def main():
    harness.set_up(*sys.argv[1:4])
    for tests in (test_suite,) if sys.argv[4:] else (test_decoder, test_sender, test_reflectors):
        tests.all_of_them()
    return 1 if harness.failed else 0


if __name__ == "__main__":
    sys.exit(main())
