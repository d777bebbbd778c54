"""The dashboards as code. `python -m generate`, run in `dashboards/`, writes the JSON files beside it."""
