package conform

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// textEncoding decodes the records of a file.
type textEncoding struct {
	name string
	// single is set where every byte is a character and ASCII is itself: records
	// are cut first and decoded then. Nil with utf8 false: the stream is decoded
	// before it is cut.
	single *charmap.Charmap
	utf8   bool
	stream encoding.Encoding
}

// findEncoding looks a declared name up.
func findEncoding(name string) (textEncoding, error) {
	low := strings.ToLower(strings.TrimSpace(name))
	switch low {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return textEncoding{name: "utf-8", utf8: true}, nil
	case "cp1252":
		low = "windows-1252"
	case "utf-16":
		return textEncoding{name: low, stream: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, nil
	case "utf-16le":
		return textEncoding{name: low, stream: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, nil
	case "utf-16be":
		return textEncoding{name: low, stream: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, nil
	}
	e, err := ianaindex.IANA.Encoding(low)
	if err != nil || e == nil {
		e, err = htmlindex.Get(low)
	}
	if err != nil || e == nil {
		return textEncoding{}, fmt.Errorf("encoding %q is not known; usual ones are utf-8, windows-1252, iso-8859-1, iso-8859-15, utf-16le", name)
	}
	if c, ok := e.(*charmap.Charmap); ok && asciiIsItself(c) {
		return textEncoding{name: low, single: c}, nil
	}
	return textEncoding{name: low, stream: e}, nil
}

func asciiIsItself(c *charmap.Charmap) bool {
	for b := range byte(utf8.RuneSelf) {
		if c.DecodeByte(b) != rune(b) {
			return false
		}
	}
	return true
}

// errBOM: a file begins with the mark of an encoding that was not declared.
var errBOM = errors.New("it begins with the byte order mark of UTF-16; declare options.encoding: utf-16")

// open strips one leading byte order mark and decodes what has to be decoded
// before records are cut.
func (e textEncoding) open(r io.Reader) (*bufio.Reader, error) {
	if e.stream != nil {
		r = transform.NewReader(r, e.stream.NewDecoder())
	}
	b := bufio.NewReaderSize(r, 1<<18)
	head, err := b.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		if _, err := b.Discard(3); err != nil {
			return nil, err
		}
	case e.stream == nil && (bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))):
		return nil, errBOM
	}
	return b, nil
}

// valid says whether a record's bytes are of the encoding.
func (e textEncoding) valid(record []byte) bool {
	switch {
	case e.utf8:
		return utf8.Valid(record)
	case e.single != nil:
		for _, c := range record {
			if c >= utf8.RuneSelf && e.undefined(c) {
				return false
			}
		}
		return true
	}
	// The decoder has put U+FFFD where bytes meant nothing.
	return utf8.Valid(record) && !bytes.ContainsRune(record, utf8.RuneError)
}

// undefined bytes decode to nothing, or in Windows code pages to a control
// character that no text means.
func (e textEncoding) undefined(c byte) bool {
	r := e.single.DecodeByte(c)
	return r == utf8.RuneError || strings.HasPrefix(e.name, "windows-") && r >= 0x80 && r < 0xa0
}

// text decodes a cell of a valid record.
func (e textEncoding) text(cell []byte) string {
	if e.single == nil {
		return string(cell)
	}
	ascii := true
	for _, c := range cell {
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return string(cell)
	}
	var b strings.Builder
	for _, c := range cell {
		b.WriteRune(e.single.DecodeByte(c))
	}
	return b.String()
}

// broken keeps a record that could not be read, byte for byte.
func (e textEncoding) broken(r Reason, record []byte) Broken {
	if e.valid(record) && e.single == nil || utf8.Valid(record) && e.utf8 {
		return Broken{Reason: r, Text: string(record)}
	}
	if e.single != nil && e.valid(record) {
		return Broken{Reason: r, Text: e.text(record)}
	}
	return Broken{Reason: r, Text: base64.StdEncoding.EncodeToString(record), Base64: true}
}
