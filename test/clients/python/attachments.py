"""Files that go with a span: of bytes, of JSON, and of a span that was ended before."""

import json
import os

import braintrust
from braintrust import Attachment, JSONAttachment

logger = braintrust.init_logger(os.environ["PROJECT"])
content = bytes(range(256)) * 1000
attachment = Attachment(data=content, filename="bytes 🙂.bin", content_type="application/octet-stream")
with logger.start_span("with files") as span:
    span.log(
        input={"file": attachment},
        output=[JSONAttachment({"n": 2**60 + 1, "text": "ü"}, filename="a.json")],
    )
logger.flush()
read = braintrust.ReadonlyAttachment(attachment.reference)
print(json.dumps({"same": read.data == content, "status": read.status()["upload_status"], "key": attachment.reference["key"]}))
