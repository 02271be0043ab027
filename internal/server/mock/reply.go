package mock

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// errStop ends a response without sending it: the client canceled the request, or the
// process is about to end.
var errStop = errors.New("no response")

func answer(result jsonv.Value) *mcpserver.Reply { return &mcpserver.Reply{Result: result.Append(nil)} }

// toolFailure returns a result with isError, which is how a tool's own failures are
// reported to the model.
func toolFailure(format string, args ...any) *mcpserver.Reply {
	block := jsonv.ObjectOf("type", "text", "text", fmt.Sprintf(format, args...))
	return answer(jsonv.ObjectOf("content", jsonv.Array(block), "isError", true))
}

// list answers a list request, in pages if the manifest has a page size. A cursor
// encodes the index of the next entry in a form that cannot be mistaken for a number.
func list[T any](m *manifest.Manifest, params jsonv.Value, key string, all []T, listed func(T) jsonv.Value) *mcpserver.Reply {
	start, end := 0, len(all)
	if c := params.Lookup("cursor"); !c.IsAbsent() && c.Kind() != jsonv.KindNull {
		at, ok := place(c.Text(), key)
		if !ok || at >= len(all) {
			return mcpserver.Failure(protocol.CodeInvalidParams, "Invalid cursor: %s", c)
		}
		start = at
	}
	next := jsonv.Value{}
	if m.PageSize > 0 && start+m.PageSize < end {
		end = start + m.PageSize
		next = jsonv.String(base64.RawURLEncoding.EncodeToString([]byte(key + ":" + strconv.Itoa(end))))
	}
	return answer(jsonv.ObjectOf(key, jsonv.List(all[start:end], listed), "nextCursor", next))
}

func place(cursor, key string) (int, bool) {
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	rest, ok := strings.CutPrefix(string(data), key+":")
	at, err := strconv.Atoi(rest)
	return at, ok && err == nil && at >= 0
}
