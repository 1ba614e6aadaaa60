"""nnzoo.programs, with scripts in place of the programs."""
import unittest

from support import FolderTest
from nnzoo.errors import Failure, UsageError
from nnzoo.programs import NAMES, Programs


class ProgramsTest(FolderTest):
    def programs(self, script: str, timeout: float = 60) -> Programs:
        for name in NAMES:
            self.write(f"bin/{name}", f"#!/bin/bash\n{script}\n", 0o755)
        return Programs(self.folder / "bin", timeout)

    def test_outcomes(self) -> None:
        for script, outcome, reason in (
                ("echo '{}'", "ok", None),
                ("echo '{}'; echo 'nnrun: error: it differs' >&2; exit 1", "failed", "it differs"),
                ("""echo '{"error": "bad\\nlines"}'; exit 2""", "error", "bad"),
                ("echo '{}'; exit 3", "unsupported", "exit code 3"),
                ("exit 4", "limit", "exit code 4"),
                ("kill -SEGV $$", "crash", "killed by SIGSEGV"),
                ("kill -ABRT $$", "crash", "killed by SIGABRT"),
                ("exit 134", "crash", "exit code 134"),
        ):
            with self.subTest(script):
                result = self.programs(script).run("nnrun", [], self.folder)
                self.assertEqual(result.outcome, outcome)
                if reason is not None:
                    self.assertEqual(result.reason, reason)

    def test_failures_of_the_machine_are_no_results(self) -> None:
        for script, reason in (
                ("kill -KILL $$", "killed by SIGKILL"),
                ("kill -TERM $$", "killed by SIGTERM"),
                ("""echo '{"error": "x: No space left on device"}'; exit 2""", "No space left"),
                ("echo 'nnrun: error: x: Input/output error' >&2; exit 2", "Input/output error"),
                ("true", "not JSON"),
        ):
            with self.subTest(script), self.assertRaises(Failure) as caught:
                self.programs(script).run("nnrun", [], self.folder)
            self.assertTrue(caught.exception.again)
            self.assertIn(reason, caught.exception.reason)

    def test_timeout(self) -> None:
        with self.assertRaises(Failure) as caught:
            self.programs("exec sleep 60", timeout=0.2).run("nnrun", [], self.folder)
        self.assertEqual(caught.exception.reason, "nnrun: no result after 0.2 seconds (--timeout)")

    def test_log(self) -> None:
        programs = self.programs("echo '{}'; echo warning >&2; exit 3")
        programs.run("nnrun", ["a b"], self.folder)
        self.assertRegex(programs.log[0], r"^\$ nnrun 'a b'\nwarning\nexit code 3, \d+\.\d+ s\n$")

    def test_version(self) -> None:
        self.assertEqual(self.programs('echo "$(basename "$0") 1.2 (abc)"').version(), "1.2 (abc)")
        for script, message in (("exit 1", "cannot be run"),
                                ('echo "$0 1.2"', "different versions")):
            with self.subTest(script), self.assertRaises(UsageError) as caught:
                self.programs(script).version()
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
