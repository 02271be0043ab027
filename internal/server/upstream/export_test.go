package upstream

// Answer returns the response to a request and attributes it to the test that it
// belongs to. The exchange is guarded by the lock.
func (d *Double) Answer(q *Request) (*Response, *Exchange) {
	x, watch := d.arrive(q)
	return d.respond(x, watch, nil), x
}
