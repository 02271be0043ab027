package cassette

import (
	"bytes"
	"slices"
	"time"

	"mcptest/internal/base/osfile"
	"mcptest/internal/base/secret"
)

// Redact rewrites a cassette with the secrets that redact knows or recognizes masked,
// completely or not at all. Unlike a recorder it knows later messages: a secret that
// is recognized once is masked in all messages. It returns the number of changed
// messages.
func Redact(path string, c *Cassette, redact *secret.Redactor) (changed int, err error) {
	if err := Replaceable(path); err != nil {
		return 0, err
	}
	file, err := osfile.Create(path, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			file.Abort()
		}
	}()
	w := &Writer{redact: redact, start: time.Now(), f: file.File, header: c.Header, ids: map[string]string{}}
	learn := func(f *Frame) error {
		w.credentials(f.HTTP)
		data, err := c.Data(f)
		w.mask(data)
		return err
	}
	if err := each(c, learn); err != nil {
		return 0, err
	}
	for _, m := range []string{MaskSecrets, MaskSessions} {
		if !slices.Contains(c.Masks, m) {
			w.header.Masks = append(w.header.Masks, m)
		}
	}
	w.header.Note = w.mask(c.Note)
	w.header.Server = clean(c.Server, redact)
	w.header.Server.Info = w.mask(c.Server.Info)
	w.begin()
	err = each(c, func(f *Frame) error {
		data, err := c.Data(f)
		if err != nil {
			return err
		}
		if !bytes.Equal(w.mask(data), data) {
			changed++
		}
		again := *f
		again.Data = data
		return w.append(&again)
	})
	if err != nil {
		return 0, err
	}
	return changed, file.Commit()
}

func each(c *Cassette, do func(*Frame) error) error {
	for i := range c.Frames {
		if err := do(&c.Frames[i]); err != nil {
			return err
		}
	}
	return nil
}
