#!/bin/sh
# A context hook in sh. The phase is in MCPTEST_HOOK_PHASE, so that the simple
# cases need not read the JSON; sed does for the rest. With more to look at, use
# jq.
set -eu
context=$(cat)
test=$(printf %s "$context" | sed -n 's/.*"test":{"name":"\([^"]*\)".*/\1/p')
case $MCPTEST_HOOK_PHASE in
beforeAll)
	printf '{"env": {"RUN_ID": "run-%s"}, "vars": {"started": %s}}\n' "$$" "$(date +%s)"
	;;
beforeEach)
	if [ "$test" = "needs credentials" ] && [ -z "${API_CREDENTIALS:-}" ]; then
		echo '{"skip": {"reason": "API_CREDENTIALS is not set"}}'
	else
		printf '{"env": {"SESSION": "%s/%s"}}\n' "$RUN_ID" "$test"
	fi
	;;
afterEach | afterAll)
	case $context in
	*'"result":{"verdict":"'*) ;;
	*) echo "no verdict in $context" >&2; exit 1 ;;
	esac
	;;
esac
