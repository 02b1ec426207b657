"""Tries the API document of a service. The last line that it prints is JSON that tells how that went."""

import json
import os
import subprocess
import sys
import tempfile

url = os.environ["BRAINTRUST_API_URL"]
here = os.path.dirname(os.path.abspath(__file__))

# Some requests to every operation, by chance; then those in which each field of each operation is at its
# bounds and beyond, as many as there is time for, which are all where nothing else runs.
PHASES = {
    "fuzzing": ["--max-examples", "3"],
    "coverage": ["--max-time", "90"],
}


def run(phase, folder):
    report = os.path.join(folder, f"{phase}.json")
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", os.path.join(here, "schemathesis.toml")]
        + ["run", f"{url}/openapi.json", "--header", f"Authorization: Bearer {os.environ['BRAINTRUST_API_KEY']}"]
        + ["--phases", phase, *PHASES[phase], "--seed", "1", "--no-shrink", "--continue-on-failure"]
        # `checks.py` has a check in its place.
        + ["--exclude-checks", "positive_data_acceptance", "--warnings", "off"]
        + ["--report", "json", "--report-json-path", report],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": here, "SCHEMATHESIS_HOOKS": "checks", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if not os.path.exists(report):
        sys.exit(done.stdout)
    with open(report) as file:
        told = json.load(file)
    return {
        "phase": phase,
        "operations": told["operations"]["total"],
        "tried": told["operations"]["tested"],
        "requests": told["test_cases"]["generated"],
        "failures": [
            {"title": failure["title"], "operations": failure["operations"]} for failure in told["failures"]
        ],
        "errors": told["errors"],
        "output": done.stdout if done.returncode != 0 else "",
    }


with tempfile.TemporaryDirectory() as folder:
    print(json.dumps([run(phase, folder) for phase in PHASES]))
