package demo

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

func member(k string, v jsonv.Value) jsonv.Member { return jsonv.Member{Key: k, Value: v} }
func str(k, v string) jsonv.Member                { return member(k, jsonv.String(v)) }

func success(data jsonv.Value, warnings []jsonv.Value) jsonv.Value {
	v := jsonv.Object(member("success", jsonv.Bool(true)), member("data", data))
	if len(warnings) > 0 {
		v = v.With("warnings", jsonv.Array(warnings...))
	}
	return v
}

// fail returns the envelope of a failure.
func (a *Adapter) fail(f *failure) jsonv.Value {
	e := jsonv.Object(str("code", f.code), str("message", f.message))
	if len(f.details) > 0 {
		e = e.With("details", jsonv.Object(f.details...))
	}
	v := jsonv.Object(member("success", jsonv.Bool(false)), member("error", e))
	if a.is("error-with-data") {
		v = v.With("data", jsonv.Null())
	}
	if a.is("error-meta") {
		v = v.With("_meta", jsonv.Object(str("request_id", "r1")))
	}
	if a.is("error-text") && f.code == "NOT_FOUND_OPERATION" {
		v = v.With("error", jsonv.String(f.message))
	}
	return v
}

// answer handles the arguments of one tool call and returns the envelope.
func (a *Adapter) answer(s *session, tool string, args jsonv.Value) jsonv.Value {
	if list := args.Lookup("operations"); list.Kind() == jsonv.KindArray && args.Lookup("operation").IsAbsent() {
		return a.batch(s, tool, list)
	}
	env, f := a.operate(s, tool, args)
	if f != nil {
		return a.fail(f)
	}
	return env
}

// operate runs one operation.
func (a *Adapter) operate(s *session, tool string, args jsonv.Value) (jsonv.Value, *failure) {
	if why := tooLarge(args, 1); why != "" && !a.is("limits-open") {
		code := "VALIDATION_PAYLOAD_TOO_LARGE"
		if a.is("limits-code") {
			code = "VALIDATION_INVALID_VALUE"
		}
		return jsonv.Value{}, refuse(code, "The request is too large: %s.", why)
	}
	name := args.Lookup("operation")
	switch name.Kind() {
	case jsonv.KindString:
	case jsonv.KindAbsent:
		return jsonv.Value{}, refuse("VALIDATION_MISSING_PARAM", "The parameter 'operation' is missing: name one of those introspect lists.").with("param_name", jsonv.String("operation"))
	default:
		return jsonv.Value{}, refuse("VALIDATION_INVALID_TYPE", "The parameter 'operation' wants a string, got %s.", name.Kind()).with("param_name", jsonv.String("operation"))
	}
	op := a.find(name.Text())
	if op == nil {
		return jsonv.Value{}, refuse("NOT_FOUND_OPERATION", "There is no operation '%s': introspect with query operations lists them.", name.Text()).with("operation", name)
	}
	if a.hazardous(op, args.Lookup("params")) {
		return success(jsonv.Object(member("done", jsonv.Bool(true))), nil), nil
	}
	if f := a.routed(op, tool); f != nil {
		return jsonv.Value{}, f
	}
	params := args.Lookup("params")
	if params.IsAbsent() {
		params = jsonv.Object()
	}
	if params.Kind() != jsonv.KindObject {
		return jsonv.Value{}, refuse("VALIDATION_INVALID_TYPE", "The parameter 'params' wants an object, got %s.", params.Kind()).with("param_name", jsonv.String("params"))
	}
	for k, v := range args.Members() {
		switch {
		case k == "operation" || k == "params", k == "_request_id":
		case k == "_meta":
			if a.is("meta-refused") {
				return jsonv.Value{}, refuse("VALIDATION_UNKNOWN_PARAM", "%s takes no parameter '_meta'.", op.name)
			}
		default:
			if _, inside := params.Get(k); !inside || a.is("top-level-wins") {
				params = params.With(k, v)
			}
		}
	}
	checked := params
	if a.gated(op) {
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
	env := success(data, warnings)
	switch {
	case a.is("success-extra") && op.verb == "list":
		env = env.With("count", jsonv.Int(int64(data.Lookup("items").Len())))
	case a.is("read-bare") && op.verb == "search":
		env = data
	}
	return env, nil
}

// routed refuses an operation that belongs to another endpoint.
func (a *Adapter) routed(op *operation, tool string) *failure {
	if tool == singleTool || tool == toolOf(op.category) || a.is("routes-anywhere") {
		return nil
	}
	if a.is("routes-vaguely") {
		return refuse("VALIDATION_REFUSED", "Not here.")
	}
	return refuse("VALIDATION_ENDPOINT_MISMATCH", "The operation '%s' belongs to %s: call it there.", op.name, toolOf(op.category)).
		with("operation", jsonv.String(op.name)).with("expected_endpoint", jsonv.String(op.category))
}

func (a *Adapter) run(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	r := op.res
	switch op.verb {
	case "introspect":
		return a.introspect(params)
	case "execute":
		if a.has("executions") {
			return a.begin(), nil
		}
		return jsonv.Object(str("execution_id", "run_1"), str("status", "completed")), nil
	case "state", "abort", "complete", "step":
		return a.onExecution(op, params)
	case "decide":
		return a.decide(r, params)
	case "count":
		return jsonv.Object(member("count", jsonv.Int(int64(len(a.items[r.name]))))), nil
	case "create":
		return a.create(r, params)
	case "list", "search":
		return a.list(op, params)
	}
	if _, given := params.Get(r.key()); !given && !r.one { // a defect let it pass
		params = params.With(r.key(), a.items[r.name][0].Lookup("id"))
	}
	id := params.Lookup(r.key()).Text()
	i := a.index(r, params)
	if i < 0 {
		if v, ok := a.gone[id]; ok && op.verb == "get" && a.is("delete-keeps") {
			return v, nil
		}
		if r.one && op.verb == "get" {
			return jsonv.Null(), nil
		}
		return jsonv.Value{}, a.missing(r, id)
	}
	item := a.items[r.name][i]
	switch op.verb {
	case "update":
		return a.update(r, i, params)
	case "delete":
		a.gone[id] = item
		a.items[r.name] = slices.Delete(a.items[r.name], i, i+1)
		if a.save() != nil {
			return jsonv.Value{}, refuse("INTERNAL_ERROR", "The library could not be kept.")
		}
		if r.one {
			return jsonv.Object(member("deleted", jsonv.Bool(true))), nil
		}
		return jsonv.Object(str("id", id), member("deleted", jsonv.Bool(true))), nil
	}
	if a.is("reading-writes") && op.name == "get_book" {
		n, _ := item.Lookup("read_count").Int64()
		item = item.With("read_count", jsonv.Int(n+1))
		a.items[r.name][i] = item
	}
	return a.selectFields(r, item, params.Lookup("fields"))
}

// missing refuses an identifier that no item has.
func (a *Adapter) missing(r *resource, id string) *failure {
	f := refuse("NOT_FOUND_RESOURCE", "No %s has the %s '%s': list_%s shows those there are.", r.name, r.key(), id, r.plural)
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
	case r.one && len(a.items[r.name]) > 0, r.byName && a.index(r, params) >= 0:
		return jsonv.Value{}, refuse("CONFLICT_ALREADY_EXISTS", "There is such a %s already: update it, or delete it first.", r.name)
	case a.is("create-drops"):
		params = params.Without("author")
	case a.is("kinds-drop") && params.Lookup("kind").Text() == "map":
		params = params.Without("note")
	case a.is("sorts-drop") && params.Lookup("part_sort").Text() == "wheel":
		params = params.Without("note")
	case a.is("charter-drops"):
		params = params.Without("text")
	case a.is("loans-drop"):
		params = params.Without("until")
	case a.is("keys-drop"):
		params = params.Without("color")
	case a.is("create-changes"):
		if t := params.Lookup("title"); t.Kind() == jsonv.KindString {
			params = params.With("title", jsonv.String(strings.ToUpper(t.Text())))
		}
	}
	v := a.insert(r, params)
	if a.save() != nil {
		return jsonv.Value{}, refuse("INTERNAL_ERROR", "The library could not be kept.")
	}
	if r.byName {
		return jsonv.Object(member("created", jsonv.Bool(true))), nil
	}
	return v, nil
}

func (a *Adapter) list(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	if a.is("crashes-on-option") && op.verb == "search" && !params.Lookup("limit").IsAbsent() {
		return jsonv.Value{}, &failure{code: "oops", message: "Something went wrong."}
	}
	limit, offset := int64(20), int64(0)
	if op.res.name == "shelf" && a.is("controls-differ") {
		limit = 10
	}
	if op.name == "list_books" && a.is("default-differs") {
		limit = 2
	}
	if n, ok := params.Lookup("limit").Int64(); ok {
		limit = n
	}
	if n, ok := params.Lookup("offset").Int64(); ok {
		offset = n
	}
	var found []jsonv.Value
	for _, v := range a.items[op.res.name] {
		if kind := op.res.kind; kind != "" && !jsonv.Equal(v.Lookup(kind), params.Lookup(kind)) {
			continue
		}
		if text := params.Lookup("text"); text.IsAbsent() || strings.Contains(strings.ToLower(v.Lookup("title").Text()), strings.ToLower(text.Text())) {
			found = append(found, v)
		}
	}
	if op.name == "list_books" && (!params.Lookup("first").IsAbsent() || !params.Lookup("last").IsAbsent() || !params.Lookup("after").IsAbsent() || !params.Lookup("before").IsAbsent()) {
		return a.byCursor(found, params)
	}
	page := found[min(max(int(offset), 0), len(found)):]
	page = page[:min(max(int(limit), 0), len(page))]
	if op.name == "list_books" && !a.is("page-info") {
		from := min(max(int(offset), 0), len(found))
		return jsonv.Object(member("items", jsonv.Array(page...)), member("total", jsonv.Int(int64(len(found)))),
			member("applied", jsonv.Object(member("limit", jsonv.Int(limit)), member("offset", jsonv.Int(offset)))), member("pageInfo", a.pageInfo(found, from, from+len(page)))), nil
	}
	return jsonv.Object(member("items", jsonv.Array(page...)), member("total", jsonv.Int(int64(len(found)))),
		member("applied", jsonv.Object(member("limit", jsonv.Int(limit)), member("offset", jsonv.Int(offset))))), nil
}
