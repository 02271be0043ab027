package secret

// HoldsAt is Holds for the last key of a path: structured.access_token,
// http.headers["set-cookie"].
func HoldsAt(path string) bool { return Holds(getLastKey(path)) }
