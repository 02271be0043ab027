package keeping

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/scaffold"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/keep"
	"mcptest/internal/spec/plan"
)

// Keeper inserts a test into one suite.
type Keeper struct {
	flags   *Flags
	streams cmdutil.Streams
	suites  *option.SuiteFlags
	file    *keep.File
	first   target // the suite before the request is made
}

// Begin returns the keeper, after checking that the suite can get a test. It is nil if no
// suite was given. suites are the flags by which suites are read.
func (f *Flags) Begin(s cmdutil.Streams, suites *option.SuiteFlags) (*Keeper, error) {
	if f.Suite == "" {
		if f.yes || f.print || f.named() {
			return nil, option.Invalid("--name, --yes and --print require --keep SUITE")
		}
		return nil, nil
	}
	file, err := keep.Open(f.Suite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, option.Invalid("%s: no such file; mcptest init -- COMMAND writes a first suite", f.Suite)
	}
	if err != nil {
		return nil, option.Invalid("not kept: %v", err)
	}
	if err := f.check(s); err != nil {
		return nil, err
	}
	k := &Keeper{flags: f, streams: s, suites: suites, file: file}
	if k.first, err = k.read(file.Source.Data); err != nil {
		return nil, err
	}
	if f.named() && k.first.names[draft.EscapePlaceholders(strings.TrimSpace(f.name))] {
		return nil, newRefusal(checkTaken(f.name))
	}
	return k, nil
}

// read reads the suite with a text in place of the file's. It prints the mistakes.
func (k *Keeper) read(text []byte) (target, error) {
	abs, err := filepath.Abs(k.flags.Suite)
	if err != nil {
		return target{}, err
	}
	flags := option.SuiteFlags{
		EnvFiles: k.suites.EnvFiles, Vars: k.suites.Vars, AllowOutside: k.suites.AllowOutside, Color: k.suites.Color,
		Static: true, Texts: map[string][]byte{abs: text},
	}
	suites, diags, err := flags.Load([]string{k.flags.Suite}, k.streams)
	if err != nil {
		return target{}, err
	}
	to := target{redactor: secret.NewRedactor(), names: map[string]bool{}}
	for _, su := range suites {
		to.redactor.Add(su.Secrets...)
		for _, e := range su.Entries { // plan.Compile removes them
			if name, ok := e.Node.Get("name").AsText(); ok {
				to.names[name] = true
			}
		}
	}
	set := flags.Settings(k.streams)
	set.CI, set.Names = false, map[string]bool{} // which selects no test
	p, more := plan.Compile(suites, set)
	diags = append(diags, more...)
	if !diags.HasErrors() && len(p.Files) == 1 {
		to.file, to.suite = p.Files[0], p.Files[0].Suite
		return to, nil
	}
	errs, _ := option.PrintDiagnostics(k.streams, k.suites.Color, diags, flags.Secrets...)
	return target{}, option.Invalid("%s in %s, so no test is inserted", display.Count(max(errs, 1), "error"), k.flags.Suite)
}

// insertion is a test with its place.
type insertion struct {
	entry draft.Entry
	all   []draft.Expectation // also those that the test does not get
	text  func(string) string
	edit  keep.Edit
	after []byte
	notes []string
}

// Keep inserts the request as a test: at once, after a question, or not at all if it is only
// printed.
func (k *Keeper) Keep(ctx context.Context, r Request) error {
	in, err := k.insert(k.file.Source, r)
	if err != nil {
		return newRefusal(err)
	}
	for _, note := range in.notes {
		fmt.Fprintln(k.streams.Err, "note: "+term.Escape(note))
	}
	if k.flags.print {
		_, err := io.WriteString(k.streams.Out, keep.Text(in.entry, in.text))
		return err
	}
	if !k.flags.yes {
		k.show(in)
		if yes, err := k.ask(ctx); err != nil || !yes {
			return err
		}
	}
	write := func(now *source.File) ([]byte, error) {
		in, err = k.insert(now, r)
		return in.after, err
	}
	if k.flags.yes { // nothing was shown that could have changed
		err = k.file.Write(ctx, write)
	} else {
		err = k.file.WriteIfUnchanged(ctx, write)
	}
	if err != nil {
		return newRefusal(err)
	}
	line, alone := in.edit.Line(k.readBefore(in), in.entry.Block)
	place := fmt.Sprintf("%s:%d", filepath.ToSlash(k.flags.Suite), line)
	again := place
	if !alone {
		again = shellwords.QuotePathForShell(k.flags.Suite) + " --filter " +
			shellwords.QuoteForShell(ExactName(in.entry.Name))
	}
	fmt.Fprintf(k.streams.Err, "mcptest: kept as %q in %s; mcptest run %s runs it\n",
		term.Escape(in.entry.Name), term.Escape(place), term.Escape(again))
	return nil
}

// ExactName returns the value of --filter that selects the test of a name.
func ExactName(name string) string { return "re:^" + regexp.QuoteMeta(name) + "$" }

// CheckServer returns the error of Keep for a request to a server that the suite lacks.
func (k *Keeper) CheckServer(r Request) error {
	if _, _, err := chooseServer(k.first.file, r); err != nil {
		return newRefusal(err)
	}
	return nil
}

// readBefore returns the text of the suite without the insertion.
func (k *Keeper) readBefore(in insertion) []byte {
	return slices.Delete(slices.Clone(in.after), in.edit.Offset, in.edit.Offset+len(in.edit.Text))
}

// newRefusal converts the error of an insertion.
func newRefusal(err error) error {
	if refused, ok := errors.AsType[*keep.RefusedError](err); ok {
		return option.Invalid("not kept: %s", refused.Reason)
	}
	if exit, ok := errors.AsType[*option.ExitError](err); ok {
		return exit
	}
	return option.Fail(option.ExitInternal, "not kept: %v", err)
}

// insert makes the test and finds its place in a text of the suite.
func (k *Keeper) insert(now *source.File, r Request) (insertion, error) {
	to, err := k.read(now.Data)
	if err != nil {
		return insertion{}, err
	}
	words := newWording(to, r.Redactor, k.streams.Env)
	su := &draft.Suite{
		Recorded: true,
		Tests:    []*draft.Test{&r.Test},
		Local:    scaffold.Local(),
		Mask:     words.mask,
	}
	name, err := k.chooseName(su, &r.Test, to.names)
	if err != nil {
		return insertion{}, err
	}
	in := insertion{entry: su.Entry(&r.Test, name), text: words.replaceText}
	in.all = in.entry.Expect
	in.entry.Expect = slices.Clone(in.all)
	for _, i := range slices.Backward(slices.Sorted(slices.Values(r.Leave))) {
		if i >= 0 && i < len(in.entry.Expect) {
			in.entry.Expect = slices.Delete(in.entry.Expect, i, i+1)
		}
	}
	server, note, err := chooseServer(to.file, r)
	if err != nil {
		return insertion{}, err
	}
	in.entry.Server = server
	if in.edit, err = keep.Insert(now, in.entry, in.text); err != nil {
		return insertion{}, err
	}
	if words.lost != "" {
		return insertion{}, &keep.RefusedError{Reason: words.lost}
	}
	in.after = in.edit.Apply(now.Data)
	in.notes = append(words.notes, note...)
	if _, err := k.read(in.after); err != nil {
		return insertion{}, option.Fail(option.ExitInternal, "nothing was written: the test made the suite invalid, which is a defect of mcptest; please report it")
	}
	return in, nil
}

// chooseName returns the name of the test, which no other test of the suite has.
func (k *Keeper) chooseName(su *draft.Suite, t *draft.Test, names map[string]bool) (string, error) {
	if k.flags.named() {
		name := strings.TrimSpace(k.flags.name)
		if names[draft.EscapePlaceholders(name)] {
			return "", checkTaken(name)
		}
		return name, nil
	}
	name := su.NameOf(t)
	for n := 2; names[draft.EscapePlaceholders(name)]; n++ {
		name = fmt.Sprintf("%s (%d)", su.NameOf(t), n)
	}
	return name, nil
}

// checkTaken returns the refusal of a name that another test has.
func checkTaken(name string) error {
	return refuse("the suite has a test called %q: --name gives another name", name)
}

// show prints the change of the file.
func (k *Keeper) show(in insertion) {
	palette := term.Palette{}
	if profile, err := term.Detect(k.streams.Err, k.streams.Env, k.suites.Color); err == nil {
		palette = term.NewPalette(profile)
	}
	fmt.Fprintln(k.streams.Err, term.Escape(k.flags.Suite))
	for _, line := range diffChanged(k.readBefore(in), in.after, in.edit) {
		style := term.Faint
		switch line[0] {
		case '+':
			style = term.Good
		case '-':
			style = term.Bad
		}
		fmt.Fprintln(k.streams.Err, palette.Paint(style, term.Escape(line)))
	}
}

// ask asks whether to insert the test. The end of the input and a signal are a no.
func (k *Keeper) ask(ctx context.Context) (bool, error) {
	fmt.Fprintf(k.streams.Err, "Insert this test into %s? [y/N] ", term.Escape(k.flags.Suite))
	answer := make(chan string, 1)
	go func() { // it ends with the input
		line, _ := bufio.NewReader(k.streams.In).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		}
	case <-ctx.Done():
		fmt.Fprintln(k.streams.Err)
		return false, explainInterruption(ctx)
	}
	fmt.Fprintln(k.streams.Err, "mcptest: not kept; nothing was written")
	return false, nil
}

// explainInterruption returns the error of a command that a signal ended.
func explainInterruption(ctx context.Context) error {
	if sig, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx)); ok {
		return option.Fail(sig.Code, "not kept; nothing was written")
	}
	return option.Fail(option.ExitInternal, "%v", context.Cause(ctx))
}
