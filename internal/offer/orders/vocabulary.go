package orders

import "strings"

// class is a set of meanings of a word.
type class uint32

const (
	who      class = 1 << iota // people that the model works for
	nobody                     // none of them
	model                      // the model itself
	negation                   // not, never, without, refrain
	tell                       // telling somebody something
	learn                      // getting to know something
	hide                       // keeping something from somebody
	secret                     // secrecy, of an act or a state
	strong                     // secrecy that no ordinary tool has
	must                       // obligation
	deceive                    // telling what is not true
	send                       // moving data
	answer                     // what the model says to people
	deed                       // what the model or the tool did, and words for it
	matter                     // data that is left out for an ordinary reason
	later                      // unless, until: the sentence is a condition
	trace                      // mention, hint, trace
	omit                       // leaving out
	ask                        // asking, wondering, noticing
	act                        // behaving
)

// families are the words of each class. A verb, marked with "*", has all its forms.
var families = map[class]string{
	who: `user users human humans person persons people customer customers client clients operator owner owners reader readers
		sender employee employees staff visitor visitors patient patients author reviewer reviewers editor editors maintainer developer
		developers manager management admin administrator buyer recipient recipients subscriber listener listeners guest requester
		signer holder anyone anybody someone somebody everyone everybody them they him her she audience writer caller public whoever he seller tenant student traveler traveller investor shopper team boss supervisor people who`,
	nobody:   `nobody none no-one`,
	model:    `you assistant model agent ai llm chatbot bot`,
	negation: `not never no without neither nor nothing hardly avoid avoiding refrain abstain cannot n't`,
	tell: `tell* mention* inform* reveal* notify* disclose* report* say* explain* announce* discuss* refer* hint* acknowledge* admit*
		alert* describe* summarize* warn* state* speak* talk* comment* communicate* indicate* confess* divulge* expose* share* advise*
		allude* volunteer* bother* trouble* burden* worry* refer* quote* name* print* output* surface* point* bring* show* display* list* let* leak* breathe* note* raise* relay* repeat* concede* correct* confirm* betray*`,
	learn: `know* see* notice* learn* realize* suspect* discover* hear* find* detect* spot* observe* aware become* catch* trace*
		perceive* guess* understand* wonder* figure*`,
	hide: `hide* conceal* withhold* mask* obscure* cover* suppress* bury* disguise* veil* cloak* camouflage* whitewash* hush* gloss* obfuscate* downplay* keep*`,
	secret: `silently quietly discreetly secret secretly covertly stealthily unnoticed undetected invisible invisibly hidden confidential
		confidentially confidence background unmentioned unsaid unspoken private privately classified unobtrusively secrecy unaware
		oblivious ignorant uninformed dark quiet silent mum silence hush`,
	strong: `secretly covertly stealthily unnoticed undetected surreptitiously unbeknownst clandestinely furtively sneakily sly covert invisibly imperceptibly
		stealth unaware uninformed oblivious unsaid unmentioned mum hush ignorant`,
	must: `must should shall need needs ought supposed meant required allowed may`,
	deceive: `pretend* claim* lie* mislead* deceive* feign* fake* fabricate* deny* insist* blame* assure* reassure* invent* falsify*
		misreport* misrepresent* attribute* trick* fool* dupe*`,
	send: `send* forward* upload* copy* append* attach* include* post* transmit* collect* gather* store* save* record* log* mirror* add*
		pass* submit* read* load* export* fetch* call* run* execute* insert* put* slip* write* transfer* share* book* buy* approve* accept*`,
	answer: `answer answers reply replies response responses summary report receipt conversation conversations chat output message transcript
		explanation statement narrative recap`,
	deed: `this that it these those call calls step steps tool upload copy copies fact request transfer export tracking recording
		forwarding action actions access note notes text traces evidence deletion change changes paragraph instruction instructions description what happened lines matching second additional extra detail part matter argument
		such existence attached logging surcharge markup fee rule`,
	matter: `id ids json raw table html markdown password passwords token tokens key keys prices url urls schema uuid uuids link links
		number numbers digits card internal document debug stack field fields format column columns coordinates`,
	later: `until unless before after if yet twice again once instead verbatim unnecessarily each every`,
	trace: `mention hint trace traces sign indication evidence clue word record reference inkling`,
	omit:  `omit* leave* skip* cut* drop* exclude* strip* redact* remove* delete* filter* vanish* absent disappear* overlook* wipe* erase*`,
	act:   `act* behave* carry* perform* give* remain* stay* be mark* continue* make* go* enable* disable* replace* change* install* grant* swap* switch* activate* alter* refuse* decline*`,
	ask:   `ask* wonder* question* inquire* enquire* query* suspicious noticed challenged confronted pressed anyone`,
}

// irregular are forms that no rule makes of a verb.
var irregular = map[string]string{
	"tell": "told", "say": "said", "speak": "spoke spoken", "know": "knew known", "see": "saw seen", "hide": "hid hidden",
	"withhold": "withheld", "keep": "kept", "find": "found", "show": "shown", "hear": "heard", "become": "became",
	"catch": "caught", "bring": "brought", "leave": "left", "send": "sent", "write": "wrote written", "mislead": "misled",
	"understand": "understood", "put": "", "let": "", "cut": "", "buy": "bought", "run": "ran", "learn": "learnt", "lie": "lying",
}

// entry is a word of the lexicon: its classes, and those for which it is the base form of a
// verb.
type entry struct{ is, base class }

// buildLexicon returns the words with their classes.
func buildLexicon() map[string]entry {
	out := map[string]entry{}
	add := func(word string, c class, base bool) {
		e := out[word]
		e.is |= c
		if base {
			e.base |= c
		}
		out[word] = e
	}
	for c, words := range families {
		for _, word := range strings.Fields(words) {
			if c == who {
				add(word+"s", c, false)
			}
			verb, isVerb := strings.CutSuffix(word, "*")
			add(verb, c, isVerb)
			if !isVerb {
				continue
			}
			for _, form := range listForms(verb) {
				add(form, c, false)
			}
		}
	}
	return out
}

// listForms returns the other forms of a verb.
func listForms(verb string) []string {
	stem := strings.TrimSuffix(verb, "e")
	last := verb[len(verb)-1:]
	out := []string{verb + "s", verb + "es", stem + "ing", stem + "ed", stem + last + "ing", stem + last + "ed"}
	if y, ok := strings.CutSuffix(verb, "y"); ok {
		out = append(out, y+"ies", y+"ied")
	}
	return append(out, strings.Fields(irregular[verb])...)
}
