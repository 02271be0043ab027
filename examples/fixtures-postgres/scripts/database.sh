#!/bin/sh
# Starts a private PostgreSQL on a free loopback port, or makes an SQLite file
# where there is none, writes its URL to $DATABASE_URL_FILE, and stays until it
# is told to end. Then it removes the data.
set -eu
mkdir -p "$ISSUES_DIR"
# PostgreSQL refuses to run as root: then somebody else has to, in a folder that
# everybody may enter.
as=
base=${TMPDIR:-/tmp}
if [ "$(id -u)" = 0 ]; then
	user=${ISSUES_PG_USER:-postgres}
	as="setpriv --reuid=$user --regid=$user --init-groups --"
	base=/tmp
fi
# A run that was killed leaves its data: no trap runs then. Whoever made a folder
# wrote down its process id; it is over when that process is gone.
for old in "$base"/mcptest-pg.*/; do
	owner=$(cat "$old/owner" 2>/dev/null) || continue
	kill -0 "$owner" 2>/dev/null || rm -rf "$old"
done
data=$(mktemp -d "$base/mcptest-pg.XXXXXX")
echo $$ >"$data/owner"
pg=
cleanup() {
	[ -z "$pg" ] || { kill -INT "$pg" 2>/dev/null || :; wait "$pg" || :; }
	rm -rf "$data" "$DATABASE_URL_FILE"
	rmdir "$ISSUES_DIR" 2>/dev/null || :
}
trap 'cleanup; exit 0' TERM INT HUP
trap cleanup EXIT

# Where Debian and others put the programs that are not in PATH.
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin 2>/dev/null | tail -n 1)

if [ -n "${ISSUES_SQLITE:-}" ] || ! command -v initdb >/dev/null || ! command -v postgres >/dev/null; then
	echo "sqlite:$data/issues.db" >"$DATABASE_URL_FILE"
	echo "no PostgreSQL was found (initdb, postgres): an embedded SQLite stands in for it"
	echo "database is ready: SQLite"
	while :; do sleep 1; done
fi

[ -z "$as" ] || chown "$user" "$data"
port=$("$ISSUES_SERVER" -free-port)
cd "$data" # a folder that other user may enter
$as initdb -D "$data/pg" -U issues --auth=trust --no-sync --encoding=UTF8 --locale=C >"$data/initdb.log" 2>&1 || {
	cat "$data/initdb.log" >&2
	exit 1
}
$as postgres -D "$data/pg" -c listen_addresses=127.0.0.1 -p "$port" -k "$data" -c fsync=off &
pg=$!
until $as pg_isready -q -h 127.0.0.1 -p "$port"; do
	kill -0 "$pg" || exit 1
	sleep 0.1
done
echo "postgres://issues@127.0.0.1:$port/postgres?sslmode=disable" >"$DATABASE_URL_FILE"
echo "database is ready: $(postgres --version) on port $port"
wait "$pg"
