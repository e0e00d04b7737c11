package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ZoneLoader finds a time zone by its name in the tz database, such as
// time.LoadLocation.
type ZoneLoader func(name string) (*time.Location, error)

// checker collects what is wrong with a document.
type checker struct {
	keys     keyTable
	zones    ZoneLoader
	prefix   string // path of the document inside another: "policies[2]."
	problems Problems
}

func (c *checker) add(path, format string, args ...any) {
	path = c.prefix + path
	c.problems = append(c.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...), Example: c.keys.example(path)})
}

// required reports a key without a value, and says whether it has one.
func (c *checker) required(path, value string) bool {
	if strings.TrimSpace(value) != "" {
		return true
	}
	c.add(path, "missing")
	return false
}

// name checks the name of a spec, a source or a rule.
func (c *checker) name(path, name string) {
	c.required(path, name)
	c.form(path, name, "a name: letters, digits, dot, dash and underscore, at most 100")
}

// form checks a value, where there is one, against the key's pattern.
func (c *checker) form(path, value, want string) bool {
	k, _ := c.keys.find(c.prefix + path)
	if value == "" || patternOf(k.pattern).MatchString(value) {
		return true
	}
	c.add(path, "%q is not %s", shorten(value), want)
	return false
}

// oneOf checks a value, where there is one, against the key's allowed list.
func (c *checker) oneOf(path, value string) {
	k, _ := c.keys.find(c.prefix + path)
	if value == "" || slices.Contains(k.enum, value) {
		return
	}
	c.add(path, "%q is unknown; allowed: %s", shorten(value), strings.Join(k.enum, ", "))
}

// header checks the two keys that say what a document is.
func (c *checker) header(apiVersion, kind string) {
	if c.required("apiVersion", apiVersion) {
		c.oneOf("apiVersion", apiVersion)
	}
	if c.required("kind", kind) {
		c.oneOf("kind", kind)
	}
}

func (c *checker) table(path, value string) {
	c.form(path, value, "a table name: schema.table, of letters, digits, _ and -")
}

// duration checks a length of time; ok is false where it is missing or wrong.
func (c *checker) duration(path string, d Duration) (v time.Duration, ok bool) {
	if d == "" {
		return 0, false
	}
	v, err := d.Value()
	if err != nil || !patternOf(patternLength).MatchString(string(d)) {
		c.add(path, "%q is not a duration: whole numbers with the units d, h, m, s", shorten(string(d)))
		return 0, false
	}
	if v == 0 {
		c.add(path, "must be longer than nothing")
		return 0, false
	}
	return v, true
}

func (c *checker) percent(path string, p Percent) {
	if p == "" {
		return
	}
	share, err := p.Share()
	switch {
	case err != nil || !patternOf(patternShare).MatchString(string(p)):
		c.add(path, "%q is not a percentage", shorten(string(p)))
	case share <= 0 || share > 1:
		c.add(path, "%s is out of range: more than 0%%, at most 100%%", p)
	}
}

// columns checks a list of column names: none empty, none twice.
func (c *checker) columns(path string, names []string) {
	for i, name := range names {
		switch at := fmt.Sprintf("%s[%d]", path, i); {
		case strings.TrimSpace(name) == "":
			c.add(at, "a column needs a name")
		case containsFold(names[:i], name):
			c.add(at, "column %s is listed twice", name)
		}
	}
}

// renamed checks target_columns against the columns they rename.
func (c *checker) renamed(path string, target, columns []string) {
	c.columns(path, target)
	if len(target) > 0 && len(target) != len(columns) {
		c.add(path, "%d columns, but the key has %d; name each one, in the same order", len(target), len(columns))
	}
}

// day checks a calendar day.
func (c *checker) day(path, value string) {
	if value == "" {
		return
	}
	if _, err := time.Parse(time.DateOnly, value); err != nil {
		c.add(path, "%q is not a day as yyyy-MM-dd", shorten(value))
	}
}

func (c *checker) zone(path, name string) {
	if name == "Local" {
		c.add(path, "Local is the worker's own zone, which differs from machine to machine; name a zone")
		return
	}
	if c.zones == nil || name == "" {
		return
	}
	if _, err := c.zones(name); err != nil {
		c.add(path, "%q is not in the time zone database", shorten(name))
	}
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// patterns holds every pattern of the key tables, compiled once.
var patterns = func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{"": regexp.MustCompile("")}
	for _, d := range documents {
		for _, k := range d.keys {
			out[k.pattern] = regexp.MustCompile(k.pattern)
		}
	}
	return out
}()

func patternOf(p string) *regexp.Regexp { return patterns[p] }
