"""Jobs that Snakemake hands to the submit scripts of ../profiles."""
import json
import os
import sys
from typing import Any

_PROPERTIES = "# properties = "


def settings(*names: str) -> list[str]:
    """The values of environment variables; ends the process if one is not set."""
    for name in names:
        if not os.environ.get(name):
            sys.exit(f"{name} is not set; see the config.yaml of the profile")
    return [os.environ[name] for name in names]


def properties(jobscript: str) -> Any:
    """What Snakemake says about the job: rule, threads, resources and more."""
    with open(jobscript, encoding="utf-8") as script:
        line = next(line for line in script if line.startswith(_PROPERTIES))
    return json.loads(line[len(_PROPERTIES):])
