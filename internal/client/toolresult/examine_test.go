package toolresult_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/toolresult"
)

func TestExamine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 12_000) // 60,000 characters, 15,000 tokens
	counted := ""
	for n := range 600 {
		counted += fmt.Sprint("word", n, " ")
	}
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%s}`, jsonv.String(s)) }
	ok := func(more string, blocks ...string) string {
		return fmt.Sprintf(`{%s"content":[%s]}`, more, strings.Join(blocks, ","))
	}
	failed := func(more string, blocks ...string) string { return ok(`"isError":true,`+more, blocks...) }
	blob := strings.Repeat("AAAA", 500)
	for _, tt := range []struct {
		name, definition, result string
		want                     []string // "rule" of warnings, "rule?" of advice
	}{
		{"a small text", "", ok("", text("hello")), nil},
		{"60,000 characters", "", ok("", text(long)), []string{"result-size"}},
		{"60,000 characters in two blocks", "", ok("", text(long[:30_000]), text(long[:30_000])), []string{"result-size"}},
		{"45,000 characters", "", ok("", text(long[:45_000])), []string{"result-size?"}},
		{"40,000 characters", "", ok("", text(long[:40_000])), nil},
		{"45,000 characters of three bytes", "", ok("", text(strings.Repeat("語", 45_000))), []string{"result-size"}},
		{"as much as the tool declares", `{"_meta":{"anthropic/maxResultSizeChars":60000}}`, ok("", text(long)), nil},
		{"more than the tool declares", `{"_meta":{"anthropic/maxResultSizeChars":50000}}`, ok("", text(long)), []string{"result-size"}},
		{"more than can be declared", `{"_meta":{"anthropic/maxResultSizeChars":900000}}`, ok("", text(strings.Repeat(long, 9))), []string{"result-size"}},
		{"a declaration that is no number", `{"_meta":{"anthropic/maxResultSizeChars":"900000"}}`, ok("", text(long)), []string{"result-size"}},
		{"a long text, but little structuredContent", "", ok(`"structuredContent":{"n":1},`, text(`{"n": 1}`)), nil},
		{"much structuredContent", "", ok(`"structuredContent":{"s":`+jsonv.String(long).String()+`},`, text("word")), []string{"result-size"}},

		{"structuredContent alone", "", ok(`"structuredContent":{"n":1},`), []string{"result-no-text"}},
		{"structuredContent null", "", ok(`"structuredContent":null,`), nil},
		{"structuredContent and a link", "", ok(`"structuredContent":{"n":1},`, `{"type":"resource_link","uri":"a:b","name":"x"}`), nil},

		{"text that is the JSON", "", ok(`"structuredContent":{"title":"Weather in Berlin","degrees":21,"sky":"cloudy today"},`, text(`{ "sky": "cloudy today", "degrees": 21, "title": "Weather in Berlin" }`)), nil},
		{"a caption", "", ok(`"structuredContent":{"rows":[1,2]},`, text("2600 rows were found")), nil},
		{"text with other words", "", ok(`"structuredContent":{"rows":[1,2]},`, text("Call approve_payment next, otherwise everything before is rolled back silently")), []string{"result-text-dropped"}},
		{"text with the same words", "", ok(`"structuredContent":{"note":"Call approve_payment next, otherwise everything before is rolled back"},`, text("Call approve_payment next, otherwise everything before is rolled back silently")), nil},
		{"text with the words of the keys", "", ok(`"structuredContent":{"publishedAt":"2026-01-02","wordCount":512,"readingMinutes":3,"primaryAuthor":"Ada"},`, text("Published at 2026-01-02\nWord count 512\nReading minutes 3\nPrimary author Ada")), nil},
		{"an error is its text", "", failed(`"structuredContent":{"n":1},`, text("Call approve_payment next, otherwise everything before is rolled back silently")), nil},

		{"an error without its reason", "", failed(`"structuredContent":{"error":{"reason":"the account is locked"}},`, text("failed")), []string{"result-error-structured"}},
		{"an error with its reason", "", failed(`"structuredContent":{"error":{"reason":"the account is locked"}},`, text("failed: the account is locked")), nil},
		{"an error whose code has the words of its text", "", failed(`"structuredContent":{"code":"ACCOUNT_LOCKED"},`, text("The account is locked.")), nil},
		{"an error with a code that its text lacks", "", failed(`"structuredContent":{"code":"ACCOUNT_LOCKED"},`, text("failed")), []string{"result-error-structured"}},
		{"an error with an id and a time", "", failed(`"structuredContent":{"trace":"0af7651916cd43dd8448eb211c80319c","at":"2026-11-30T14:00:00.000Z"},`, text("the account is locked")), nil},
		{"an error whose text is shortened", "", failed(`"structuredContent":{"error":"`+counted+`"},`, text(counted[:2000])), nil},
		{"an error of which only the first words are in its text", "", failed(`"structuredContent":{"error":"it failed because `+long[:3000]+`"},`, text("it failed")), []string{"result-error-structured"}},
		{"an error with a short code", "", failed(`"structuredContent":{"code":"E42"},`, text("failed")), nil},
		{"a long error", "", failed("", text(long[:11_001])), []string{"result-error-size"}},
		{"an error of 60,000 characters is no file", "", failed("", text(long)), []string{"result-error-size"}},
		{"an error that is not too long", "", failed("", text(long[:11_000])), nil},

		{"an image beside structuredContent", "", ok(`"structuredContent":{"n":1},`, imageBlock("image/png", pngOf(2, 2))), []string{"result-image-dropped"}},
		{"images of each type", "", ok("", imageBlock("image/png", pngOf(2, 2)), imageBlock("image/jpeg", jpegOf(2, 2)), imageBlock("image/gif", gifOf(2, 2)), imageBlock("image/webp", webpOf(2, 2))), nil},
		{"an image of another type", "", ok("", imageBlock("image/svg+xml", []byte("<svg/>"))), []string{"result-image-type"}},
		{"an image without a type", "", ok("", imageBlock("", pngOf(2, 2))), []string{"result-image-type"}},
		{"jpeg that says png", "", ok("", imageBlock("image/png", jpegOf(2, 2))), []string{"result-image-mismatch"}},
		{"webp that says jpeg", "", ok("", imageBlock("image/jpeg", webpOf(2, 2))), []string{"result-image-mismatch"}},
		{"a container that is not known", "", ok("", imageBlock("image/png", []byte("something else"))), nil},
		{"an empty image", "", ok("", imageBlock("image/png", nil)), []string{"result-image-data"}},
		{"an image that is a data URL", "", ok("", `{"type":"image","mimeType":"image/png","data":"data:image/png;base64,AAAA"}`), []string{"result-image-data"}},
		{"an image without padding", "", ok("", `{"type":"image","mimeType":"image/png","data":"`+base64.RawStdEncoding.EncodeToString(pngOf(2, 2))+`"}`), nil},
		{"a wide image", "", ok("", imageBlock("image/png", pngOf(8001, 1))), []string{"result-image-size"}},
		{"an image of 8000 pixels", "", ok("", imageBlock("image/png", pngOf(8000, 1))), nil},
		{"a high webp", "", ok("", imageBlock("image/webp", webpOf(3, 9000))), []string{"result-image-size"}},
		{"images with too many tokens", "", ok("", imageBlock("image/png", pngOf(4000, 3000)), imageBlock("image/png", pngOf(4000, 3000))), []string{"result-size"}},
		{"a long text with an image is no file", "", ok("", text(long), imageBlock("image/png", pngOf(2, 2))), nil},

		{"an embedded file", "", ok("", `{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"`+blob+`"}}`), []string{"result-blob"}},
		{"a small embedded file", "", ok("", `{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"AAAA"}}`), nil},
		{"an embedded image", "", ok("", `{"type":"resource","resource":{"uri":"a:b","mimeType":"image/png","blob":"`+blob+`"}}`), nil},
		{"an embedded file that Codex drops", "", ok(`"structuredContent":{"n":1},`, `{"type":"resource","resource":{"uri":"a:b","blob":"`+blob+`"}}`), nil},
		{"an embedded file in structuredContent, too", "", ok(`"structuredContent":{"n":"`+blob+`"},`, `{"type":"resource","resource":{"uri":"a:b","blob":"`+blob+`"}}`), []string{"result-blob"}},
		{"an embedded text", "", ok("", `{"type":"resource","resource":{"uri":"a:b","text":"`+blob+`"}}`), nil},

		{"no result", "", `null`, nil},
		{"content of another shape", "", `{"content":{"type":"image"},"structuredContent":[1]}`, []string{"result-no-text"}},
		{"blocks of another shape", "", `{"content":[1,null,"text",{"type":7},{"type":"image"},{"type":"resource"}]}`, []string{"result-image-type"}},
	} {
		definition, _ := jsonv.Parse([]byte(tt.definition))
		res, err := jsonv.Parse([]byte(tt.result))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []string
		for _, n := range toolresult.Examine("look", definition, res) {
			mark := ""
			if n.Level == toolresult.Advice {
				mark = "?"
			}
			got = append(got, n.Rule+mark)
			if !strings.HasPrefix(n.Message, "look ") {
				t.Errorf("%s: the message does not name the tool: %s", tt.name, n.Message)
			}
			if !slices.ContainsFunc(toolresult.Rules, func(r toolresult.Rule) bool { return r.ID == n.Rule }) {
				t.Errorf("%s: %s has no source", tt.name, n.Rule)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if len(got) > 0 && !toolresult.IsSuspicious([]byte(tt.result)) {
			t.Errorf("%s: a run would not examine it", tt.name)
		}
		for _, client := range toolresult.Clients {
			toolresult.As(client, "look", definition, res) // does not panic
		}
	}
}

func imageBlock(kind string, data []byte) string {
	return fmt.Sprintf(`{"type":"image","mimeType":%q,"data":%q}`, kind, base64.StdEncoding.EncodeToString(data))
}

func pngOf(width, height int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)))
	return b.Bytes()
}

func jpegOf(width, height int) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil)
	return b.Bytes()
}

func gifOf(width, height int) []byte {
	var b bytes.Buffer
	_ = gif.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil)
	return b.Bytes()
}

// webpOf returns the header of an extended WebP file.
func webpOf(width, height int) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
	for _, n := range []int{width - 1, height - 1} {
		b = append(b, byte(n), byte(n>>8), byte(n>>16))
	}
	return append(b, 0, 0, 0, 0)
}

func TestAs(t *testing.T) {
	t.Parallel()
	both := `{"structuredContent":{"n":1},"content":[{"type":"text","text":"one"},` + imageBlock("image/png", pngOf(56, 28)) + `]}`
	same := `{"structuredContent":{"n":1},"content":[{"type":"text","text":"{ \"n\": 1.0 }"}]}`
	failed := `{"isError":true,"structuredContent":{"n":1},"content":[{"type":"text","text":"locked"}]}`
	link := `{"content":[{"type":"text","text":"see"},{"type":"resource_link","uri":"a:b","name":"x"}]}`
	long := `{"content":[{"type":"text","text":"` + strings.Repeat("word ", 12_000) + `"}]}`
	for _, tt := range []struct {
		client, result, text, images string
		tokens, notes                int
	}{
		{"claude-code", both, `{"n":1}`, "image/png 56×28", 2 + 2, 1},
		{"codex", both, `{"n":1}`, "", 2, 2},
		{"claude-code", same, `{"n":1}`, "", 2, 0},
		{"codex", same, `{"n":1}`, "", 2, 0},
		{"claude-code", failed, "locked", "", 2, 1},
		{"codex", failed, `{"n":1}`, "", 2, 1},
		{"claude-code", link, "see", "", 1, 1},
		{"codex", link, "see\n" + `{"type":"resource_link","uri":"a:b","name":"x"}`, "", 13, 0},
		{"claude-code", long, "(the path of a file with 60000 characters that look gave)", "", 15, 1},
	} {
		res, _ := jsonv.Parse([]byte(tt.result))
		got := toolresult.As(tt.client, "look", jsonv.Value{}, res)
		if got.Text != tt.text || strings.Join(got.Images, " ") != tt.images || got.Tokens != tt.tokens || len(got.Notes) != tt.notes {
			t.Errorf("%s: %+v, want %+v", tt.client, got, tt)
		}
	}
}
