package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Digest is the SHA-256 of data, as "sha256:" and 64 hexadecimal digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// CanonicalJSON encodes v in the one form that its digest is taken of: members
// sorted by the bytes of their names, no white space, strings in plain UTF-8
// with the shortest escapes, whole numbers in plain digits of any length (unlike
// RFC 8785, which would round them to doubles), other numbers in the shortest
// form that reads back as the same double. A name that occurs twice is refused.
func CanonicalJSON(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out bytes.Buffer
	if err := canonicalValue(dec, &out); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("canonical JSON: more than one value")
	}
	return out.Bytes(), nil
}

func canonicalValue(dec *json.Decoder, out *bytes.Buffer) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return canonicalArray(dec, out)
		}
		return canonicalObject(dec, out)
	case json.Number:
		return canonicalNumber(t.String(), out)
	case string:
		canonicalString(t, out)
	case bool:
		out.WriteString(strconv.FormatBool(t))
	default:
		out.WriteString("null")
	}
	return nil
}

func canonicalArray(dec *json.Decoder, out *bytes.Buffer) error {
	out.WriteByte('[')
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if err := canonicalValue(dec, out); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := dec.Token()
	return err
}

func canonicalObject(dec *json.Decoder, out *bytes.Buffer) error {
	members := map[string][]byte{}
	var names []string
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		name := token.(string) // the decoder yields strings as names
		if _, twice := members[name]; twice {
			return fmt.Errorf("name %q occurs twice", name)
		}
		var value bytes.Buffer
		if err := canonicalValue(dec, &value); err != nil {
			return err
		}
		members[name] = value.Bytes()
		names = append(names, name)
	}
	slices.Sort(names)
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		canonicalString(name, out)
		out.WriteByte(':')
		out.Write(members[name])
	}
	out.WriteByte('}')
	_, err := dec.Token()
	return err
}

func canonicalNumber(text string, out *bytes.Buffer) error {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			text = "0"
		}
		out.WriteString(text)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		out.WriteString(strconv.FormatFloat(math.Abs(f)*sign(f), 'f', 0, 64))
		return nil
	}
	out.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
	return nil
}

// sign keeps -0 and 0 one number.
func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

const hexDigits = "0123456789abcdef"

func canonicalString(s string, out *bytes.Buffer) {
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r >= 0x20:
			out.WriteRune(r)
		case strings.ContainsRune("\b\f\n\r\t", r):
			out.WriteByte('\\')
			out.WriteByte("btn_fr"[r-'\b'])
		default:
			out.WriteString(`\u00`)
			out.WriteByte(hexDigits[r>>4])
			out.WriteByte(hexDigits[r&0xf])
		}
	}
	out.WriteByte('"')
}
