"""Traces of an application: nested, with errors, feedback, and a part that another process adds."""

import json
import os

import braintrust
from braintrust import current_span, init_logger, start_span, traced

logger = init_logger(os.environ["PROJECT"])

if "PARENT" in os.environ:
    with start_span("elsewhere", parent=os.environ["PARENT"]) as span:
        span.log(output="from another process")
    logger.flush()
    print(json.dumps({"id": span.id}))
    raise SystemExit


logger.log(input="alone", output={"deep": {"deeper": True}}, metadata={"nothing": None})
logger.flush()


@traced
def add(a, b=1):
    current_span().log(metadata={"model": "m1", "text": "😀 \x00 \u2028", "big": 2**63 + 1})
    return a + b


@traced("failing", type="tool")
def fail():
    raise RuntimeError("no such tool")


with logger.start_span("request", input={"a": [1, None, {"b": 2.5}]}) as request:
    add(1, b=2)
    try:
        fail()
    except RuntimeError:
        pass
    request.log(output="done", scores={"quality": 0.5}, tags=["one"], metrics={"tokens": 12})
    request.log_feedback(scores={"human": 1}, comment="well done", metadata={"user": "ada"})
logger.log_feedback(id=request.id, expected="finished", tags=["two"], source="external")
logger.flush()
print(json.dumps({"id": request.id, "parent": request.export(), "span": request.span_id, "root": request.root_span_id}))
