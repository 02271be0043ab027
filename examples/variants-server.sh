#!/bin/sh
# A server whose tools depend on flags and environment: TOOLSETS and --toolsets
# name sets of tools, --read-only leaves out those that write,
# --dynamic-toolsets adds one that enables sets.
toolsets=${TOOLSETS:-issues,pulls,repos}
for arg in "$@"; do
  case $arg in
    --toolsets=*) toolsets=${arg#--toolsets=} ;;
    --read-only) read_only=1 ;;
    --dynamic-toolsets) dynamic=1 ;;
  esac
done
[ "$toolsets" != all ] || toolsets=gists,issues,pulls,repos,users

tool() { echo "    - {name: $1, annotations: {readOnlyHint: $2}, response: done}"; }
tools() {
  for set in $(echo "$toolsets" | tr , ' '); do
    tool "list_$set" true
    [ "$read_only" ] || tool "create_$set" false
  done
  [ -z "$dynamic" ] || tool enable_toolset true
}

exec mcptest mock --tools-from /dev/fd/3 3<<END
mock_server:
  name: toolsets
  tools:
$(tools)
END
