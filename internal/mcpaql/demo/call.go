package demo

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// fail returns the envelope of a failure.
func (a *Adapter) fail(f *failure) jsonv.Value {
	e := jsonv.ObjectOf("code", f.code, "message", f.message)
	if len(f.details) > 0 {
		e = e.With("details", jsonv.Object(f.details...))
	}
	v := jsonv.ObjectOf("success", false, "error", e)
	if a.is("error-with-data") {
		v = v.With("data", jsonv.Null())
	}
	if a.is("error-meta") {
		v = v.With("_meta", jsonv.ObjectOf("request_id", "r1"))
	}
	if a.is("error-text") && f.code == "NOT_FOUND_OPERATION" {
		return v.With("error", jsonv.String(f.message))
	}
	return v
}

// answer handles the arguments of one tool call and returns the envelope.
func (a *Adapter) answer(s session, tool string, args jsonv.Value) jsonv.Value {
	if list := args.Lookup("operations"); list.Kind() == jsonv.KindArray && args.Lookup("operation").IsAbsent() {
		return a.batch(s, tool, list)
	}
	env, f := a.operate(s, tool, args)
	if f != nil {
		return a.fail(f)
	}
	return env
}

// findRequested returns the operation that a request names.
func (a *Adapter) findRequested(args jsonv.Value) (*operation, *failure) {
	if why := findExceededLimit(args, 1); why != "" && !a.is("limits-open") {
		code := "VALIDATION_PAYLOAD_TOO_LARGE"
		if a.is("limits-code") {
			code = "VALIDATION_INVALID_VALUE"
		}
		return nil, refuse(code, "The request is too large: %s.", why)
	}
	name := args.Lookup("operation")
	switch name.Kind() {
	case jsonv.KindString:
	case jsonv.KindAbsent:
		return nil, refuse("VALIDATION_MISSING_PARAM", "The parameter 'operation' is missing: name one of those introspect lists.").
			add("param_name", jsonv.String("operation"))
	default:
		return nil, refuse("VALIDATION_INVALID_TYPE", "The parameter 'operation' wants a string, got %s.", name.Kind()).
			add("param_name", jsonv.String("operation"))
	}
	op := a.find(name.Text())
	if op == nil {
		return nil, refuse("NOT_FOUND_OPERATION", "There is no operation '%s': introspect with query operations lists them.", name.Text()).
			add("operation", name)
	}
	return op, nil
}

// readParams returns the parameters of a request, with those that stand next to them.
func (a *Adapter) readParams(op *operation, args jsonv.Value) (jsonv.Value, *failure) {
	params := args.Lookup("params")
	if params.IsAbsent() {
		params = jsonv.Object()
	}
	if params.Kind() != jsonv.KindObject {
		return params, refuse("VALIDATION_INVALID_TYPE", "The parameter 'params' wants an object, got %s.", params.Kind()).
			add("param_name", jsonv.String("params"))
	}
	for k, v := range args.Members() {
		switch k {
		case "operation", "params", "_request_id":
		case "_meta":
			if a.is("meta-refused") {
				return params, refuse("VALIDATION_UNKNOWN_PARAM", "%s takes no parameter '_meta'.", op.Name)
			}
		default:
			if _, inside := params.Get(k); !inside || a.is("top-level-wins") {
				params = params.With(k, v)
			}
		}
	}
	return params, nil
}

// operate runs one operation.
func (a *Adapter) operate(s session, tool string, args jsonv.Value) (jsonv.Value, *failure) {
	op, f := a.findRequested(args)
	if f != nil {
		return jsonv.Value{}, f
	}
	if a.replaceBefore(op, args.Lookup("params")) {
		return newSuccess(jsonv.ObjectOf("done", true), nil), nil
	}
	if f := a.checkRoute(op, tool); f != nil {
		return jsonv.Value{}, f
	}
	params, f := a.readParams(op, args)
	if f != nil {
		return jsonv.Value{}, f
	}
	checked := params
	if a.isGated(op) {
		checked = params.Without("confirmation_token")
	}
	warnings, f := a.checkParams(op, checked)
	if f != nil {
		return jsonv.Value{}, f
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if params, f = a.confirm(s, op, params); f != nil {
		return jsonv.Value{}, f
	}
	a.record(op, tool, params)
	data, f := a.run(op, params)
	if f != nil {
		return jsonv.Value{}, f
	}
	env := newSuccess(data, warnings)
	switch {
	case a.is("success-extra") && op.Verb == "list":
		env = env.With("count", jsonv.Int(int64(data.Lookup("items").Len())))
	case a.is("read-bare") && op.Verb == "search":
		env = data
	}
	return env, nil
}

// checkRoute refuses an operation that belongs to another endpoint.
func (a *Adapter) checkRoute(op *operation, tool string) *failure {
	if tool == singleTool || tool == nameTool(op.Category) || a.is("routes-anywhere") {
		return nil
	}
	if a.is("routes-vaguely") {
		return refuse("VALIDATION_REFUSED", "Not here.")
	}
	return refuse("VALIDATION_ENDPOINT_MISMATCH", "The operation '%s' belongs to %s: call it there.", op.Name, nameTool(op.Category)).
		add("operation", jsonv.String(op.Name)).add("expected_endpoint", jsonv.String(op.Category))
}

func (a *Adapter) run(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	r := op.res
	switch op.Verb {
	case "introspect":
		return a.introspect(params)
	case "execute":
		if a.has("executions") {
			return a.begin(), nil
		}
		return jsonv.ObjectOf("execution_id", "run_1", "status", "completed"), nil
	case "state", "abort", "complete", "step":
		return a.runOnExecution(op, params)
	case "decide":
		return a.decide(r, params)
	case "count":
		return jsonv.ObjectOf("count", len(a.items[r.Name])), nil
	case "create":
		return a.create(r, params)
	case "list", "search":
		return a.list(op, params)
	}
	if _, given := params.Get(r.key()); !given && !r.One { // a defect let it pass
		params = params.With(r.key(), a.items[r.Name][0].Lookup("id"))
	}
	id := params.Lookup(r.key()).Text()
	i := a.findIndex(r, params)
	if i < 0 {
		if v, ok := a.gone[id]; ok && op.Verb == "get" && a.is("delete-keeps") {
			return v, nil
		}
		if r.One && op.Verb == "get" {
			return jsonv.Null(), nil
		}
		return jsonv.Value{}, a.refuseMissing(r, id)
	}
	item := a.items[r.Name][i]
	switch op.Verb {
	case "update":
		return a.update(r, i, params)
	case "delete":
		a.gone[id] = item
		a.items[r.Name] = slices.Delete(a.items[r.Name], i, i+1)
		if r.One {
			return a.saveAnswer(jsonv.ObjectOf("deleted", true))
		}
		return a.saveAnswer(jsonv.ObjectOf("id", id, "deleted", true))
	}
	if a.is("reading-writes") && op.Name == "get_book" {
		n, _ := item.Lookup("read_count").Int64()
		item = item.With("read_count", jsonv.Int(n+1))
		a.items[r.Name][i] = item
	}
	return a.selectFields(r, item, params.Lookup("fields"))
}

// refuseMissing refuses an identifier that no item has.
func (a *Adapter) refuseMissing(r *resource, id string) *failure {
	f := refuse("NOT_FOUND_RESOURCE", "No %s has the %s '%s': list_%s shows those there are.", r.Name, r.key(), id, r.Plural)
	switch {
	case a.is("leaks-stack"):
		f.message += "\n    at Library.find (/srv/library/src/store.js:41:13)"
	case a.is("leaks-sql"):
		f.message += " SQLITE_ERROR: no such column: " + id
	case a.is("error-lower-code"):
		f.code = "not_found"
	}
	return f
}

func (a *Adapter) create(r *resource, params jsonv.Value) (jsonv.Value, *failure) {
	switch {
	case r.One && len(a.items[r.Name]) > 0, r.ByName && a.findIndex(r, params) >= 0:
		return jsonv.Value{}, refuse("CONFLICT_ALREADY_EXISTS", "There is such a %s already: update it, or delete it first.", r.Name)
	case a.is("kinds-drop") && params.Lookup("kind").Text() == "map":
		params = params.Without("note")
	case a.is("sorts-drop") && params.Lookup("part_sort").Text() == "wheel":
		params = params.Without("note")
	case a.is("create-changes") && params.Lookup("title").Kind() == jsonv.KindString:
		params = params.With("title", jsonv.String(strings.ToUpper(params.Lookup("title").Text())))
	}
	for defect, field := range map[string]string{"create-drops": "author", "charter-drops": "text", "loans-drop": "until", "keys-drop": "color"} {
		if a.is(defect) {
			params = params.Without(field)
		}
	}
	v := a.insert(r, params)
	if r.ByName {
		return a.saveAnswer(jsonv.ObjectOf("created", true))
	}
	return a.saveAnswer(v)
}

// decide approves the request that parameters name.
func (a *Adapter) decide(r *resource, params jsonv.Value) (jsonv.Value, *failure) {
	i := a.findIndex(r, params)
	if i < 0 {
		return jsonv.Value{}, a.refuseMissing(r, params.Lookup(r.key()).Text())
	}
	a.items[r.Name][i] = a.items[r.Name][i].With("decision", jsonv.String("yes"))
	return a.saveAnswer(a.items[r.Name][i])
}

// replaceBefore lets Options.Before replace an operation; it reports whether that happened.
func (a *Adapter) replaceBefore(op *operation, params jsonv.Value) bool {
	if a.o.Before == nil || op.res == nil || op.res.One {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	items, done := a.o.Before(Call{
		op.Name,
		op.Verb,
		op.res.key(),
		op.res.ByName,
		params,
		a.items[op.res.Name],
		a.findIndex(op.res, params),
	})
	if done {
		a.items[op.res.Name] = items
		_ = a.save()
	}
	return done
}

// batch runs several operations (OPS 7).
func (a *Adapter) batch(s session, tool string, list jsonv.Value) jsonv.Value {
	if a.is("no-batch") {
		return a.fail(refuse("VALIDATION_MISSING_PARAM", "The parameter 'operation' is missing: there are no batches here.").add("param_name", jsonv.String("operation")))
	}
	var results []jsonv.Value
	good := 0
	for i, one := range list.Elems() {
		env, f := a.operate(s, tool, one)
		if f != nil {
			env = a.fail(f)
		} else {
			good++
		}
		results = append(results, jsonv.ObjectOf("index", i, "operation", one.Lookup("operation"), "result", env))
		if f != nil && a.is("batch-stops") {
			break
		}
	}
	total := len(results)
	if a.is("batch-counts") {
		total = len(results) + 1
	}
	summary := jsonv.ObjectOf("total", total, "succeeded", good, "failed", len(results)-good)
	return jsonv.ObjectOf("success", true, "data", nil, "results", jsonv.Array(results...), "summary", summary)
}
