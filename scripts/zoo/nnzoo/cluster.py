"""A Slurm cluster with one node on this machine, for tests: three processes of the calling user on
free ports, whose files are in one folder."""
import getpass
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import time
from typing import Callable, Iterator, Optional

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
MARK = "NNZOO_NODE"  # in the environment of the node's daemon, which is not that of jobs

CONFIGURATION = """ClusterName=zoo
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0
SlurmdTimeout=10
ReturnToService=2
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mib}
PartitionName=zoo Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


def _find(program: str) -> Optional[str]:
    """Daemons may be in folders that PATH lacks."""
    folders = [*os.environ.get("PATH", "").split(":"), "/usr/sbin", "/sbin"]
    return next((f"{f}/{program}" for f in folders if os.access(f"{f}/{program}", os.X_OK)), None)


def missing_programs() -> list[str]:
    """Those of Slurm that are not installed."""
    return [program for program in DAEMONS if _find(program) is None]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def processes() -> Iterator[tuple[int, dict[str, str]]]:
    """All processes whose environment can be read, and it."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        yield int(entry.name), dict(v.split("=", 1) for v in text.split("\0") if "=" in v)


class Cluster:
    """A running cluster; a context manager that ends its processes."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.configuration = folder / "slurm.conf"
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Cluster":
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        os.chmod(self.folder, 0o755)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
        ports = _free_ports(2)
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname(), user=getpass.getuser(), controller_port=ports[0],
            node_port=ports[1], folder=self.folder, cpus=len(os.sched_getaffinity(0)),
            memory_mib=memory * 9 // 10))
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        try:
            files = [f"--{name}-file={self.folder}/munge.{name}" for name in ("log", "pid", "seed")]
            self._start("munged", "--foreground", "--force", f"--key-file={key}", *files,
                        f"--socket={self.folder}/munge.socket")
            self._wait(lambda: (self.folder / "munge.socket").exists())
            self._start("slurmctld", "-D", "-f", str(self.configuration))
            self.start_node()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_node()
        for child in reversed(self._children.values()):
            child.terminate()
            child.wait()
        self._children.clear()

    def _start(self, name: str, *arguments: str, **environment: str) -> None:
        program = _find(name)
        assert program is not None
        with open(self.folder / f"{name}.out", "ab") as output:
            self._children[name] = subprocess.Popen(
                [program, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**self.environment, **environment}, start_new_session=True)

    def _wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not condition():
            for name, child in self._children.items():
                if child.poll() is not None:
                    raise RuntimeError(f"{name} ended; see {self.folder}/{name}.out")
            if time.monotonic() > end:
                raise RuntimeError(f"the cluster does not start; see {self.folder}")
            time.sleep(0.2)

    def start_node(self) -> None:
        """Starts the daemon of the node, and waits until the node accepts jobs."""
        self._start("slurmd", "-D", "-f", str(self.configuration), "-N", "node",
                    **{MARK: str(self.folder)})
        self._wait(lambda: any(state in self.output("sinfo", "--noheader", "--format=%T").split()
                               for state in ("idle", "mixed", "allocated")))

    def output(self, *command: str) -> str:
        """The output of a program of Slurm, or "" if it fails."""
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                                check=False)
        return result.stdout if result.returncode == 0 else ""

    def job_processes(self) -> list[int]:
        """The processes of all jobs."""
        return [pid for pid, environment in processes()
                if environment.get("SLURM_CONF") == str(self.configuration)
                and "SLURM_JOB_ID" in environment]

    def kill_node(self) -> None:
        """Kills all processes of the node at once, as if it had lost its power."""
        daemons = [pid for pid, environment in processes()
                   if environment.get(MARK) == str(self.folder)]
        for pid in daemons + self.job_processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        child = self._children.pop("slurmd", None)
        if child is not None:
            child.wait()
