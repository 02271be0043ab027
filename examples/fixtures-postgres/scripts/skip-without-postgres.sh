#!/bin/sh
# A context hook: skips the test that wants a real PostgreSQL when an embedded
# SQLite stands in for it. Where PostgreSQL has to be there (in CI), that is no
# reason to skip.
input=$(cat)
case $input in
*'"name":"a real PostgreSQL'*) ;;
*) exit 0 ;;
esac
if [ -z "${ISSUES_REQUIRE_POSTGRES:-}" ] && grep -q '^sqlite:' "$DATABASE_URL_FILE"; then
	echo '{"skip": {"reason": "no PostgreSQL was found here: an embedded SQLite stands in for it"}}'
fi
