"""What must hold on three nodes. Each scenario raises where it does not, and returns a line that says what was seen."""

import collections
import http.server
import itertools
import json
import random
import signal
import threading
import time
import uuid

from cluster import BINARY, Cluster, Failed, Killer, ROOMY, at_once, document
from servers import Postgres, wait_for


def check(held, what):
    if not held:
        raise Failed(what)


def limits(servers):
    """300 simultaneous requests with one key: exactly 100 pass."""
    with Cluster(servers) as cluster:
        connections = at_once(50, lambda _: cluster.connect(), range(300))
        at_once(50, lambda connection: connection.connect(), connections)
        statuses = collections.Counter(at_once(300, lambda connection: cluster.ask("GET", "/check", connection=connection)[0], connections))
        check(statuses == {200: 100, 429: 200}, f"expected 100 to pass: {statuses}")
        hits = [cluster.ask("GET", "/check", port=node.port)[1]["X-RateLimit-Hits"] for node in cluster.nodes]
        check(hits == ["100"] * 3, f"nodes disagree on the hits: {hits}")
        return f"300 requests with one key over {len(cluster.nodes)} nodes: {statuses[200]} passed, {statuses[429]} refused"


def units(servers, searches=1000, quota=500):
    """So many searches at the same time against a quota: never above it, and every unit that was answered for is charged."""
    with Cluster(servers, **(ROOMY | {"QUIRE__UNITS__MONTHLY": str(quota)})) as cluster:
        cluster.upload_patiently("one.md", document(1)[1])
        cluster.wait_until_read()
        connections = at_once(50, lambda _: cluster.connect(timeout=300), range(searches))
        at_once(50, lambda connection: connection.connect(), connections)
        told = collections.Counter()

        def search(connection):
            while True:
                status, headers, value = cluster.post(f"/boxes/{cluster.box}/retrieve-documents", {"query": document(1)[0]}, connection=connection)
                told[status] += 1
                if status != 503:
                    break
                time.sleep(float(headers["Retry-After"]))
            check(status in (200, 402), f"{status} {value}")
            return value["data"]["usage"]["intelligence_units_consumed"] if status == 200 else 0
        answered = at_once(searches, search, connections)
        charged = cluster.ask("GET", "/usage")[2]["data"]["used"]
        check(0 < sum(answered) <= quota, f"{sum(answered)} units of {quota}")
        check(sum(answered) == charged, f"answered for {sum(answered)}, charged {charged}")
        later = f", {told[503]} told to come back" if told[503] else ""
        return f"{searches} searches at once against {quota} units: {told[200]} answered, {told[402]} refused{later}, {charged} units charged"


def clocks_differ(servers, off_s=25):
    """Clocks that differ by more than a silent node is given: nobody is taken for dead, no job is taken over, and limits hold."""
    with Cluster(servers, clocks=(0, off_s, -off_s), QUIRE__LIMITS__KEY_REQUESTS="400") as cluster:
        said = [cluster.ask("GET", "/check", port=node.port)[2]["data"]["time"] for node in cluster.nodes]
        check(len({time[:19] for time in said}) == 3, f"the clocks do not differ: {said}")
        statuses = collections.Counter(at_once(60, lambda number: cluster.ask("GET", "/check", port=cluster.nodes[number % 3].port)[0], range(450)))
        check(statuses == {200: 397, 429: 53}, f"expected the rest of 400 to pass: {statuses}")
        cluster.key = cluster.new_key()
        files = [cluster.upload_patiently(f"{number}.md", document(number)[1]) for number in range(6)]
        cluster.wait_until_read()
        cluster.key = cluster.new_key()
        # Each node beats every three seconds, and looks then who has not been heard of for fifteen.
        until = time.monotonic() + 10
        answered = 0
        while time.monotonic() < until:
            for number, file in enumerate(files):
                found = cluster.search(document(number)[0], port=cluster.nodes[number % 3].port)
                check(file in found, f"{file} is not found")
                answered += 1
            time.sleep(1)
        logs = [(cluster.folder / f"node{number}.log").read_text() for number in range(3)]
        check(not any("Took over" in log for log in logs), f"somebody was taken for dead: {logs}")
        return f"three nodes whose clocks differ by up to {2 * off_s} s: {answered} searches answered, 400 of 453 requests passed, nobody was taken for dead"


def together(servers):
    """Everything that leaves its cluster as it was, on one cluster: starting three nodes takes longer than most of it."""
    with Cluster(servers, **ROOMY) as cluster:
        return "; ".join((revoked(cluster), retried(cluster), heard(cluster), volume_stopped(cluster, servers)))


def revoked(cluster):
    """A revoked key fails on every node at its next request; a signed link of one node works on the others."""
    file = cluster.upload_patiently("one.md", document(1)[1])
    cluster.wait_until_read()
    spare = cluster.new_key()
    ports = [node.port for node in cluster.nodes]
    check([cluster.ask("GET", "/check", key=spare, port=port)[0] for port in ports] == [200] * 3, "the key does not work")
    link = cluster.ask("GET", f"/files/{file}/signed-url", key=spare, port=ports[0])[2]["data"]["signedUrl"]
    path = "/" + link.split("/", 3)[3]

    def download(port):
        connection = cluster.connect(port)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body
    check([download(port) for port in ports] == [(200, document(1)[1].encode())] * 3, "a link works on some nodes only")
    prefix = spare.split("_")[1]
    cluster.command("key", "revoke", prefix)
    verdicts = [cluster.ask("GET", "/check", key=spare, port=port)[0] for port in ports]
    check(verdicts == [401] * 3, f"after the key was revoked: {verdicts}")
    check([download(port)[0] for port in ports] == [403] * 3, "the link of a revoked key still works")
    return "a revoked key and its links fail on all nodes at once"


def retried(cluster):
    """An idempotency key means the same on every node."""
    cluster.upload_patiently("one.md", document(1)[1])
    cluster.wait_until_read()
    body, name = json.dumps({"query": document(1)[0]}), uuid.uuid4().hex
    headers = {"Content-Type": "application/json", "Idempotency-Key": name}
    path = f"/boxes/{cluster.box}/retrieve-documents"
    answers = [cluster.ask("POST", path, body, headers, port=node.port) for node in cluster.nodes]
    check(len({json.dumps(value, sort_keys=True) for _, _, value in answers}) == 1, "nodes answered differently")
    check([answered["Idempotency-Replayed"] for _, answered, _ in answers] == [None, "true", "true"], "not replayed")
    return "an idempotency key is replayed by every node, and charged once"


def heard(cluster):
    """Whoever listens at one node hears what happens at the others, deletions too."""
    one, other, third = (node.port for node in cluster.nodes)
    # Still waiting behind others when the stream begins, which tells of it first, and then surely listens.
    for number in range(110, 120):
        cluster.upload_patiently(f"{number}.md", document(number)[1] * 50)
    cluster.upload_patiently("first.md", document(101)[1])
    told, deleted = [], None
    for event in cluster.events(third):
        if event["name"] != "first.md":
            continue
        told.append(event["status"])
        if event["status"] == "ready" and not deleted:
            deleted = event["fileId"]
            check(cluster.ask("DELETE", f"/files/{deleted}", port=one)[0] == 200, "could not delete")
        if event["status"] == "deleting":
            check((event["fileId"], event["fileName"]) == (deleted, "first.md"), f"told of another file: {event}")
            break
    check(told[-1:] == ["deleting"], f"heard {told}")
    second = cluster.upload_patiently("second.md", document(102)[1])
    cluster.wait_until_read()
    check(cluster.search(document(102)[0], port=other) == {second} and not cluster.search(document(101)[0], port=other), "found otherwise")
    return f"a listener at one node heard of another's file: {' → '.join(told)}"


class Receiver(http.server.ThreadingHTTPServer):
    """Takes events, or refuses them with 503, or keeps one waiting for ever."""

    def __init__(self):
        self.takes, self.holds, self.refused, self.held, self.taken = False, False, 0, threading.Event(), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if outer.holds:
                    outer.held.set()
                    time.sleep(600)
                elif outer.takes:
                    outer.taken.append((self.headers["webhook-id"], event["data"]["fileId"], event["type"]))
                else:
                    outer.refused += 1
                self.send_response(204 if outer.takes else 503)
                self.end_headers()

            def log_message(self, *_):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def told(servers, files=4):
    """A receiver that is away for an hour by the clock, and two nodes that are killed twice: each event arrives, in the order of its file."""
    receiver = Receiver()
    allowed = {"QUIRE__WEBHOOKS__ENABLED": "true", "QUIRE__WEBHOOKS__PRIVATE_ADDRESSES": "true"}
    with Cluster(servers, nodes=2, clocks=(0, 0), **ROOMY, **allowed) as cluster:
        def an_hour_later():
            for node in cluster.nodes:
                node.kill()
            for node in cluster.nodes:
                node.environment["QUIRE_TEST_CLOCK_S"] = str(int(node.environment["QUIRE_TEST_CLOCK_S"]) + 3600)
                node.start()
        cluster.key = cluster.command("key", "add", "--user", "owner@example.org", "--permissions", "search,read,write,manage")["key"]
        events = ["file.ready", "file.replaced", "file.deleted"]
        status, _, made = cluster.post("/webhooks", {"url": f"http://127.0.0.1:{receiver.server_port}/", "events": events})
        check(status == 201, f"no webhook: {made}")
        for version in ("first", "second"):
            for number in range(files):
                text = {"name": f"{number}.md", "text": f"The {version} text of file {number}.", "externalId": str(number)}
                status, _, value = cluster.post(f"/boxes/{cluster.box}/files", text)
                check(status in (200, 201), f"upload: {status} {value}")
            cluster.wait_until_read()
        ids = [file["fileId"] for file in cluster.files()]
        for id in ids:
            check(cluster.ask("DELETE", f"/files/{id}")[0] == 200, "could not delete")
        wait_for("the receiver to be asked", lambda: receiver.refused >= files, 60)
        receiver.holds = True
        an_hour_later()
        check(receiver.held.wait(120), "nothing was tried again after an hour")
        receiver.holds, receiver.takes = False, True
        an_hour_later()
        wait_for("all events", lambda: len({id for id, *_ in receiver.taken}) == 4 * files, 120)
        for id in ids:
            kinds = [kind for _, file, kind in dict.fromkeys(receiver.taken) if file == id]
            check(kinds == ["file.ready", "file.replaced", "file.ready", "file.deleted"], f"{id}: {kinds}")
        return f"{4 * files} events of {files} files, refused for an hour, all arrived in order after two nodes were killed twice"


def replicated(servers, files=40):
    """Searches go to a hot standby; what it has not seen yet is found all the same."""
    folder = servers.folder / f"replica-{uuid.uuid4().hex[:6]}"
    primary, standby = Postgres(folder / "primary").make(), None
    try:
        primary.start()
        standby = primary.standby(folder / "standby").start()
        with Cluster(servers, postgres=primary.url(), replica=standby.url(), **ROOMY) as cluster:
            def looked_up(server):
                return int(server.sql(f"select coalesce(sum(idx_scan), 0) from pg_stat_user_tables where schemaname = '{cluster.schema}' and relname = 'index_postings'"))

            def counted():
                """How often words were looked up in each: a session says so when it ends, so the nodes end."""
                for node in cluster.nodes:
                    node.stop()
                gone = "select count(*) from pg_stat_activity where application_name = 'quire'"
                wait_for("the end of all sessions", lambda: all(server.sql(gone) == "0" for server in (primary, standby)))
                return looked_up(primary), looked_up(standby)

            def stored_and_found(numbers):
                """Whether each file is found by the first search after it says that it is ready, at another node each time."""
                missed = []
                for number in numbers:
                    file = cluster.upload_patiently(f"{number}.md", document(number)[1])
                    cluster.wait_until_read()
                    if cluster.search(document(number)[0], port=cluster.nodes[number % 3].port) != {file}:
                        missed.append(number)
                return missed
            check(not (missed := stored_and_found(range(files // 2))), f"ready and not found: {missed}")
            # From here on the standby sees nothing new.
            standby.sql("select pg_wal_replay_pause()")
            wait_for("the standby's pause", lambda: standby.sql("select pg_get_wal_replay_pause_state()") == "paused")
            check(not (missed := stored_and_found(range(files // 2, files))), f"ready and not found while the replica was behind: {missed}")
            standby.sql("select pg_wal_replay_resume()")
            wait_for("the standby", lambda: standby.sql("select pg_last_wal_replay_lsn()") >= primary.sql("select pg_current_wal_lsn()"))
            before = counted()
            for node in cluster.nodes:
                node.start()
            for number in range(files):
                check(cluster.search(document(number)[0]), f"file {number} is lost")
            after = counted()
            check(after[0] == before[0] and after[1] > before[1], f"words were looked up in the primary: {before} → {after}")
            standby.stop(signal.SIGQUIT)
            for node in cluster.nodes:
                node.start()
            check(all(cluster.search(document(number)[0]) for number in range(5)), "nothing is found without the replica")
            return (f"{files} files, each found as soon as it was ready, half of them while the standby stood still; {files} searches looked up "
                    f"words {after[1] - before[1]} times in the standby and {after[0] - before[0]} times in the primary")
    finally:
        for server in filter(None, (standby, primary)):
            server.stop(signal.SIGQUIT)


def load(cluster, files, searches, during):
    """Uploads and searches through retrying clients while `during` happens. Nothing acknowledged may be lost, doubled or answered wrongly."""
    acknowledged, lock = {}, threading.Lock()
    wrong, failures, done = [], [], collections.Counter()
    numbers = itertools.count()

    def upload(happening):
        while True:
            with lock:
                number = next(numbers)
            if number >= files:
                if happening.enough():
                    return
                time.sleep(0.5)
            file = cluster.upload_patiently(f"report{number:05d}.md", document(number)[1])
            with lock:
                acknowledged[number] = file

    def search(happening):
        while not (done["searches"] >= searches and happening.enough()):
            with lock:
                known = list(acknowledged.items())
            if not known:
                time.sleep(0.05)
                continue
            number, file = random.choice(known)
            word = document(number)[0]
            status, value = cluster.post_patiently(f"/boxes/{cluster.box}/retrieve-documents", {"query": word, "mode": "keyword", "rerank": False})
            with lock:
                done["searches"] += 1
            if status != 200:
                wrong.append((status, value))
                return
            found = value["data"]["documents"][0]["documents"]
            # It may not have been read yet; but what is found must be what was asked for.
            if any(word not in hit["text"] or hit["fileId"] != file for hit in found):
                wrong.append((word, found[:1]))

    before = cluster.retries
    with during as happening:
        uploading = threading.Thread(target=lambda: failures.extend(tried(upload, happening, 4)))
        uploading.start()
        failures.extend(tried(search, happening, 4))
        uploading.join()
    retries = cluster.retries - before
    check(not failures, f"clients that retry saw: {failures[:3]}")
    check(not wrong, f"answered wrongly: {wrong[:3]}")
    cluster.wait_until_read()
    files, stored = len(acknowledged), cluster.files()
    names = collections.Counter(file["name"] for file in stored)
    check(len(stored) == files and set(names.values()) == {1}, f"{len(stored)} files for {files}: {names.most_common(3)}")
    check({file["fileId"] for file in stored} == set(acknowledged.values()), "other files than those acknowledged")
    states = collections.Counter(file["status"] for file in stored)
    check(states == {"ready": files}, f"not all could be read: {states}")
    for number in random.sample(sorted(acknowledged), min(files, 40)):
        status, value = cluster.post_patiently(f"/boxes/{cluster.box}/retrieve-full-documents", {"sources": [acknowledged[number]]})
        text = "\n".join(page["text"] for page in value["data"]["documents"][0]["pages"])
        check(status == 200 and document(number)[0] in text, f"file {number} reads as {text[:80]!r}")
        status, value = cluster.post_patiently(f"/boxes/{cluster.box}/retrieve-documents", {"query": document(number)[0], "mode": "keyword", "rerank": False})
        found = [hit["fileId"] for hit in value["data"]["documents"][0]["documents"]]
        check(found and set(found) == {acknowledged[number]}, f"file {number} is found as {found}")
    seen = f"{files} files and {done['searches']} searches"
    return happening, seen, retries


def tried(work, happening, workers):
    """What went wrong in any of the workers."""
    def one(_):
        try:
            work(happening)
        except Failed as error:
            return str(error)
    return [error for error in at_once(workers, one, range(workers)) if error]


def killed(servers, files=24, searches=150, every=3.0):
    """A node is killed every few seconds."""
    with Cluster(servers, **ROOMY) as cluster:
        killer, seen, retries = load(cluster, files, searches, Killer(cluster, every))
        return f"{seen} with {killer.kills} nodes killed: nothing lost, doubled or wrong; clients retried {retries} times"


class Failover:
    """Ends the primary at once and promotes its standby, in the middle."""

    def __init__(self, primary, standby, after, gap):
        self.primary, self.standby, self.after, self.gap, self.away_s, self.back_since = primary, standby, after, gap, 0, None
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def run(self):
        time.sleep(self.after)
        started = time.monotonic()
        self.primary.stop(signal.SIGQUIT)
        time.sleep(self.gap)
        self.standby.promote()
        self.away_s, self.back_since = time.monotonic() - started, time.monotonic()

    def enough(self):
        return self.back_since and time.monotonic() > self.back_since + 5

    def __exit__(self, *_):
        self.thread.join()


def failed_over(servers, files=24, searches=150, after=3.0, gap=1.0):
    """PostgreSQL fails over to its standby: 503 while it lasts, nothing acknowledged is lost."""
    folder = servers.folder / f"failover-{uuid.uuid4().hex[:6]}"
    primary = Postgres(folder / "primary").make()
    standby = None
    try:
        primary.start()
        standby = primary.standby(folder / "standby").start()
        # What is acknowledged is on both.
        primary.sql("alter system set synchronous_standby_names = '*'")
        primary.sql("select pg_reload_conf()")
        wait_for("the standby", lambda: primary.sql("select count(*) from pg_stat_replication where sync_state = 'sync'") == "1")
        with Cluster(servers, postgres=primary.url("postgres", standby), **ROOMY) as cluster:
            failover, seen, retries = load(cluster, files, searches, Failover(primary, standby, after, gap))
            return (f"{seen} over a failover of {failover.away_s:.1f} s: nothing lost, doubled or wrong; "
                    f"clients were told 503 or lost their connection {retries} times, and saw no other trouble")
    finally:
        for server in filter(None, (standby, primary)):
            server.stop(signal.SIGQUIT)


class Replacement:
    """Replaces the nodes one by one by another version: each is told to stop, gives its work back, and starts anew."""

    def __init__(self, cluster, binary, every):
        self.cluster, self.binary, self.every, self.left, self.stopping = cluster, binary, every, len(cluster.nodes), threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def run(self):
        for node in self.cluster.nodes:
            if self.stopping.wait(self.every):
                return
            node.stop()
            node.binary = self.binary
            node.start()
            self.left -= 1
        self.stopping.wait(self.every)

    def enough(self):
        return not self.thread.is_alive()

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


def upgraded(servers, old, files=60, searches=400, every=8.0):
    """Nodes of the version before (`old`, its binary) and of this one side by side, on one catalog; then forward, then back."""
    with Cluster(servers, binary=old, **ROOMY) as cluster:
        def steps():
            return servers.postgres.sql(f"select (select count(*) from {cluster.schema}.catalog_steps) || ' and ' || (select count(*) from {cluster.schema}.index_steps)")
        before, said = steps(), []
        for binary in (BINARY, old, BINARY):
            happening, seen, retries = load(cluster, files, searches, Replacement(cluster, binary, every))
            check(happening.left == 0, "not all nodes were replaced")
            said.append(f"{seen} ({retries} retries)")
            for file in cluster.files():
                status = cluster.ask("DELETE", f"/files/{file['fileId']}")[0]
                check(status == 200, f"could not delete: {status}")
        return (f"three nodes replaced one by one under load, to the new version (tables at step {before} → {steps()}), back and forward again: "
                f"{'; '.join(said)}; nothing lost, doubled or wrong")


def volume_stopped(cluster, servers, files=10):
    """One volume server stops: originals stay readable."""
    known = [(number, cluster.upload_patiently(f"{number}.md", document(number)[1])) for number in range(200, 200 + files)]
    cluster.wait_until_read()
    stopped = servers.s3.volumes[0]
    stopped.stop(signal.SIGKILL)
    try:
        for number, file in known:
            link = cluster.ask("GET", f"/files/{file}/signed-url")[2]["data"]["signedUrl"]
            connection = cluster.connect()
            connection.request("GET", "/" + link.split("/", 3)[3])
            body = connection.getresponse().read()
            connection.close()
            check(body == document(number)[1].encode(), f"original {number}: {body[:80]!r}")
    finally:
        stopped.start()
    return f"{files} originals read while one of two volume servers was down"


def valkey_restarted(servers):
    """Valkey restarts: windows go on where they were; while it is away nodes count by themselves."""
    with Cluster(servers) as cluster:
        passed = sum(cluster.ask("GET", "/check")[0] == 200 for _ in range(60))
        servers.valkey.stop()
        away = collections.Counter(cluster.ask("GET", "/check")[0] for _ in range(6))
        servers.valkey.start(join=False)

        def back():
            return int(cluster.ask("GET", "/check")[1]["X-RateLimit-Hits"]) > 60
        wait_for("counting over all nodes", back, 30)
        time.sleep(1.5)
        more = collections.Counter(cluster.ask("GET", "/check", port=random.choice(cluster.nodes).port)[0] for _ in range(100))
        check(passed == 60 and set(away) == {200}, f"{passed} passed, then {away}")
        check(0 < more[200] < 40 and more[429] >= 60, f"after the restart: {more}")
        return f"60 requests, Valkey restarted, {more[200]} more passed and {more[429]} were refused"
