#!/bin/sh
# A plain hook: fails unless every variable it names is set.
for name; do
	eval "value=\${$name:-}"
	[ -n "$value" ] || { echo "$name is not set in $MCPTEST_HOOK_PHASE" >&2; exit 1; }
done
