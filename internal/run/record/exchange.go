package record

import (
	"slices"
	"time"
	"unsafe"

	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
)

// Exchange returns the record of an exchange and of the notifications that were waited
// for. start is that of the run.
func Exchange(start time.Time, x *mcp.Exchange, step string, waited ...mcp.Message) result.Exchange {
	out := result.Exchange{
		Step: step, Method: x.Method, Request: string(x.Request), Response: formatFrame(x.Response),
		DurationMS: ms(x.Elapsed),
	}
	if !x.Start.IsZero() {
		out.StartMS = ms(x.Start.Sub(start))
	}
	during := x.During
	if x.Cancellation != nil {
		during = append(slices.Clip(during), *x.Cancellation)
	}
	for _, list := range [][]mcp.Message{during, waited} {
		for _, m := range list {
			out.During = append(out.During, result.Message{
				Dir: m.Dir.String(),
				MS:  ms(m.At.Sub(x.Start)),
				Raw: formatFrame(m.Raw),
			})
		}
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

// large is the size of a frame that is not copied.
const large = 256 << 10

// formatFrame returns the text of a frame. It does not copy a large frame, because the
// frames of an exchange are immutable.
func formatFrame(frame []byte) string {
	if len(frame) < large {
		return string(frame)
	}
	return unsafe.String(unsafe.SliceData(frame), len(frame))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
