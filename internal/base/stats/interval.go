package stats

import "math"

// z is the quantile of the normal distribution that leaves (1-confidence)/2 above it.
func z(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// ComputeClopperPearson returns the exact interval of a share of which k of n were observed. It
// covers the true share at least as often as confidence says, also for k = 0 and k = n.
func ComputeClopperPearson(k, n int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	low, high = 0, 1
	if n == 0 {
		return low, high
	}
	if k > 0 {
		low = computeBetaQuantile(tail, float64(k), float64(n-k+1))
	}
	if k < n {
		high = computeBetaQuantile(1-tail, float64(k+1), float64(n-k))
	}
	return low, high
}

// ComputeWilson returns the score interval of a share: shorter than [ComputeClopperPearson], and right
// on average only.
func ComputeWilson(k, n int, confidence float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	q, m := z(confidence), float64(n)
	p := float64(k) / m
	center := (p + q*q/(2*m)) / (1 + q*q/m)
	half := q / (1 + q*q/m) * math.Sqrt(p*(1-p)/m+q*q/(4*m*m))
	return min(p, max(0, center-half)), max(p, min(1, center+half))
}

// ComputeRanks returns the ranks, counted from 1, of the values among n sorted ones that bound
// the quantile q. A rank above n means that n is too small for the upper bound.
func ComputeRanks(n int, q, confidence float64) (low, high int) {
	m := float64(n)
	half := z(confidence) * math.Sqrt(m*q*(1-q))
	return max(1, int(math.Floor(m*q-half))), int(math.Ceil(m*q+half)) + 1
}

// Nearest returns the rank, counted from 1, of the quantile q among n values.
func Nearest(n int, q float64) int { return min(n, max(1, int(math.Ceil(q*float64(n)-1e-9)))) }

// computeBetaQuantile inverts the beta distribution by bisection: 60 steps are exact to 1e-18.
func computeBetaQuantile(p, a, b float64) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; computeBeta(mid, a, b) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// computeBeta is the regularized incomplete beta function: Lentz's method for its continued
// fraction, on the side where that converges fast.
func computeBeta(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - computeBeta(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	c, d, f := 1.0, 0.0, 1.0
	for i := range 100_000 {
		m := float64(i / 2)
		numerator := 1.0
		switch {
		case i == 0:
		case i%2 == 0:
			numerator = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			numerator = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / avoidZero(1+numerator*d, tiny)
		c = avoidZero(1+numerator/c, tiny)
		f *= c * d
		if math.Abs(1-c*d) < 1e-14 {
			break
		}
	}
	return front * (f - 1)
}

func avoidZero(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}
