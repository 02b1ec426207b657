"""Experiments that a program writes by itself, and reads again."""

import json
import os

import braintrust

project = os.environ["PROJECT"]


def write(name, score, **more):
    experiment = braintrust.init(project, experiment=name, metadata={"commit": name}, **more)
    ids = [
        experiment.log(input=n, output=n, expected=n, scores={"exact": score}, metrics={"tokens": n}, tags=["t"])
        for n in (1, 2)
    ]
    return experiment, ids


write("base", 0.25)[0].flush()
write("between", 0.5)[0].flush()
experiment, ids = write("new", 1, base_experiment="base")
with experiment.start_span("traced") as span:
    span.log(input=3, output=3, scores={"exact": 1})
    with span.start_span("child", type="llm") as child:
        child.log(input=[{"role": "user", "content": "hi"}], metrics={"prompt_tokens": 5, "completion_tokens": 2})
experiment.log_feedback(id=ids[0], scores={"human": 0.5}, comment="as expected", expected="by a person")
summary = experiment.summarize()
# Goes on where it was, under the same name.
again = braintrust.init(project, experiment="new", update=True)
again.log(input=4, output=4, scores={"exact": 1})
again.flush()
read = braintrust.init(project, experiment="new", open=True)
rows = list(read.fetch())
print(
    json.dumps(
        {
            "same": again.id == experiment.id,
            "base": summary.comparison_experiment_name,
            "exact": summary.scores["exact"].as_dict(),
            "rows": sorted(row["input"] for row in rows if isinstance(row["input"], int)),
            "cases": len(list(read.as_dataset())),
            "id": experiment.id,
        }
    )
)
