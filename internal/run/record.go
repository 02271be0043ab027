package run

import (
	"maps"
	"slices"
	"time"

	"mcptest/internal/mcp"
	"mcptest/internal/result"
)

// exchangeRecord is the record of one exchange.
func exchangeRecord(x *mcp.Exchange, step string) result.Exchange {
	out := result.Exchange{
		Step: step, Method: x.Method, Request: string(x.Request), Response: string(x.Response), DurationMS: ms(x.Elapsed),
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
	return result.Message{Dir: m.Dir.String(), MS: ms(m.At.Sub(start)), Raw: string(m.Raw)}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
