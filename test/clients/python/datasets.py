"""Records of a dataset: written, changed, removed, and read as they were earlier."""

import json
import os

import braintrust

project = os.environ["PROJECT"]


def records(dataset):
    fields = ("id", "input", "expected", "metadata", "tags")
    return sorted(([record.get(field) for field in fields] for record in dataset.fetch()), key=lambda row: row[0])


dataset = braintrust.init_dataset(project, "cases", use_output=False, description="of arithmetic")
for name in "abc":
    dataset.insert(id=name, input={"name": name}, expected=[1.5, None, 2**53 + 1], metadata={"n": name}, tags=["t"])
dataset.flush()
before = braintrust.init_dataset(project, "cases", use_output=False).version
if hasattr(type(dataset), "update"):
    dataset.update(id="a", expected="changed", metadata={"more": True})
else:
    dataset.insert(id="a", input={"name": "a"}, expected="changed", metadata={"n": "a", "more": True}, tags=["t"])
dataset.delete("b")
dataset.insert(input="made up", expected=None)
dataset.flush()
now = braintrust.init_dataset(project, "cases", use_output=False)
summary = now.summarize()
print(
    json.dumps(
        {
            "now": records(now),
            "before": records(braintrust.init_dataset(project, "cases", use_output=False, version=before)),
            "name": summary.dataset_name,
            "total": summary.data_summary and summary.data_summary.total_records,
            "newer": int(now.version) > int(before),
            "url": summary.dataset_url,
        }
    )
)
