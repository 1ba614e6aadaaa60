#!/bin/sh
# Runs the command of a job itself: another Snakemake, as in the usual script, takes seconds to start.
# properties = {properties}
command=$(sed -n 's/^# properties = //p' "$0" | /usr/bin/python3 -c '
import json, sys
job = json.load(sys.stdin)
print(job["params"]["command"], "--attempt=%d" % job["resources"]["attempt"], "2>", job["log"][0])')
exec sh -c "$command"
