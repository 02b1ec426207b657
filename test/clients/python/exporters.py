"""Traces and logs of a program, sent by the exporters of OpenTelemetry over HTTP or gRPC."""

import json
import logging
import os

from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

headers = {"authorization": f"Bearer {os.environ['BRAINTRUST_API_KEY']}", "x-bt-parent": os.environ["PARENT"]}
if "GRPC_ENDPOINT" in os.environ:
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    given = {"endpoint": os.environ["GRPC_ENDPOINT"], "headers": tuple(headers.items()), "insecure": True}
    span_exporter, log_exporter = OTLPSpanExporter(**given), OTLPLogExporter(**given)
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import Compression, OTLPSpanExporter

    url = f"{os.environ['BRAINTRUST_API_URL']}/otel/v1"
    given = {"headers": headers, "compression": Compression.Gzip}
    span_exporter = OTLPSpanExporter(endpoint=f"{url}/traces", **given)
    log_exporter = OTLPLogExporter(endpoint=f"{url}/logs", headers=headers)

resource = Resource({"service.name": "exporters", "host.cpus": 8})
spans, logs = TracerProvider(resource=resource), LoggerProvider(resource=resource)
spans.add_span_processor(BatchSpanProcessor(span_exporter))
logs.add_log_record_processor(BatchLogRecordProcessor(log_exporter))
tracer = spans.get_tracer("exporters", "1.0")
logger = logging.getLogger("exporters")
logger.setLevel(logging.INFO)
logger.addHandler(LoggingHandler(logger_provider=logs))

attributes = {
    "text": "😀 \u2028",
    "integer": 2**53 + 1,
    "double": 0.1,
    "yes": True,
    "texts": ["a", "b"],
    "integers": [1, 2**62 + 1],
}
start = 1_750_000_000_123_456_789
with tracer.start_as_current_span("request", kind=SpanKind.SERVER, start_time=start, attributes=attributes) as request:
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "2 + 2?"}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "4 🙂"}]}]),
    }
    with tracer.start_as_current_span("chat gpt-4.1", kind=SpanKind.CLIENT, attributes=call) as chat:
        chat.add_event("first token", {"after": 1.5})
        chat.set_status(Status(StatusCode.OK))
        logger.warning("slow: %s", "1.5 s")
    try:
        with tracer.start_as_current_span("tool", links=[Link(chat.get_span_context(), {"why": "asked"})]):
            raise ValueError("no such tool")
    except ValueError:
        pass
for number in range(int(os.environ.get("MORE", "0"))):
    tracer.start_span(f"more {number}", context=trace.set_span_in_context(request)).end()
spans.shutdown()
logs.shutdown()
context = request.get_span_context()
print(json.dumps({"trace": f"{context.trace_id:032x}", "span": f"{context.span_id:016x}"}))
