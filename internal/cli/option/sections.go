package option

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Section is a group of flags in the help of a command.
type Section struct {
	Title string
	Flags []string
}

// sectionKey annotates the flags of a section with its title and its rank.
const sectionKey = "section"

// limitsTitle is the section of the limits, which is the last: few readers need them, and they
// are a third of all flags.
const limitsTitle = "Limits on what a server may send"

// lastRank is the rank of the limits.
const lastRank = 100

// otherTitle is the section of flags that are in none.
const otherTitle = "Other flags"

// AddSections assigns the flags of a command to sections. A flag that does not exist is a
// mistake of the program, which a test finds.
func AddSections(cmd *cobra.Command, sections []Section) (unknown []string) {
	for rank, section := range sections {
		for _, name := range section.Flags {
			f := cmd.Flags().Lookup(name)
			if f == nil {
				unknown = append(unknown, name)
				continue
			}
			annotate(f, section.Title, rank)
		}
	}
	return unknown
}

func annotate(f *pflag.Flag, title string, rank int) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[sectionKey] = []string{title, strconv.Itoa(rank)}
}

// InSections returns a help function that lists flags in sections.
func InSections(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		order, sections := splitSections(cmd)
		for _, title := range order {
			sections[title].VisitAll(func(f *pflag.Flag) { f.Hidden = true })
		}
		help(cmd, args)
		for _, title := range order {
			sections[title].VisitAll(func(f *pflag.Flag) { f.Hidden = false })
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s:\n%s", title, sections[title].FlagUsages())
		}
	}
}

// splitSections returns the sections of a command's flags, in their order, limits last.
func splitSections(cmd *cobra.Command) (order []string, sections map[string]*pflag.FlagSet) {
	sections = map[string]*pflag.FlagSet{}
	ranks := map[string]int{otherTitle: lastRank - 1}
	add := func(title string, f *pflag.Flag) {
		if sections[title] == nil {
			sections[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			order = append(order, title)
		}
		sections[title].AddFlag(f)
	}
	var rest []*pflag.Flag
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := f.Annotations[sectionKey]
		switch {
		case f.Hidden:
		case title == nil:
			rest = append(rest, f)
		default:
			ranks[title[0]], _ = strconv.Atoi(title[1])
			add(title[0], f)
		}
	})
	if len(order) > 1 || len(order) == 1 && order[0] != limitsTitle {
		for _, f := range rest {
			add(otherTitle, f)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return ranks[a] - ranks[b] })
	return order, sections
}
