package skill

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"mcptest/internal/base/jsonv"
)

// Content returns the raw bytes of a file, and its type, from the result of resources/read.
func Content(uri string, result jsonv.Value) (data []byte, mime string, err error) {
	contents := result.Lookup("contents").List()
	if len(contents) == 0 {
		return nil, "", errors.New("the result has no contents")
	}
	one, id := contents[0], Identity(uri)
	for _, c := range contents {
		if Identity(c.Lookup("uri").Text()) == id {
			one = c
			break
		}
	}
	mime = one.Lookup("mimeType").Text()
	text, blob := one.Lookup("text"), one.Lookup("blob")
	isZero := text.Text() == "" && blob.Kind() == jsonv.KindString // of a writer that omits nothing
	if text.Kind() == jsonv.KindString && !isZero {
		return []byte(text.Text()), mime, nil
	}
	if blob.Kind() != jsonv.KindString {
		return nil, mime, errors.New("the contents have neither text nor blob")
	}
	data, err = base64.StdEncoding.DecodeString(blob.Text())
	if err != nil {
		return nil, mime, fmt.Errorf("blob is not base64: %w", err)
	}
	return data, mime, nil
}

// Seen is what is known of a file that was read.
type Seen struct {
	Digest string
	Size   int64
}

// Look notes what a file is compared by.
func Look(data []byte) Seen {
	return Seen{fmt.Sprintf("sha256:%x", sha256.Sum256(data)), int64(len(data))}
}

// Compare returns how what was read differs from what the manifest says of a file. A digest
// or a size that has no valid form is judged by [Entry.Judge].
func (file File) Compare(got Seen) (out []Finding) {
	if file.Size >= 0 && file.Size != got.Size {
		why := fmt.Sprintf("the size is %d, but the file has %d bytes", file.Size, got.Size)
		out = append(out, Finding{"skill-size", Shown(file.URI), why})
	}
	if digestForm().MatchString(file.Digest) && file.Digest != got.Digest {
		why := fmt.Sprintf("the digest is %s, but that of the file is %s", file.Digest, got.Digest)
		out = append(out, Finding{"skill-digest", Shown(file.URI), why})
	}
	return out
}
