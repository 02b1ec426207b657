"""Two evaluations over the same dataset; the second is compared with the first."""

import json
import os

import braintrust
from braintrust import Eval

project = os.environ["PROJECT"]
dataset = braintrust.init_dataset(project, "cases", use_output=False)
for number in (1, 2, 3):
    dataset.insert(input=number, expected=2 * number, id=f"case-{number}", metadata={"even": number % 2 == 0})
dataset.flush()


def exact(input, output, expected):
    return 1 if output == expected else 0


def near(input, output, expected):
    return braintrust.Score(name="near", score=1 / (1 + abs(output - expected)), metadata={"by": "distance"})


def run(name, task):
    cases = braintrust.init_dataset(project, "cases", use_output=False)
    result = Eval(project, experiment_name=name, data=cases, task=task, scores=[exact, near], metadata={"kind": name})
    return result.summary


def double(input, hooks):
    hooks.metadata["asked"] = input
    with hooks.span.start_span("inner") as span:
        span.log(input=input, output=2 * input)
    if input == 3:
        raise ValueError("three is too many")
    return 2 * input


run("first", lambda input: 2 if input == 1 else 0)
summary = run("second", double)
print(
    json.dumps(
        {
            "name": summary.experiment_name,
            "base": summary.comparison_experiment_name,
            "scores": {name: score.as_dict() for name, score in summary.scores.items()},
            "metrics": sorted(summary.metrics),
            "text": str(summary),
        }
    )
)
