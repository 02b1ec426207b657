"""Calls of models through clients that the SDK wraps, and through clients that it finds by itself."""

import json
import os

import anthropic
import braintrust
import openai

provider = os.environ["PROVIDER_URL"]
logger = braintrust.init_logger(os.environ["PROJECT"])
tool = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
openai_tools = [{"type": "function", "function": {"name": "weather", "parameters": tool}}]
anthropic_tools = [{"name": "weather", "description": "The weather", "input_schema": tool}]
question = [{"role": "user", "content": "How much is 2 + 2?"}]


def openai_client():
    return openai.OpenAI(base_url=f"{provider}/v1", api_key="none", max_retries=0)


def anthropic_client():
    return anthropic.Anthropic(base_url=provider, api_key="none", max_retries=0)


def call(name, function):
    with braintrust.start_span(name) as span:
        try:
            function()
        except (openai.APIStatusError, anthropic.APIStatusError) as error:
            span.log(output=error.status_code)


def ask_openai(client, name):
    chat = {"model": "gpt-4.1", "messages": question}

    def stream(**more):
        for _ in client.chat.completions.create(
            **chat, stream=True, stream_options={"include_usage": True}, **more
        ):
            pass

    call(f"{name} chat", lambda: client.chat.completions.create(**chat, temperature=0.5))
    call(f"{name} stream", stream)
    call(f"{name} tools", lambda: client.chat.completions.create(**chat, tools=openai_tools))
    call(f"{name} tool stream", lambda: stream(tools=openai_tools))
    call(f"{name} response", lambda: client.responses.create(model="gpt-4.1", input="2 + 2?"))
    call(f"{name} embedding", lambda: client.embeddings.create(model="text-embedding-3-small", input="a"))
    call(f"{name} error", lambda: client.chat.completions.create(model="missing", messages=question))


def ask_anthropic(client, name):
    message = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": question}

    def stream(**more):
        with client.messages.stream(**message, **more) as events:
            for _ in events:
                pass

    call(f"{name} message", lambda: client.messages.create(**message, system="Be brief"))
    call(f"{name} stream", stream)
    call(f"{name} raw stream", lambda: list(client.messages.create(**message, stream=True)))
    call(f"{name} tools", lambda: client.messages.create(**message, tools=anthropic_tools))
    call(f"{name} tool stream", lambda: stream(tools=anthropic_tools))
    call(f"{name} error", lambda: client.messages.create(**{**message, "model": "missing"}))


ask_openai(braintrust.wrap_openai(openai_client()), "openai")
ask_anthropic(braintrust.wrap_anthropic(anthropic_client()), "anthropic")
found = braintrust.auto_instrument()
ask_openai(openai_client(), "auto openai")
ask_anthropic(anthropic_client(), "auto anthropic")
braintrust.flush()
print(json.dumps({name: found[name] for name in ("openai", "anthropic")}))
