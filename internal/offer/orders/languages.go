package orders

import "strings"

// language has the words of an order to hide, in another language: not, to tell, somebody, and
// verbs that hide by themselves.
type language struct{ not, tell, who, hide, from string }

// alone are words that order to hide by themselves.
const alone = "verschweige verschweigen verheimliche verheimlichen vertusche vertuschen dissimule-le ocúltaselo умолчи утаи zatajaj verzwijg"

// listLanguages are those in which descriptions were seen. A text that is no English has few
// words in common with another of them.
func listLanguages() []language {
	return []language{
		{
			"nicht nichts niemals kein keine keinem niemandem ohne nie",
			"sag sage sagen erwähne erwähnen verrate verraten informiere informieren teile mitteilen erzähle erzählen zeige nenne melde erfahren weiß wissen merkt bemerkt merken davon",
			"nutzer benutzer anwender kunde kunden person niemand niemandem menschen jemandem ihm ihr",
			"verschweige verschweigen verheimliche verheimlichen verbirg verberge vertusche heimlich unbemerkt",
			"vor davor",
		},
		{
			"no nunca jamás nada nadie sin",
			"digas decir decirle menciones mencionar informes informar reveles revelar cuentes muestres avises notifiques sepa saber entere enterarse note",
			"usuario usuaria cliente persona nadie",
			"oculta ocúltale ocultes esconde calla encubre",
			"del de",
		},
		{
			"ne pas jamais rien sans personne",
			"dis dire mentionne mentionner informe informer révèle révéler montre avertis préviens signale parle sache savoir remarque",
			"utilisateur utilisatrice client personne l'utilisateur",
			"cache dissimule tais taire secrètement silence",
			"à de",
		},
		{
			"non mai niente nessuno senza",
			"dire dirlo menzionare informare rivelare mostrare avvisare comunicare sappia sapere accorga",
			"utente utenti all'utente l'utente cliente persona nessuno",
			"nascondi nascondere cela occulta taci",
			"dal dalla",
		},
		{
			"não nunca jamais nada ninguém sem",
			"conte contar diga dizer mencione mencionar informe informar revele revelar mostre avise saiba saber perceba",
			"usuário usuária utilizador cliente pessoa ninguém",
			"esconda esconde oculte omita",
			"do da de",
		},
		{
			"niet nooit niets geen zonder niemand",
			"vertel zeg vermeld noem informeer onthul toon meld laat weet weten merkt",
			"gebruiker klant persoon niemand iemand",
			"verberg verzwijg",
			"voor",
		},
		{
			"не никогда ничего никому без",
			"сообщай сообщайте говори говорите упоминай упоминайте информируй информируйте рассказывай раскрывай показывай знал узнал узнает",
			"пользователю пользователь пользователя клиенту человеку никому",
			"скрой скрывай скрывайте утаи умолчи тайно",
			"от",
		},
		{
			"nie nigdy niczego bez",
			"informuj mów powiedz wspominaj ujawniaj pokazuj zdradzaj",
			"użytkownika użytkownikowi klienta klientowi nikomu",
			"ukryj ukrywaj zatajaj",
			"przed",
		},
	}
}

// listGlyphs are the same for languages without spaces between words.
func listGlyphs() []language {
	return []language{
		{"不要 别 勿 不得 不许 不能", "告诉 告知 提及 透露 通知 提到 显示 说明 知道", "用户 客户 他人 任何人 使用者", "隐瞒 偷偷 瞒着 秘密", ""},
		{"ない で せず ずに", "知らせ 伝え 言わ 話さ 教え 明かさ 言及", "ユーザー 利用者 顧客 誰にも", "隠し 隠せ 内緒 こっそり", ""},
	}
}

// findForeign reports an order to hide in another language than English.
func findForeign(text string) string {
	words := splitWords(text)
	if words.have(alone) || strings.Contains(text, "garde le silence") || strings.Contains(text, "guarda silencio") {
		return "to hide"
	}
	for _, l := range listLanguages() {
		if words.have(l.who) && words.have(l.not) && words.have(l.tell) {
			return "not to tell"
		}
		if words.have(l.who) && words.have(l.hide) && words.have(l.from) {
			return "to hide"
		}
	}
	for _, l := range listGlyphs() {
		silent := contains(text, l.not) && contains(text, l.tell)
		if contains(text, l.who) && (silent || contains(text, l.hide)) {
			return "not to tell"
		}
	}
	return ""
}

// set are the words of a text.
type set map[string]bool

// splitWords returns the words of a text, and the parts of those with an apostrophe.
func splitWords(text string) set {
	out := set{}
	for _, w := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,;:\"()«»¿¡", c) }) {
		out[w] = true
		if _, after, ok := strings.Cut(strings.ReplaceAll(w, "’", "'"), "'"); ok {
			out[after] = true
		}
	}
	return out
}

// have reports whether one of some words is in the set.
func (s set) have(list string) bool {
	for w := range strings.FieldsSeq(list) {
		if s[w] {
			return true
		}
	}
	return false
}

// contains reports whether a text contains one of some words.
func contains(text, list string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
