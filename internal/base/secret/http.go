package secret

import "strings"

// inHTTP are names that denote a credential in the queries and forms of HTTP; true says that
// they do in JSON and XML too, where short names such as "key" and "code" have other
// meanings. A recording of an upstream masks all values under them. In other text, which
// shows ordinary values under the same names, a value must look generated.
var inHTTP = map[string]bool{
	"sig": true, "signature": true, "assertion": true, "client_assertion": true, "code_verifier": true, "sessionid": true, "session_id": true,
	"otp": true, "pin": true, "hmac": true,
	"key": false, "auth": false, "code": false, "samlresponse": false, "session": false, "sid": false, "phpsessid": false, "jsessionid": false,
	"csrf": false, "xsrf": false, "x-amz-signature": false, "x-amz-credential": false, "x-goog-signature": false, "x-goog-credential": false,
}

// HoldsField reports whether a query parameter, or a field of a form, of this name holds a
// credential.
func HoldsField(name string) bool {
	_, known := inHTTP[strings.ToLower(name)]
	return known || Holds(name)
}

// HoldsMember is HoldsField for a member of JSON, an element of XML and their kind.
func HoldsMember(name string) bool { return inHTTP[strings.ToLower(name)] || Holds(name) }

// generated reports whether the value of a field looks like a credential and not like a
// word, a count or an address.
func generated(name, v string) bool {
	if strings.EqualFold(name, "pin") {
		return len(v) >= 4 && len(v) <= 12 && span(v, 0, func(c byte) bool { return c-'0' < 10 }) == len(v)
	}
	return chance(v) && !strings.ContainsAny(v, "/:,")
}
