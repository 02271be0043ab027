package probe

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/surface"
)

// maxPages is the number of pages of a list that are read.
const maxPages = 1000

// listing is a list of the server, as it was read first.
type listing struct {
	surface.List
	items  []jsonv.Value
	pages  []*mcp.Exchange
	repeat string // the cursor that came twice
	long   bool   // not read to its end
}

// read requests all pages of a list.
func read(ctx context.Context, l surface.List, send func(context.Context, mcp.Call) *mcp.Exchange) (out listing) {
	out.List = l
	seen := map[string]bool{}
	var params []byte
	for range maxPages {
		x := send(ctx, mcp.Call{Method: l.Method, Params: params})
		out.pages = append(out.pages, x)
		res := result(x)
		out.items = append(out.items, res.Lookup(l.Member).List()...)
		cursor := res.Lookup("nextCursor")
		if cursor.Kind() != jsonv.KindString || ctx.Err() != nil {
			return out
		}
		if seen[cursor.Text()] {
			out.repeat = cursor.Text()
			return out
		}
		seen[cursor.Text()] = true
		params = jsonv.ObjectOf("cursor", cursor).Append(nil)
	}
	out.long = true
	return out
}
