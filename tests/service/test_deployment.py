"""The example service's deployment: the compose file against its schema and its parts, and the loading of Qdrant."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from config import ServiceConfig
from load import fill, wait_for_cluster
from qdrant_client import QdrantClient

from llama_index_condense_plus.demo.embedding import NgramEmbedding

yaml = pytest.importorskip("yaml")
SERVICE = Path(__file__).parents[2] / "examples" / "service"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((SERVICE / "docker-compose.yml").read_text("utf-8"))


def test_compose_file_follows_the_compose_specification(compose):
    schemas = pytest.importorskip("check_jsonschema.builtin_schemas")
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(compose, schemas.get_builtin_schema("vendor.compose-spec"))


def test_compose_file_names_only_what_exists(compose):
    services = compose["services"]
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        named = [volume.split(":")[0] for volume in service.get("volumes", ())]
        assert all(n in compose["volumes"] or (SERVICE / n).exists() for n in named)
        options = {
            name.removeprefix("SERVICE_").lower() for name in service.get("environment", ()) if "SERVICE_" in name
        }
        assert options <= set(ServiceConfig.model_fields)
        for url in re.findall(r"(?:redis|http|postgresql\+asyncpg)://(?:\S*@)?([\w-]+):", str(service)):
            assert url in {*services, "qdrant", "127.0.0.1", "host.docker.internal"}
        if build := service.get("build"):
            assert (SERVICE / build["context"] / build["dockerfile"]).exists()
    assert [name for name, service in services.items() if "ports" in service] == ["nginx"]
    depends = [service["depends_on"] for service in services.values() if isinstance(service.get("depends_on"), dict)]
    waited = {name for d in depends for name, how in d.items() if how["condition"] == "service_healthy"}
    assert waited
    assert all("healthcheck" in services[name] for name in waited)


def test_compose_file_makes_one_cluster_of_three_nodes(compose):
    services = compose["services"]
    nodes = {name: service for name, service in services.items() if name.startswith("qdrant")}
    assert all(node["environment"]["QDRANT__CLUSTER__ENABLED"] == "true" for node in nodes.values())
    assert all(f"http://{name}:6335" == node["command"][-1] for name, node in nodes.items())
    first = [name for name, node in nodes.items() if "--bootstrap" not in node["command"]]
    assert first == ["qdrant-1"]
    assert all(n["command"][2] == "http://qdrant-1:6335" for name, n in nodes.items() if name not in first)
    assert services["load"]["environment"]["QDRANT_NODES"] == str(len(nodes)) == "3"
    image = services["qdrant-1"]["image"]
    client = re.search(r"qdrant-client==(\d+\.\d+)\.\*", (SERVICE / "Dockerfile").read_text("utf-8"))
    assert image.startswith(f"qdrant/qdrant:v{client[1]}.")


def test_nginx_knows_the_workers_and_waits_longer_than_they_do(compose):
    conf = (SERVICE / "nginx.conf").read_text("utf-8")
    workers = [name for name in compose["services"] if name.startswith("worker")]
    assert re.findall(r"server ([\w-]+):8080;", conf) == workers
    config = ServiceConfig(_env_file=None)
    longest = float(re.search(r"proxy_read_timeout (\d+)s", conf)[1])
    assert longest > config.answer_timeout_s + config.wait_s
    size = int(re.search(r"client_max_body_size (\d+)k", conf)[1]) * 1024
    assert size >= config.max_body_bytes


def test_load_fills_a_collection_once_and_goes_on_where_it_was_cut_short():
    client, embedding = QdrantClient(":memory:"), NgramEmbedding()
    whole = fill(client, "documents", embedding)
    client.delete("documents", [point.id for point in client.scroll("documents", limit=40)[0]])
    assert client.count("documents").count == whole - 40
    assert fill(client, "documents", embedding) == whole
    embedding = None  # nothing is embedded again
    assert fill(client, "documents", embedding) == whole


def test_load_waits_until_the_nodes_have_found_one_another(monkeypatch):
    told = [ConnectionError(), SimpleNamespace(peers={"1": {}}), SimpleNamespace(peers={"1": {}, "2": {}})]

    def cluster_status():
        answer = told.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("load.time.sleep", lambda _: None)
    wait_for_cluster(SimpleNamespace(cluster_status=cluster_status), 2)
    assert not told
    monkeypatch.setattr("load.PATIENCE_S", 0.0)
    with pytest.raises(TimeoutError, match="2 nodes"):
        wait_for_cluster(SimpleNamespace(cluster_status=cluster_status), 2)
