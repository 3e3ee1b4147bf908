#!/usr/bin/env python3
"""Print how many lines and branches the tests reach, from the JSON report of coverage; fail under
95 % of lines."""

import json
import sys
from pathlib import Path

LEAST = 95.0


def main() -> int:
    """Print two lines; 1 where too little is reached."""
    totals = json.loads(Path(sys.argv[1]).read_text("utf-8"))["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    print(f"lines    {lines:5.1f} %  {totals['covered_lines']:,} of {totals['num_statements']:,}")
    print(
        f"branches {branches:5.1f} %  {totals['covered_branches']:,} of {totals['num_branches']:,}"
    )
    return int(lines < LEAST)


if __name__ == "__main__":
    sys.exit(main())
