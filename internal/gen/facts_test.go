package gen

import "strconv"

// fact is what the types of package suite do not say about a key.
type fact struct {
	// value is the default, as JSON; none when the key just has no effect.
	value string
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
	unitRange = `{"minimum":0,"maximum":1}`
	percent   = `{"minimum":0,"maximum":100}`
	retryMax  = `{"minimum":0,"maximum":100}`
	notEmpty  = `{"minLength":1}`
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
	"document.name":           {example: `"shop api"`},
	"document.servers":        {schema: `{"type":"object","propertyNames":{"pattern":"^[^@]*$"},"additionalProperties":{"$ref":"#/$defs/server"}}`, example: `{"api":{"command":["node","server.js"]}}`},
	"document.default_server": {example: `"api"`, add: notEmpty},
	"document.imports":        {example: `["common.yaml"]`, add: `{"items":{"type":"string","minLength":1}}`},
	"document.variables": {
		fixed: true, example: `{"region":"eu","token":{"from_env":"API_TOKEN","secret":true}}`,
		add: `{"propertyNames":{"pattern":"^[A-Za-z_][A-Za-z0-9_-]*$"}}`,
	},
	"document.upstreams":      {example: `{"api":{"stands_for":"https://api.example.com","into":{"env":"API_URL"},"routes":[{"match":{"path":"/user"},"reply":{"json":{"login":"ada"}}}]}}`},
	"document.env":            {example: `{"LOG_LEVEL":"debug"}`, add: envNames},
	"document.defaultTest":    {example: `{"expect":[{"target":"result.isError","matcher":{"exact":false}}]}`},
	"document.tools":          {schema: entries("tools-test"), example: exTest},
	"document.resources":      {schema: entries("resources-test"), example: `[{"name":"reads the readme","uri":"file:///README.md"}]`},
	"document.prompts":        {schema: entries("prompts-test"), example: `[{"name":"greets","prompt":"greeting","args":{"name":"Ada"}}]`},
	"document.protocol":       {schema: entries("protocol-test"), example: `[{"name":"answers a ping","method":"ping"}]`},
	"document.surface":        {schema: entries("surface-test"), example: `[{"server":"api@*","lock":"surface/","fail_on":"breaking"}]`},
	"document.check":          {schema: entries("check-test"), example: `[{"server":"api@*","for":["claude","openai"]}]`},
	"document.hooks":          {example: `{"beforeAll":"./scripts/seed-db.sh"}`},
	"document.setup":          {example: `[{"run":["./seed.sh","5"],"timeout":"30s"}]`},
	"document.setup_per_test": {example: `[{"call":{"tool":"reset_state"}}]`},
	"document.teardown":       {schema: teardown, example: `[{"run":["./cleanup.sh"],"always":true}]`},
	"document.run_options":    {example: `{"parallel":4,"timeout":"10s"}`},

	"document.coverage":    {example: `{"tools":80}`},
	"Coverage.tools":       {example: `80`, add: percent},
	"Coverage.arguments":   {example: `50`, add: percent},
	"Coverage.enum_values": {example: `50`, add: percent},
	"Coverage.resources":   {example: `100`, add: percent},
	"Coverage.prompts":     {example: `100`, add: percent},
	"Coverage.annotations": {example: `100`, add: percent},

	"RunOptions.parallel":       {value: `"auto"`, example: `4`},
	"RunOptions.restart_policy": {value: `"per_run"`, example: `"per_test"`},
	"RunOptions.timeout":        {value: `"30s"`, example: `"10s"`},
	"RunOptions.retries":        {value: `0`, example: `2`, add: retryMax},
	"RunOptions.fail_fast":      {value: `false`, example: `true`},
	"RunOptions.strict_args":    {value: `false`, example: `true`},

	"Declaration.stands_for": {example: `"https://api.example.com"`, add: notEmpty},
	"Declaration.into":       {example: `{"env":"API_URL"}`},
	"Declaration.routes":     {example: `[{"match":{"method":"GET","path":"/users/{id}"},"reply":{"json":{"id":"{{path.id}}"}}}]`},
	"Declaration.recording":  {example: `"upstream/api.yaml"`},
	"Declaration.unmatched":  {value: `"fail"`, example: `404`},
	"Declaration.via":        {value: `"address"`, example: `"proxy"`},
	"Declaration.isolate":    {example: `"network"`},
	"Into.env":               {example: `"API_URL"`},
	"Into.arg":               {example: `"--api-url"`},
	"Into.header":            {example: `"X-Api-Url"`},
	"Into.file":              {example: `"kubeconfig.yaml"`},
	"Into.value":             {value: `"{url}"`, example: `"{host}"`},
	"RouteDecl.match":        {example: `{"method":"GET","path":"/users/{id}"}`},
	"RouteDecl.reply":        {example: `{"status":429,"headers":{"retry-after":1}}`},
	"RouteDecl.times":        {example: `1`, add: `{"minimum":1}`},
	"MatchDecl.method":       {example: `"GET"`, add: `{"pattern":"^[A-Za-z-]*$"}`},
	"MatchDecl.path":         {example: `"/users/{id}"`, add: notEmpty},
	"MatchDecl.query":        {schema: `{"type":["object","string"],"additionalProperties":{"type":["string","number","boolean","array","null"]}}`, example: `{"page":2,"cursor":null}`},
	"MatchDecl.headers":      {example: `{"authorization":"Bearer *"}`},
	"MatchDecl.body":         {schema: `true`, example: `{"name":"Ada"}`},
	"ReplyDecl.status":       {value: `200`, example: `404`, add: `{"minimum":200,"maximum":599}`},
	"ReplyDecl.headers":      {example: `{"retry-after":1}`},
	"ReplyDecl.json":         {schema: `true`, example: `{"id":"{{path.id}}"}`},
	"ReplyDecl.text":         {example: `"hello"`},
	"ReplyDecl.file":         {example: `"issues.json"`},
	"ReplyDecl.base64":       {example: `"iVBORw0KGgo="`},
	"ReplyDecl.chunks":       {example: `["one","two"]`},
	"ReplyDecl.sse":          {example: `[{"data":{"done":true}}]`},
	"ReplyDecl.interval":     {example: `"10ms"`},
	"ReplyDecl.delay":        {example: `"2s"`},
	"ReplyDecl.drop":         {value: `false`, example: `true`},
	"ReplyDecl.reset":        {value: `false`, example: `true`},
	"ReplyDecl.truncate":     {example: `100`, add: `{"minimum":0}`},
	"EventDecl.event":        {example: `"message"`},
	"EventDecl.id":           {example: `7`},
	"EventDecl.data":         {schema: `true`, example: `{"done":true}`},
	"Common.upstream":        {example: `{"api":[{"match":{"path":"*"},"reply":{"status":429},"times":1}]}`},
	"Common.headers":         {example: `{"X-Tenant":"acme"}`, add: headerNames},

	"fromEnv.from_env": {example: `"API_TOKEN"`, add: notEmpty},
	"fromEnv.default":  {schema: `{"type":["string","number","boolean","null"]}`, example: `"none"`},
	"fromEnv.secret":   {value: `false`, example: `true`},

	"Server.command":         {schema: commandSchema, example: `["node","server.js"]`},
	"Server.url":             {example: `"http://127.0.0.1:8080/mcp"`, add: notEmpty},
	"Server.env":             {example: `{"API_URL":"http://127.0.0.1:9999"}`, add: envNames},
	"Server.cwd":             {example: `"server"`},
	"Server.headers":         {example: `{"Authorization":{"env":"API_TOKEN"}}`, add: headerNames},
	"Server.auth":            {example: `{"bearer_token_env":"API_TOKEN"}`},
	"Server.wait_for_ready":  {example: `"http://127.0.0.1:8080/health"`, add: readyPattern},
	"Server.timeout":         {example: `"10s"`},
	"Server.connect_timeout": {value: `"60s"`, example: `"20s"`},
	"Server.protocol":        {value: `"auto"`, example: `"2025-11-25"`},
	"Server.transport":       {value: `"auto"`, example: `"streamable-http"`},
	"Server.tls":             {example: `{"ca_file":"ca.pem"}`},
	"Server.sessions":        {value: `1`, example: `4`, add: `{"minimum":1,"maximum":256}`},
	"Server.tolerate":        {schema: tolerateSchema, example: `["stray-output"]`},
	"Server.inherit_env":     {value: `"minimal"`, example: `["AWS_PROFILE"]`},
	"Server.respond":         {example: exRespond},
	"Server.validate_output": {value: `true`, example: `false`},
	"Server.retry_http":      {value: `0`, example: `2`, add: `{"minimum":0,"maximum":100}`},

	"Server.variants":   {schema: variantsSchema, example: `{"read-only":{"args":["--read-only"]},"repos":{"env":{"TOOLSETS":"repos"}}}`},
	"Variant.args":      {example: `["--read-only"]`},
	"Variant.command":   {schema: commandSchema, example: `["node","server.js","--http"]`},
	"Variant.env":       {example: `{"TOOLSETS":"repos"}`, add: envNames},
	"Variant.url":       {example: `"http://127.0.0.1:8080/mcp"`, add: notEmpty},
	"Variant.query":     {example: `{"readonly":true}`},
	"Variant.headers":   {example: `{"X-MCP-Toolsets":"repos"}`, add: headerNames},
	"Variant.protocol":  {example: `"2025-11-25"`},
	"Variant.transport": {example: `"sse"`},

	"headerEnv.env":             {example: `"API_TOKEN"`},
	"Auth.bearer_token_env":     {example: `"API_TOKEN"`},
	"Auth.oauth":                {example: `{"grant":"client_credentials","client_id":"ci","client_secret_env":"CLIENT_SECRET","token_endpoint":"https://id.example.com/token"}`},
	"OAuth.grant":               {example: `"client_credentials"`},
	"OAuth.client_id":           {example: `"ci"`},
	"OAuth.client_secret_env":   {example: `"CLIENT_SECRET"`},
	"OAuth.token_endpoint":      {example: `"https://id.example.com/token"`},
	"OAuth.issuer":              {example: `"https://id.example.com"`},
	"OAuth.client_metadata_url": {example: `"https://app.example.com/client.json"`},
	"OAuth.scope":               {example: `"read write"`},
	"OAuth.redirect_port":       {example: `8765`, add: `{"minimum":1,"maximum":65535}`},
	"OAuth.headless":            {value: `false`, example: `true`},
	"TLS.ca_file":               {example: `"ca.pem"`},
	"TLS.insecure":              {value: `false`, example: `true`},

	"Respond.sampling":           {example: `{"text":"Paris"}`},
	"Respond.elicitation":        {example: `{"action":"accept","content":"defaults"}`},
	"Respond.roots":              {example: `[{"uri":"file:///srv/project","name":"project"}]`},
	"Root.uri":                   {example: `"file:///srv/project"`},
	"Root.name":                  {example: `"project"`},
	"samplingText.text":          {example: `"Paris"`, schema: `{"title":"text"}`},
	"samplingText.model":         {example: `"test-model"`, schema: `{"title":"text"}`},
	"elicitationKeys.action":     {example: `"accept"`},
	"elicitationKeys.content":    {schema: contentSchema, example: `{"name":"Ada"}`},
	"Hooks.beforeAll":            {example: `"./scripts/seed-db.sh"`},
	"Hooks.afterAll":             {example: `["./scripts/dump-logs.sh","./scripts/teardown-db.sh"]`},
	"Hooks.beforeEach":           {example: `{"command":"node ./compute-vars.js","mode":"context"}`},
	"Hooks.afterEach":            {example: `"./scripts/snapshot-session.sh"`},
	"Hooks.timeout":              {value: `"60s"`, example: `"10s"`},
	"contextHook.command":        {schema: `{"type":"string","pattern":"\\S"}`, example: `"node ./compute-vars.js"`},
	"contextHook.mode":           {schema: `{"anyOf":[{"const":"context"},{"type":"string","pattern":"\\$\\{[A-Za-z_]"}]}`, example: `"context"`},
	"contextHook.timeout":        {example: `"10s"`},
	"Step.name":                  {example: `"seed the database"`},
	"Step.run":                   {example: `["./scripts/seed.sh","5"]`, add: stepsList},
	"Step.call":                  {given: true, example: `{"tool":"reset_state"}`},
	"Step.background":            {value: `false`, example: `true`},
	"Step.wait_for":              {example: `"tcp://127.0.0.1:9999"`, add: `{"pattern":"^(tcp://.+|https?://.+|/|log:/.+/$)|\\$\\{[A-Za-z_]"}`},
	"Step.timeout":               {value: `"60s"`, example: `"30s"`},
	"Step.capture_failure":       {example: `"Seed script failed; cannot run tests"`},
	"Step.always":                {schema: `{"not":{}}`, example: `true`},
	"Step.env":                   {example: `{"SEED":"42"}`, add: envNames},
	"Step.cwd":                   {example: `"scripts"`},
	"StepCall.tool":              {example: `"reset_state"`, add: notEmpty},
	"StepCall.args":              {schema: anyMap, example: `{"hard":true}`},
	"StepCall.server":            {example: `"api"`},
	"Defaults.expect":            {schema: expectDef, example: exExpect},
	"Defaults.threshold":         {example: `0.8`, add: unitRange},
	"Defaults.timeout":           {example: `"10s"`},
	"Defaults.retries":           {example: `1`, add: retryMax},
	"Defaults.tags":              {example: `["nightly"]`, add: `{"items":{"type":"string","pattern":"\\S"}}`},
	"Defaults.server":            {example: `"api"`},
	"Defaults.derivedMetrics":    {schema: metricDef, example: exMetrics},
	"Common.name":                {example: `"lists the seeded issues"`, add: `{"pattern":"\\S"}`},
	"About.description":          {example: `"clients rely on the order of the results"`},
	"Common.server":              {example: `["over-stdio","over-http"]`},
	"Common.expect":              {schema: expectDef, example: exExpect},
	"Common.threshold":           {example: `0.75`, add: unitRange},
	"Common.derivedMetrics":      {schema: metricDef, example: exMetrics},
	"Common.tags":                {example: `["smoke"]`, add: `{"items":{"type":"string","pattern":"\\S"}}`},
	"Common.timeout":             {value: `"30s"`, example: `"5s"`},
	"Common.retries":             {value: `0`, example: `2`, add: retryMax},
	"Common.skip":                {schema: `{"type":["string","boolean"],"pattern":"\\S"}`, example: `"the server has no search yet"`},
	"Common.only":                {value: `false`, example: `true`},
	"Common.repeat":              {example: `{"times":10,"pass_rate":0.9}`},
	"Common.cases":               {schema: casesSchema, example: `[{"q":"rust"},{"q":"go"}]`},
	"Common.defaults":            {value: `true`, example: `false`},
	"Common.respond":             {example: exRespond},
	"Common.cancel_after":        {example: `"200ms"`},
	"Common.wait":                {example: `{"notification":"notifications/resources/updated","timeout":"2s"}`},
	"surfaceEntry.name":          {example: `"the surface is locked"`, add: notEmpty},
	"surfaceEntry.server":        {example: `"api@*"`},
	"surfaceEntry.lock":          {example: `"surface/"`, add: notEmpty},
	"surfaceEntry.fail_on":       {value: `"any"`, example: `"breaking"`},
	"surfaceEntry.tokens":        {add: `{"minProperties":1}`, example: `{"total":15000,"tool":1200,"growth":"5%"}`},
	"surfaceEntry.same_as":       {add: `{"minProperties":1}`, example: `{"transport":["streamable-http","sse"]}`},
	"tokenBudget.total":          {example: `15000`, add: `{"minimum":1}`},
	"tokenBudget.tool":           {example: `1200`, add: `{"minimum":1}`},
	"tokenBudget.growth":         {example: `"5%"`},
	"tokenBudget.lock":           {example: `"surface/"`},
	"sameAs.transport":           {schema: `{"type":"array","minItems":1,"items":{"enum":["stdio","http","streamable-http","sse"]}}`, example: `["streamable-http","sse"]`},
	"sameAs.protocol":            {schema: `{"type":"array","minItems":1,"items":{"enum":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]}}`, example: `["2025-06-18","2026-07-28"]`},
	"checkEntry.name":            {example: `"clients accept it"`, add: notEmpty},
	"checkEntry.server":          {example: `"api@*"`},
	"checkEntry.for":             {example: `["claude", "openai"]`},
	"checkEntry.only":            {schema: `{"type":"array","items":{"enum":["clients","stores","lint","security"]}}`, example: `["clients"]`},
	"checkEntry.rules":           {example: `["gateway.yml"]`},
	"checkEntry.baseline":        {example: `"accepted.yml"`, add: notEmpty},
	"checkEntry.fail_on":         {value: `"error"`, example: `"warning"`},
	"checkEntry.installed_as":    {example: `"api"`, add: notEmpty},
	"checkEntry.installed_with":  {example: `["mail"]`},
	"checkEntry.tags":            {example: `["slow"]`},
	"checkEntry.skip":            {example: `"waits for the next release"`},
	"surfaceEntry.tags":          {example: `["slow"]`},
	"surfaceEntry.skip":          {example: `"waits for the next release"`},
	"toolsEntry.invalid_args":    {value: `false`, example: `true`},
	"Common.log_level":           {example: `"debug"`},
	"Common.transform":           {schema: `{"not":{}}`, example: `true`},
	"Repeat.times":               {example: `10`, add: `{"minimum":1,"maximum":100000}`},
	"Repeat.pass_rate":           {value: `1`, example: `0.9`, add: unitRange},
	"Wait.notification":          {example: `"notifications/resources/updated"`, add: notEmpty},
	"Wait.timeout":               {example: `"2s"`},
	"toolsEntry.tool":            {example: `"search"`, add: notEmpty},
	"toolsEntry.args":            {schema: anyMap, example: `{"q":"rust"}`},
	"toolsEntry.steps":           {example: exSteps, add: stepsList},
	"resourcesEntry.uri":         {example: `"file:///README.md"`, add: notEmpty},
	"resourcesEntry.steps":       {example: exSteps, add: stepsList},
	"promptsEntry.prompt":        {example: `"greeting"`, add: notEmpty},
	"promptsEntry.args":          {schema: anyMap, example: `{"name":"Ada"}`},
	"promptsEntry.steps":         {example: exSteps, add: stepsList},
	"protocolEntry.method":       {example: `"tools/list"`, add: notEmpty},
	"protocolEntry.params":       {schema: `{}`, example: `{"cursor":"abc"}`},
	"protocolEntry.raw":          {schema: `{"type":"string"}`, example: `"{\"jsonrpc\": \"2.0\", \"id\": 1"`},
	"protocolEntry.steps":        {example: exSteps, add: stepsList},
	"FlowStep.name":              {example: `"create"`},
	"FlowStep.server":            {example: `"api"`, add: notEmpty},
	"FlowStep.expect":            {schema: expectDef, example: exExpect},
	"FlowStep.respond":           {example: exRespond},
	"FlowStep.timeout":           {example: `"5s"`},
	"FlowStep.cancel_after":      {example: `"200ms"`},
	"FlowStep.wait":              {example: `{"notification":"notifications/tools/list_changed"}`},
	"Invocation.tool":            {example: `"search"`, add: notEmpty},
	"Invocation.args":            {schema: anyMap, example: `{"id":"${steps.id}"}`},
	"Invocation.uri":             {example: `"file:///README.md"`, add: notEmpty},
	"Invocation.prompt":          {example: `"greeting"`, add: notEmpty},
	"Invocation.method":          {example: `"tools/list"`, add: notEmpty},
	"Invocation.params":          {schema: `{}`, example: `{"cursor":"abc"}`},
	"Invocation.raw":             {schema: `{"type":"string"}`, example: `"not json"`},
	"Invocation.notification":    {value: `false`, example: `true`},
	"protocolEntry.notification": {value: `false`, example: `true`},
	"FlowStep.capture": {schema: `{"type":["object","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$",` +
		`"additionalProperties":{"$ref":"#/$defs/target"}}`, example: `{"id":"result.id"}`},
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
	variantsSchema = `{"type":"object","propertyNames":{"pattern":"^[^@*]*[^@*\\s][^@*]*$"},"additionalProperties":{"$ref":"#/$defs/variant"}}`
	headerNames    = `{"propertyNames":{"pattern":"^[!#$%&'*+.^_|~0-9A-Za-z\u0060-]+$"}}` // a token of RFC 9110
	commandSchema  = `{"type":["array","string"],"minItems":1,"pattern":"\\S","items":{"type":"string"}}`
	contentSchema  = `{"type":["object","string"],"pattern":"^defaults$|\\$\\{[A-Za-z_]"}`
	casesSchema    = `{"type":["array","string"],"minItems":1,"minLength":1,"items":` + anyMap + `}`
	tolerateSchema = `{"type":["array","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$","items":{"$ref":"#/$defs/violation"}}`
	teardown       = `{"type":["array","string"],"pattern":"^\\$\\{[A-Za-z_].*\\}$","items":{"$ref":"#/$defs/teardown-step"}}`
)

var readyPattern = `{"pattern":` + strconv.Quote(durationPattern+`|^(https?|tcp)://.|^$|`+holds) + `}`

// entries is a list of tests; tests are kept as they are written until they
// are expanded, so neither the list nor a test can be a placeholder.
func entries(name string) string {
	return `{"type":"array","items":{"$ref":"#/$defs/` + name + `"}}`
}
