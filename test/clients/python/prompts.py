"""Prompts that are stored here, loaded and filled in."""

import json
import os

import braintrust

project = os.environ["PROJECT"]
prompt = braintrust.load_prompt(project, "greeting", defaults={"model": "m0", "temperature": 0.5})
print(
    json.dumps(
        {
            "built": prompt.build(who={"name": "Ada"}),
            "id": prompt.id,
            "name": prompt.name,
            "first": braintrust.load_prompt(project, "greeting", version=os.environ["VERSION"]).build(who={"name": "Ada"}),
        }
    )
)
