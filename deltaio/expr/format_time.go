package expr

import "strconv"

// appendDate writes yyyy-MM-dd as DateFormatter does: years have at least four
// digits, and a sign when negative or longer.
func appendDate(b []byte, day int64) []byte {
	y, m, d := civil(day)
	switch {
	case y < 0:
		b = append(b, '-')
		y = -y
	case y > 9999:
		b = append(b, '+')
	}
	for limit := int64(1000); limit > y && limit > 1; limit /= 10 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, y, 10)
	b = append(b, '-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
	return b
}

// appendWall writes yyyy-MM-dd HH:mm:ss and a fraction without trailing zeros,
// as a cast of a timestamp to string.
func appendWall(b []byte, us int64) []byte {
	day := floorDiv(us, microsPerDay)
	us -= day * microsPerDay
	b = append(appendDate(b, day), ' ')
	for i, unit := range []int64{3600 * microsPerSecond, 60 * microsPerSecond, microsPerSecond} {
		if i > 0 {
			b = append(b, ':')
		}
		v := us / unit
		us %= unit
		b = append(b, byte('0'+v/10), byte('0'+v%10))
	}
	if us == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(100_000); us > 0; unit /= 10 {
		b = append(b, byte('0'+us/unit))
		us %= unit
	}
	return b
}

func formatDate(day int64) string { return string(appendDate(nil, day)) }
func formatWall(us int64) string  { return string(appendWall(nil, us)) }
