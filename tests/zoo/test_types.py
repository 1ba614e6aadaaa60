"""The types of nnzoo"""
import os
import subprocess
import unittest

from support import ZOO

MYPY = "/usr/bin/mypy"


@unittest.skipUnless(os.access(MYPY, os.X_OK), "mypy is not installed: scripts/setup python")
class TypesTest(unittest.TestCase):
    def test_modules(self) -> None:
        result = subprocess.run([MYPY, "--strict", "--cache-dir=/dev/null", "nnzoo"], cwd=ZOO,
                                check=False, text=True, stdout=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, result.stdout)


if __name__ == "__main__":
    unittest.main()
