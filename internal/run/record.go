package run

import (
	"maps"
	"slices"
	"time"
	"unsafe"

	"mcptest/internal/mcp"
	"mcptest/internal/result"
)

// exchangeRecord is the record of one exchange.
func exchangeRecord(x *mcp.Exchange, step string) result.Exchange {
	out := result.Exchange{
		Step: step, Method: x.Method, Request: string(x.Request), Response: same(x.Response), DurationMS: ms(x.Elapsed),
	}
	for _, m := range x.During {
		out.During = append(out.During, messageRecord(m, x.Start))
	}
	if x.Cause != nil {
		out.Error = x.Cause.Error()
	}
	if x.HTTP != nil && out.Response == "" {
		out.Response = string(x.HTTP.Body)
	}
	if x.HTTP != nil {
		out.HTTP = &result.HTTPExchange{Status: x.HTTP.Status, Attempts: x.HTTP.Attempts, Headers: map[string]string{}}
		for k := range x.HTTP.Header {
			out.HTTP.Headers[k] = x.HTTP.Header.Get(k)
		}
	}
	return out
}

func messageRecord(m mcp.Message, start time.Time) result.Message {
	return result.Message{Dir: m.Dir.String(), MS: ms(m.At.Sub(start)), Raw: same(m.Raw)}
}

// same is the text of a frame. A large one is not copied: a frame of an
// exchange never changes.
func same(frame []byte) string {
	if len(frame) < smallAnswer {
		return string(frame)
	}
	return unsafe.String(unsafe.SliceData(frame), len(frame))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
