"""Spans of the SDK and of OpenTelemetry within each other, in one trace."""

import json
import os

os.environ["BRAINTRUST_OTEL_COMPAT"] = "true"

import braintrust
from braintrust.otel import BraintrustSpanProcessor
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

provider = TracerProvider()
provider.add_span_processor(BraintrustSpanProcessor(parent=f"project_name:{os.environ['PROJECT']}"))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("bridge")
logger = braintrust.init_logger(os.environ["PROJECT"])

with logger.start_span("outer") as outer:
    with tracer.start_as_current_span("middle") as middle:
        middle.set_attribute("gen_ai.request.model", "gpt-4.1")
        with braintrust.start_span("inner") as inner:
            inner.log(output="😀")
logger.flush()
provider.shutdown()
print(json.dumps({"root": outer.root_span_id}))
