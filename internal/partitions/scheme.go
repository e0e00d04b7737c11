package partitions

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

// Scheme is how dates stand in a table's partition columns.
type Scheme struct {
	Kind    spec.SchemeKind `json:"scheme"`
	Columns []string        `json:"columns"`
	Format  string          `json:"format,omitempty"`
	Unit    spec.Unit       `json:"unit"`
	// Zone that partitions are periods of; empty: nobody said.
	Zone     string `json:"zone,omitempty"`
	Detected bool   `json:"detected"`

	format *format
	zone   *time.Location // UTC where none is said
	stamps bool           // the one column holds timestamps
}

// fields are the names that people give to parts of a date.
var fields = map[string][]string{
	"year":  {"year", "yyyy", "yr", "y", "ano", "año", "anio", "jahr", "annee"},
	"month": {"month", "mm", "mon", "m", "mes", "monat", "mois"},
	"day":   {"day", "dd", "d", "dia", "día", "tag", "jour"},
	"hour":  {"hour", "hh", "hr", "h", "hora", "stunde"},
	"week":  {"week", "ww", "w", "semana", "woche", "iso_week", "isoweek"},
}

// formats that are detected in one column, and in order of preference.
var formats = []string{
	"yyyy-MM-dd", "yyyyMMdd", "yyyy-MM-dd-HH", "yyyy-MM-dd'T'HH", "yyyy-MM-dd HH", "yyyyMMddHH", "yyyy-MM-dd HH:mm:ss",
	"yyyy-'W'ww", "yyyy'W'ww", "yyyy-MM", "yyyyMM", "yyyy/MM/dd", "dd-MM-yyyy",
}

const stampFormat = "yyyy-MM-dd HH:mm:ss"

// columnOf is a partition column with the values that it has.
type columnOf struct {
	name   string
	typ    schema.Type // nil: text of a directory name
	values []string
}

// DetectScheme chooses the scheme: what the spec declares wins, the rest is taken
// from the columns' names, types and values.
func DetectScheme(want spec.PartitionScheme, zoneName string, zone *time.Location, columns []columnOf) (*Scheme, error) {
	s := &Scheme{Columns: want.Columns, Kind: want.Scheme, Format: want.Format, Zone: zoneName, zone: zone}
	if len(columns) == 0 {
		return nil, fmt.Errorf("the table has no partition columns; nothing can be expected of its partitions")
	}
	byName := map[string]columnOf{}
	for _, c := range columns {
		byName[strings.ToLower(c.name)] = c
	}
	if len(s.Columns) == 0 {
		s.Detected = true
		if s.Columns = detectColumns(want, columns); len(s.Columns) == 0 {
			return nil, fmt.Errorf("no date is found in the partition columns %s; name them: partition: {columns: [dt], format: yyyy-MM-dd}", names(columns))
		}
	}
	for i, name := range s.Columns {
		c, ok := byName[strings.ToLower(name)]
		if !ok {
			return nil, fmt.Errorf("partition.columns: %s is no partition column; the table is partitioned by %s", name, names(columns))
		}
		s.Columns[i] = c.name
	}
	return s, s.complete(byName[strings.ToLower(s.Columns[0])])
}

func names(columns []columnOf) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return strings.Join(out, ", ")
}

// detectColumns finds year, month, day and hour by name, else the column whose
// values are dates.
func detectColumns(want spec.PartitionScheme, columns []columnOf) []string {
	part := map[string]string{}
	for _, c := range columns {
		for field, known := range fields {
			if slices.Contains(known, strings.ToLower(c.name)) {
				part[field] = c.name
			}
		}
	}
	for _, set := range [][]string{{"year", "month", "day", "hour"}, {"year", "month", "day"}, {"year", "month"}, {"year", "week"}} {
		if !slices.ContainsFunc(set, func(f string) bool { return part[f] == "" }) {
			out := make([]string, len(set))
			for i, f := range set {
				out[i] = part[f]
			}
			return out
		}
	}
	best, share := "", 0.49
	for _, c := range columns {
		if _, got := bestFormat(c, want.Format); got > share {
			best, share = c.name, got
		}
	}
	if best == "" {
		return nil
	}
	if h := part["hour"]; h != "" && h != best {
		return []string{best, h}
	}
	return []string{best}
}

// bestFormat is the pattern that most values of a column follow, and their share.
func bestFormat(c columnOf, declared string) (string, float64) {
	switch c.typ {
	case schema.Date:
		return "yyyy-MM-dd", 1
	case schema.Timestamp, schema.TimestampNTZ:
		return stampFormat, 1
	}
	try := formats
	if declared != "" {
		try = []string{declared}
	}
	best, share := "", 0.0
	for _, p := range try {
		f, err := parseFormat(p)
		if err != nil {
			continue
		}
		good := 0
		for _, v := range c.values {
			if t, err := f.parse(v); err == nil && t.Year() >= 1900 && t.Year() < 2200 {
				good++
			}
		}
		if s := float64(good) / float64(max(len(c.values), 1)); s > share {
			best, share = p, s
		}
	}
	return best, share
}

// complete fills in kind, format and unit.
func (s *Scheme) complete(first columnOf) error {
	n := len(s.Columns)
	if s.Kind == "" {
		s.Kind = map[int]spec.SchemeKind{2: spec.SchemeYearMonth, 3: spec.SchemeYearMonthDay, 4: spec.SchemeHour}[n]
		if n == 2 && slices.Contains(fields["week"], strings.ToLower(s.Columns[1])) {
			s.Kind = spec.SchemeYearWeek
		}
		if n == 2 && slices.Contains(fields["hour"], strings.ToLower(s.Columns[1])) {
			s.Kind = spec.SchemeHour
		}
	}
	if n >= 3 || s.Kind == spec.SchemeYearMonth || s.Kind == spec.SchemeYearWeek {
		s.Unit = map[spec.SchemeKind]spec.Unit{
			spec.SchemeYearMonth: spec.Month, spec.SchemeYearMonthDay: spec.Day, spec.SchemeYearWeek: spec.Week, spec.SchemeHour: spec.Hour,
		}[s.Kind]
		if s.Unit == "" {
			return fmt.Errorf("partition.scheme %s does not go with the columns %s", s.Kind, strings.Join(s.Columns, ", "))
		}
		return nil
	}
	return s.oneColumn(first)
}

// oneColumn settles the pattern of a date in one column.
func (s *Scheme) oneColumn(first columnOf) error {
	if s.Format == "" {
		s.Format, _ = bestFormat(first, "")
	}
	if s.Format == "" {
		return fmt.Errorf("the values of partition column %s follow no pattern that is known; name it with partition.format, such as yyyy-MM-dd", first.name)
	}
	f, err := parseFormat(s.Format)
	if err != nil {
		return err
	}
	s.format, s.Unit = f, f.unit
	s.stamps = first.typ == schema.Timestamp || first.typ == schema.TimestampNTZ
	if len(s.Columns) == 2 {
		if f.unit != spec.Day {
			return fmt.Errorf("partition.columns: %s with an hour column needs a day, not a %s", first.name, f.unit)
		}
		s.Unit = spec.Hour
	} else if s.stamps && s.Kind == spec.SchemeDate {
		s.Unit = spec.Day
	}
	kind := map[spec.Unit]spec.SchemeKind{spec.Hour: spec.SchemeHour, spec.Day: spec.SchemeDate, spec.Week: spec.SchemeWeek, spec.Month: spec.SchemeMonth}[s.Unit]
	if s.Kind != "" && s.Kind != kind {
		return fmt.Errorf("partition.scheme %s: the pattern %s names a %s", s.Kind, s.Format, s.Unit)
	}
	s.Kind = kind
	return nil
}

// hiveNull is how writers spell a null in a directory name.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// Name gives a partition's key, or why its name is no period. values are those
// of the scheme's columns; nil is null.
func (s *Scheme) Name(values []*string) (calendar.Key, error) {
	text := make([]string, len(values))
	for i, v := range values {
		switch {
		case v == nil || *v == hiveNull:
			return "", fmt.Errorf("%s is null", s.Columns[i])
		case *v == "":
			return "", fmt.Errorf("%s is empty", s.Columns[i])
		}
		text[i] = *v
	}
	t, err := s.wall(text)
	if err != nil {
		return "", err
	}
	return calendar.KeyOf(s.Unit, t), nil
}

func (s *Scheme) wall(text []string) (time.Time, error) {
	switch {
	case s.stamps:
		return s.stamp(text[0])
	case s.format == nil:
		return s.parts(text)
	}
	t, err := s.format.parse(text[0])
	if err != nil {
		return t, err
	}
	if t.Minute() != 0 || t.Second() != 0 {
		return t, fmt.Errorf("%q does not begin an hour", text[0])
	}
	if len(text) == 2 {
		h, err := number(text[1], 23)
		return t.Add(time.Duration(h) * time.Hour), err
	}
	return t, nil
}

// stamp reads a timestamp: with a zone it is an instant, without one the clock of
// whoever wrote it.
func (s *Scheme) stamp(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil {
		zone := s.zone
		if zone == nil {
			zone = time.UTC
		}
		l := t.In(zone)
		t = time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
	} else if t, err = time.Parse("2006-01-02 15:04:05.999999999", text); err != nil {
		return t, fmt.Errorf("%q is no timestamp", text)
	}
	if t.Minute() != 0 || t.Second() != 0 || t.Nanosecond() != 0 || s.Unit == spec.Day && t.Hour() != 0 {
		return t, fmt.Errorf("%q does not begin a %s", text, s.Unit)
	}
	return t, nil
}

// parts reads year, month, day, hour or week from columns of their own.
func (s *Scheme) parts(text []string) (time.Time, error) {
	most := []int{9999, 12, 31, 23}
	if s.Kind == spec.SchemeYearWeek {
		most[1] = 53
	}
	v := []int{0, 1, 1, 0}
	for i, x := range text {
		n, err := number(x, most[i])
		if err != nil {
			return time.Time{}, err
		}
		v[i] = n
	}
	joined := strings.Join(text, "/")
	if s.Kind == spec.SchemeYearWeek {
		return weekTime(v[0], v[1], joined)
	}
	return wallTime(v[0], v[1], v[2], v[3], 0, 0, 0, joined)
}

var plainNumber = regexp.MustCompile(`^([0-9]{1,2}|[0-9]{4})$`)

func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || !plainNumber.MatchString(text) || n > most || (len(text) == 4) != (most == 9999) {
		return 0, fmt.Errorf("%q is no part of a date", text)
	}
	return n, nil
}

// weekTime is the Monday of an ISO week.
func weekTime(y, w int, text string) (time.Time, error) {
	t := calendar.WeekStart(y, w)
	if yy, ww := t.ISOWeek(); yy != y || ww != w || w == 0 {
		return time.Time{}, fmt.Errorf("%q is no week of the calendar", text)
	}
	return t, nil
}
