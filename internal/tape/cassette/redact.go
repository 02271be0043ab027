package cassette

import (
	"bytes"
	"errors"
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
	if err := CheckReplaceable(path); err != nil {
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
	for i := range c.Frames {
		w.learnCredentials(c.Frames[i].HTTP)
		w.mask(c.Data(&c.Frames[i]))
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
	for _, f := range c.Frames {
		f.Data = c.Data(&f)
		if !bytes.Equal(w.mask(f.Data), f.Data) {
			changed++
		}
		_ = w.append(&f) // reported below
	}
	if err := errors.Join(c.Err(), w.failed); err != nil {
		return 0, err
	}
	return changed, file.Commit()
}
