# Real servers for the tools in this folder, which source this file: `install`
# and `each`. tools/servers.txt lists them. Needs the network, Go and Node.js.

# install NAME PACKAGE: installs a server into $folder/NAME, once, and puts its
# programs into PATH.
install() {
	local at="$folder/$1"
	mkdir -p "$at"
	if [[ $2 == *.*/* ]]; then
		[ -d "$at/bin" ] || GOBIN="$at/bin" nice "${GO:-go}" install "$2" >"$at/log" 2>&1 || return
		PATH="$at/bin:$PATH"
	else
		[ -d "$at/node_modules" ] || nice npm install --prefix "$at" --ignore-scripts --omit=dev --no-audit --no-fund --prefer-offline --loglevel=error "$2" >"$at/log" 2>&1 || return
		PATH="$at/node_modules/.bin:$PATH"
	fi
}

# variables VARIABLES PORT: sets the arrays variables (NAME=VALUE) and pass (the
# flags that make mcptest pass them to a server).
variables() {
	local pair
	variables=() pass=()
	[ "$1" != - ] || return 0
	for pair in ${1//,/ }; do
		variables+=("${pair/PORT_/$2}")
		pass+=(--env "${pair%%=*}")
	done
}

# each FUNCTION FIRST: calls FUNCTION NAME PACKAGE STDIO HTTP VARIABLES PORT for
# every server, two at a time, with ports from FIRST.
each() {
	local port=$2
	export -f install variables "$1"
	grep -v '^#' tools/servers.txt | while IFS='|' read -r name package stdio http variables; do
		port=$((port + 1))
		printf '%s\0' "$name" "$package" "$stdio" "$http" "$variables" "$port"
	done | xargs -0 -r -n 6 -P 2 bash -c "$1 \"\$@\"" "$1"
}
