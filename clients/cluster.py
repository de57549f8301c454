"""A real cluster for a test: `turno up` in a directory of its own, ended by its process."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("TURNO", str(ROOT / "build/release/turno"))


class Cluster:
    def __init__(self, nodes=3):
        self.directory = tempfile.mkdtemp(prefix="turno-clients-")
        self.process = subprocess.Popen(
            [BINARY, "up", "--nodes", str(nodes), "--dir", self.directory,
             "--lock-delay", "100ms", "--json"],
            stdout=subprocess.PIPE, text=True)
        self.nodes = json.loads(self.process.stdout.readline())["members"]
        for node in self.nodes:
            host, port = node["client"].rsplit(":", 1)
            node.update(host=host, port=int(port))

    def kill(self, node):
        os.kill(node["pid"], signal.SIGKILL)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def eventually(condition, seconds=10):
    """True as soon as it is so; errors meanwhile are no answer."""
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return True
        except Exception:  # pylint: disable=broad-except
            pass
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
