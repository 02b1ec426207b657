"""Rows that are written while the service is away, answers with errors, or is not heard."""

import json
import os
import sys

import braintrust

logger = braintrust.init_logger(os.environ["PROJECT"])
logger.log(input="before")
logger.flush()
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    name = line.strip()
    with logger.start_span(name) as span:
        span.log(input=name, metrics={"count": 1})
        with span.start_span(f"{name} child") as child:
            child.log(output=name)
    logger.flush()
    print(json.dumps(name), flush=True)
