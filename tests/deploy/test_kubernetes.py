"""`deploy/kubernetes`: accepted by the schemas of Kubernetes, and of one piece with the rest of `deploy/`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands
from django.urls import Resolver404, resolve

from config import gunicorn
from tests.deploy.files import DEPLOY, ROOT, checked, documented
from tests.deploy.isolation import USER

FOLDER = DEPLOY / "kubernetes"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
RESOURCES = [each for name in FILES for each in yaml.safe_load_all((FOLDER / name).read_text())]
PODS = {
    each["metadata"]["name"]: each["spec"]["template"]
    for each in RESOURCES
    if "template" in each.get("spec", {})
}
GUIDE = (ROOT / "docs/kubernetes.md").read_text()
(SETTINGS,) = (each["data"] for each in RESOURCES if each["kind"] == "ConfigMap")


def containers() -> Iterator[tuple[str, Any]]:
    for name, pod in PODS.items():
        (container,) = pod["spec"]["containers"]
        yield name, container


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.29", "1.37"])
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_kubernetes_accepts_the_manifests(resource: Any, version: str) -> None:
    checker = pytest.importorskip("kubernetes_validate")
    checker.validate(resource, version, strict=True)
    assert "1.29" in GUIDE, "the oldest version that is named"


def test_every_part_is_there() -> None:
    kinds = {(each["kind"], each["metadata"]["name"]) for each in RESOURCES}
    assert kinds == {
        ("ConfigMap", "extension-platform"), ("Job", "migrate"), ("Deployment", "scheduler"),
        *((kind, name) for kind in ("Deployment", "PodDisruptionBudget") for name in ("web", "worker")),
        ("Service", "web"),
    }  # fmt: skip
    for each in RESOURCES:
        if each["kind"] in ("Service", "PodDisruptionBudget"):
            selector = each["spec"]["selector"]
            labels = PODS[each["metadata"]["name"]]["metadata"]["labels"]
            assert selector.get("matchLabels", selector) == labels


def test_pods_can_do_little_and_take_little() -> None:
    for name, pod in PODS.items():
        context = pod["spec"]["securityContext"]
        assert (context["runAsNonRoot"], context["runAsUser"]) == (True, int(USER)), name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not pod["spec"]["automountServiceAccountToken"], name
        assert not pod["spec"]["enableServiceLinks"], (
            "they would be variables that could be taken for settings"
        )
        for volume in pod["spec"]["volumes"]:
            assert "secret" in volume or "sizeLimit" in volume["emptyDir"], name
    for name, container in containers():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }, name  # fmt: skip
        assert all(
            container["resources"][kind].keys() == {"cpu", "memory"} for kind in ("requests", "limits")
        )
    metrics = {volume["name"]: volume for volume in PODS["web"]["spec"]["volumes"]}["metrics"]["emptyDir"]
    assert metrics["medium"] == "Memory"
    mounts = {each["name"]: each["mountPath"] for each in dict(containers())["web"]["volumeMounts"]}
    assert mounts["metrics"] == str(gunicorn.MEMORY)


def test_one_image_runs_commands_of_ours() -> None:
    assert len({container["image"] for _, container in containers()}) == 1
    assert {container["args"][0] for _, container in containers()} == {"migrate", "serve", "work", "schedule"}
    assert {container["args"][0] for _, container in containers()} <= get_commands().keys()


def test_probes_ask_pages_that_exist_and_a_stop_waits_for_requests() -> None:
    found = dict(containers())
    for kind, path in (
        ("startupProbe", "/healthz"),
        ("livenessProbe", "/healthz"),
        ("readinessProbe", "/readyz"),
    ):
        assert found["web"][kind]["httpGet"]["path"] == path
        try:
            resolve(path)
        except Resolver404:
            pytest.fail(path)
    pause = int(found["web"]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert PODS["web"]["spec"]["terminationGracePeriodSeconds"] > pause + gunicorn.graceful_timeout
    alive = {found[name]["livenessProbe"]["exec"]["command"][2] for name in ("worker", "scheduler")}
    assert len(alive) == 1
    documented_check = alive.pop().replace('"-30 seconds"', "'-30 seconds'")
    assert documented_check in (ROOT / "docs/operations-run.md").read_text()


def test_secrets_are_the_files_that_the_script_makes(tmp_path: Path) -> None:
    checked(sys.executable, str(DEPLOY / "make_secrets.py"), str(tmp_path / "secrets"))
    made = {file.name for file in (tmp_path / "secrets").iterdir()}
    read = {name.removesuffix("_FILE"): path for name, path in SETTINGS.items() if name.endswith("_FILE")}
    assert read == {name: f"/run/secrets/platform/{name}" for name in made}
    assert {name for name in SETTINGS if not name.endswith("_FILE")} <= documented()
    for name, pod in PODS.items():
        (volume,) = [each["secret"] for each in pod["spec"]["volumes"] if "secret" in each]
        assert volume["secretName"] == "extension-platform", name
        assert volume["defaultMode"] == 0o440, "readable by the group of fsGroup, which the process has"


def test_guide_names_files_and_resources_that_exist() -> None:
    assert set(re.findall(r"deploy/kubernetes/(\w+\.yaml)", GUIDE)) <= set(FILES)
    names = {f"{each['kind'].lower()}/{each['metadata']['name']}" for each in RESOURCES}
    assert set(re.findall(r"\b(?:deployment|job|service)/\w+", GUIDE)) <= names
