// Package catalog holds an adapter's description of itself: its tools, operations,
// parameters and types. It assesses the risk of each operation and generates values
// that parameters accept. It sends nothing.
package catalog
