"""profiles/kubernetes and profiles/aws-batch, with programs in place of kubectl and aws that run the
jobs here."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest
from unittest import mock

from support import SOURCE, ZOO, FolderTest
from test_workflow import REPORTS, examine, line_of

# Jobs are folders: "request" has what was submitted, "code" the exit code. A job whose folder has
# "lost" is unknown.
FAKE = """#!/usr/bin/python3
import json, os, pathlib, subprocess, sys
jobs = pathlib.Path(os.environ["FAKE_JOBS"])
arguments = sys.argv[1:]
with open(jobs / "calls", "a") as calls:
    calls.write(json.dumps(arguments) + "\\n")
if (jobs / "down").exists():
    sys.exit(1)

def start(request, command, folder):
    name = f"job-{sum(1 for _ in jobs.glob('job-*'))}"
    (jobs / name).mkdir()
    (jobs / name / "request").write_text(json.dumps(request))
    subprocess.Popen(["sh", "-c", '"$@"; echo $? >"$0.new"; mv "$0.new" "$0"', jobs / name / "code", *command],
                     cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(name)

def state(name):
    code = jobs / name / "code"
    if not (jobs / name).exists():
        return None
    return "running" if not code.exists() else "done" if code.read_text() == "0\\n" else "failed"

"""
KUBECTL = FAKE + """
if arguments[0] == "create":
    request = json.load(sys.stdin)
    container = request["spec"]["template"]["spec"]["containers"][0]
    start(request, container["command"], container["workingDir"])
elif arguments[:2] == ["get", "job"]:
    found = state(arguments[2])
    types = {"done": ["SuccessCriteriaMet", "Complete"], "failed": ["Failed"], "running": []}
    if found:
        print(json.dumps({"status": {"conditions": [{"type": t, "status": "True"} for t in types[found]]}}))
"""
AWS = FAKE + """
if arguments[:2] == ["batch", "submit-job"]:
    request = json.loads(arguments[arguments.index("--cli-input-json") + 1])
    start(request, request["containerOverrides"]["command"], "/")
elif arguments[:2] == ["batch", "describe-jobs"]:
    found = state(arguments[arguments.index("--jobs") + 1])
    print({"done": "SUCCEEDED", "failed": "FAILED", "running": "RUNNABLE", None: "None"}[found])
"""
SETTINGS = {
    "kubernetes": {"ZOO_IMAGE": "registry/zoo:1", "ZOO_CLAIM": "models", "ZOO_MOUNT": "/shared"},
    "aws-batch": {"ZOO_QUEUE": "spot", "ZOO_DEFINITION": "zoo:3"},
}


class CloudTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("bin/kubectl", KUBECTL, 0o755)
        self.write("bin/aws", AWS, 0o755)
        self.jobs = self.folder / "jobs"
        self.jobs.mkdir()
        settings = {name: value for values in SETTINGS.values() for name, value in values.items()}
        environment = mock.patch.dict(os.environ, {
            **settings, "FAKE_JOBS": str(self.jobs), "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        environment.start()
        self.addCleanup(environment.stop)

    def call(self, profile: str, script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([ZOO / "profiles" / profile / script, *arguments], cwd=self.folder, check=False,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, profile: str) -> "subprocess.CompletedProcess[str]":
        job = {"rule": "batch", "threads": 4, "resources": {"mem_mb": 4608, "runtime": 720, "attempt": 1}}
        script = self.write("job.sh", f"#!/bin/sh\n# properties = {json.dumps(job)}\npwd >out\n")
        return self.call(profile, "submit", str(script))

    def request(self, name: str = "job-0") -> "dict[str, dict[str, object]]":
        value: "dict[str, dict[str, object]]" = json.loads((self.jobs / name / "request").read_text())
        return value

    def status_when_finished(self, profile: str, name: str) -> str:
        code = self.jobs / name / "code"
        while True:
            finished = code.exists()
            status = self.call(profile, "status", name).stdout.strip()
            if finished:
                return status
            # The job may have finished between the look at its code and the question.
            self.assertTrue(status == "running" or code.exists(), status)

    def test_a_job_of_kubernetes(self) -> None:
        self.assertEqual(self.submit("kubernetes").stdout, "job-0\n")
        self.assertEqual(self.status_when_finished("kubernetes", "job-0"), "success")
        self.assertEqual((self.folder / "out").read_text(), f"{self.folder}\n")
        spec = self.request()["spec"]
        self.assertEqual((spec["backoffLimit"], spec["activeDeadlineSeconds"]), (0, 43200))
        template = spec["template"]
        assert isinstance(template, dict)
        container = template["spec"]["containers"][0]
        self.assertEqual(container["resources"], {"requests": {"cpu": "4", "memory": "4608M"},
                                                  "limits": {"memory": "4608M"}})
        self.assertEqual(container["image"], "registry/zoo:1")
        self.assertEqual(container["volumeMounts"], [{"name": "shared", "mountPath": "/shared"}])
        self.assertEqual(template["spec"]["volumes"],
                         [{"name": "shared", "persistentVolumeClaim": {"claimName": "models"}}])

    def test_a_job_of_aws_batch(self) -> None:
        self.assertEqual(self.submit("aws-batch").stdout, "job-0\n")
        self.assertEqual(self.status_when_finished("aws-batch", "job-0"), "success")
        self.assertEqual((self.folder / "out").read_text(), f"{self.folder}\n")
        request = self.request()
        self.assertEqual((request["jobQueue"], request["jobDefinition"]), ("spot", "zoo:3"))
        self.assertEqual(request["timeout"], {"attemptDurationSeconds": 43200})
        self.assertEqual(request["containerOverrides"]["resourceRequirements"],
                         [{"type": "VCPU", "value": "4"}, {"type": "MEMORY", "value": "4608"}])

    def test_states(self) -> None:
        for profile in SETTINGS:
            with self.subTest(profile):
                (self.jobs / "job-0").mkdir()
                (self.jobs / "job-0" / "code").write_text("1\n")
                self.assertEqual(self.call(profile, "status", "job-0").stdout, "failed\n")
                self.assertEqual(self.call(profile, "status", "job-7").stdout, "failed\n")
                (self.jobs / "down").touch()  # without an answer the job runs
                self.assertEqual(self.call(profile, "status", "job-0").stdout, "running\n")
                self.assertNotEqual(self.submit(profile).returncode, 0)
                (self.jobs / "down").unlink()
                shutil.rmtree(self.jobs / "job-0")

    def test_jobs_are_cancelled(self) -> None:
        for profile in SETTINGS:
            self.assertEqual(self.call(profile, "cancel", "job-1", "job-2").returncode, 0)
        calls = [json.loads(line) for line in (self.jobs / "calls").read_text().splitlines()]
        self.assertEqual(calls[0], ["delete", "job", "--wait=false", "--ignore-not-found", "job-1", "job-2"])
        self.assertEqual([call[-1] for call in calls[1:]], ["job-1", "job-2"])
        self.assertEqual(calls[1][:2], ["batch", "terminate-job"])

    def test_settings_are_required(self) -> None:
        for profile, names in SETTINGS.items():
            for name in names:
                with self.subTest(name), mock.patch.dict(os.environ):
                    del os.environ[name]
                    done = self.submit(profile)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertIn(f"{name} is not set", done.stderr)

    @unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed: scripts/setup zoo")
    def test_the_report_is_that_of_local_cores(self) -> None:
        manifest = self.folder / "models.jsonl"
        names = ("tests/cases/onnx/good.onnx", "tests/cases/onnx/truncated.onnx")
        manifest.write_text("".join(json.dumps(line_of(name)) + "\n" for name in names))
        done = examine(manifest, self.folder / "local")
        self.assertEqual(done.returncode, 0, done.stdout)
        for profile in SETTINGS:
            with self.subTest(profile):
                folder = self.folder / profile
                done = examine(manifest, folder, f"--profile={profile}", "--", "--latency-wait=5")
                self.assertEqual(done.returncode, 0, done.stdout)
                for name in REPORTS:
                    self.assertEqual((folder / "report" / name).read_bytes(),
                                     (self.folder / "local" / "report" / name).read_bytes(), name)
        self.assertGreaterEqual(len(list(self.jobs.glob("job-*"))), 2)


if __name__ == "__main__":
    unittest.main()
