package protocol

import (
	"bytes"
	"strconv"
)

// idStep is the average distance between two ids: the n-th request has an id between
// n*idStep and n*idStep+idStep-1, so its first digits are the number of the request.
const idStep = 1000

// IDAt returns the id of the n-th request of a session, counting from 1. The ids are
// irregular, so that a server that ignores the ids of requests and counts by itself
// does not guess them. They are the same in every session, so that two runs of a
// suite send the same bytes.
func IDAt(n int64) int64 {
	// The finalizer of splitmix64 (Steele, Lea, Flood 2014).
	z := uint64(n) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return n*idStep + int64((z^z>>31)%idStep)
}

// RequestNumber returns the number of the request with the id, or 0 for an id that
// [IDAt] does not return.
func RequestNumber(id int64) int64 {
	if n := id / idStep; n >= 1 && IDAt(n) == id {
		return n
	}
	return 0
}

// OwnID parses an id in the form that the client writes: a positive integer without
// sign, fraction or exponent.
func OwnID(raw []byte) (int64, bool) {
	if len(raw) == 0 || len(raw) > 18 || raw[0] == '0' {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// GuessID guesses the client's id that is meant by another form: "3", 3.0, 3e0,
// [3].
func GuessID(raw []byte) (int64, bool) {
	raw = bytes.Trim(raw, "[] ")
	if len(raw) > 1 && raw[0] == '"' {
		return OwnID([]byte(TextOf(raw)))
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || f < 1 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// LastID returns the value of `"id":N` at the end of a message, where several
// libraries write it.
func LastID(tail []byte) []byte {
	i := bytes.LastIndex(tail, []byte(`"id"`))
	if i < 0 {
		return nil
	}
	rest := TrimSpace(tail[i+len(`"id"`):])
	if len(rest) == 0 || rest[0] != ':' {
		return nil
	}
	rest = TrimSpace(rest[1:])
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if end := TrimSpace(rest[n:]); len(end) == 0 || end[0] != '}' && end[0] != ',' {
		return nil
	}
	return rest[:n]
}
