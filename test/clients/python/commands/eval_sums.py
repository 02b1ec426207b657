"""Run by the command `braintrust eval`."""

import os

from braintrust import Eval

Eval(
    os.environ["PROJECT"],
    experiment_name="sums",
    data=[{"input": [1, 2], "expected": 3}, {"input": [2, 2], "expected": 5}],
    task=lambda input: sum(input),
    scores=[lambda input, output, expected: {"name": "exact", "score": 1 if output == expected else 0}],
    trial_count=2,
)
