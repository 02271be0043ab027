// Package catalog is what an adapter says about itself: its tools, operations,
// parameters and types. It assesses the risk of each operation and makes up
// values that parameters accept. It sends nothing.
package catalog
