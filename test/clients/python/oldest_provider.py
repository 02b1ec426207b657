"""Calls of models as the oldest SDK wraps them: a client of OpenAI, without usage of streams."""

import json
import os

import braintrust
import openai

braintrust.init_logger(os.environ["PROJECT"])
client = braintrust.wrap_openai(openai.OpenAI(base_url=f"{os.environ['PROVIDER_URL']}/v1", api_key="none"))
chat = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "How much is 2 + 2?"}]}
with braintrust.start_span("chat"):
    client.chat.completions.create(**chat, temperature=0.5)
with braintrust.start_span("stream"):
    for _ in client.chat.completions.create(**chat, stream=True):
        pass
braintrust.current_logger().flush()
print(json.dumps("done"))
