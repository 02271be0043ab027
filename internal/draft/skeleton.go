package draft

import "strings"

// Skeleton is the entry of a test whose response is not known. It fails until a
// person has written what is expected.
func Skeleton(t *Test) string {
	target := map[string]string{"tools": "text", "resources": "result.contents[0].text", "prompts": "result.messages[0].content.text"}[t.Block]
	w := &writer{suite: &Suite{}}
	w.test(t, w.suite.name(t))
	return strings.TrimRight(w.b.String(), "\n") + `
    expect:
      # review: what the response must contain
      - {target: ` + literal(target) + `, matcher: {contains: "TODO: what the response must contain"}}
`
}
