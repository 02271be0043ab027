package check

import (
	"encoding/base64"
	"fmt"
	"mime"
	"strings"

	"mcptest/internal/base/jsonv"
)

// Block returns what is wrong with a block of content, "" if nothing is.
func Block(b jsonv.Value) string {
	needs := map[string]string{"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}
	kind := b.Lookup("type").Text()
	member, ok := needs[kind]
	switch {
	case !ok:
		return "a content block has the type " + b.Lookup("type").OrNull().Short(40)
	case b.Lookup(member).IsAbsent():
		return fmt.Sprintf("a block of type %s has no %s", kind, member)
	case member == "data":
		if _, err := base64.StdEncoding.DecodeString(b.Lookup("data").Text()); err != nil {
			return fmt.Sprintf("data of a block of type %s is not base64: %v", kind, err)
		}
	}
	return ""
}

// Media returns what is wrong with the MIME type of an image or audio block.
func Media(b jsonv.Value) string {
	kind := b.Lookup("type").Text()
	if kind != "image" && kind != "audio" {
		return ""
	}
	if media, _, err := mime.ParseMediaType(b.Lookup("mimeType").Text()); err != nil || !strings.Contains(media, "/") {
		return fmt.Sprintf("mimeType of a block of type %s is %s", kind, b.Lookup("mimeType").OrNull().Short(40))
	}
	return ""
}
