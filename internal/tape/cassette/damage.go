package cassette

import (
	"fmt"

	"mcptest/internal/base/jsonv"
)

// damage changes the values of a response, which keep their types: a test that examines
// none of them still passes. It is the line of the response in the cassette, so that
// equal values differ afterward.
type damage int

// mark replaces texts. It is valid base64.
func (d damage) mark() jsonv.Value { return jsonv.String(fmt.Sprintf("damaged%05d", int(d))) }

// damageResponse changes the content, or the error, of a response.
func (d damage) damageResponse(data []byte) []byte {
	v, err := jsonv.Parse(data)
	if err != nil {
		return data
	}
	result, ok := v.Get("result")
	if !ok {
		return v.With("error", jsonv.ObjectOf("code", -1, "message", d.mark())).Append(nil)
	}
	for key, e := range result.Members() {
		switch key {
		case "content", "contents", "messages":
			result = result.With(key, e.Map(d.damageBlock))
		case "structuredContent", "completion":
			result = result.With(key, d.damageValue(e))
		}
	}
	return v.With("result", result).Append(nil)
}

// damageBlock changes the texts, the binary data, and the addresses and names of resources in
// blocks of content.
func (d damage) damageBlock(key string, v jsonv.Value) (string, jsonv.Value) {
	switch key {
	case "uri":
		return key, jsonv.String("damaged:" + d.mark().Text())
	case "text", "data", "blob", "name":
	default:
		return key, v.Map(d.damageBlock)
	}
	inner, err := jsonv.Parse([]byte(v.Text()))
	if err == nil && inner.Len() > 0 && inner.Kind() != jsonv.KindString {
		return key, jsonv.String(d.damageValue(inner).String())
	}
	return key, d.mark()
}

// damageValue changes every value in structured content. Numbers change their sign and lists
// their length, so that comparisons fail, too.
func (d damage) damageValue(v jsonv.Value) jsonv.Value {
	each := func(key string, e jsonv.Value) (string, jsonv.Value) { return key, d.damageValue(e) }
	switch v.Kind() {
	case jsonv.KindBool:
		return jsonv.Bool(!v.Bool())
	case jsonv.KindNumber:
		return jsonv.Float(-v.Float64() - float64(d))
	case jsonv.KindArray:
		return jsonv.Array(append(v.Map(each).List(), d.damageValue(v.At(v.Len()-1)))...)
	case jsonv.KindObject:
		return v.Map(each)
	}
	return d.mark()
}
