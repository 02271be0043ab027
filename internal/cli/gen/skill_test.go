package gen_test

import (
	"regexp"
	"strings"
	"testing"

	"mcptest/internal/cli/gen"
)

// skillWords is the maximum length of the guide: about 2,800, and room for new keys.
const skillWords = 2850

// TestSkill: every table of the guide for coding agents exists, and the guide stays short.
func TestSkill(t *testing.T) {
	for _, f := range gen.Files(schemaDoc(t), gen.Facts{Programs: programs()}) {
		if f.Path != "internal/cli/skill/SKILL.md" {
			continue
		}
		text := string(f.Data)
		if n := len(strings.Fields(text)); n > skillWords {
			t.Errorf("the guide has %d words, at most %d", n, skillWords)
		}
		if bad := regexp.MustCompile(`ERROR: .*|\{\{.*|<!--.*`).FindAllString(text, -1); bad != nil {
			t.Errorf("not replaced: %q", bad)
		}
		return
	}
	t.Error("the guide is not generated")
}
