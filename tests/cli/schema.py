# SPDX-License-Identifier: GPL-2.0-or-later
"""schema.py LIST: for each line "SCHEMA FILE PLACE" of the list, the document in FILE obeys the schema,
and has no member that it does not name; PLACE is told with what does not."""
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


def validators(path):
    """One for the schema as it stands, and one for it closed."""
    schema = json.load(open(path))
    jsonschema.Draft202012Validator.check_schema(schema)
    plain = jsonschema.validators.validator_for(schema)(schema)
    closed = close({key: value for key, value in schema.items() if key != "$defs"})
    closed["$defs"] = schema.get("$defs", {})  # definitions are extended by allOf: left open
    return plain, jsonschema.Draft202012Validator(closed)


known = {}
bad = 0
for line in open(sys.argv[1]):
    path, file, place = line.rstrip("\n").split("\t")
    if path not in known:
        known[path] = validators(path)
    try:
        document = json.load(open(file))
        for validator in known[path]:
            validator.validate(document)
    except (ValueError, jsonschema.ValidationError) as error:
        print(f"{place}: not as in {path}: {error}", file=sys.stderr)
        bad = 1
sys.exit(bad)
