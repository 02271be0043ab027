package gen

import (
	"strconv"
	"strings"

	"mcptest/internal/client/identity"
)

// fact is what neither the type nor the tags default, example, range and schema of
// a field say about its key.
type fact struct {
	// example is a value, as JSON.
	example string
	// add are members for the schema of the type, as JSON: bounds and patterns.
	add string
	// schema replaces the schema of the type, as JSON: for keys that take any
	// node.
	schema string
	// given marks keys that may not be null, though their type has a null.
	given bool
	// fixed marks keys below which nothing is expanded: a placeholder can't
	// stand for a value there.
	fixed bool
}

const (
	anyMap    = `{"type":["object","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$","patternErrorMessage":"expected a map, or a placeholder such as ${name}"}`
	expectDef = `{"anyOf":[{"$ref":"#/$defs/expect"},{"type":"null"}]}`
	metricDef = `{"anyOf":[{"$ref":"#/$defs/derived-metrics"},{"type":"null"}]}`
	stepsList = `{"minItems":1}`
)

// Examples that several keys share.
const (
	exExpect  = `[{"target":"result.items","matcher":{"length":{"min":1}}}]`
	exMetrics = `[{"name":"quality","value":{"weighted_average":[{"ref":"cites_sources","weight":2}]}}]`
	exSteps   = `[{"tool":"create","capture":{"id":"result.id"}},{"tool":"get","args":{"id":"${steps.id}"}}]`
	exTest    = `[{"name":"finds rust","tool":"search","args":{"q":"rust"},"expect":[{"target":"text","matcher":{"contains":"rust"}}]}]`
	exRespond = `{"elicitation":{"action":"accept","content":{"name":"Ada"}}}`
)

// facts says more about keys, by "Struct.key" of the struct that declares the
// key's field.
var facts = map[string]fact{
	"document.servers": {schema: `{"type":"object","propertyNames":{"pattern":"^[^@]*$"},"additionalProperties":{"$ref":"#/$defs/server"}}`, example: `{"api":{"command":["node","server.js"]}}`},
	"document.variables": {
		fixed: true, example: `{"region":"eu","token":{"from_env":"API_TOKEN","secret":true}}`,
		add: `{"propertyNames":{"pattern":"^[A-Za-z_][A-Za-z0-9_-]*$"}}`,
	},
	"document.upstreams":         {example: `{"api":{"stands_for":"https://api.example.com","into":{"env":"API_URL"},"routes":[{"match":{"path":"/user"},"reply":{"json":{"login":"ada"}}}]}}`},
	"document.env":               {example: `{"LOG_LEVEL":"debug"}`, add: envNames},
	"lists.tools":                {example: exTest},
	"lists.resources":            {example: `[{"name":"reads the readme","uri":"file:///README.md"}]`},
	"lists.prompts":              {example: `[{"name":"greets","prompt":"greeting","args":{"name":"Ada"}}]`},
	"lists.protocol":             {example: `[{"name":"answers a ping","method":"ping"}]`},
	"document.teardown_per_test": {schema: teardown, example: `[{"call":{"tool":"reset_state"}}]`},
	"document.teardown":          {schema: teardown, example: `[{"run":["./cleanup.sh"],"always":true}]`},

	"MatchDecl.query": {schema: `{"type":["object","string"],"additionalProperties":{"type":["string","number","boolean","array","null"]}}`, example: `{"page":2,"cursor":null}`},
	"MatchDecl.body":  {schema: `true`, example: `{"name":"Ada"}`},
	"ReplyDecl.json":  {schema: `true`, example: `{"id":"{{path.id}}"}`},
	"EventDecl.data":  {schema: `true`, example: `{"done":true}`},
	"Retry.args":      {schema: anyMap, example: `{"text":"a","key":"k1"}`},
	"Effects.args":    {schema: anyMap, example: `{"limit":100}`},
	"SameCall.ignore": {schema: `{"type":"array","items":{"type":"string","minLength":1}}`, example: `["structuredContent.etag"]`},
	"Common.headers":  {example: `{"X-Tenant":"acme"}`, add: headerNames},

	"fromEnv.default": {schema: `{"type":["string","number","boolean","null"]}`, example: `"none"`},

	"Server.command":        {schema: programSchema, example: `["node","server.js"]`},
	"BundleCommand.config":  {schema: optionsSchema, example: `{"api_key":"${API_KEY}"}`},
	"Server.env":            {example: `{"API_URL":"http://127.0.0.1:9999"}`, add: envNames},
	"Server.headers":        {example: `{"Authorization":{"env":"API_TOKEN"}}`, add: headerNames},
	"Server.wait_for_ready": {example: `"http://127.0.0.1:8080/health"`, add: readyPattern},
	"Server.tolerate":       {schema: tolerateSchema, example: `["stray-output"]`},
	"Server.respond":        {example: exRespond},

	"Server.variants": {schema: variantsSchema, example: `{"read-only":{"args":["--read-only"]},"repos":{"env":{"TOOLSETS":"repos"}}}`},
	"Variant.command": {schema: programSchema, example: `["node","server.js","--http"]`},
	"Variant.env":     {example: `{"TOOLSETS":"repos"}`, add: envNames},
	"Variant.headers": {example: `{"X-MCP-Toolsets":"repos"}`, add: headerNames},

	"Client.profile":                  {schema: clientEnum(), example: `"claude-code"`},
	"Client.extensions":               {schema: anyMap, example: `{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`},
	"ClientCapabilities.roots":        {schema: anyMap, example: `{"listChanged":true}`},
	"ClientCapabilities.sampling":     {schema: anyMap, example: `{"tools":{}}`},
	"ClientCapabilities.elicitation":  {schema: anyMap, example: `{"form":{},"url":{}}`},
	"ClientCapabilities.tasks":        {schema: anyMap, example: `{"list":{},"cancel":{}}`},
	"ClientCapabilities.extensions":   {schema: anyMap, example: `{"com.example/notes":{}}`},
	"ClientCapabilities.experimental": {schema: anyMap, example: `{"example":{}}`},

	"Auth.oauth": {example: `{"grant":"client_credentials","client_id":"ci","client_secret_env":"CLIENT_SECRET","token_endpoint":"https://id.example.com/token"}`},

	"samplingText.text":       {example: `"Paris"`, schema: `{"title":"text"}`},
	"samplingText.model":      {example: `"test-model"`, schema: `{"title":"text"}`},
	"elicitationKeys.content": {schema: contentSchema, example: `{"name":"Ada"}`},
	"contextHook.command":     {schema: commandSchema, example: `"node ./compute-vars.js"`},
	"contextHook.mode":        {schema: `{"anyOf":[{"const":"context"},{"type":"string","pattern":"\\$\\{[A-Za-z_]"}]}`, example: `"context"`},
	"Step.run":                {schema: commandSchema, example: `["./scripts/seed.sh","5"]`},
	"Step.call":               {given: true, example: `{"tool":"reset_state"}`},
	"Step.always":             {schema: `{"not":{}}`, example: `true`},
	"Step.env":                {example: `{"SEED":"42"}`, add: envNames},
	"StepCall.args":           {schema: anyMap, example: `{"hard":true}`},
	"Defaults.expect":         {schema: expectDef, example: exExpect},
	"Defaults.derivedMetrics": {schema: metricDef, example: exMetrics},
	"Common.expect":           {schema: expectDef, example: exExpect},
	"Common.derivedMetrics":   {schema: metricDef, example: exMetrics},
	"Common.skip":             {schema: `{"type":["string","boolean"],"pattern":"\\S"}`, example: `"the server has no search yet"`},
	"Common.cases":            {schema: casesSchema, example: `[{"q":"rust"},{"q":"go"}]`},
	"Common.respond":          {example: exRespond},
	"sameAs.transport":        {schema: `{"type":"array","minItems":1,"items":{"enum":["stdio","http","streamable-http","sse"]}}`, example: `["streamable-http","sse"]`},
	"sameAs.protocol":         {schema: `{"type":"array","minItems":1,"items":{"enum":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]}}`, example: `["2025-06-18","2026-07-28"]`},
	"CheckKeys.only":          {schema: `{"type":"array","items":{"enum":["clients","stores","lint","security"]}}`, example: `["clients"]`},
	"boundaryKeys.expect":     {schema: `{"$ref":"#/$defs/expect"}`, example: `[{"target":"duration_ms","matcher":{"lt":2000}}]`},
	"boundaryKeys.skip":       {schema: `{"type":["string","boolean"],"pattern":"\\S"}`, example: `"the server has no tokens yet"`},
	"Calibration.labels":      {schema: casesSchema, example: `"labels.jsonl"`},
	"boundaryKeys.cases":      {schema: casesSchema, example: `[{"origin":"https://a.example"},{"origin":"null"}]`},
	"httpRequest.headers":     {schema: nullable(`{"type":["string","number","boolean","object","null"],"required":["env"],"additionalProperties":false,"properties":{"env":{"type":"string","description":"The environment variable that holds the value, which no output shows.","examples":["API_TOKEN"]}}}`), example: `{"Authorization":null,"Origin":"https://evil.example"}`, add: headerNames},
	"httpRequest.body":        {schema: `true`, example: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	"startEntry.env":          {schema: nullable(`{"type":["string","number","boolean","null"]}`), example: `{"API_TOKEN":null}`, add: envNames},
	"Keys.mock":               {schema: anyMap, example: `{"create_issue":{"text":"created #43"}}`},
	"Keys.model":              {schema: `{"type":["string","array"],"minLength":1,"minItems":1,"items":{"type":"string","minLength":1}}`, example: `["script","small"]`},
	"Model.volatile":          {schema: `{"type":"object","propertyNames":{"enum":["ignore","mask"]},"additionalProperties":{"type":"array"}}`, example: `{"ignore":["items[*].etag"]}`},
	"Answer.call":             {schema: `{"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":{"type":["object","null"]}}`, example: `{"search_issues":{"state":"open"}}`},
	"Answer.calls":            {schema: `{"type":"array","minItems":1,"items":{"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":{"type":["object","null"]}}}`, example: `[{"get_issue":{"number":42}},{"get_me":{}}]`},
	"agentsEntry.then":        {example: `[{"tool":"list_labels","expect":[{"target":"text","matcher":{"contains":"bug"}}]}]`},
	"Common.transform":        {schema: `{"not":{}}`, example: `true`},
	"toolsEntry.args":         {schema: anyMap, example: `{"q":"rust"}`},
	"toolsEntry.steps":        {example: exSteps, add: stepsList},
	"resourcesEntry.steps":    {example: exSteps, add: stepsList},
	"promptsEntry.args":       {schema: anyMap, example: `{"name":"Ada"}`},
	"promptsEntry.steps":      {example: exSteps, add: stepsList},
	"protocolEntry.params":    {schema: `{}`, example: `{"cursor":"abc"}`},
	"protocolEntry.raw":       {schema: `{"type":"string"}`, example: `"{\"jsonrpc\": \"2.0\", \"id\": 1"`},
	"protocolEntry.steps":     {example: exSteps, add: stepsList},
	"FlowStep.expect":         {schema: expectDef, example: exExpect},
	"FlowStep.respond":        {example: exRespond},
	"Invocation.args":         {schema: anyMap, example: `{"id":"${steps.id}"}`},
	"Invocation.params":       {schema: `{}`, example: `{"cursor":"abc"}`},
	"Invocation.raw":          {schema: `{"type":"string"}`, example: `"not json"`},
	"FlowStep.capture":        {example: `{"id":"result.id","code":{"target":"text","regex":"added (\\w+)"}}`},
	"captureKeys.target":      {schema: `{"$ref":"#/$defs/target"}`, example: `"text"`},
	"captureKeys.regex":       {schema: `{"type":"string"}`, example: `"added (\\w+)"`},
}

// expectExamples are examples of the keys that package expect defines, by
// definition and key.
var expectExamples = map[string]string{
	"assertion.target": `"result.content[0].text"`, "assertion.matcher": `{"contains":"rust"}`, "assertion.name": `"cites_sources"`,
	"assertion.weight": `2`, "assertion.message": `"the answer cites no sources"`,
	"assert-set.assert-set": `{"name":"keywords","threshold":0.6,"assertions":[{"target":"text","matcher":{"icontains":"canary"}}]}`,
	"assert-set-body.name":  `"keywords"`, "assert-set-body.threshold": `0.6`, "assert-set-body.weight": `2`,
	"assert-set-body.assertions": `[{"target":"text","matcher":{"icontains":"canary"}}]`,
	"expect.assertions":          `[{"target":"text","matcher":{"contains":"rust"}}]`, "expect.max_duration_ms": `500`,
	"derived-metrics.name": `"quality"`, "derived-metrics.threshold": `0.7`, "derived-metrics.value": `{"weighted_sum":[{"ref":"cites_sources"}]}`,
	"derived-metrics.weighted_sum": `[{"ref":"cites_sources"}]`, "derived-metrics.weighted_average": `[{"ref":"cites_sources","weight":2}]`,
	"metric-terms.ref": `"cites_sources"`, "metric-terms.weight": `2`,
}

const (
	envNames       = `{"propertyNames":{"pattern":"^[^=\\u0000]+$"}}`
	variantsSchema = `{"type":"object","propertyNames":{"pattern":"^[^@*]*[^@*\\s][^@*]*$"},"patternProperties":{"^from$":{"type":"array","minItems":1,"items":{"type":"string"}}},"additionalProperties":{"$ref":"#/$defs/variant"}}`
	headerNames    = `{"propertyNames":{"pattern":"^[!#$%&'*+.^_|~0-9A-Za-z\u0060-]+$"}}` // a token of RFC 9110
	commandSchema  = `{"type":["array","string"],"minItems":1,"pattern":"\\S","items":{"type":"string"}}`
	programSchema  = `{"anyOf":[` + commandSchema + `,{"$ref":"#/$defs/bundle-command"}]}`
	optionsSchema  = `{"type":"object","additionalProperties":{"type":["string","number","boolean","array"],"items":{"type":["string","number","boolean"]}}}`
	contentSchema  = `{"type":["object","string"],"pattern":"^defaults$|\\$\\{[A-Za-z_]"}`
	casesSchema    = `{"type":["array","string"],"minItems":1,"minLength":1,"items":` + anyMap + `}`
	tolerateSchema = `{"type":["array","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$","items":{"$ref":"#/$defs/violation"}}`
	teardown       = `{"type":["array","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$","items":{"$ref":"#/$defs/teardown-step"}}`
)

// nullable is a map of values, or a placeholder.
func nullable(values string) string {
	return `{"type":["object","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$","additionalProperties":` + values + `}`
}

var readyPattern = `{"pattern":` + strconv.Quote(durationPattern+`|^(https?|tcp)://.|^$|`+holds) + `}`

// entries is a list of tests; tests are kept as they are written until they
// are expanded, so neither the list nor a test can be a placeholder.
func entries(name string) string {
	return `{"type":"array","items":{"$ref":"#/$defs/` + name + `"}}`
}

// clientEnum is the schema of the name of a known client.
func clientEnum() string { return `{"enum":["` + strings.Join(identity.Names(), `","`) + `"]}` }
