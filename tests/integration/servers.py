"""Real Redis and PostgreSQL on loopback, each with its own port and folder, and workers of the example service."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
PATIENCE_S = 180


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find(program: str) -> str | None:
    debians = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") or (str(debians[-1]) if debians else None)


def until(check: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if check():
                return
        except (OSError, httpx.HTTPError, subprocess.SubprocessError):
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come up")
        time.sleep(0.1)


def accepts(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True


class RedisServer:
    """Persists its writes, so that an orderly restart loses nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        folder.mkdir()
        self.start()

    def start(self) -> None:
        program = find("redis-server") or ""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        options += ["--appendonly", "yes", "--appendfsync", "everysec"]
        self.process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        until(lambda: accepts(self.port), "redis-server")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)


class PostgresServer:
    """A cluster of its own; run as the user ``postgres`` or ``nobody`` where the tests run as root."""

    def __init__(self) -> None:
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="condense-plus-")), free_port()
        folder = self.folder
        self.url = f"postgresql+asyncpg://condense@127.0.0.1:{self.port}/postgres"
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            owner = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
            self.user = {"user": owner.pw_uid, "group": owner.pw_gid, "cwd": str(folder)}
        command = [
            find("initdb") or "",
            "-D",
            str(folder / "data"),
            "-U",
            "condense",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **self.user)
        self.start()

    def start(self) -> None:
        options = [
            "-p",
            str(self.port),
            "-k",
            "",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "max_connections=100",
            "-c",
            "fsync=off",
        ]
        self.process = subprocess.Popen(
            [find("postgres") or "", "-D", str(self.folder / "data"), *options], stderr=subprocess.DEVNULL, **self.user
        )
        until(self._ready, "postgres")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)  # fast shutdown: connections are cut
        self.process.wait(PATIENCE_S)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _ready(self) -> bool:
        ready = [find("pg_isready") or "", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready, check=False).returncode == 0


class Nginx:
    """The example's nginx.conf with the workers' addresses and its own port in place of the containers'."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        shipped = (ROOT / "examples" / "service" / "nginx.conf").read_text("utf-8")
        for number, port in enumerate(ports, 1):
            shipped = shipped.replace(f"worker-{number}:8080", f"127.0.0.1:{port}")
        folder.mkdir()
        conf = folder / "nginx.conf"
        conf.write_text(shipped.replace("listen 80;", f"listen 127.0.0.1:{self.port};"), "utf-8")
        whole = f"daemon off; pid {folder}/pid; error_log {folder}/error.log;"
        command = [find("nginx") or "", "-c", str(conf), "-p", str(folder), "-g", whole]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until(lambda: accepts(self.port), "nginx")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)


class Worker:
    """One worker of the example service."""

    def __init__(self, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        environment = {**os.environ, **settings, "SERVICE_PORT": str(self.port)}
        command = [sys.executable, "-m", "tests.integration.service_worker"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment)
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE_S)

    def wait(self) -> Worker:
        until(self._is_up, "the service")
        return self

    def _is_up(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError("the service ended at its start")
        return self.client.get("/health").status_code == httpx.codes.OK

    def ask(self, conversation: str, message: str) -> dict[str, Any]:
        """Return the events by name, the tokens joined; ``error`` too if the status is not 200."""
        answer = self.client.post(f"/conversations/{conversation}/messages", json={"message": message})
        return events(answer)

    def history(self, conversation: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get(f"/conversations/{conversation}").raise_for_status().json()
        return found

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def stop(self) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)


def events(answer: httpx.Response) -> dict[str, Any]:
    if answer.status_code != httpx.codes.OK:
        return {"error": answer.json(), "status": answer.status_code}
    found: dict[str, Any] = {"text": ""}
    for block in answer.text.split("\n\n"):
        if block.strip():
            name, data = block.split("\n", 1)
            value = httpx.Response(200, text=data.removeprefix("data: ")).json()
            if name == "event: token":
                found["text"] += value["text"]
            found[name.removeprefix("event: ")] = value
    return found


def stored(urls: dict[str, str]) -> list[str]:
    """Return all that the stores hold but the locks, as sorted text."""
    import psycopg2  # noqa: PLC0415 - other tests' environments lack both
    import redis  # noqa: PLC0415

    found: list[str] = []
    if url := urls.get("SERVICE_REDIS_URL"):
        client: Any = redis.Redis.from_url(url)
        read = {b"string": client.get, b"hash": client.hgetall, b"list": lambda key: client.lrange(key, 0, -1)}
        kinds = {key: client.type(key) for key in client.scan_iter()}  # none: a lease that has just been given back
        found += [f"{key} {read[kind](key)}" for key, kind in kinds.items() if kind in read]
        client.close()
    if url := urls.get("SERVICE_POSTGRES_URL"):
        with psycopg2.connect(url.replace("+asyncpg", "")) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in cursor.fetchall():
                cursor.execute(f"SELECT row_to_json(t)::text FROM {table} t")  # noqa: S608 - names of our own tables
                found += [f"{table} {row}" for (row,) in cursor.fetchall()]
        connection.close()
    return sorted(row for row in found if "lease" not in row.split(" ")[0])
