package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// sedProgram is a program of sed, of the commands d, p and s.
type sedProgram struct {
	commands []*sedCommand
	quiet    bool
}

// sedCommand is one command, for the lines from one address to another.
type sedCommand struct {
	from, to *sedAddress
	inside   bool
	letter   byte
	pattern  *regexp.Regexp
	with     string
	all      bool
	print    bool
}

// sedAddress is a line by its number or by a pattern, or the last one.
type sedAddress struct {
	line    int
	last    bool
	pattern *regexp.Regexp
}

func (t tool) sed() error {
	var program sedProgram
	var texts []string
	extended, inPlace, suffix := false, false, ""
	args := t.args
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		option := args[0]
		args = args[1:]
		switch {
		case option == "-n":
			program.quiet = true
		case option == "-E" || option == "-r":
			extended = true
		case option == "-e" && len(args) > 0:
			texts, args = append(texts, args[0]), args[1:]
		case strings.HasPrefix(option, "-i"):
			inPlace, suffix = true, option[2:]
		default:
			return fmt.Errorf("unknown option %s", option)
		}
	}
	if texts == nil {
		if len(args) == 0 {
			return errors.New("no program")
		}
		texts, args = args[:1], args[1:]
	}
	for _, text := range texts {
		if err := program.parse(text, extended); err != nil {
			return err
		}
	}
	if !inPlace {
		in, err := t.open(args)
		if err != nil {
			return err
		}
		return program.run(in, t.out)
	}
	for _, name := range args {
		before, err := os.ReadFile(t.path(name))
		if err != nil {
			return err
		}
		var after bytes.Buffer
		if err := program.run(bytes.NewReader(before), &after); err != nil {
			return err
		}
		if suffix != "" {
			err = os.WriteFile(t.path(name+suffix), before, 0o644)
		}
		if err := errors.Join(err, os.WriteFile(t.path(name), after.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func (p *sedProgram) parse(text string, extended bool) error {
	for {
		text = strings.TrimLeft(text, "; \n")
		if text == "" {
			return nil
		}
		c := &sedCommand{}
		var err error
		if c.from, text, err = readSedAddress(text, extended); err != nil {
			return err
		}
		if c.from != nil && strings.HasPrefix(text, ",") {
			if c.to, text, err = readSedAddress(text[1:], extended); err != nil {
				return err
			}
		}
		text = strings.TrimLeft(text, " ")
		if text == "" {
			return errors.New("no command")
		}
		c.letter, text = text[0], text[1:]
		switch c.letter {
		case 'd', 'p':
		case 's':
			if text, err = c.readSubstitution(text, extended); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown command %c", c.letter)
		}
		p.commands = append(p.commands, c)
	}
}

// readSedAddress returns nil if there is no address.
func readSedAddress(text string, extended bool) (*sedAddress, string, error) {
	switch {
	case strings.HasPrefix(text, "$"):
		return &sedAddress{last: true}, text[1:], nil
	case strings.HasPrefix(text, "/"):
		pattern, rest, err := cutAt(text[1:], '/', false)
		if err != nil {
			return nil, "", err
		}
		re, err := posixPattern(pattern, extended)
		return &sedAddress{pattern: re}, rest, err
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits == 0 {
		return nil, text, nil
	}
	line, err := strconv.Atoi(text[:digits])
	return &sedAddress{line: line}, text[digits:], err
}

// cutAt splits a text at a delimiter that has no backslash; of those that have one, the
// backslash is removed. Brackets hide a delimiter, except inWith, the second part of s.
func cutAt(text string, delimiter byte, inWith bool) (before, after string, err error) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			if text[i+1] != delimiter {
				b.WriteByte('\\')
			}
			i++
			b.WriteByte(text[i])
			continue
		case text[i] == delimiter && !inClass:
			return b.String(), text[i+1:], nil
		case text[i] == '[' && !inWith:
			inClass = true
		case text[i] == ']':
			inClass = false
		}
		b.WriteByte(text[i])
	}
	return "", "", fmt.Errorf("%q has no %c", text, delimiter)
}

func (c *sedCommand) readSubstitution(text string, extended bool) (string, error) {
	if text == "" {
		return "", errors.New("s has no pattern")
	}
	delimiter := text[0]
	pattern, text, err := cutAt(text[1:], delimiter, false)
	if err != nil {
		return "", err
	}
	with, text, err := cutAt(text, delimiter, true)
	if err != nil {
		return "", err
	}
	c.with = with
	for text != "" && strings.IndexByte("gp", text[0]) >= 0 {
		c.all = c.all || text[0] == 'g'
		c.print = c.print || text[0] == 'p'
		text = text[1:]
	}
	c.pattern, err = posixPattern(pattern, extended)
	return text, err
}

// posixPattern compiles a basic or extended pattern of POSIX.
func posixPattern(text string, extended bool) (*regexp.Regexp, error) {
	if extended {
		return regexp.Compile(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if strings.IndexByte("(){}|+?", text[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(text[i])
		case c == '*' && (i == 0 || text[i-1] == '^'):
			b.WriteString(`\*`)
		case c == '[':
			end := strings.IndexByte(text[min(i+2, len(text)):], ']')
			if end < 0 {
				return nil, fmt.Errorf("%q has no ]", text[i:])
			}
			class := text[i : i+2+end+1]
			b.WriteString("[" + strings.ReplaceAll(strings.ReplaceAll(class[1:len(class)-1], `\`, `\\`), "[", `\[`) + "]")
			i += len(class) - 1
		case strings.IndexByte("(){}|+?", c) >= 0:
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return regexp.Compile(b.String())
}

func (p *sedProgram) run(in io.Reader, out io.Writer) error {
	all, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(all), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for _, c := range p.commands {
		c.inside = false
	}
	for i, line := range lines {
		text, hasEnd := strings.CutSuffix(line, "\n")
		end := ""
		if hasEnd {
			end = "\n"
		}
		if err := p.runLine(text, end, i+1, i == len(lines)-1, out); err != nil {
			return err
		}
	}
	return nil
}

func (p *sedProgram) runLine(text, end string, line int, last bool, out io.Writer) error {
	for _, c := range p.commands {
		if !c.applies(text, line, last) {
			continue
		}
		shown := c.letter == 'p'
		switch c.letter {
		case 'd':
			return nil
		case 's':
			var done bool
			text, done = c.substitute(text)
			shown = done && c.print
		}
		if shown {
			if _, err := io.WriteString(out, text+end); err != nil {
				return err
			}
		}
	}
	if p.quiet {
		return nil
	}
	_, err := io.WriteString(out, text+end)
	return err
}

func (a *sedAddress) matches(text string, line int, last bool) bool {
	if a.pattern != nil {
		return a.pattern.MatchString(text)
	}
	return a.last && last || a.line == line
}

func (c *sedCommand) applies(text string, line int, last bool) bool {
	if c.from == nil {
		return true
	}
	if c.to == nil {
		return c.from.matches(text, line, last)
	}
	if !c.inside {
		c.inside = c.from.matches(text, line, last)
		return c.inside
	}
	c.inside = !c.to.matches(text, line, last)
	return true
}

func (c *sedCommand) substitute(text string) (string, bool) {
	n := 1
	if c.all {
		n = -1
	}
	var b strings.Builder
	at := 0
	for _, found := range c.pattern.FindAllStringSubmatchIndex(text, n) {
		b.WriteString(text[at:found[0]])
		at = found[1]
		for i := 0; i < len(c.with); i++ {
			group := -1
			switch {
			case c.with[i] == '&':
				group = 0
			case c.with[i] == '\\' && i+1 < len(c.with):
				i++
				if c.with[i] >= '0' && c.with[i] <= '9' {
					group = int(c.with[i] - '0')
				}
			}
			if group < 0 {
				b.WriteByte(c.with[i])
			} else if 2*group+1 < len(found) && found[2*group] >= 0 {
				b.WriteString(text[found[2*group]:found[2*group+1]])
			}
		}
	}
	b.WriteString(text[at:])
	return b.String(), at > 0 || b.String() != text || c.pattern.MatchString(text)
}
