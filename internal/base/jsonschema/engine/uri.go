package engine

import "net/url"

// join resolves a reference without a fragment against a base.
func join(base, ref string) (string, error) {
	if ref == "" {
		return base, nil
	}
	to, err := url.Parse(ref)
	if err != nil {
		return "", err
	}
	from, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	joined := from.ResolveReference(to)
	if !to.IsAbs() && from.Opaque != "" { // package url does not resolve such references
		joined.Opaque = from.Opaque
	}
	return joined.String(), nil
}
