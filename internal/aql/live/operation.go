package live

import (
	"mcptest/internal/jsonv"
)

// toolInfo is one MCP tool.
type toolInfo struct {
	name, description   string
	annotations, schema jsonv.Value
}

// liveOp is one operation as the adapter describes it.
type liveOp struct {
	name, category, endpoint string
	tool                     string // to call it with
	info, detail             jsonv.Value
	params                   []liveParam
	verb, resource           string
	risk                     int
	why                      []string
}

// liveParam is one documented parameter.
type liveParam struct {
	name, typ, doc string
	required       bool
	sensitive      bool
	v              jsonv.Value // the whole description
	linked         *namedType  // the enum that its name speaks of, see linkEnums
}

func (o *liveOp) param(name string) *liveParam {
	for i := range o.params {
		if o.params[i].name == name {
			return &o.params[i]
		}
	}
	return nil
}

// namedType is a type of the adapter's own.
type namedType struct {
	name, kind string
	detail     jsonv.Value
}
