package exam

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/surface"
)

// MaxPages is the number of pages of a list that are read.
const MaxPages = 1000

// Listing is a list of the server, as it was read first.
type Listing struct {
	surface.List
	Items  []jsonv.Value
	Pages  []*mcp.Exchange
	Repeat string // the cursor that came twice
	Long   bool   // not read to its end
}

// Read requests all pages of a list.
func Read(ctx context.Context, l surface.List, send func(context.Context, mcp.Call) *mcp.Exchange) (out Listing) {
	out.List = l
	seen := map[string]bool{}
	var params []byte
	for range MaxPages {
		x := send(ctx, mcp.Call{Method: l.Method, Params: params})
		out.Pages = append(out.Pages, x)
		res := Result(x)
		out.Items = append(out.Items, res.Lookup(l.Member).List()...)
		cursor := res.Lookup("nextCursor")
		if cursor.Kind() != jsonv.KindString || ctx.Err() != nil {
			return out
		}
		if seen[cursor.Text()] {
			out.Repeat = cursor.Text()
			return out
		}
		seen[cursor.Text()] = true
		params = jsonv.ObjectOf("cursor", cursor).Append(nil)
	}
	out.Long = true
	return out
}
