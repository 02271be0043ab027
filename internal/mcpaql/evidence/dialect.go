package evidence

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// Adapters write their introspection in other forms than the documented one: other
// keys for a name, parameters as an object or as a JSON Schema. These forms are read
// too, so that the adapter is judged by its behavior, and each deviation is one
// finding. The reference rules accept only the documented form.

// Reading is a part of the introspection in the documented form, as far as it could
// be read.
type Reading struct {
	Value      jsonv.Value
	Odd        []string // the deviating forms that the adapter uses
	Unreadable string   // why the parameters cannot be read, "" if they can
}

func (r *Reading) deviates(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.Odd, s) {
		r.Odd = append(r.Odd, s)
	}
}

var (
	// OperationNameKeys are the keys under which adapters give the name of an operation.
	OperationNameKeys = []string{"element_name", "elementName", "operation_name", "operationName", "operation", "id"}
	parameterNameKeys = []string{"element_name", "elementName", "parameter_name", "parameterName", "param_name", "param", "parameter", "field", "key", "id"}
	// ParameterListKeys are the keys under which adapters list parameters.
	ParameterListKeys = []string{"parameters", "params", "arguments", "args", "inputs", "inputSchema", "input_schema", "schema", "input"}
	identifier        = Pattern(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	// parameterText matches a parameter written as one text: a name, and optionally a
	// mark and a type.
	parameterText = Pattern(`^\s*([A-Za-z_]\w*)\s*(\?)?\s*(?::\s*(.+))?$`)
	// markedText matches a text with a mark at its end.
	markedText = Pattern(`(?i)^(.*?)[\s,]*(\?|!|\(?\b(?:required|optional)\b\)?)?\s*$`)
)

// CopyName gives an object the member name, copied from the key that holds the name.
func (r *Reading) CopyName(v jsonv.Value, keys []string, things string) jsonv.Value {
	if v.Lookup("name").Kind() == jsonv.KindString {
		return v
	}
	for _, key := range keys {
		if s := v.Lookup(key); s.Kind() == jsonv.KindString && identifier().MatchString(s.Text()) {
			r.deviates("%s are named by %s instead of name", things, key)
			return v.Without(key).With("name", s)
		}
	}
	return v
}

// ReadDetail reads an adapter's description of one operation.
func ReadDetail(d jsonv.Value) Reading {
	r := Reading{Value: d}
	if d.Kind() != jsonv.KindObject {
		return r
	}
	r.Value = r.CopyName(d, OperationNameKeys, "operations")
	for _, key := range ParameterListKeys {
		list, there := d.Get(key)
		if !there {
			continue
		}
		params, ok := r.readParameters(list, d.Lookup("required"))
		switch {
		case !ok:
			r.Unreadable = key + " is " + FormatBrief(list)
		case key != "parameters":
			r.deviates("parameters are under %s instead of parameters", key)
		}
		if len(r.Odd) > 0 || !ok {
			r.Value = r.Value.Without(key).With("parameters", jsonv.Array(params...))
		}
		return r
	}
	for k, v := range d.Members() {
		isContainer := v.Kind() == jsonv.KindObject || v.Kind() == jsonv.KindArray
		if isContainer && strings.Contains(strings.ToLower(k), "param") {
			r.Unreadable = "there is no parameters, and " + k + " is " + FormatBrief(v)
		}
	}
	return r
}

// readParameters reads a list of parameters; it returns false if an element cannot be
// read as one. required is a list of names, if it is a list.
func (r *Reading) readParameters(list, required jsonv.Value) ([]jsonv.Value, bool) {
	var out []jsonv.Value
	switch {
	case list.Kind() == jsonv.KindArray:
		for _, p := range list.Elems() {
			if p.Kind() == jsonv.KindString {
				r.deviates("parameters are texts instead of objects")
				p = parseParameter(p.Text())
			}
			p = r.CopyName(p, parameterNameKeys, "parameters")
			if p.Lookup("name").Kind() != jsonv.KindString {
				return nil, false
			}
			out = append(out, r.readParameter(p, required))
		}
	case list.Lookup("properties").Kind() == jsonv.KindObject:
		r.deviates("parameters are a JSON Schema instead of a list")
		return r.readByName(list.Lookup("properties"), list.Lookup("required"))
	case list.Kind() == jsonv.KindObject && list.Len() > 0 && hasOnlyMembers(list, []string{"required", "optional"}):
		r.deviates("parameters are an object of required and optional instead of a list")
		for _, key := range []string{"required", "optional"} {
			part, ok := r.readParameters(list.Lookup(key), required)
			if !ok {
				return nil, false
			}
			for _, p := range part {
				out = append(out, p.With("required", jsonv.Bool(key == "required")))
			}
		}
	case list.Kind() == jsonv.KindObject:
		if list.Lookup("type").Text() != "object" || list.Len() > 1 { // a JSON Schema without properties
			if list.Len() > 0 {
				r.deviates("parameters are an object instead of a list")
			}
			return r.readByName(list, required)
		}
		r.deviates("parameters are a JSON Schema instead of a list")
	case list.Kind() != jsonv.KindNull && !list.IsAbsent():
		return nil, false
	}
	return out, true
}

// readByName reads parameters that are the members of an object.
func (r *Reading) readByName(list, required jsonv.Value) (out []jsonv.Value, ok bool) {
	for name, p := range list.Members() {
		switch p.Kind() {
		case jsonv.KindObject:
		case jsonv.KindString:
			r.deviates("parameters are texts instead of objects")
			p = parseTyped(p.Text())
		default:
			return nil, false
		}
		out = append(out, r.readParameter(p.With("name", jsonv.String(name)), required))
	}
	return out, true
}

// readParameter reads whether a parameter is required, and its type.
func (r *Reading) readParameter(p, required jsonv.Value) jsonv.Value {
	for _, key := range []string{"data_type", "dataType"} {
		t := p.Lookup(key)
		if p.Lookup("type").IsAbsent() && t.Kind() == jsonv.KindString {
			r.deviates("the type of a parameter is %s instead of type", key)
			p = p.Without(key).With("type", t)
		}
	}
	s := p.Lookup("schema")
	if p.Lookup("type").IsAbsent() && s.Kind() == jsonv.KindObject {
		r.deviates("the type of a parameter is a nested schema")
		p = Merge(p.Without("schema"), s)
	}
	if types := p.Lookup("type"); types.Kind() == jsonv.KindArray {
		r.deviates("the type of a parameter is a list")
		p = p.With("type", jsonv.String(strings.Join(types.Texts(), " | ")))
	}
	if p.Lookup("required").Kind() == jsonv.KindBool {
		return p
	}
	if required.Kind() == jsonv.KindArray {
		r.deviates("the names of required parameters are in a separate list")
		listed := slices.Contains(required.Texts(), p.Lookup("name").Text())
		return p.With("required", jsonv.Bool(listed))
	}
	for _, key := range []string{"required", "is_required", "isRequired", "mandatory", "optional"} {
		v := p.Lookup(key)
		says := strings.ToLower(v.Text())
		answers := []string{"true", "yes", "required", "false", "no", "optional"}
		if v.Kind() == jsonv.KindBool || slices.Contains(answers, says) {
			r.deviates("whether a parameter is required is not said by required: true or false")
			yes := v.Bool() || says == "true" || says == "yes" || says == "required"
			return p.Without(key).With("required", jsonv.Bool(yes == (key != "optional")))
		}
	}
	return p
}

// parseParameter reads a text such as "limit?: integer".
func parseParameter(s string) jsonv.Value {
	m := parameterText().FindStringSubmatch(strings.TrimSuffix(s, "*"))
	if m == nil {
		return jsonv.Value{}
	}
	p := parseTyped(m[3])
	if m[2] != "" {
		p = p.With("required", jsonv.Bool(false))
	} else if strings.HasSuffix(s, "*") {
		p = p.With("required", jsonv.Bool(true))
	}
	return p.With("name", jsonv.String(m[1]))
}

// parseTyped reads a text such as "integer (optional)".
func parseTyped(s string) jsonv.Value {
	m := markedText().FindStringSubmatch(s)
	if m == nil {
		return jsonv.Object()
	}
	p := jsonv.Object()
	if typ := strings.TrimSpace(m[1]); typ != "" {
		p = p.With("type", jsonv.String(typ))
	}
	switch strings.ToLower(strings.Trim(m[2], "()")) {
	case "required", "!":
		p = p.With("required", jsonv.Bool(true))
	case "optional", "?":
		p = p.With("required", jsonv.Bool(false))
	}
	return p
}

// ReadOperations reads the data of a list of operations.
func ReadOperations(data jsonv.Value) Reading {
	r := Reading{Value: data}
	list := data.Lookup("operations")
	if data.Kind() == jsonv.KindArray {
		r.deviates("the list of operations is data itself")
		list, r.Value = data, jsonv.Object()
	}
	var out []jsonv.Value
	r.flatten(&out, list, jsonv.Object(), 0)
	if len(r.Odd) > 0 {
		r.Value = r.Value.With("operations", jsonv.Array(out...))
	}
	return r
}

// maxGroupDepth bounds how deep operations are nested in groups.
const maxGroupDepth = 3

// flatten collects the operations of a list. A group holds the common members of its
// operations.
func (r *Reading) flatten(out *[]jsonv.Value, list, common jsonv.Value, depth int) {
	if depth > maxGroupDepth {
		return
	}
	switch list.Kind() {
	case jsonv.KindArray:
		for _, v := range list.Elems() {
			r.addOne(out, v, common, depth)
		}
	case jsonv.KindObject:
		r.deviates("operations are grouped, or members of an object, instead of being a list")
		for key, v := range list.Members() {
			if v.Kind() == jsonv.KindArray {
				r.flatten(out, v, common.With("endpoint", jsonv.String(key)), depth+1)
			} else {
				r.addOne(out, v.With("name", jsonv.String(key)), common, depth)
			}
		}
	}
}

// addOne adds an operation, or those of a group.
func (r *Reading) addOne(out *[]jsonv.Value, v, common jsonv.Value, depth int) {
	if part := v.Lookup("operations"); part.Kind() == jsonv.KindArray || part.Kind() == jsonv.KindObject {
		r.deviates("operations are grouped, or members of an object, instead of being a list")
		for _, key := range []string{"semantic_category", "endpoint", "category"} {
			if s := v.Lookup(key); s.Kind() == jsonv.KindString {
				common = common.With(key, s)
			}
		}
		r.flatten(out, part, common, depth+1)
		return
	}
	if v.Kind() == jsonv.KindString {
		r.deviates("operations are texts instead of objects")
		v = jsonv.ObjectOf("name", v)
	}
	v = r.CopyName(v, OperationNameKeys, "operations")
	for k, e := range common.Members() {
		if v.Lookup(k).IsAbsent() {
			v = v.With(k, e)
		}
	}
	*out = append(*out, v)
}
