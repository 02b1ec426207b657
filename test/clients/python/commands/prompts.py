"""Stored by the command `braintrust push`."""

import os

import braintrust

project = braintrust.projects.create(name=os.environ["PROJECT"])
project.prompts.create(
    name="Greeting",
    slug="greeting",
    messages=[{"role": "user", "content": "hi {{who.name}}"}],
    model="m1",
    params={"temperature": 0},
    metadata={"by": "push"},
)
