package dv

import (
	"encoding/binary"
	"fmt"
)

// Z85 is base 85 in an alphabet that JSON needs not escape
// (https://rfc.zeromq.org/spec/32/): five characters for four bytes.
const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

var z85Values = func() (v [256]int8) {
	for i := range v {
		v[i] = -1
	}
	for i := range z85Alphabet {
		v[z85Alphabet[i]] = int8(i)
	}
	return v
}()

func z85Decode(s string) ([]byte, error) {
	if len(s)%5 != 0 {
		return nil, fmt.Errorf("Z85 text of %d characters, not a multiple of 5", len(s))
	}
	out := make([]byte, 0, len(s)/5*4)
	for i := 0; i < len(s); i += 5 {
		var n uint64
		for _, c := range []byte(s[i : i+5]) {
			v := z85Values[c]
			if v < 0 {
				return nil, fmt.Errorf("character %q is not of Z85", c)
			}
			n = n*85 + uint64(v)
		}
		if n > 1<<32-1 {
			return nil, fmt.Errorf("Z85 group %q is out of range", s[i:i+5])
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	return out, nil
}

// z85Encode encodes whole groups of four bytes.
func z85Encode(b []byte) string {
	out := make([]byte, 0, len(b)/4*5)
	for ; len(b) >= 4; b = b[4:] {
		n := binary.BigEndian.Uint32(b)
		var group [5]byte
		for i := 4; i >= 0; i-- {
			group[i] = z85Alphabet[n%85]
			n /= 85
		}
		out = append(out, group[:]...)
	}
	return string(out)
}
