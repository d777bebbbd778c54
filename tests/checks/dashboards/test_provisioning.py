"""The provisioning files have the keys that Grafana documents, and fit the dashboards."""

import yaml

from model import FOLDER, load, variables

PROVISIONING = FOLDER / "provisioning"


def test_the_provider_has_the_documented_keys():
    config = yaml.safe_load((PROVISIONING / "dashboards/sqlqueue.yaml").read_text())
    assert config["apiVersion"] == 1
    (provider,) = config["providers"]
    assert set(provider) <= {
        *("name", "orgId", "folder", "folderUid", "type", "disableDeletion"),
        *("updateIntervalSeconds", "allowUiUpdates", "options"),
    }
    assert provider["type"] == "file"
    # The folder that the README copies the files to.
    assert f"cp dashboards/*.json {provider['options']['path']}/\n" in (FOLDER / "README.md").read_text()


def test_the_data_source_is_of_the_type_that_the_dashboards_ask_for():
    config = yaml.safe_load((PROVISIONING / "datasources/prometheus.yaml").read_text())
    assert config["apiVersion"] == 1
    (source,) = config["datasources"]
    for dashboard in load().values():
        assert [variable["query"] for variable in variables(dashboard, "datasource")] == [source["type"]]
    assert source["jsonData"]["timeInterval"]
