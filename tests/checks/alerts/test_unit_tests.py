"""The promtool unit tests cover every alert, where it fires and where it nearly does."""

import pytest
from project import ALERT_RULES, RECORDED, inputs, minutes, unit_tests


def expectations(group: dict, alert: str) -> dict[int, list]:
    """The expectations of a group of tests for an alert, by minute."""
    return {
        minutes(test["eval_time"]): test["exp_alerts"]
        for test in group.get("alert_rule_test", [])
        if test["alertname"] == alert
    }


def series(group: dict) -> set[str]:
    return {entry["series"].partition("{")[0] for entry in group["input_series"]}


def fires_to_the_minute(group: dict, alert: str) -> bool:
    expected = expectations(group, alert)
    return any(fires and expected.get(minute - 1) == [] for minute, fires in expected.items())


def stays_silent_in_a_near_miss(group: dict, alert: str) -> bool:
    """Silent throughout, although the objective and the value compared with it exist."""
    expected = expectations(group, alert)
    needed = inputs(ALERT_RULES[alert])
    objectives = {name for name in needed if name.startswith("sqlqueue_objective_")}
    given = series(group)
    return (
        group["name"].startswith("near miss: ")
        and len(expected) > 1
        and not any(expected.values())
        and objectives <= given
        and bool((needed - objectives) & given)
    )


@pytest.mark.parametrize("alert", ALERT_RULES)
def test_an_alert_fires_to_the_minute_and_stays_silent_in_a_near_miss(alert):
    groups = unit_tests()
    assert any(fires_to_the_minute(group, alert) for group in groups)
    assert any(stays_silent_in_a_near_miss(group, alert) for group in groups)


def test_the_groups_say_what_they_show():
    names = [group["name"] for group in unit_tests()]
    assert len(names) == len(set(names))
    assert all(name.startswith(("fires: ", "near miss: ", "hand over: ")) for name in names)


def test_the_unit_tests_name_alerts_that_exist():
    named = {test["alertname"] for group in unit_tests() for test in group.get("alert_rule_test", [])}
    assert named <= ALERT_RULES.keys()


def test_the_unit_tests_feed_what_some_rule_reads():
    read = {name for rule in [*ALERT_RULES.values(), *RECORDED.values()] for name in inputs(rule)}
    # For the numbers in annotations.
    text = "\n".join(annotation for rule in ALERT_RULES.values() for annotation in rule.raw["annotations"].values())
    assert [name for group in unit_tests() for name in series(group) if name not in read and name not in text] == []


def test_a_silent_test_without_the_metrics_would_not_count():
    group = {
        "name": "near miss: nothing is there",
        "input_series": [{"series": "sqlqueue_objective_max_attempts", "values": "10x5"}],
        "alert_rule_test": [
            {"eval_time": f"{minute}m", "alertname": "SqlQueuePoisonJob", "exp_alerts": []} for minute in (4, 5)
        ],
    }
    assert not stays_silent_in_a_near_miss(group, "SqlQueuePoisonJob")
    group["input_series"].append({"series": "sqlqueue_max_attempts", "values": "9x5"})
    assert stays_silent_in_a_near_miss(group, "SqlQueuePoisonJob")
    group["alert_rule_test"][1]["exp_alerts"] = [{"exp_labels": {}}]
    assert not stays_silent_in_a_near_miss(group, "SqlQueuePoisonJob")
    assert fires_to_the_minute(group, "SqlQueuePoisonJob")
