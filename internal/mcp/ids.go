package mcp

// idStep is the distance between two ids at the middle: the n-th request has an
// id between n*idStep and n*idStep+idStep-1, so its first digits say which it is.
const idStep = 1000

// idAt is the id of the n-th request of a session, from 1. A server that does
// not look at the ids it is sent, but counts for itself or adds one to the last,
// must not get them right by chance. They are the same in every session, so
// that two runs of a suite write the same bytes.
func idAt(n int64) int64 {
	// The finalizer of splitmix64 (Steele, Lea, Flood 2014).
	z := uint64(n) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return n*idStep + int64((z^z>>31)%idStep)
}

// gave reports whether id is that of a request of this session.
func (s *Session) gave(id int64) bool {
	n := id / idStep
	return n >= 1 && n <= s.sent.Load() && idAt(n) == id
}
