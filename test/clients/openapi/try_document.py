"""Tries the API document of a service, and prints what fails, then how many operations were tried."""

import json
import os
import subprocess
import sys
import tempfile

url = os.environ["BRAINTRUST_API_URL"]
here = os.path.dirname(os.path.abspath(__file__))

# `checks.py` has it, for what the document can promise.
left_out = "positive_data_acceptance"

with tempfile.TemporaryDirectory() as folder:
    report = os.path.join(folder, "report.json")
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", os.path.join(here, "schemathesis.toml")]
        + ["run", f"{url}/openapi.json", "--header", f"Authorization: Bearer {os.environ['BRAINTRUST_API_KEY']}"]
        + ["--phases", "coverage,fuzzing", "--max-examples", os.environ.get("EXAMPLES", "2")]
        + ["--seed", "1", "--no-shrink", "--continue-on-failure", "--warnings", "off"]
        + ["--exclude-checks", left_out, "--report", "json", "--report-json-path", report],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": here, "SCHEMATHESIS_HOOKS": "checks", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if not os.path.exists(report):
        sys.exit(done.stdout)
    with open(report) as file:
        tried = json.load(file)

print(
    json.dumps(
        {
            "operations": tried["operations"],
            "requests": tried["test_cases"]["generated"],
            "failures": [
                {"title": failure["title"], "operations": failure["operations"]}
                for failure in tried["failures"]
            ],
            "errors": tried["errors"],
            "output": done.stdout if done.returncode != 0 else "",
        }
    )
)
