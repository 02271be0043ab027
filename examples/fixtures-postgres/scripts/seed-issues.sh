#!/bin/sh
# seed-issues.sh N: the table holds N open issues and no other.
set -eu
sql="DELETE FROM issues;"
i=1
while [ "$i" -le "$1" ]; do
	sql="$sql INSERT INTO issues (id, title) VALUES ($i, 'Issue number $i');"
	i=$((i + 1))
done
exec "$ISSUES_SERVER" -exec "$sql"
