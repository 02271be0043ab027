package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// limitFlags bound what a server may make us read, keep and follow. What is
// left out has the default that its help names.
type limitFlags struct {
	message, skip, kept, stderr sizeFlag
	keptCount, requests         int
	redirects, rounds           int
	items, pages, values        int
}

func (f *limitFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	d := mcp.Limits{}.WithDefaults()
	f.message, f.skip, f.kept, f.stderr = sizeFlag(d.Message), sizeFlag(d.Drain), sizeFlag(d.During), sizeFlag(d.Stderr)
	fl.Var(&f.message, "max-message-size", "`size` of one message of a server, or HTTP body after decompression")
	fl.IntVar(&f.values, "max-values", d.Values, "JSON values in one message of a server, at every depth")
	fl.Var(&f.skip, "max-skip-size", "`size` of a message over that limit that is skipped before the session is given up")
	fl.Var(&f.kept, "max-kept-size", "`size` of the messages that are kept beside the answer of one call")
	fl.IntVar(&f.keptCount, "max-kept-messages", d.DuringCount, "messages that are kept beside the answer of one call")
	fl.Var(&f.stderr, "max-stderr", "`size` of what is kept of a server's standard error, its beginning and its end")
	fl.IntVar(&f.requests, "max-server-requests", d.Requests, "requests of a server that are answered at the same time")
	fl.IntVar(&f.redirects, "max-redirects", d.Redirects, "HTTP redirects followed within the server's origin; 0 for none")
	fl.IntVar(&f.rounds, "max-input-rounds", d.Rounds, "how often one call is repeated with input the server asks for (2026-07-28)")
	fl.IntVar(&f.items, "max-list-items", d.Items, "entries of one list of a server")
	fl.IntVar(&f.pages, "max-list-pages", d.Pages, "pages of one list of a server")
}

// Bounds of the sizes: an excerpt of a message must fit, and a buffer.
const (
	leastSize = 1 << 10
	mostSize  = 1 << 31
)

func (f *limitFlags) check() error {
	for _, s := range []struct {
		name  string
		value sizeFlag
	}{{"max-message-size", f.message}, {"max-kept-size", f.kept}, {"max-stderr", f.stderr}} {
		if s.value < leastSize || s.value > mostSize {
			return fail(exitInvalid, "--%s: want 1KiB to 2GiB, got %s", s.name, s.value.String())
		}
	}
	for _, n := range []struct {
		name               string
		value, least, most int
	}{
		{"max-values", f.values, 100, jsonv.DefaultMaxNodes},
		{"max-kept-messages", f.keptCount, 1, 1_000_000},
		{"max-server-requests", f.requests, 1, 1_000_000},
		{"max-redirects", f.redirects, 0, 1_000_000},
		{"max-input-rounds", f.rounds, 1, 1_000_000},
		{"max-list-items", f.items, 1, 1_000_000},
		{"max-list-pages", f.pages, 1, 1_000_000},
	} {
		if n.value < n.least || n.value > n.most {
			return fail(exitInvalid, "--%s: want a number from %d to %d, got %d", n.name, n.least, n.most, n.value)
		}
	}
	return nil
}

// mcp are the limits as the wire takes them.
func (f *limitFlags) mcp() mcp.Limits {
	l := mcp.Limits{
		Message: int(f.message), Values: f.values, Drain: int64(f.skip), During: int(f.kept), DuringCount: f.keptCount, Requests: f.requests,
		Redirects: f.redirects, Rounds: f.rounds, Items: f.items, Pages: f.pages, Stderr: int(f.stderr),
	}
	if l.Redirects == 0 {
		l.Redirects = -1
	}
	return l
}

// sizeFlag is a number of bytes: 65536, 64KiB (1024 bytes each), 64KB (1000).
type sizeFlag int64

// sizeUnit is the name of a number of bytes.
type sizeUnit struct {
	name  string
	bytes int64
}

// sizeUnits are the units, the longer names first.
func sizeUnits() []sizeUnit {
	return []sizeUnit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1_000_000_000}, {"MB", 1_000_000}, {"KB", 1_000}, {"B", 1}}
}

// Set reads a size.
func (f *sizeFlag) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range sizeUnits() {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			number, unit = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > (1<<40)/unit {
		return fmt.Errorf("want a size such as 64MiB, 64MB or 65536, got %q", text)
	}
	*f = sizeFlag(n * unit)
	return nil
}

// String writes a size with the largest unit that fits.
func (f *sizeFlag) String() string {
	for _, u := range sizeUnits() {
		if n := int64(*f); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0"
}

// Type names the value in usage texts.
func (f *sizeFlag) Type() string { return "size" }
