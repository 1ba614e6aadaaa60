"""python -m nnsuite inspect|validate|convert|run ...: the programs of the package."""

import os
import shutil
import sys

PROGRAMS = {name: "nn" + name for name in ("inspect", "validate", "convert", "run")}


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in PROGRAMS:
        print(f"usage: python -m nnsuite {'|'.join(PROGRAMS)} ...", file=sys.stderr)
        return 2
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", PROGRAMS[name])
    if not os.path.exists(program):
        found = shutil.which(PROGRAMS[name])
        if found is None:
            print(f"nnsuite: the program {PROGRAMS[name]} is not installed", file=sys.stderr)
            return 2
        program = found
    sys.stdout.flush()
    os.execv(program, [program, *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
