package probe

import (
	"cmp"
	"errors"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

// operationProbe tests one operation: its parameters, their values and defaults.
type operationProbe struct{ run *guard.Run }

// callBaseline makes the first call of an operation, and returns false if no further call can
// show anything.
func (pr operationProbe) callBaseline(op *catalog.Operation, params jsonv.Value) (base guard.Reply, ok bool) {
	base = pr.run.Keeper.Attempt(op, params)
	if base.Silent && base.WasSent() || pr.run.Gate.Poison[op.Name] != "" {
		pr.run.Rows.Count("accuracy")
		pr.run.Rows.Fail("accuracy.failure", base, "%s does not respond", op.Name)
		pr.run.Gate.Skipped[op.Name] = NotGeneratable + ": it does not respond"
		return base, false
	}
	if !base.WasSent() {
		pr.run.Gate.Skipped[op.Name] = base.Cause.Error()
		if why := pr.run.Caller.ExplainEnding(); why != "" && !base.Barred {
			pr.run.Gate.Skipped[op.Name] = why
		}
		return base, false
	}
	if base.Code() == guard.ConfirmationRequired {
		pr.run.Gate.Skipped[op.Name] = "it asks for a confirmation, which --confirm gives"
		return base, false
	}
	return base, true
}

// testAccuracy sends the documented parameters and checks whether they work.
func (pr operationProbe) testAccuracy(op *catalog.Operation, params jsonv.Value, base guard.Reply) {
	pr.judgeDocumented(op, base, params)
	all := params
	optional := 0
	for _, p := range op.Params {
		if p.Required {
			continue
		}
		v, err := pr.makeOptional(op, p, base)
		if errors.Is(err, catalog.ErrGivenValue) {
			pr.run.Rows.SkipByPolicy("accuracy", op.Name, p.Name, err.Error())
			continue
		}
		if err != nil {
			pr.run.Rows.Skip("accuracy", op.Name, p.Name, err.Error())
			continue
		}
		params, ok := pr.findCompanions(op, p, pr.run.Builder.RebuildParams(op).With(p.Name, v), base)
		if !ok {
			pr.run.Rows.Skip("accuracy", op.Name, p.Name, "no response contained a cursor for it")
			pr.accept(op, p.Name)
			continue
		}
		r := pr.run.Keeper.Attempt(op, params)
		if !r.WasHeard() {
			pr.run.Rows.SkipUnsent("accuracy", op.Name, p.Name, r)
			continue
		}
		pr.judgeDocumented(op, r, jsonv.ObjectOf(p.Name, params.Lookup(p.Name)))
		if r.IsOK() && !op.IsSentAlone(p) {
			all = all.With(p.Name, v)
			optional++
		}
	}
	if optional > 1 {
		params := evidence.Merge(all, pr.run.Builder.RebuildParams(op))
		pr.judgeDocumented(op, pr.run.Keeper.Attempt(op, params), jsonv.Object())
	}
}

// makeOptional makes a value for an optional parameter; names of fields are
// taken from the baseline.
func (pr operationProbe) makeOptional(
	op *catalog.Operation, p catalog.Parameter, base guard.Reply,
) (jsonv.Value, error) {
	if p.Name == "fields" && pr.run.Options.Values.Lookup(op.Name, "fields").IsAbsent() {
		if keys := catalog.ListScalarKeys(catalog.Sample(base.Data())); len(keys) > 0 {
			return jsonv.Array(jsonv.String(keys[0])), nil
		}
	}
	return pr.run.Builder.BuildValue(op, p)
}

// judgeDocumented checks the answer to a call that contains only documented
// parameters.
func (pr operationProbe) judgeDocumented(op *catalog.Operation, r guard.Reply, params jsonv.Value) {
	if !r.WasSent() {
		return
	}
	pr.run.Rows.Count("accuracy")
	accepted := !r.Silent
	for name := range params.Members() {
		if r.NamesUnknown(name) && (r.IsOK() || evidence.ContainsName(r.Message(), name)) {
			pr.run.Rows.Fail("accuracy.unknown", r,
				"%s documents %s and refuses it as unknown: %s", op.Name, evidence.Quote(name), r.FormatBrief())
			accepted = false
		}
	}
	if accepted {
		pr.accept(op, params.Keys()...)
	}
	code := r.Code()
	switch {
	case r.IsOK() || !accepted:
	case r.Silent:
		pr.run.Rows.Fail("accuracy.failure", r, "%s does not respond", op.Name)
	case pr.refusesMadeUp(op, r, r.Args.Lookup("params")):
	case !r.IsRefused() || !r.IsDocumented():
		pr.run.AddErrorTest(op.Name+" by its documentation", r)
		if _, baseline := pr.run.Base[op.Name]; !baseline || pr.run.Base[op.Name].Number == r.Number {
			pr.run.Rows.Fail("accuracy.uncallable", r,
				"%s cannot be called: with only its required parameters it fails with an undocumented error: %s", op.Name, r.FormatBrief())
			return
		}
		pr.run.Rows.Fail("accuracy.failure", r, "%s fails with an undocumented error: %s", op.Name, r.FormatBrief())
	case code == "VALIDATION_MISSING_PARAM" && op.IsSilent():
		pr.run.Rows.Skip("accuracy", op.Name, "", "its detail does not say which parameters it takes")
	case code == "VALIDATION_MISSING_PARAM":
		pr.run.Rows.Fail("accuracy.missing", r,
			"%s has every required parameter and demands more: %s", op.Name, r.FormatBrief())
	case code == "VALIDATION_INVALID_TYPE":
		pr.run.Rows.Fail("accuracy.type", r, "%s refuses a value of the documented type: %s", op.Name, r.FormatBrief())
	}
}

func (pr operationProbe) accept(op *catalog.Operation, params ...string) {
	pr.run.Accepted[op.Name] = append(pr.run.Accepted[op.Name], params...)
}

// testMissing sends calls that each omit one required parameter.
func (pr operationProbe) testMissing(op *catalog.Operation) {
	for _, p := range op.Params {
		if !p.Required {
			continue
		}
		namesItem := op.ChangesData() && op.IsIdentifier(p)
		x := op.FindExecutionParam()
		namesExecution := x != nil && x.Name == p.Name && op.Category != "READ"
		if namesItem || namesExecution {
			pr.run.Rows.SkipByPolicy("required", op.Name, p.Name, guard.WhyUnnamed)
			continue
		}
		rest := pr.run.Builder.RebuildParams(op).Without(p.Name)
		r := pr.run.Keeper.Attempt(op, pr.run.Maker.AddMark(op, rest, p.Name))
		if !r.WasHeard() {
			pr.run.Rows.SkipUnsent("required", op.Name, p.Name, r)
			continue
		}
		if strings.HasPrefix(r.Code(), "NOT_FOUND") && !evidence.ContainsNameInWords(r.Message(), p.Name) {
			pr.run.Rows.Skip("required", op.Name, p.Name, "another identifier was not found")
			continue
		}
		pr.run.Evidence.MissingRequired = append(pr.run.Evidence.MissingRequired, evidence.ParameterCase{
			Operation: op.Name,
			Parameter: p.Name,
			Response:  pr.run.Caller.RedactAnswer(r),
			Request:   pr.run.Caller.Redact(r.Args),
			Call:      r.Number,
		})
		if !r.IsOK() {
			pr.run.AddErrorTest(op.Name+" without "+p.Name, r, p.Name)
		}
	}
}

// testUnknown sends a parameter that does not exist.
func (pr operationProbe) testUnknown(op *catalog.Operation, base guard.Reply) {
	if !base.IsOK() && !base.IsDocumented() {
		pr.run.Rows.Skip("unknown", op.Name, evidence.ProbeName, "a call without it does not succeed")
		return
	}
	try := func(name string, args func(params jsonv.Value) jsonv.Value) {
		r := pr.run.Keeper.AttemptOn(op.Tool, op, args(pr.run.Builder.RebuildParams(op)))
		if !r.WasHeard() {
			pr.run.Rows.SkipUnsent("unknown", op.Name, name, r)
			return
		}
		if !r.IsOK() && r.Code() == base.Code() && !evidence.HasName(r.Envelope.Lookup("error"), name) {
			pr.run.Rows.Skip("unknown", op.Name, name, "it is refused for another reason: "+r.FormatBrief())
			return
		}
		pr.run.Evidence.UnknownParameter = append(pr.run.Evidence.UnknownParameter, evidence.ParameterCase{
			Operation: op.Name,
			Parameter: name,
			Response:  pr.run.Caller.RedactAnswer(r),
			Request:   pr.run.Caller.Redact(r.Args),
			Call:      r.Number,
		})
		if !r.IsOK() {
			pr.run.AddErrorTest(op.Name+" with the unknown "+name, r, name)
		}
	}
	inside := func(name string) func(jsonv.Value) jsonv.Value {
		return func(params jsonv.Value) jsonv.Value {
			return op.Request(params.With(name, jsonv.String("x")))
		}
	}
	try(evidence.ProbeName, inside(evidence.ProbeName))
	if len(op.Params) > 0 {
		if typo := op.Params[0].Name + "x"; op.FindParam(typo) == nil {
			try(typo, inside(typo))
		}
	}
	if op.Category == "READ" && pr.readsTopLevel() {
		try(evidence.ProbeName, func(params jsonv.Value) jsonv.Value {
			return op.Request(params).With(evidence.ProbeName, jsonv.String("x"))
		})
	}
}

// readsTopLevel reports whether the adapter accepts parameters next to params. Only
// then must it handle an unknown one there (D 4.6.1).
func (pr operationProbe) readsTopLevel() bool {
	if !pr.run.TopLevelTried {
		r := pr.run.Caller.Send(pr.run.Catalog.Reader, jsonv.ObjectOf("operation", "introspect", "query", "operations"))
		pr.run.TopLevelTried, pr.run.TopLevelParams = true, r.IsOK() && !pr.run.Bare
	}
	return pr.run.TopLevelParams
}

// testNotFound requests an item that does not exist.
func (pr operationProbe) testNotFound(op *catalog.Operation) {
	id := op.FindIDParam()
	if id == nil || pr.run.Catalog.FindJSONKind(*id) != "string" || op.Name == "introspect" {
		return
	}
	none := jsonv.String("zz_conf_no_such_thing")
	if pr.run.Catalog.Fits(*id, none) != "" {
		return
	}
	r := pr.run.Caller.Call(op, pr.run.Builder.RebuildParams(op).With(id.Name, none))
	if r.IsOK() && (r.Data().Kind() == jsonv.KindNull || r.Data().Len() == 0) {
		return
	}
	pr.run.AddErrorTest(op.Name+" of something that does not exist", r, none.Text())
}

// internalFailure matches the codes with which adapters report an internal error.
var internalFailure = evidence.Pattern(`(?i)internal|unexpected|exception|unhandled|server_error|^error$|^unknown(_error)?$`)

// demandsMore matches the messages of refusals that demand another parameter.
var demandsMore = evidence.Pattern(`(?i)\b(requires?|required|missing)\b`)

// notThere matches the messages of refusals without a code that concern the thing that a
// made-up value names, or the service that would know it.
var notThere = evidence.Pattern(`(?i)not.?found|no such|does(n't| not) exist|\b404\b|fetch failed|failed to fetch|ENOTFOUND|ECONN|EAI_AGAIN|timed? ?out`)

// readRefusal returns the message of a refusal, also of one that is a text only.
func readRefusal(r guard.Reply) string {
	if message := r.Message(); message != "" {
		return message
	}
	return r.Data().Lookup("content").At(0).Lookup("text").Text()
}

// refusesMadeUp reports whether a refusal concerns a value that the run generated and that
// the documentation does not promise to accept. Such a refusal is neither a success nor a
// failure.
func (pr operationProbe) refusesMadeUp(op *catalog.Operation, r guard.Reply, params jsonv.Value) bool {
	coded := r.IsRefused() && r.Code() != ""
	message := readRefusal(r)
	if internalFailure().MatchString(r.Code()) || r.Code() == "VALIDATION_INVALID_TYPE" {
		return false
	}
	isOwnFailure := demandsMore().MatchString(message) || internalFailure().MatchString(message)
	if !coded && isOwnFailure {
		return false
	}
	for name, v := range params.Members() {
		var isRefused bool
		if coded {
			isRefused = pr.isRefusedByCode(op, name, v, r)
		} else {
			isRefused = pr.isRefusedByText(op, name, v, message)
		}
		if isRefused {
			code := cmp.Or(r.Code(), "without a code")
			pr.run.Rows.Skip("accuracy", op.Name, name,
				"the value that was made up for it is refused ("+code+"); --values provides one")
			return true
		}
	}
	return false
}

// isRefusedByCode reports whether a refusal with an error code concerns a value that was
// made up for a parameter.
func (pr operationProbe) isRefusedByCode(op *catalog.Operation, name string, v jsonv.Value, r guard.Reply) bool {
	isEmptyObject := v.Kind() == jsonv.KindObject && v.Len() == 0
	isRefusable := pr.isMadeUpText(op, name, v) && r.Code() != "VALIDATION_MISSING_PARAM"
	if !isEmptyObject && !isRefusable {
		return false
	}
	return strings.Contains(readRefusal(r), name) || evidence.HasName(r.Envelope.Lookup("error"), v.Text())
}

// isRefusedByText is like isRefusedByCode for a refusal that is only a message. It has to
// quote the value, unless it says that something is not there, or nothing documents what
// the parameter takes.
func (pr operationProbe) isRefusedByText(op *catalog.Operation, name string, v jsonv.Value, message string) bool {
	if !pr.isMadeUpText(op, name, v) {
		return false
	}
	p := op.FindParam(name)
	takesAny := p != nil && pr.run.Catalog.FindJSONKind(*p) == "any"
	return takesAny || notThere().MatchString(message) || strings.Contains(message, v.Text())
}

// isMadeUpText reports whether a value is a text that the run chose for a parameter: one with
// its mark, or one of a list that may be of other things than the parameter names.
func (pr operationProbe) isMadeUpText(op *catalog.Operation, name string, v jsonv.Value) bool {
	if v.Kind() != jsonv.KindString {
		return false
	}
	if strings.HasPrefix(v.Text(), catalog.MarkerPrefix) {
		return true
	}
	p := op.FindParam(name)
	if p == nil {
		return false
	}
	harvested, isSure := pr.run.Builder.FindHarvested(op, *p)
	return jsonv.Equal(harvested, v) && !(isSure && op.IsIdentifier(*p))
}

// Paging by cursors (PG): four parameters that only go together in pairs, and
// a pageInfo in the answer.

// findCompanions returns the parameters that a parameter requires, and the only value
// that the parameter can have: a cursor comes from an answer.
func (pr operationProbe) findCompanions(
	op *catalog.Operation, p catalog.Parameter, params jsonv.Value, base guard.Reply,
) (jsonv.Value, bool) {
	pair := catalog.CursorPair[p.Name]
	if pair == "" || !op.PagesByCursor() || op.FindParam(pair) == nil {
		return params, true
	}
	at := ""
	switch p.Name {
	case "after":
		at = "startCursor"
	case "before":
		at = "endCursor"
	}
	cursor := base.Data().Lookup("pageInfo", at)
	if cursor.Kind() != jsonv.KindString {
		return params, false
	}
	return params.With(p.Name, cursor).With(pair, jsonv.Int(1)), true
}

// NotGeneratable is the reason that the report counts separately.
const NotGeneratable = "not generatable"
