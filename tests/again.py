"""After the whole run: the few tests that failed beside others are tried once more, alone and one after the other.

Two processors carry three tests at a time, two of them with a Ray, and some wait too long for one. What fails
alone too has failed, more than a few have failed without another try, and what only passed alone is named at the end.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

MOST = 4
FAILED = Path(".pytest_cache/v/cache/lastfailed")


def main(code: int) -> int:
    """What pytest ended with is the answer, unless it is that all ran and some failed."""
    failed = list(json.loads(FAILED.read_text())) if FAILED.is_file() else []
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= MOST:
        return code
    print(f"\nOnce more, alone: {', '.join(failed)}\n", flush=True)
    code = int(pytest.main(["--last-failed", "--last-failed-no-failures=none", "-q"]))
    print(f"\nFailed beside others, {'and alone' if code else 'and passed alone'}: {', '.join(failed)}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
