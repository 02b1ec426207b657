"""Calls of models that instrumentations of OpenTelemetry report, over HTTP or gRPC."""

import json
import os

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider_url = os.environ["PROVIDER_URL"]
kind = os.environ["KIND"]
question = "How much is 2 + 2?"
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def exporter():
    headers = {"authorization": f"Bearer {os.environ['BRAINTRUST_API_KEY']}", "x-bt-parent": os.environ["PARENT"]}
    if "GRPC_ENDPOINT" in os.environ:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(endpoint=os.environ["GRPC_ENDPOINT"], headers=tuple(headers.items()), insecure=True)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import Compression, OTLPSpanExporter

    endpoint = f"{os.environ['BRAINTRUST_API_URL']}/otel/v1/traces"
    return OTLPSpanExporter(endpoint=endpoint, headers=headers, compression=Compression.Gzip)


def call_openai():
    import openai

    client = openai.OpenAI(base_url=f"{provider_url}/v1", api_key="none", max_retries=0)
    chat = {"model": "gpt-4.1", "messages": [{"role": "user", "content": question}]}
    function = {"name": "weather", "parameters": schema}

    def stream():
        usage = {"include_usage": True}
        for _ in client.chat.completions.create(**chat, stream=True, stream_options=usage):
            pass

    yield "chat", lambda: client.chat.completions.create(**chat, temperature=0.5)
    yield "stream", stream
    tools = [{"type": "function", "function": function}]
    yield "tools", lambda: client.chat.completions.create(**chat, tools=tools)
    yield "response", lambda: client.responses.create(model="gpt-4.1", input=question)
    yield "embedding", lambda: client.embeddings.create(model="text-embedding-3-small", input="a")
    yield "error", lambda: client.chat.completions.create(**{**chat, "model": "missing"})


def call_anthropic():
    import anthropic

    client = anthropic.Anthropic(base_url=provider_url, api_key="none", max_retries=0)
    message = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": question}]}
    tools = [{"name": "weather", "description": "The weather", "input_schema": schema}]
    yield "message", lambda: client.messages.create(**message, system="Be brief")
    yield "raw stream", lambda: list(client.messages.create(**message, stream=True))
    yield "tools", lambda: client.messages.create(**message, tools=tools)
    yield "error", lambda: client.messages.create(**{**message, "model": "missing"})


def call_langchain():
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="gpt-4.1", base_url=f"{provider_url}/v1", api_key="none", max_retries=0)
    chain = ChatPromptTemplate.from_messages([("system", "Be brief"), ("user", "{question}")]) | model
    yield "chain", lambda: chain.invoke({"question": question})
    yield "chain stream", lambda: list(chain.stream({"question": question}))


def call_agent():
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=f"{provider_url}/v1", api_key="none"))
    Agent.instrument_all()
    agent = Agent(model, system_prompt="Be brief", name="calculator")
    yield "agent", lambda: agent.run_sync(question)


def instrument():
    if kind == "openinference-openai":
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument()
        return call_openai()
    if kind == "openinference-anthropic":
        from openinference.instrumentation.anthropic import AnthropicInstrumentor

        AnthropicInstrumentor().instrument()
        return call_anthropic()
    if kind == "openinference-langchain":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument()
        return call_langchain()
    if kind == "openllmetry-openai":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument()
        return call_openai()
    if kind == "openllmetry-anthropic":
        from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

        AnthropicInstrumentor().instrument()
        return call_anthropic()
    if kind == "anthropic":
        # Its client reports by itself.
        return call_anthropic()
    return call_agent()


provider = TracerProvider(resource=Resource({"service.name": "calls", "service.version": "1"}))
provider.add_span_processor(BatchSpanProcessor(exporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("calls")
errors = {}
for name, call in instrument():
    with tracer.start_as_current_span(name):
        try:
            call()
        except Exception as error:
            errors[name] = str(error)
provider.shutdown()
print(json.dumps(errors))
