"""profiles/slurm, with scripts in place of Slurm's programs."""
import json
import os
import subprocess
import unittest

from support import ZOO, FolderTest

PROFILE = ZOO / "profiles" / "slurm"


class StatusTest(FolderTest):
    def status(self, scontrol: str, sacct: str = "exit 1") -> str:
        for name, script in (("scontrol", scontrol), ("sacct", sacct)):
            self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n", 0o755)
        path = f"{self.folder}/bin:/usr/bin:/bin"
        return subprocess.run([PROFILE / "slurm-status", "7"], check=True, text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "PATH": path}).stdout.strip()

    def test_states(self) -> None:
        for status, states in (
                ("running", ("PENDING", "RUNNING", "REQUEUED", "COMPLETING")),
                ("success", ("COMPLETED",)),
                ("failed", ("FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "CANCELLED"))):
            for state in states:
                script = f'[ "$4" = 7 ] && echo "JobId=7 JobState={state} Reason=None"'
                with self.subTest(state):
                    self.assertEqual(self.status(script), status)

    def test_a_job_that_the_controller_forgot_is_in_the_database(self) -> None:
        forgot = '[ "$1" = ping ] && echo "Slurmctld(primary) at vm is UP"'
        self.assertEqual(self.status(forgot, "echo COMPLETED"), "success")
        self.assertEqual(self.status(forgot, "echo CANCELLED by 0"), "failed")
        self.assertEqual(self.status(forgot), "failed")

    def test_without_an_answer_the_job_runs(self) -> None:
        self.assertEqual(self.status("exit 1"), "running")


class JobscriptTest(FolderTest):
    def test_runs_the_command_of_the_job(self) -> None:
        job = {"params": {"command": "sh ./batch 'a b'"}, "resources": {"attempt": 2},
               "log": ["job.log"], "wildcards": {"name": "it's"}}
        template = (PROFILE.parent / "jobscript.sh").read_text()
        self.write("job", template.format(properties=json.dumps(job), exec_job="exit 1"))
        self.write("batch", 'echo "$@" >&2; exit 5')
        self.assertEqual(subprocess.run(["sh", "job"], cwd=self.folder, check=False).returncode, 5)
        self.assertEqual((self.folder / "job.log").read_text(), "a b --attempt=2\n")


if __name__ == "__main__":
    unittest.main()
