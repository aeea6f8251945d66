"""The files for hosts in dist/ name only settings, metrics and commands that exist, and are valid."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY

import bot.metrics  # noqa: F401 - registers the metrics
from bot.settings import variable_names
from bot.store.folder import ALLOWED_FILES
from tests.browser import find_tool
from tests.paths import DOCS, ROOT

DIST = ROOT / "dist"
UNITS = sorted((DIST / "systemd").glob("*.service"))
MANIFESTS = sorted(path for path in (DIST / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")


def read_unit(path: Path) -> list[tuple[str, str]]:
    unit_lines = [line.partition("=") for line in path.read_text().splitlines() if line and line[0] not in "#["]
    return [(name, value) for name, _, value in unit_lines]


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.name))
def test_services_are_confined(unit: Path) -> None:
    tool = find_tool("systemd-analyze", package="systemd")
    result = subprocess.run(
        [tool, "security", "--offline=true", "--threshold=20", unit], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout.splitlines()[-1]


def test_backup_is_confined_as_the_bot() -> None:
    backup, bot_ = (read_unit(DIST / "systemd" / name) for name in ("buongioco-backup.service", "buongioco.service"))
    first = bot_.index(("CapabilityBoundingSet", ""))
    confined = bot_[first : bot_.index(("WantedBy", "multi-user.target"))]
    assert ("ProtectSystem", "strict") in confined
    assert backup[-len(confined) :] == confined, "copy the confinement of buongioco.service to buongioco-backup.service"


def test_service_keeps_compiled_searches_in_its_data_folder() -> None:
    unit = dict(read_unit(DIST / "systemd" / "buongioco.service"))
    setting, _, folder = unit["Environment"].partition("=")
    assert setting == "NUMBA_CACHE_DIR"
    assert Path(folder).parent == Path("/var/lib") / unit["StateDirectory"]
    # A new store accepts this name in its folder.
    assert Path(folder).name in ALLOWED_FILES


@pytest.mark.parametrize("name", ["telegram", "discord", "store"])
def test_credentials_are_the_files_of_secret_settings(name: str) -> None:
    settings_lines = dict(read_unit(DIST / "systemd" / f"{name}.conf"))
    credential, _, path = settings_lines["LoadCredential"].partition(":")
    setting, _, file = settings_lines["Environment"].partition("=")
    assert path == f"/etc/buongioco/{credential}"
    assert file == f"%d/{credential}"
    assert setting.endswith("_FILE")
    assert setting in variable_names()


def load_manifests() -> list[dict[str, Any]]:
    return [document for path in MANIFESTS for document in yaml.safe_load_all(path.read_text())]


def load_kustomization() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DIST / "kubernetes" / "kustomization.yaml").read_text())
    return loaded


def validate_manifests(manifests: list[dict[str, Any]], version: str = "") -> None:
    """Check manifests against the schemas of a version of Kubernetes, by default the latest."""
    import kubernetes_validate  # noqa: PLC0415 - it takes two seconds that other tests do not need

    for manifest in manifests:
        kubernetes_validate.validate(manifest, version or kubernetes_validate.latest_version(), strict=True)


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.25", ""], ids=["1.25", "latest"])
def test_manifests_fit_the_schemas_of_kubernetes(version: str) -> None:
    validate_manifests(load_manifests(), version)


def test_kustomization_names_all_manifests_and_known_settings() -> None:
    kustomization = load_kustomization()
    assert sorted(kustomization["resources"]) == [path.name for path in MANIFESTS], "kustomization.yaml: list all files"
    [settings] = kustomization["configMapGenerator"]
    names = {line.partition("=")[0] for line in settings["literals"]}
    pods = [manifest["spec"]["template"]["spec"] for manifest in load_manifests() if manifest["kind"] == "Deployment"]
    assert len(pods) == 2
    for pod in pods:
        [container] = pod["containers"]
        assert container["envFrom"] == [{"configMapRef": {"name": settings["name"]}}]
        names |= {variable["name"] for variable in container.get("env", [])}
        mounted = next(mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "secrets")
        files = [line.partition("=")[2] for line in settings["literals"] if "_FILE=" in line]
        assert files
        assert all(Path(file).parent == Path(mounted) for file in files)
    assert names <= set(variable_names()), "dist/kubernetes sets a variable that is not a setting"


def test_services_of_kubernetes_lead_to_ports_of_workers() -> None:
    manifests = load_manifests()
    templates = [manifest["spec"]["template"] for manifest in manifests if manifest["kind"] == "Deployment"]
    services = {
        manifest["metadata"]["name"]: manifest["spec"] for manifest in manifests if manifest["kind"] == "Service"
    }
    for service in services.values():
        selected = [
            template for template in templates if service["selector"].items() <= template["metadata"]["labels"].items()
        ]
        assert selected
        for template in selected:
            ports = {port["name"]: port["containerPort"] for port in template["spec"]["containers"][0]["ports"]}
            assert all(ports[port["targetPort"]] == port["port"] for port in service["ports"])
    [ingress] = [manifest["spec"] for manifest in manifests if manifest["kind"] == "Ingress"]
    for path in ingress["rules"][0]["http"]["paths"]:
        backend = path["backend"]["service"]
        assert backend["port"]["name"] in [port["name"] for port in services[backend["name"]]["ports"]]


def kustomize(folder: Path) -> subprocess.CompletedProcess[str]:
    kubectl = find_tool("kubectl", package="kubernetes-client")
    return subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False)


@pytest.mark.long
def test_kustomize_fills_in_image_and_address(tmp_path: Path) -> None:
    folder = shutil.copytree(DIST / "kubernetes", tmp_path / "kubernetes", ignore=shutil.ignore_patterns("*.env"))
    (folder / "host.env").write_text(
        "BOT_IMAGE=ghcr.io/ada/buongioco:1.0.0\nBUONGIOCO_PUBLIC_URL=https://cards.ada.example\n"
    )
    built = kustomize(folder)
    assert "HOST" not in re.findall(r"[\w.]+", built.stdout)
    manifests = list(yaml.safe_load_all(built.stdout))
    assert len(manifests) == len(load_manifests()) + 1
    validate_manifests(manifests)
    by_kind = {manifest["kind"]: manifest for manifest in manifests}
    [container] = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "ghcr.io/ada/buongioco:1.0.0"
    assert by_kind["ConfigMap"]["data"]["BUONGIOCO_TELEGRAM_WEBHOOK_URL"] == "https://cards.ada.example/telegram"
    ingress = by_kind["Ingress"]["spec"]
    assert ingress["rules"][0]["host"] == ingress["tls"][0]["hosts"][0] == "cards.ada.example"


@pytest.mark.long
@pytest.mark.parametrize("missing_value", ["host.env", "BOT_IMAGE", "BUONGIOCO_PUBLIC_URL"])
def test_kustomize_refuses_without_image_or_address(tmp_path: Path, missing_value: str) -> None:
    folder = shutil.copytree(DIST / "kubernetes", tmp_path / "kubernetes", ignore=shutil.ignore_patterns("*.env"))
    if missing_value != "host.env":
        lines = ["BOT_IMAGE=ghcr.io/ada/buongioco:1.0.0", "BUONGIOCO_PUBLIC_URL=https://cards.ada.example"]
        (folder / "host.env").write_text("\n".join(line for line in lines if not line.startswith(missing_value)))
    built = kustomize(folder)
    assert built.returncode
    assert missing_value in built.stderr


def read_queries() -> list[str]:
    """Return all queries of the dashboard and the alerts."""
    dashboard = json.loads((DIST / "grafana" / "buongioco.json").read_text())
    alerts = yaml.safe_load((DIST / "prometheus" / "alerts.yml").read_text())["groups"][0]["rules"]
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]] + [
        alert["expr"] for alert in alerts
    ]


def test_queries_and_docs_name_existing_metrics() -> None:
    series = {sample.name for family in REGISTRY.collect() for sample in family.samples}
    # A metric with labels has no series yet, but a name.
    names = series | set(REGISTRY._names_to_collectors)
    texts = [*read_queries(), *(path.read_text() for path in DOCS.glob("hosting*.md"))]
    used = {name for text in texts for name in re.findall(r"\bbuongioco_[a-z_]+", text)}
    assert len(used) > 15
    assert used <= names, f"dist/ or docs/hosting*.md name {used - names}, which do not exist"


def test_docs_explain_each_alert() -> None:
    rules = yaml.safe_load((DIST / "prometheus" / "alerts.yml").read_text())["groups"][0]["rules"]
    page = (DOCS / "hosting-operate.md").read_text()
    explained = re.findall(r"^\| `Buongioco(\w+)` \|", page, re.MULTILINE)
    assert [rule["alert"].removeprefix("Buongioco") for rule in rules] == explained, (
        "docs/hosting-operate.md must list the alerts of alerts.yml in their order"
    )
