"""Reference implementation of the ten storage-lifecycle operations.

Written from the rules in README.md alone. It shares no code and no generated
table with any implementation that is judged by it, and needs only the standard
library. Every module has one public function

    run(data, call, rules) -> {"output": ..., "mutations": [...]}

where `data` is a case's input (already valid against its schema), `call` asks a
scripted service and `rules` tells which rules are switched on.
"""
