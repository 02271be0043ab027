package engine

import (
	"strings"
	"time"
)

// isDate implements full-date of RFC 3339.
func isDate(text string) bool {
	_, err := time.Parse("2006-01-02", text)
	return err == nil
}

// isDateTime implements date-time of RFC 3339.
func isDateTime(text string) bool {
	const dateLength = len("2006-01-02")
	if len(text) < len("2006-01-02T15:04:05Z") || text[dateLength]|0x20 != 't' {
		return false
	}
	return isDate(text[:dateLength]) && isTime(text[dateLength+1:])
}

// isTime implements full-time of RFC 3339. A leap second is the last one of a day in UTC.
func isTime(text string) bool {
	const length = len("15:04:05")
	if len(text) <= length || text[2] != ':' || text[5] != ':' {
		return false
	}
	hour, okHour := within(text[:2], 23)
	minute, okMinute := within(text[3:5], 59)
	second, okSecond := within(text[6:8], 60)
	if !okHour || !okMinute || !okSecond {
		return false
	}
	text = text[length:]
	if fraction, ok := strings.CutPrefix(text, "."); ok {
		digits := leadingDigits(fraction)
		if digits == 0 {
			return false
		}
		text = fraction[digits:]
	}
	offset, ok := offsetMinutes(text)
	if !ok {
		return false
	}
	const day = 24 * 60
	utc := (hour*60 + minute - offset + day) % day
	return second < 60 || utc == day-1
}

// within returns a number from 0 to the highest.
func within(text string, highest int) (int, bool) {
	n, ok := integer(text)
	return n, ok && n >= 0 && n <= highest
}

// offsetMinutes returns how far a time-offset of RFC 3339 is ahead of UTC.
func offsetMinutes(text string) (int, bool) {
	if text == "z" || text == "Z" {
		return 0, true
	}
	if len(text) != len("+00:00") || text[0] != '+' && text[0] != '-' || text[3] != ':' {
		return 0, false
	}
	hours, okHours := within(text[1:3], 23)
	minutes, okMinutes := within(text[4:6], 59)
	total := hours*60 + minutes
	if text[0] == '-' {
		total = -total
	}
	return total, okHours && okMinutes
}

// isDuration implements appendix A of RFC 3339, but allows units to be left out.
func isDuration(text string) bool {
	text, ok := strings.CutPrefix(text, "P")
	if !ok || text == "" {
		return false
	}
	if weeks, ok := strings.CutSuffix(text, "W"); ok {
		return weeks != "" && consists(weeks, isDigit)
	}
	date, clock, hasClock := strings.Cut(text, "T")
	if hasClock && clock == "" {
		return false
	}
	return isAmounts(date, "YMD") && isAmounts(clock, "HMS")
}

// isAmounts reports whether a text has numbers with units, each unit at most once and in
// their order.
func isAmounts(text, units string) bool {
	for text != "" {
		n := leadingDigits(text)
		if n == 0 || n == len(text) {
			return false
		}
		i := strings.IndexByte(units, text[n])
		if i < 0 {
			return false
		}
		units, text = units[i+1:], text[n+1:]
	}
	return true
}

// isPeriod implements period-explicit, period-start and period-end of RFC 3339.
func isPeriod(text string) bool {
	start, end, ok := strings.Cut(text, "/")
	switch {
	case !ok:
		return false
	case strings.HasPrefix(start, "P"):
		return isDuration(start) && isDateTime(end)
	case strings.HasPrefix(end, "P"):
		return isDateTime(start) && isDuration(end)
	}
	return isDateTime(start) && isDateTime(end)
}
