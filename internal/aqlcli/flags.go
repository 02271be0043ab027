package aqlcli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/aql/rule"
	"mcptest/internal/cmdutil"
	"mcptest/internal/source"
)

// option is one flag of a command.
type option struct {
	long, short string
	value       string // the name of the value in help; "" for a switch
	doc         string
	check       func(string) (string, error) // returns the value in its final form; nil accepts every text but ""
	many        bool                         // may be repeated
}

// flagValue is the value of a flag in a call.
type flagValue struct {
	option
	c     *call
	flags *pflag.FlagSet
}

// String returns "", because help must not show a default: the text of the option
// states it if there is one.
func (v *flagValue) String() string { return "" }

// Type returns the name of the value in help.
func (v *flagValue) Type() string { return v.value }

// Set sets a value. A wrong one is recorded as a problem of the call and does not end
// the parsing, so that one call reports all of them.
func (v *flagValue) Set(s string) error {
	if v.isFlag(s) {
		return fmt.Errorf("--%s needs a value: %s", v.long, v.doc)
	}
	s, err := v.checked(s)
	if err != nil {
		v.c.problem("--%s: %s", v.long, err)
	}
	if before, ok := v.c.flags[v.long]; ok && v.many {
		s = before + "\x00" + s
	}
	v.c.flags[v.long] = s
	return nil
}

// isFlag reports whether a text is a flag and not the value of the one before
// it.
func (v *flagValue) isFlag(s string) bool {
	name, _, _ := strings.Cut(s, "=")
	return strings.HasPrefix(s, "--") || len(name) == 2 && name[0] == '-' && v.flags.ShorthandLookup(name[1:]) != nil
}

func (o option) checked(s string) (string, error) {
	if o.check == nil {
		return anyValue(s)
	}
	return o.check(s)
}

// add adds options to a command.
func (c *call) add(cmd *cobra.Command, options []option) {
	fl := cmd.Flags()
	fl.SortFlags = false
	for _, o := range options {
		if o.value == "" {
			fl.BoolP(o.long, o.short, false, o.doc)
			continue
		}
		fl.VarP(&flagValue{option: o, c: c, flags: fl}, o.long, o.short, o.doc)
	}
}

// switches records the switches that are set.
func (c *call) switches(cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" && f.Value.String() == "true" {
			c.flags[f.Name] = "yes"
		}
	})
}

// flagError rewords an error of pflag.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.ValueRequiredError
	if errors.As(err, &missing) {
		f := missing.GetFlag()
		return fmt.Errorf("--%s needs a value: %s", f.Name, f.Usage)
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) && bad.GetFlag().Value.Type() != "bool" {
		return bad.Unwrap()
	}
	return cmdutil.FlagError(cmd, err)
}

// many makes an option repeatable.
func many(o option) option {
	o.many = true
	return o
}

// all returns the values of a repeatable option.
func (c *call) all(long string) []string {
	if v, ok := c.flags[long]; ok {
		return strings.Split(v, "\x00")
	}
	return nil
}

// oneOf returns a check that accepts one of the given words in any case.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, w := range words {
			if strings.EqualFold(w, s) {
				return w, nil
			}
		}
		return "", fmt.Errorf("expected one of %s; got %q%s", strings.Join(words, ", "), s, source.Aside(source.DidYouMean(s, words)))
	}
}

// choice returns an option with a fixed set of values, which help lists.
func choice(long, short, value, doc string, words []string) option {
	return option{long: long, short: short, value: value, doc: doc + "; one of " + strings.Join(words, ", "), check: oneOf(words...)}
}

func anyValue(s string) (string, error) {
	if s == "" {
		return "", errors.New("needs a value")
	}
	return s, nil
}

func categoryNames() (names []string) {
	for _, c := range rule.Categories() {
		names = append(names, c.Name)
	}
	return names
}

// positional checks the number of arguments against the synopsis of a command: "[x]"
// is optional, "<x…>" may be repeated.
func positional(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	most := len(names)
	for i, name := range names {
		if strings.Contains(name, "…") {
			most = len(args)
		}
		if i >= len(args) && name[0] == '<' {
			return fmt.Errorf("%s needs a %s", cmd.Name(), strings.Trim(name, "<…>"))
		}
	}
	if len(args) > most {
		return fmt.Errorf("unexpected argument %q: expected %s", args[most], cmd.UseLine())
	}
	return nil
}
