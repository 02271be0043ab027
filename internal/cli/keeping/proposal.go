package keeping

import (
	"bytes"
	"context"
	"errors"

	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/keep"
)

// Proposal is a test with its place in a suite.
type Proposal struct {
	Name          string
	Expect        []draft.Expectation // also those that were left out
	Diff          []string
	Notes         []string
	Line          int
	Before, After []byte
}

// Choose returns a keeper without flags, which shows nothing and asks nothing: the suite, and
// the name of the test, "" for one that is made from the request. The suite need not exist if
// text is what it begins with.
func Choose(s cmdutil.Streams, suites *option.SuiteFlags, path, name string, text []byte) (*Keeper, error) {
	file, err := keep.Open(path)
	if err != nil && text != nil {
		file, err = keep.New(path, text)
	}
	if err != nil {
		return nil, err
	}
	flags := &Flags{Suite: path, name: name, named: func() bool { return name != "" }}
	return &Keeper{flags: flags, streams: s, suites: suites, file: file}, nil
}

// Propose returns the test of a request. It writes nothing.
func (k *Keeper) Propose(r Request) (Proposal, error) {
	in, err := k.propose(k.file.Source, r)
	if err != nil {
		return Proposal{}, err
	}
	before := k.readBefore(in)
	line, _ := in.edit.Line(before, in.entry.Block)
	diff := diffChanged(before, in.after, in.edit)
	if k.file.IsNew() {
		diff = diffCreated(in.after)
	}
	return Proposal{
		Name: in.entry.Name, Expect: in.all, Diff: diff, Notes: in.notes, Line: line, Before: before, After: in.after,
	}, nil
}

// propose is insert with the mistakes of the suite in its error.
func (k *Keeper) propose(now *source.File, r Request) (insertion, error) {
	var said bytes.Buffer
	quiet := *k
	quiet.streams.Err = &said
	in, err := quiet.insert(now, r)
	if _, invalid := errors.AsType[*option.ExitError](err); invalid && said.Len() > 0 {
		return in, &keep.RefusedError{Reason: err.Error() + "\n" + said.String()}
	}
	return in, err
}

// Accept writes a proposal, if the suite is what Choose read.
func (k *Keeper) Accept(ctx context.Context, r Request) error {
	return k.file.WriteIfUnchanged(ctx, func(now *source.File) ([]byte, error) {
		in, err := k.propose(now, r)
		return in.after, err
	})
}

// Revert restores a suite to what it was before a proposal, if it is what Accept left.
func Revert(ctx context.Context, path string, p Proposal) error {
	file, err := keep.Open(path)
	if err != nil {
		return err
	}
	file.Source = &source.File{Name: file.Source.Name, Path: file.Source.Path, Data: p.After}
	return file.WriteIfUnchanged(ctx, func(*source.File) ([]byte, error) { return p.Before, nil })
}

// RemoveCreated removes a suite that Accept created, if it is what Accept left.
func RemoveCreated(ctx context.Context, path string, p Proposal) error {
	file, err := keep.Open(path)
	if err != nil {
		return err
	}
	return file.Remove(ctx, p.After)
}
