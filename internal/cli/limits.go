package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/wire"
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
	d := wire.Limits{}.WithDefaults()
	f.message, f.skip, f.kept, f.stderr = sizeFlag(d.Message), sizeFlag(d.Drain), sizeFlag(d.During), sizeFlag(d.Stderr)
	fl.Var(&f.message, "max-message-size", "maximum `size` of one server message, or of an HTTP body after decompression")
	fl.IntVar(&f.values, "max-values", d.Values, "maximum number of JSON values in one server message, counting nested ones")
	fl.Var(&f.skip, "max-skip-size", "maximum `size` of an oversized message that is skipped; a longer one closes the session")
	fl.Var(&f.kept, "max-kept-size", "maximum `size` of the messages kept with the response of one call")
	fl.IntVar(&f.keptCount, "max-kept-messages", d.DuringCount, "maximum number of messages kept with the response of one call")
	fl.Var(&f.stderr, "max-stderr", "maximum `size` of a server's standard error that is kept (its start and its end)")
	fl.IntVar(&f.requests, "max-server-requests", d.Requests, "maximum number of server requests answered concurrently")
	fl.IntVar(&f.redirects, "max-redirects", d.Redirects, "maximum number of HTTP redirects followed within the server's origin; 0 for none")
	fl.IntVar(&f.rounds, "max-input-rounds", d.Rounds, "maximum number of times one call is repeated with the input that the server requests (2026-07-28)")
	fl.IntVar(&f.items, "max-list-items", d.Items, "maximum number of entries in one list")
	fl.IntVar(&f.pages, "max-list-pages", d.Pages, "maximum number of pages of one list")
	for _, name := range limitNames {
		fl.Lookup(name).Annotations = map[string][]string{limitFlag: {"true"}}
	}
}

// limitFlag annotates the flags that help shows apart, after the others.
const limitFlag = "limit"

var limitNames = []string{
	"max-message-size", "max-values", "max-skip-size", "max-kept-size", "max-kept-messages", "max-stderr",
	"max-server-requests", "max-redirects", "max-input-rounds", "max-list-items", "max-list-pages",
}

// limitsApart returns a help function that lists the limits in a section of
// their own, because few readers need them and they are a third of all flags.
func limitsApart(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		limits := pflag.NewFlagSet("limits", pflag.ContinueOnError)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Annotations[limitFlag] != nil {
				limits.AddFlag(f)
				f.Hidden = true
			}
		})
		help(cmd, args)
		limits.VisitAll(func(f *pflag.Flag) { f.Hidden = false })
		if limits.HasFlags() {
			fmt.Fprintf(cmd.OutOrStdout(), "\nLimits on what a server may send:\n%s", limits.FlagUsages())
		}
	}
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
			return fail(exitInvalid, "--%s must be from 1KiB to 2GiB, got %s", s.name, s.value.String())
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
			return fail(exitInvalid, "--%s must be from %d to %d, got %d", n.name, n.least, n.most, n.value)
		}
	}
	return nil
}

// mcp are the limits as the wire takes them.
func (f *limitFlags) mcp() wire.Limits {
	l := wire.Limits{
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
		return fmt.Errorf("expected a size such as 64MiB, 64MB or 65536, got %q", text)
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
