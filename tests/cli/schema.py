# SPDX-License-Identifier: GPL-2.0-or-later
"""schema.py SCHEMA FILE: the document obeys the schema, and has no member that it does not name."""
import json
import sys

import jsonschema


def close(schema, inside_all_of=False):
    """Lets documents have no members but those named: what is new must be documented."""
    if isinstance(schema, list):
        return [close(item, inside_all_of) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: close(value, key == "allOf") for key, value in schema.items()}
    if "allOf" in schema:
        schema["unevaluatedProperties"] = False
    elif schema.get("type") == "object" and "properties" in schema and not inside_all_of:
        schema["unevaluatedProperties"] = False
    return schema


schema = json.load(open(sys.argv[1]))
document = json.load(open(sys.argv[2]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(document, schema)
defs = schema.pop("$defs", {})
schema = close(schema)
schema["$defs"] = defs  # definitions are extended by allOf: left open
jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
