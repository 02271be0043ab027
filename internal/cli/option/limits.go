package option

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/wire"
)

// LimitFlags limit how much data of a server the program reads and keeps, and how
// many requests it follows.
type LimitFlags struct {
	set  wire.Limits
	skip Size // set.Drain, which has another type
}

// limit is one flag: a size or a number, with its range.
type limit struct {
	name, usage string
	size        *Size
	number      *int
	least, most int // 0, 0: any
}

func (f *LimitFlags) listAll() []limit {
	const many = 1_000_000
	return []limit{
		{"max-message-size", "maximum `size` of one server message, or of an HTTP body after decompression", (*Size)(&f.set.Message), nil, leastSize, mostSize},
		{"max-values", "maximum number of JSON values in one server message, counting nested ones", nil, &f.set.Values, 100, jsonv.DefaultMaxNodes},
		{"max-skip-size", "maximum `size` of an oversized message that is skipped; a longer one closes the session", &f.skip, nil, 0, 0},
		{"max-kept-size", "maximum `size` of the messages kept with the response of one call", (*Size)(&f.set.During), nil, leastSize, mostSize},
		{"max-kept-messages", "maximum number of messages kept with the response of one call", nil, &f.set.DuringCount, 1, many},
		{"max-stderr", "maximum `size` of a server's standard error that is kept (its start and its end)", (*Size)(&f.set.Stderr), nil, leastSize, mostSize},
		{"max-server-requests", "maximum number of server requests handled concurrently", nil, &f.set.Requests, 1, many},
		{"max-redirects", "maximum number of HTTP redirects followed within the server's origin; 0 for none", nil, &f.set.Redirects, 0, many},
		{"max-input-rounds", "maximum number of times one call is repeated with the input that the server requests (2026-07-28)", nil, &f.set.Rounds, 1, many},
		{"max-list-items", "maximum number of entries in one list", nil, &f.set.Items, 1, many},
		{"max-list-pages", "maximum number of pages of one list", nil, &f.set.Pages, 1, many},
	}
}

// Add defines the flags.
func (f *LimitFlags) Add(cmd *cobra.Command) {
	f.set = f.set.FillDefaults()
	f.skip = Size(f.set.Drain)
	fl := cmd.Flags()
	for _, l := range f.listAll() {
		if l.size != nil {
			fl.Var(l.size, l.name, l.usage)
		} else {
			fl.IntVar(l.number, l.name, *l.number, l.usage)
		}
		annotate(fl.Lookup(l.name), limitsTitle, lastRank)
	}
}

// Limits of the sizes: large enough for an excerpt of a message, and for a buffer.
const (
	leastSize = 1 << 10
	mostSize  = 1 << 31
)

// Check rejects limits that are too small for any message.
func (f *LimitFlags) Check() error {
	for _, l := range f.listAll() {
		switch {
		case l.most == 0:
		case l.size != nil && (*l.size < leastSize || *l.size > mostSize):
			return Invalid("--%s must be from 1KiB to 2GiB, got %s", l.name, l.size)
		case l.number != nil && (*l.number < l.least || *l.number > l.most):
			return Invalid("--%s must be from %d to %d, got %d", l.name, l.least, l.most, *l.number)
		}
	}
	return nil
}

// Wire converts the limits for transports.
func (f *LimitFlags) Wire() wire.Limits {
	l := f.set
	l.Drain = int64(f.skip)
	l.Redirects = cmp.Or(l.Redirects, -1) // in Limits, 0 is the default
	return l
}

// Size is a flag: a number of bytes: 65536, 64KiB (1024 bytes each), 64KB (1000).
type Size int

// sizeUnit is a unit of sizes.
type sizeUnit struct {
	name  string
	bytes int64
}

// listSizeUnits returns the units, longer names first.
func listSizeUnits() []sizeUnit {
	return []sizeUnit{
		{"GiB", 1 << 30},
		{"MiB", 1 << 20},
		{"KiB", 1 << 10},
		{"GB", 1_000_000_000},
		{"MB", 1_000_000},
		{"KB", 1_000},
		{"B", 1},
	}
}

// Set parses a size.
func (f *Size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range listSizeUnits() {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			number, unit = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > (1<<40)/unit {
		return fmt.Errorf("expected a size such as 64MiB, 64MB or 65536, got %q", text)
	}
	*f = Size(n * unit)
	return nil
}

// String formats a size with the largest unit that divides it.
func (f *Size) String() string {
	for _, u := range listSizeUnits() {
		if n := int64(*f); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0"
}

// Type returns the type in usage texts.
func (f *Size) Type() string { return "size" }

// Parallel is the value of --parallel: calls in flight on each server; 0 if the flag
// is not set. It accepts the values of `run_options: {parallel: …}` except false,
// which only a suite can set.
type Parallel int

// maxParallel is the largest value of the key and the flag.
const maxParallel = 1024

// Set parses a number from 1 to maxParallel, or auto: one at a time.
func (p *Parallel) Set(text string) error {
	if text == "auto" {
		*p = 1
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxParallel {
		return fmt.Errorf("expected auto or a number from 1 to %d", maxParallel)
	}
	*p = Parallel(n)
	return nil
}

// String returns the number, or "" if the flag is not set.
func (p *Parallel) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.Itoa(int(*p))
}

// Type returns the type in the help.
func (p *Parallel) Type() string { return "n" }
