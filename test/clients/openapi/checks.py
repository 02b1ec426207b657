"""What schemathesis checks of this service beside its own checks."""

import re

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

# A schema tells what a value looks like, not what is there, nor what goes with each other. These 400 tell
# of something else that is not there, or is already; of fields that need, or exclude, another one; of a
# text of another language.
ELSEWHERE = re.compile(
    r"does not exist|is not in this list|that you may see|there is no |already|has no version of it"
    r"|without an owner|a delete names its record|goes with it|exclude each other|is for live queries|never changes"
    r"|a rule has a path, fields or a pattern|pattern\.expression|nothing says which records are meant"
    r'|names no object|config\.|Message":"query[ .\[]|PARSE_|BIND_'
)


@schemathesis.check
def valid_data_acceptance(ctx, response, case):
    """Data that the document allows is taken, unless it refers to what is not there."""
    if response.status_code == 400 and ELSEWHERE.search(response.text):
        return None
    return positive_data_acceptance(ctx, response, case)
