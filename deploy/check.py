"""Holds the files of this folder against their schemas and against the binary that they start.

Usage: python deploy/check.py BINARY

What a container would be given, arguments and environment, is given to `BINARY config --check` here: a flag, a variable or a value
that the binary does not know fails. Exits with 1 and one line for each thing that is wrong.
"""

import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import compose_spec
import kubernetes_validate
import trustme
import yaml

HERE = pathlib.Path(__file__).resolve().parent
KUBERNETES = "1.34"
# What the cluster hands over, in the place of secrets.
SECRETS = {"url": "postgres://plybook_app:a-password@127.0.0.1/plybook"}
PORT, METRICS = 50051, 9464

wrong = []


def hold(condition, why):
    if not condition:
        wrong.append(why)


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


# -- kustomize, as far as these files use it ----------------------------------------------------------------------------


def merged(base, patch, key="name"):
    """A strategic merge: maps by key, lists of named things by their name, everything else replaced."""
    if not isinstance(base, dict) or not isinstance(patch, dict) or patch.get("$patch") == "replace":
        return {k: v for k, v in patch.items() if k != "$patch"} if isinstance(patch, dict) else patch
    result = dict(base)
    for name, value in patch.items():
        old = base.get(name)
        named = lambda items, by: isinstance(items, list) and items and all(isinstance(i, dict) and by in i for i in items)
        by = "mountPath" if name == "volumeMounts" else key
        if named(old, by) and named(value, by):
            found = {item[by]: item for item in old}
            for item in value:
                found[item[by]] = merged(found[item[by]], item) if item[by] in found else item
            result[name] = list(found.values())
        else:
            result[name] = merged(old, value) if name in base else value
    return result


def built(folder):
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    known = {"apiVersion", "kind", "resources", "namespace", "images", "patches"}
    hold(set(kustomization) <= known, f"{folder}: this check builds no {sorted(set(kustomization) - known)}")
    objects = []
    for resource in kustomization["resources"]:
        path = (folder / resource).resolve()
        objects += built(path) if path.is_dir() else documents(path)
    objects = copy.deepcopy(objects)
    for patch in kustomization.get("patches", []):
        for change in documents(folder / patch["path"]):
            name = (change["kind"], change["metadata"]["name"])
            at = [i for i, o in enumerate(objects) if (o["kind"], o["metadata"]["name"]) == name]
            hold(len(at) == 1, f"{patch['path']}: patches {name}, which is there {len(at)} times")
            for i in at:
                objects[i] = merged(objects[i], change)
    for image in kustomization.get("images", []):
        for container in (c for o in objects for c in containers(o)):
            if container["image"].split(":")[0] == image["name"]:
                container["image"] = f"{image['newName']}:{image['newTag']}"
    if "namespace" in kustomization:
        for o in objects:
            if o["kind"] != "Namespace":
                o["metadata"]["namespace"] = kustomization["namespace"]
    return objects


def pod(o):
    return o.get("spec", {}).get("template", {}).get("spec", {})


def containers(o):
    return pod(o).get("containers", [])


# -- the binary ---------------------------------------------------------------------------------------------------------


def starts(binary, what, arguments, environment, folder):
    """Whether the binary takes these arguments in this environment; files that would be mounted stand in a folder."""
    at = lambda text: re.sub(r"^/etc/plybook/", f"{folder}/", text)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PLYBOOK_", "OTEL_"))}
    environment = {name: at(str(value)) for name, value in environment.items()}
    command, *rest = arguments
    asked = {"serve": ["config", "--check"], "migrate": ["migrate", "--help"], "health": ["health", "--help"]}.get(command)
    hold(asked, f"{what}: `plybook {command}` is nothing that a container does")
    if not asked:
        return
    ran = subprocess.run([binary, *asked, *map(at, rest)], env={**clean, **environment}, capture_output=True, text=True)
    hold(ran.returncode == 0, f"{what}: {ran.stderr.strip()}")
    # A misspelt variable is one that the binary's help does not name.
    told = subprocess.run([binary, command, "--help"], env=clean, capture_output=True, text=True).stdout
    for name in environment:
        hold(f"[env: {name}]" in told or not name.startswith(("PLYBOOK_", "OTEL_")), f"{what}: `plybook {command}` reads no {name}")


def mounted(binary, folder):
    """The files that a cluster would mount."""
    (folder / "keys").mkdir()
    (folder / "tls").mkdir()
    for name in ("signing.key", "seat-token.key"):
        subprocess.run([binary, "keygen", "--out", folder / "keys" / name], check=True, capture_output=True)
    certificate = trustme.CA().issue_cert("plybook.test")
    certificate.cert_chain_pems[0].write_to_path(folder / "tls" / "tls.crt")
    certificate.private_key_pem.write_to_path(folder / "tls" / "tls.key")
    (folder / "tls" / "tls.key").chmod(0o600)


# -- one after another --------------------------------------------------------------------------------------------------


def dockerfile(binary, folder):
    hadolint = shutil.which("hadolint", path=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
    ran = subprocess.run([hadolint, HERE / "Dockerfile"], capture_output=True, text=True)
    hold(ran.returncode == 0, f"Dockerfile: {ran.stdout}{ran.stderr}")
    text = (HERE / "Dockerfile").read_text()
    users = re.findall(r"^USER (\S+)$", text, re.M)
    hold(users and users[-1].split(":")[0].isdigit() and users[-1].split(":")[0] != "0", "Dockerfile: the last USER is a number and not root")
    environment = dict(re.findall(r"^ENV (\w+)=(\S+)$", text, re.M))
    command = json.loads(re.findall(r"^CMD (\[.*\])$", text, re.M)[-1])
    entry = json.loads(re.findall(r"^ENTRYPOINT (\[.*\])$", text, re.M)[-1])
    probe = json.loads(re.findall(r"^\s+CMD (\[.*\])$", text, re.M)[-1])
    starts(binary, "Dockerfile", command, {**environment, "PLYBOOK_INSECURE": "true"}, folder)
    starts(binary, "Dockerfile's HEALTHCHECK", probe[1:] + ["--help"], {}, folder)
    hold(entry == [probe[0]], "Dockerfile: the probe is the binary")
    hold(f"EXPOSE {PORT}" in text and environment["PLYBOOK_LISTEN"].endswith(f":{PORT}"), "Dockerfile: it listens where it says")


def compose(binary, folder):
    path = HERE / "compose.yaml"
    text = re.sub(r"\$\{\w+:-(\w*)\}", r"\1", path.read_text())
    data = yaml.safe_load(text)
    try:
        compose_spec.PyCompose.from_json(json.dumps(data)).validate()
    except ValueError as error:
        wrong.append(f"compose.yaml: {error}")
    services = data["services"]
    for name, service in services.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            hold(not source.startswith(".") or (HERE / source).exists(), f"compose.yaml: {name}: there is no {source}")
            hold(source.startswith(".") or source in data["volumes"], f"compose.yaml: {name}: there is no volume {source}")
        needs = service.get("depends_on", {})
        hold(set(needs) <= set(services), f"compose.yaml: {name} waits for somebody who is not there")
        if service["image"] != "plybook":
            continue
        starts(binary, f"compose.yaml: {name}", service["command"], service["environment"], folder)
        hold(service["read_only"] and service["cap_drop"] == ["ALL"], f"compose.yaml: {name} may do more than it needs")
        for published in service.get("ports", []):
            hold(published.startswith("127.0.0.1:") and published.endswith(f":{PORT}"), f"compose.yaml: {name} publishes {published}")
    targets = yaml.safe_load((HERE / "prometheus/prometheus.yaml").read_text())["scrape_configs"][0]["static_configs"][0]["targets"]
    hold(set(targets) == {f"{name}:{METRICS}" for name in services if name.startswith("node-")}, "prometheus.yaml asks every node")
    yaml.safe_load((HERE / "collector.yaml").read_text())


def kubernetes(binary, folder):
    for overlay in ("base", "production"):
        objects = built(HERE / "kubernetes" / overlay)
        for o in objects:
            what = f"kubernetes/{overlay}: {o['kind']} {o['metadata']['name']}"
            try:
                kubernetes_validate.validate(o, KUBERNETES, strict=True)
            except kubernetes_validate.ValidationError as error:
                wrong.append(f"{what}: {'.'.join(map(str, error.path))}: {error.message}")
            for container in containers(o):
                safe(what, pod(o), container)
                values = {e["name"]: e.get("value", SECRETS.get(e.get("valueFrom", {}).get("secretKeyRef", {}).get("key"))) for e in container["env"]}
                starts(binary, what, container["args"], values, folder)
        fit(overlay, {(o["kind"], o["metadata"]["name"]): o for o in objects})


def safe(what, spec, container):
    """The restricted Pod Security Standard, and a little more."""
    own, whole = container["securityContext"], spec["securityContext"]
    hold(own["allowPrivilegeEscalation"] is False and own["readOnlyRootFilesystem"] is True, f"{what}: may write or rise")
    hold(own["capabilities"]["drop"] == ["ALL"] and "add" not in own["capabilities"], f"{what}: has capabilities")
    hold(whole["runAsNonRoot"] is True and whole["runAsUser"] > 0, f"{what}: may be root")
    hold(whole["seccompProfile"]["type"] == "RuntimeDefault", f"{what}: has no seccomp profile")
    hold(spec["automountServiceAccountToken"] is False, f"{what}: has a token of the cluster")
    hold("limits" in container["resources"] and "requests" in container["resources"], f"{what}: says not what it needs")


def fit(overlay, objects):
    """Names and numbers that one object takes from another."""
    node = objects["Deployment", "plybook"]
    template = node["spec"]["template"]
    container = containers(node)[0]
    labels, environment = template["metadata"]["labels"], {e["name"]: e.get("value") for e in container["env"]}
    say = lambda condition, why: hold(condition, f"kubernetes/{overlay}: {why}")
    selects = lambda selector: selector.items() <= labels.items()
    say(selects(objects["Service", "plybook"]["spec"]["selector"]), "the service finds no node")
    say(selects(node["spec"]["selector"]["matchLabels"]), "the deployment finds no node")
    say(selects(objects["PodDisruptionBudget", "plybook"]["spec"]["selector"]["matchLabels"]), "the budget is for no node")
    target = objects["HorizontalPodAutoscaler", "plybook"]["spec"]["scaleTargetRef"]
    say((target["kind"], target["name"]) in objects, "the autoscaler scales nothing")
    say("replicas" not in node["spec"], "the deployment and the autoscaler both choose how many")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    say(ports == {"grpc": PORT, "metrics": METRICS}, "ports")
    say(environment["PLYBOOK_LISTEN"].endswith(f":{PORT}") and environment["PLYBOOK_METRICS_LISTEN"].endswith(f":{METRICS}"), "it listens elsewhere")
    opened = {port["port"] for rule in objects["NetworkPolicy", "plybook"]["spec"]["ingress"] for port in rule["ports"]}
    say(opened == {PORT, METRICS}, "the network lets others in")
    drain = int(environment["PLYBOOK_DRAIN_TIMEOUT_MS"]) / 1000
    say(template["spec"]["terminationGracePeriodSeconds"] >= drain + 5, "it is killed before it has drained")
    mounts, volumes = {m["name"] for m in container.get("volumeMounts", [])}, {v["name"] for v in template["spec"].get("volumes", [])}
    say(mounts == volumes, "volumes and mounts")
    tls = environment.get("PLYBOOK_TLS_CERT")
    say(not tls or "grpc" not in container["readinessProbe"], "the kubelet's gRPC probe speaks no TLS")
    say(bool(tls) != (environment["PLYBOOK_TLS_ELSEWHERE"] == "true"), "TLS ends in one place")
    for name, secret in ((n, e["valueFrom"]["secretKeyRef"]["name"]) for o in objects.values() for c in containers(o) for e in c["env"] if "valueFrom" in e for n in [o["kind"]]):
        say((secret == "plybook-database-owner") == (name == "Job"), f"{name} comes as {secret}")


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        mounted(binary, folder)
        for check in (dockerfile, compose, kubernetes):
            check(binary, folder)
            print(f"deploy/check: {check.__name__}: {'looked at' if not wrong else 'wrong'}")
    for why in wrong:
        print(f"deploy/check: {why}", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
