package textdiff

// EditDistance returns the Levenshtein distance of a and b, and false if it exceeds
// limit. It only computes the diagonal band of cells that a distance of limit can
// reach.
func EditDistance(a, b []rune, limit int) (int, bool) {
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1, false
	}
	far := limit + 1
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = min(j, far)
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-limit), min(len(b), i+limit)
		diagonal := row[from-1]
		row[from-1] = far
		if from == 1 {
			row[0] = min(i, far)
		}
		best := row[from-1]
		for j := from; j <= to; j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				above := row[j]
				if j == i+limit {
					above = far // outside of the previous row's band
				}
				cost = 1 + min(diagonal, above, row[j-1])
			}
			diagonal, row[j] = row[j], min(cost, far)
			best = min(best, row[j])
		}
		if best > limit {
			return far, false
		}
	}
	return row[len(b)], row[len(b)] <= limit
}
