package gen

import (
	"reflect"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

// defNames are the names of definitions that are not the struct's own in small
// letters.
var defNames = map[string]string{
	"Defaults": "default-test", "Declaration": "upstream", "Into": "upstream-into", "RouteDecl": "route", "MatchDecl": "route-match", "ReplyDecl": "reply", "EventDecl": "reply-event",
}

// aliasOf names the struct whose comments another one shares.
var aliasOf = map[string]string{"stepFields": "Step", "respondKeys": "Respond", "clientCapabilityKeys": "ClientCapabilities", "clientKeys": "Client"}

// inlined are structs that are inside the schema of a union, not on their
// own.
var inlined = map[string]bool{"header-env": true, "variable-env": true, "context-hook": true, "sampling-text": true}

// written are structs that are read before placeholders are expanded: none can
// stand for a whole one.
var written = map[string]bool{
	"server": true, "variant": true, "hooks": true,
}

// unions are the types that decode themselves and have no keys: what they take,
// as JSON Schema.
var unions = map[string]string{
	"Text":      `{"type":"string"}`,
	"Scalar":    `{"type":["string","number","boolean"]}`,
	"Unmatched": `{"enum":["fail",404,"404"]}`,
	"scalar":    `{"type":["string","number","boolean"]}`,
	"Names":     `{"type":["string","array"],"minLength":1,"minItems":1,"items":{"type":"string","minLength":1}}`,
	"Reason":    `{"type":["string","boolean"]}`,
	"Parallel": `{"anyOf":[{"enum":["auto",false]},{"type":"integer","minimum":1,"maximum":1024},` +
		`{"type":"string","pattern":"\\$\\{[A-Za-z_]"}]}`,
	"Stdin": `{"anyOf":[{"enum":["open","close"]},{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string","description":"Text to write.","examples":["no JSON"]},"then":{"enum":["open","close"],"default":"open","examples":["close"],"description":"What happens to the input after the text."}}},` +
		`{"type":"string","pattern":"\\$\\{[A-Za-z_]"}]}`,
	"InheritEnv": `{"anyOf":[{"enum":["minimal","all"]},{"type":"array","items":{"type":"string","pattern":"^[^=\\u0000]+$"}},` +
		`{"type":"string","pattern":"\\$\\{[A-Za-z_]"}]}`,
}

// fixedDefs are definitions without a struct.
var fixedDefs = map[string]string{
	"duration": `{"type":["string","null"],"description":"a number with a unit: 500ms, 30s, 1m30s, 2h",` +
		`"pattern":` + strconv.Quote(durationPattern+`|`+holds) + `,"patternErrorMessage":"expected a duration such as 30s"}`,
}

// structRules are what must hold among the keys of a struct, as members for
// its schema.
var structRules = map[string]string{
	"suite": `{"patternProperties":{"^x-":{"description":"Values for anchors. mcptest reads nothing else of them."}}}`,
	"server": `{"oneOf":[{"required":["command"]},{"required":["url"]},{"required":["variants"],"properties":{
		"command":{"not":{}},"url":{"not":{}},"variants":{"minProperties":1}}}],"dependentSchemas":{` + without("command", "url") + `,` + without("url", "command") + `,
		"auth":{"if":{"properties":{"auth":{"type":"object"}}},"then":{"properties":{"headers":{"propertyNames":{
			"not":{"pattern":"^[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn]$"}}}}}}}}`,
	"variant": `{"dependentSchemas":{
		"command":{"properties":{"url":{"not":{}},"query":{"not":{}},"headers":{"not":{}},"transport":{"not":{}}}},
		"url":{"properties":{"args":{"not":{}},"env":{"not":{}}}}}}`,
	"auth": `{"anyOf":[
		{"not":{"type":"object"}},
		{"required":["bearer_token_env"],"properties":{"bearer_token_env":{"minLength":1},"oauth":{"type":["null","string"]}}},
		{"required":["oauth"],"properties":{"oauth":{"type":["object","string"]},"bearer_token_env":{"maxLength":0}}}]}`,
	"oauth": `{"allOf":[
		{"if":{"properties":{"grant":{"const":"client_credentials"}}},"then":{"required":["client_id","client_secret_env"],
			"anyOf":[{"required":["token_endpoint"],"properties":{"token_endpoint":{"minLength":1}}},{"required":["issuer"],"properties":{"issuer":{"minLength":1}}}],
			"properties":{"client_metadata_url":{"not":{}},"redirect_port":{"not":{}},"headless":{"not":{}}}}},
		{"if":{"properties":{"grant":{"const":"authorization_code"}}},"then":{"properties":{"token_endpoint":{"not":{}}}}},
		{"if":{"properties":{"grant":{"const":"device_code"}}},"then":{"properties":{
			"token_endpoint":{"not":{}},"client_metadata_url":{"not":{}},"redirect_port":{"not":{}},"headless":{"not":{}}}}}]}`,
	"respond":        `{"minProperties":1}`,
	"client":         `{"minProperties":1}`,
	"tools-test":     testRules(`{"required":["tool"]}`, `"tool":{"not":{}},"args":{"not":{}}`),
	"resources-test": testRules(`{"required":["uri"]}`, `"uri":{"not":{}}`),
	"prompts-test":   strings.TrimSuffix(testRules(`{"required":["prompt"]}`, `"prompt":{"not":{}},"args":{"not":{}}`), "}") + `,"allOf":[{` + promptArgs + `}]}`,
	"protocol-test": testRules(`{"required":["method"]},{"required":["raw"]}`,
		`"method":{"not":{}},"raw":{"not":{}},"params":{"not":{}},"notification":{"not":{}}`),
	"context-hook": `{"required":["command","mode"]}`,
	"flow-step": `{"oneOf":[{"required":["tool"]},{"required":["uri"]},{"required":["prompt"]},{"required":["method"]},{"required":["raw"]}],
		"dependentSchemas":{` + belongs + `,
		"tool":{"properties":{"params":{"not":{}},"notification":{"not":{}}}},
		"uri":{"properties":{"args":{"not":{}},"params":{"not":{}},"notification":{"not":{}}}},
		"prompt":{"properties":{"params":{"not":{}},"notification":{"not":{}}},` + promptArgs + `},
		"method":{"properties":{"args":{"not":{}}}}}}`,
	"step": `{"oneOf":[{"required":["run"]},{"required":["call"]}],"dependentSchemas":{"call":{"properties":{
		"background":{"not":{"const":true}},"env":{"not":{}},"cwd":{"not":{}},"wait_for":{"not":{"pattern":"^log:"}}}}}}`,
	"sampling-answer": `{"required":[],"additionalProperties":true,"if":{"required":["content"]},"then":{"properties":{"text":{"not":{}}}},"else":{
		"required":["text"],"properties":{"text":{"type":"string"},"model":{"type":"string"}},
		"propertyNames":{"enum":["text","model"]}}}`,
	"elicitation-answer": `{"if":{"properties":{"action":{"enum":["decline","cancel"]}}},"then":{"properties":{"content":{"not":{}}}}}`,
}

// without says that a server with a key has none of the keys that are for servers
// with another one.
func without(key, other string) string {
	var none []pair
	for _, f := range source.Fields(reflect.TypeFor[suite.Server]()) {
		if f.Tag.Get("for") == other {
			none = append(none, pair{f.Name, object(pair{"not", jsonv.Object()})})
		}
	}
	return strconv.Quote(key) + ":" + object(pair{"properties", object(none...)}).String()
}

// belongs says what does not go with raw and with a notification.
const belongs = `"raw":{"properties":{"args":{"not":{}},"params":{"not":{}},"notification":{"not":{}},"cancel_after":{"type":"null"}}},
	"notification":{"if":{"properties":{"notification":{"const":true}}},"then":{"properties":{"cancel_after":{"type":"null"}}}}`

// promptArgs says that the arguments of a prompt are text, unless they are wrong on purpose.
const promptArgs = `"if":{"not":{"required":["invalid_args"],"properties":{"invalid_args":{"const":true}}}},"then":{"properties":{"args":{"additionalProperties":{"type":"string"}}}}`

// testRules says that a test has one thing to invoke, or steps.
func testRules(subjects, own string) string {
	return `{"oneOf":[` + subjects + `,{"required":["steps"]},{"required":["expect"],"properties":{` + own + `,"steps":{"not":{}}}}],"dependentSchemas":{` + belongs + `,"steps":{"properties":{` + own +
		`,"wait":{"not":{}},"cancel_after":{"not":{}}}}},
		"if":{"anyOf":[{"required":["repeat"],"properties":{"repeat":{"type":"object"}}},{"required":["trials"],"properties":{"trials":{"type":"object"}}}]},"then":{"properties":{"retries":{"maximum":0}}}}`
}

// teardownStep is the step of a teardown: the one place for always, and no
// place for background.
func (g *generator) teardownStep() jsonv.Value {
	v := g.defs["step"]
	props := v.Lookup("properties")
	always := merge(props.Lookup("always").Without("not"), g.json(`{"type":["boolean","null","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$"}`))
	props = props.With("always", always)
	props = props.With("background", merge(props.Lookup("background"), g.json(`{"not":{"const":true},"examples":[false]}`)))
	return v.With("properties", props)
}
