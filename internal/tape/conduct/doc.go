// Package conduct holds the frames of a recorded client against the specification.
//
// Entry point: [Judge]. Only what the frames show for certain is a breach: what a recording
// cut off, or a clause of a revision that was not agreed, is passed over.
package conduct
