// Package semantic has a language model or a program judge the answers of the
// semantic evaluation (tier 2) and stores the verdicts in the evidence.
package semantic
