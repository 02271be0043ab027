// Package orders finds sentences that order a language model to hide something from the
// people it works for, or to tell them what is not true. Hides is the entry point.
//
// It knows no phrases. A sentence is divided into clauses, its words get the classes of a
// lexicon (who, negation, telling, learning, hiding, secrecy, deceit, the model's answer,
// what it did), and acts.go has the few forms that such an order takes, as relations
// between classes: somebody who must not learn something, an order not to tell, an order to
// act in secret. A description of what a tool does has verbs in the third person and is no
// order, which is what most forms depend on.
package orders
