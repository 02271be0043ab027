package agent

import (
	"cmp"
	"errors"
	"net/url"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Script is the name of the model that answers what a test says.
const Script = "script"

// Model is one entry of `models`: the endpoint of a language model.
type Model struct {
	Pos source.Pos
	// The form of its requests: that of OpenAI's chat completions, which many endpoints share, or of Anthropic's messages.
	API string `yaml:"api,required" enum:"openai|anthropic" example:"openai"`
	// Its base address; requests go to /chat/completions or /v1/messages below it, and nowhere else.
	URL string `yaml:"url,required" example:"https://api.example.com/v1"`
	// The model's name at the endpoint.
	Model string `yaml:"model,required" example:"small-1" schema:"minLength: 1"`
	// The environment variable with the key; without it no key is sent.
	KeyEnv string `yaml:"key_env" example:"MODEL_KEY"`
	// The file of recorded answers, relative to the suite. If it is given, answers come from it, unless --model-mode says otherwise.
	Recording string `yaml:"recording" example:"models/small.yaml"`
	// What may differ between a result of a tool and the recorded one, besides what the masks of snapshots cover: paths in a result that is JSON (ignore), and masks of texts (mask).
	Volatile *source.Node `yaml:"volatile" title:"What may differ from a recording"`
	// The most tokens of one answer.
	MaxTokens int `yaml:"max_tokens" default:"4096" example:"1024" range:"1-1000000"`
	// The sampling temperature; that of the endpoint when left out.
	Temperature *float64 `yaml:"temperature" example:"0.2" range:"0-2"`
	// What a million tokens cost, in USD.
	Price *Price `yaml:"price" example:"{input: 0.25, output: 2}"`

	masks *snapshot.Options
}

// Stable returns what counts of the result of a tool, for the suite in a folder: the text
// without what may differ.
func (m *Model) Stable(text, dir string) string {
	v, err := jsonv.Parse([]byte(text))
	if err != nil || v.Len() == 0 {
		v = jsonv.String(text)
	}
	masked, _ := m.masks.Mask("", v, dir)
	if jsonv.Equal(masked, v) {
		return text
	}
	return cmp.Or(masked.Text(), masked.String())
}

// Description is what a model sees in place of a tool's description.
type Description struct {
	Tool, Text string
	Pos        source.Pos `json:"-"`
}

// Price is what a million tokens cost.
type Price struct {
	// Of requests.
	Input float64 `yaml:"input,required" example:"0.25" range:"0-100000"`
	// Of answers.
	Output float64 `yaml:"output,required" example:"2" range:"0-100000"`
}

// Cost returns what tokens cost, in USD.
func (p *Price) Cost(input, output int) float64 {
	if p == nil {
		return 0
	}
	return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
}

// CheckURL returns an error if an address cannot be that of an endpoint.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("it is not an address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("expected an http or https address such as https://api.example.com/v1")
	case u.User != nil || u.Fragment != "":
		return errors.New("an address here has neither credentials nor a fragment: the key is in the variable that key_env names")
	}
	return nil
}

// CheckModels reports mistakes among the models of a suite.
func CheckModels(models source.Map[*Model], d *source.Decoder) {
	for _, e := range models.Entries {
		path := source.PathKey("models", e.Key)
		fail := func(msg, hint string) {
			d.Add(source.Diagnostic{Pos: e.Pos, Path: path, Msg: msg, Hint: hint})
		}
		switch {
		case e.Key == Script:
			fail("the name script is that of the model that answers what a test says", "choose another name")
		case e.Value == nil:
			fail("expected a model: a map with api:, url: and model:", "")
		case e.Value.URL == "": // reported by the decoder
		default:
			n := cmp.Or(e.Value.Volatile, &source.Node{Kind: source.KindMap})
			if n.Kind != source.KindMap || n.Get("name") != nil {
				d.ReportWrongType(n, path+".volatile", "a map with ignore and mask")
			}
			e.Value.masks = snapshot.Compile(d, n, path+".volatile")
			if err := CheckURL(e.Value.URL); err != nil {
				fail("url: "+err.Error(), "")
			}
		}
	}
}
